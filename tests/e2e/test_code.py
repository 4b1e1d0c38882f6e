"""`rein code`: languages, where the code comes from, the script's file, its arguments."""

import json
import os
import subprocess
import unittest

from rein_test import ReinTest, is_private, wait_until


class Python(ReinTest):

    def python(self, code, *args, **kw):
        return self.code_json('python', '-c', code, *args, **kw)

    def test_names(self):
        for name in 'python', 'py', 'python3':
            with self.subTest(name=name):
                o = self.code_json(name, '-c', 'import sys; print(sys.version_info[0])')
                self.assert_ended(o, 'exit', 0, output='3\n')

    def test_text_mode(self):
        o = self.rein('code', 'python', '-c', 'print("hi"); raise SystemExit(4)')
        self.assertEqual((o.rc, o.out, o.err), (4, b'hi\n', b''))

    def test_where_the_code_comes_from(self):
        self.write('file.py', 'print("file")')
        for args, input, output in (
                (['-c', 'print("option")'], b'print("input")', 'option\n'),
                (['file.py'], b'print("input")', 'file\n'),
                (['-'], b'print("input")', 'input\n'),
                ([], b'print("input")', 'input\n')):
            with self.subTest(args=args):
                o = self.code_json('python', *args, input=input)
                self.assert_ended(o, 'exit', 0, output=output)

    def test_arguments(self):
        code = 'import sys, json; print(json.dumps(sys.argv[1:]))'
        self.write('file.py', code)
        words = ['a b', '-c', '--json', '', '--', "it's", 'é']
        for where, input in (['-c', code], None), (['file.py'], None), (['-'], code.encode()):
            with self.subTest(where=where):
                o = self.code_json('python', *where, '--', *words, input=input)
                r = self.assert_ended(o, 'exit', 0)
                self.assertEqual(json.loads(r['output']), words)

    def test_options_stand_anywhere(self):
        code = 'import os; print(os.environ["A"], os.getcwd())'
        self.write('file.py', code)
        path = os.path.join(self.work, 'file.py')
        for args in (['-e', 'A=1', 'python', '-C', self.home, path],
                     ['python', path, '-e', 'A=1', '-C', self.home],
                     ['python', '-e', 'A=1', path, '--cwd', self.home],
                     ['python', '-e', 'A=1', '-C', self.home, '-c', code]):
            with self.subTest(args=args):
                o = self.rein('code', *args, '--json')
                self.assert_ended(o, 'exit', 0, output=f'1 {self.home}\n')

    def test_the_private_script(self):
        code = ('import os\nprint(__file__)\nprint(oct(os.stat(__file__).st_mode & 0o777))\n'
                'print(oct(os.stat(os.path.dirname(__file__)).st_mode & 0o777))\n'
                'import sys; print(sys.argv[0])\n')
        o = self.python(code)
        r = self.assert_ended(o, 'exit', 0)
        file, mode, folder_mode, argv0 = r['output'].splitlines()
        self.assertTrue(file.endswith('.ai.py'), file)
        self.assertEqual((mode, folder_mode), ('0o600', '0o700'))
        self.assertEqual(argv0, file)
        self.assertFalse(os.path.exists(file))
        self.assertFalse(os.path.exists(os.path.dirname(file)))

    def test_the_private_script_goes_however_the_job_ends(self):
        m = self.marker(98795)
        show = 'print(__file__, flush=True)\n'
        for what, options, code in (
                ('exit', [], 'raise SystemExit(1)'),
                ('signal', [], 'import os; os.kill(os.getpid(), 9)'),
                ('timeout', [], f'import time; time.sleep({m})'),
                ('output_limit', ['--output-limit', '64K', '--on-output-limit', 'kill'],
                 'while True: print("x" * 100)')):
            with self.subTest(what=what):
                o, _ = self.ready_before(
                    lambda t: self.python(show + code, *(['-t', t] if what == 'timeout' else []),
                                          *options), 0.5, '.ai.py')
                r = self.assert_ended(o, what)
                file = r['output'].split('\n', 1)[0]
                self.assertTrue(file.endswith('.ai.py'), file)
                self.assertFalse(os.path.exists(os.path.dirname(file)))
        self.assert_gone(m)

    def test_the_private_script_is_seen_while_it_runs_by_its_owner_only(self):
        m = self.marker(98796)
        p = self.spawn('code', 'python', '-c',
                       f'import time; print(__file__, flush=True); time.sleep({m})')
        file = self.read_some(p.stdout, b'\n').decode().strip()
        self.assertTrue(is_private(file) and is_private(os.path.dirname(file)))
        p.terminate()
        self.finish(p)
        wait_until(lambda: not os.path.exists(os.path.dirname(file)), 2, 'its removal')

    def test_a_job_may_delete_its_own_script(self):
        o = self.python('import os, shutil; shutil.rmtree(os.path.dirname(__file__)); print("ok")')
        self.assert_ended(o, 'exit', 0, output='ok\n')

    def test_line_1_is_line_1(self):
        o = self.python('from __future__ import annotations\nx = 1\n1 / 0\n')
        r = self.assert_ended(o, 'exit', 1)
        self.assertRegex(r['output'], r'File "[^"]*\.ai\.py", line 3')
        self.assertEqual(r['output'].count('File "'), 1, 'something else shows in the traceback')

    def test_nothing_leaks_into_the_script(self):
        o = self.python('print(sorted(n for n in globals() if not n.startswith("__")), __name__)')
        self.assert_ended(o, 'exit', 0, output="[] __main__\n")

    def test_utf_8_whatever_the_locale(self):
        for extra in {}, {'LC_ALL': 'C'}, {'LC_ALL': 'POSIX', 'PYTHONIOENCODING': ''}:
            o = self.python('import sys; print("你好 é", sys.flags.utf8_mode)', extra_env=extra)
            self.assert_ended(o, 'exit', 0, output='你好 é 1\n')

    def test_the_working_directory_can_be_imported(self):
        self.write('mine.py', 'value = 42\n')
        for args, input in ((['-c', 'import mine; print(mine.value)'], None),
                            (['-'], b'import mine; print(mine.value)')):
            o = self.code_json('python', *args, input=input)
            self.assert_ended(o, 'exit', 0, output='42\n')
        o = self.code_json('python', '-C', self.home, '-c', 'import mine')
        self.assert_ended(o, 'exit', 1)

    def test_a_file_runs_as_it_is(self):
        os.mkdir(os.path.join(self.work, 'sub'))
        self.write('sub/beside.py', 'value = 43\n')
        self.write('sub/main.py', 'import sys, beside\n'
                   'print(__file__, sys.argv[0], sys.path[0], beside.value)\n')
        for name in 'sub/main.py', os.path.join(self.work, 'sub/main.py'):
            with self.subTest(name=name):
                own = subprocess.run(['python3', '-B', name], cwd=self.work, check=True,
                                     capture_output=True, text=True).stdout
                o = self.code_json('python', name, '-e', 'PYTHONDONTWRITEBYTECODE=1')
                self.assert_ended(o, 'exit', 0, output=own)

    def test_a_file_and_another_directory(self):
        self.write('main.py', 'import os; print(os.getcwd())')
        o = self.code_json('python', os.path.join(self.work, 'main.py'), '-C', self.home)
        self.assert_ended(o, 'exit', 0, output=f'{self.home}\n')

    def test_a_file_that_looks_like_an_option(self):
        self.write('-main.py', 'print("ok")')
        o = self.code_json('python', './-main.py')
        self.assert_ended(o, 'exit', 0, output='ok\n')

    def test_a_missing_file(self):
        o = self.code_json('python', 'no-such-file.py')
        self.assertEqual(o.rc, 125, str(o))
        self.assert_refused(o, 'bad_request', 125, 'no-such-file.py')
        self.assert_complains(self.rein('code', 'python', 'no-such-file.py'), 125,
                              'no-such-file.py')

    def test_syntax_error(self):
        o = self.python('def f(:\n')
        r = self.assert_ended(o, 'exit', 1)
        self.assertIn('SyntaxError', r['output'])

    def test_long_code(self):
        code = b'x = 0\n' + b'x += 1  # a line of some length to fill the megabyte\n' * 20000
        o = self.code_json('python', '-', input=code + b'print(x)\n')
        self.assert_ended(o, 'exit', 0, output='20000\n')

    def test_stdin_is_null(self):
        o = self.python('import sys; print(repr(sys.stdin.read()))')
        self.assert_ended(o, 'exit', 0, output="''\n")

    def test_deadline(self):
        m = self.marker(98797)
        script = f'import subprocess; print("up"); subprocess.run(["sleep", "{m}"])'
        o, _ = self.ready_before(lambda t: self.python(script, '-t', t), 0.5, 'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, output='up\n')

    def test_many_at_once(self):
        started = [self.spawn('code', 'python', '-c', f'print({i})') for i in range(8)]
        for i, p in enumerate(started):
            o = self.finish(p)
            self.assertEqual((o.rc, o.out), (0, f'{i}\n'.encode()), str(o))


class Shells(ReinTest):

    def test_names(self):
        for name in 'bash', 'sh', 'shell':
            with self.subTest(name=name):
                o = self.code_json(name, '-c', 'a=1; echo $((a + 1)); exit 5')
                self.assert_ended(o, 'exit', 5, output='2\n')

    def test_bash_is_bash(self):
        o = self.code_json('bash', '-c', 'a=(x y); echo "${a[1]}" <(:) | cut -c1-7')
        self.assert_ended(o, 'exit', 0, output='y /dev/\n')

    def test_arguments(self):
        o = self.code_json('bash', '-c', 'printf "[%s]" "$@"', '--', 'a b', '--json', '')
        self.assert_ended(o, 'exit', 0, output='[a b][--json][]')

    def test_a_file(self):
        self.write('script.sh', 'echo "$0 $1"\n')
        o = self.code_json('bash', 'script.sh', '--', 'one')
        self.assert_ended(o, 'exit', 0, output='script.sh one\n')

    def test_I3_long_code(self):
        code = b'x=0\n' + b'((x += 1))  # a line of some length to fill the megabyte\n' * 20000
        o = self.code_json('bash', '-', input=code + b'echo $x\n')
        self.assert_ended(o, 'exit', 0, output='20000\n')

    def test_code_is_what_was_written(self):
        code = "cat <<'E'\nit's $HOME and `word` \\ ! # %s\nE\nprintf '%s' ' != '"
        o = self.code_json('bash', '-c', code)
        self.assert_ended(o, 'exit', 0, output="it's $HOME and `word` \\ ! # %s\n != ")

    def test_no_newline_at_the_end(self):
        o = self.code_json('bash', '-', input=b'echo one\necho two')
        self.assert_ended(o, 'exit', 0, output='one\ntwo\n')

    def test_powershell_is_never_bash(self):
        for name in 'powershell', 'pwsh', 'ps1':
            with self.subTest(name=name):
                o = self.code_json(name, '-c', 'echo hi', extra_env={'PATH': '/usr/bin:/bin'})
                if o.rc == 127:
                    r = self.assert_refused(o, 'command_not_found', 127, 'pwsh')
                    self.assertTrue(r['hint'])
                else:
                    self.assert_ended(o, 'exit', 0, output='hi\n')


class OtherLanguages(ReinTest):

    def list(self):
        """The names of each language and its interpreter, from the program's own list."""
        o = self.rein('code', '--list', '--json')
        self.assertEqual((o.rc, o.err), (0, b''), str(o))
        return [([e['name'], *e['aliases']], e['interpreter']) for e in json.loads(o.out)]

    def check(self, program, code):
        self.need(program)
        names = next(names for names, _ in self.list() if program in names)
        for name in names:
            with self.subTest(name=name):
                o = self.code_json(name, '-c', code, '--', 'a', 'b c')
                self.assert_ended(o, 'exit', 0, output='a,b c\n')

    def test_node(self):
        self.check('node', 'console.log(process.argv.slice(2).join(","))')

    def test_perl(self):
        self.check('perl', 'print join(",", @ARGV), "\\n"')

    def test_ruby(self):
        self.check('ruby', 'puts ARGV.join(",")')

    def test_every_language_of_the_list_runs(self):
        """Where its program is there; an empty script ends well in all of them."""
        for names, interpreter in self.list():
            for name in names:
                with self.subTest(name=name):
                    o = self.code_json(name, input=b'\n')
                    if interpreter is None:
                        self.assert_refused(o, 'command_not_found', 127)
                    else:
                        self.assert_ended(o, 'exit', 0, output='')
                        self.assertEqual(o.R['command'][0], interpreter)

    def test_node_finds_modules_beside_a_file(self):
        self.need('node')
        self.write('mine.js', 'exports.value = 44;\n')
        self.write('main.js', 'console.log(require("./mine.js").value);\n')
        o = self.code_json('node', 'main.js')
        self.assert_ended(o, 'exit', 0, output='44\n')

    def test_list(self):
        lists = [set(names) for names, _ in self.list()]
        o = self.rein('code', '--list')
        self.assertEqual([line.split() for line in o.text.splitlines()],
                         [[*names, *(interpreter or '(not found)').split()]
                          for names, interpreter in self.list()])
        for names in ({'python', 'py'}, {'bash', 'shell'}, {'sh'}, {'node', 'javascript', 'js'},
                      {'powershell', 'pwsh', 'ps1'}):
            self.assertTrue(any(names <= listed for listed in lists), (names, lists))

    def test_unknown(self):
        for name in 'cobol', '', '../python', 'python ':
            with self.subTest(name=name):
                o = self.code_json(name, '-c', 'x')
                self.assert_refused(o, 'bad_request', 125, name)
        self.assert_complains(self.rein('code', 'cobol', '-c', 'x'), 125, 'cobol')

    def test_missing_interpreter(self):
        for name in 'python', 'bash', 'node':
            with self.subTest(name=name):
                extra = {'PATH': self.home}
                o = self.code_json(name, '-c', 'x', extra_env=extra)
                self.assert_refused(o, 'command_not_found', 127, name)
                self.assert_complains(self.rein('code', name, '-c', 'x', extra_env=extra), 127,
                                      name)
                self.assert_no_scripts()

    def test_no_language(self):
        self.assert_complains(self.rein('code'), 125)
        self.assert_complains(self.rein('code', '-c', 'print(1)'), 125)

    def test_too_many_words(self):
        self.write('a.py', '')
        o = self.rein('code', 'python', 'a.py', 'b.py')
        self.assert_complains(o, 125, 'b.py')


if __name__ == '__main__':
    unittest.main()
