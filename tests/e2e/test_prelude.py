"""What runs before Python code is outside of it: not in its lines, its names, its tracebacks, nor in
its children."""

import json
import unittest

from rein_test import ReinTest

HINT = '[Agent Hint]: NO GUESSING! You MUST probe first. If missing common package, pip.\n'


class Prelude(ReinTest):

    def tool(self, code, **arguments):
        """What code_run shows of a piece of Python."""
        given = json.dumps({'code': code, **arguments})
        return self.rein('tool', 'call', 'code_run', given).R

    def shown(self, code, **arguments):
        return self.tool(code, **arguments)['stdout']


class Default(Prelude):
    """The built-in one, that tools have."""

    def test_line_1_stays_line_1(self):
        shown = self.shown('1/0\n')
        self.assertRegex(shown, r'^Traceback \(most recent call last\):\n'
                                r'  File ".*/script\.ai\.py", line 1, in <module>\n')
        self.assertNotIn('prelude', shown)

    def test_future_imports(self):
        self.assertEqual(self.shown('from __future__ import annotations\nprint("ok")'), 'ok\n')

    def test_modules_without_an_import(self):
        self.assertEqual(self.shown('print(json.dumps({}), re.escape("."), os.sep, time.time() > 0,'
                                    ' sys.byteorder, subprocess.PIPE)'),
                         '{} \\. / True little -1\n')

    def test_nothing_is_imported_that_is_not_used(self):
        self.assertEqual(self.shown('print([n for n in ("json", "subprocess") '
                                    'if n in sys.modules])'), '[]\n')

    def test_names_of_the_code_are_its_own(self):
        self.assertEqual(self.shown('print(sorted(n for n in globals() if n[:2] != "__"))'), '[]\n')
        self.assertEqual(self.shown('json = 5\nprint(json)'), '5\n')
        self.assertEqual(self.shown('import json\nprint(json.__name__)'), 'json\n')

    def test_hint(self):
        for code in 'import nosuch', 'from os import nosuch', 'os.nosuch', 'json.nosuch':
            with self.subTest(code=code):
                shown = self.shown(code)
                self.assertTrue(shown.endswith(HINT), shown)
                self.assertEqual(shown.count('  File "'), 1, shown)
        self.assertNotIn(HINT, self.shown('1/0'))
        self.assertNotIn(HINT, self.shown('try:\n    import nosuch\nexcept ImportError: pass'))

    def test_text_of_children_is_decoded(self):
        run = 'print(subprocess.run(["printf", {!r}], stdout=-1, text=True).stdout, end="")'
        for written, expected in ((r'\304\343\272\303\n', '你好\n'), ('é\n', 'é\n'),
                                  (r'a\377\n', 'a\ufffd\n'), (r'\304\343\nb\377\n', '你\nb\ufffd\n')):
            with self.subTest(written=written):
                self.assertEqual(self.shown(run.format(written)), expected)
                self.assertEqual(self.shown('import subprocess\n' + run.format(written)), expected)

    def test_what_was_asked_for_stays(self):
        run = ('try:\n    subprocess.run(["printf", "\\\\377"], stdout=-1, {})\n'
               'except UnicodeDecodeError: print("strict")')
        self.assertEqual(self.shown(run.format('text=True, errors="strict"')), 'strict\n')
        self.assertEqual(self.shown(run.format('encoding="ascii"')), 'strict\n')
        self.assertEqual(self.shown('print(subprocess.run(["printf", "x"], stdout=-1).stdout)'),
                         "b'x'\n")

    def test_errors_of_subprocess_show_nothing_else(self):
        shown = self.shown('subprocess.run(["/nosuch"])')
        self.assertNotIn('prelude', shown)
        self.assertIn('FileNotFoundError', shown)

    def test_children_do_not_have_it(self):
        shown = self.shown('subprocess.run([sys.executable, "-c", "import os; '
                           'print(os.environ.get(\'PYTHONPATH\')); json"])')
        self.assertTrue(shown.startswith(self.work + '\n'), shown)
        self.assertIn('NameError', shown)
        self.assertNotIn('prelude', shown)

    def test_search_path(self):
        self.write('mine.py', 'print("mine")')
        self.assertEqual(self.shown('import mine\nprint([p for p in sys.path if "prelude" in p])'),
                         'mine\n[]\n')

    def test_start_up_file_of_the_site(self):
        """It runs as it would have."""
        self.write('sitecustomize.py', 'import builtins; builtins.from_site = "site"')
        self.assertEqual(self.shown('print(from_site, json.dumps(1))'), 'site 1\n')

    def test_other_languages(self):
        self.assertEqual(self.shown('echo ok', type='bash'), 'ok\n')

    def test_files_beside_the_code(self):
        self.assertEqual(self.shown('print(open("a").read())', files={'a': 'text'}), 'text\n')

    def test_nothing_is_left(self):
        self.shown('print(1)')      # and then the test itself looks


class Own(Prelude):
    """One of the user's."""

    def test_runs_in_the_namespace_of_the_code(self):
        own = self.write('own.py', 'import math\nanswer = 42\n')
        for source in (['-c', 'print(answer, math.pi > 3)'],
                       [self.write('file.py', 'print(answer, math.pi > 3)')]):
            o = self.code_json('--prelude', own, 'python', *source)
            self.assertEqual(o.R['output'], '42 True\n', str(o))

    def test_lines_stay(self):
        own = self.write('own.py', 'a = 1\nb = 2\n')
        o = self.code_json('--prelude', own, 'python', '-c', '1/0')
        self.assertIn('line 1, in <module>', o.R['output'])
        self.assertNotIn('sitecustomize', o.R['output'])

    def test_code_has_none_of_itself(self):
        o = self.code_json('python', '-c', 'print("json" in dir(__builtins__))')
        self.assertEqual(o.R['output'], 'False\n')

    def test_configured(self):
        own = self.write('own.py', 'answer = 42\n')
        env = {'REIN_PRELUDE': own}
        o = self.code_json('python', '-c', 'print(answer)', extra_env=env)
        self.assertEqual(o.R['output'], '42\n')
        o = self.rein('tool', 'call', 'code_run', '{"code": "print(answer, \'json\' in '
                      'dir(__builtins__))"}', extra_env=env)
        self.assertEqual(o.R['stdout'], '42 False\n')
        o = self.code_json('bash', '-c', 'echo ok', extra_env=env)
        self.assertEqual(o.R['output'], 'ok\n')
        o = self.rein('tool', 'call', 'code_run', '{"code": "json"}',
                      extra_env={'REIN_PRELUDE': 'none'})
        self.assertIn('NameError', o.R['stdout'])

    def test_refused(self):
        self.assert_refused(self.code_json('--prelude', '/nosuch', 'python', '-c', '1'),
                            'bad_request', 125, '/nosuch')
        own = self.write('own.py', '')
        self.assert_refused(self.code_json('--prelude', own, 'bash', '-c', ':'), 'bad_request', 125,
                            'bash')
        large = self.write('large.py', b'#' * ((1 << 20) + 1))
        self.assert_refused(self.code_json('--prelude', large, 'python', '-c', '1'),
                            'limit_exceeded', 125)
        self.assert_refused(self.code_json('--prelude', self.work, 'python', '-c', '1'),
                            'bad_request', 125)


if __name__ == '__main__':
    unittest.main()
