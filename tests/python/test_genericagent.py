"""GenericAgent's code_run and do_code_run: each row of what a drop-in keeps, and of the faults that it
does not keep."""

import contextlib
import inspect
import io
import json
import os
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from python_test import PATIENCE, PythonTest, wait_until

import rein
from rein.compat import genericagent
from rein.compat.genericagent import code_run, do_code_run

TIMEOUT_LINE = '[Timeout Error] 超时强制终止'
STOP_LINE = '[Stopped] 用户强制终止'


def drain(generator):
    """(items, the value that it returns)"""
    items = []
    while True:
        try:
            items.append(next(generator))
        except StopIteration as end:
            return items, end.value


def run(code, *args, **kw):
    kw.setdefault('echo', False)
    return drain(code_run(code, *args, **kw))[1]


class Signature(unittest.TestCase):

    def test_arguments_and_defaults(self):
        self.assertTrue(inspect.isgeneratorfunction(code_run))
        found = [(p.name, p.default) for p in inspect.signature(code_run).parameters.values()
                 if p.kind == p.POSITIONAL_OR_KEYWORD]
        self.assertEqual(found, [
            ('code', inspect.Parameter.empty), ('code_type', 'python'), ('timeout', 60),
            ('cwd', None), ('code_cwd', None), ('stop_signal', None), ('maxlen', 10000)])


class Arguments(PythonTest):
    """1.1"""

    def test_types(self):
        for name in ('python', 'py'):
            self.assertEqual(run('print(6 * 7)', name)['stdout'], '42\n')
        for name in ('bash', 'sh', 'shell'):
            self.assertEqual(run('echo $((6 * 7))', name)['stdout'], '42\n')
        self.assertEqual(run('echo ${BASH_VERSION:+yes}', 'bash')['stdout'], 'yes\n')

    def test_powershell_is_not_bash(self):
        for name in ('powershell', 'ps1', 'pwsh'):
            result = run('echo 1', name)
            if result['status'] != 'success':
                self.assertEqual(result['error_code'], 'command_not_found')
                self.assertTrue(result['hint'])

    def test_unknown_type(self):
        result = run('1', 'klingon')
        self.assertEqual((result['status'], result['msg'], result['error']),
                         ('error', '不支持的类型: klingon', '不支持的类型: klingon'))

    def test_timeout_fractions(self):
        begin = time.monotonic()
        result = run('import time; time.sleep(300)', timeout=0.1)
        self.assert_soon(begin)
        self.assertEqual((result['stdout'], result['exit_code']), (TIMEOUT_LINE, -9))
        self.assertLess(result['duration_ms'], 1000)

    def test_function_has_no_ceiling(self):
        self.assertEqual(run('print(1)', timeout=5000)['status'], 'success')

    def test_cwd(self):
        os.mkdir('folder')
        self.assertEqual(run('import os; print(os.getcwd())', cwd='folder')['stdout'].strip(),
                         os.path.join(self.work, 'folder'))
        self.assertEqual(run('pwd', 'bash')['stdout'].strip(), self.work)
        self.assertEqual(run('pwd', 'bash', cwd=None)['status'], 'success')
        self.assertEqual(run('1', cwd='/nonexistent')['error_code'], 'bad_cwd')

    def test_imports(self):
        os.mkdir('scripts')
        for name in ('here', 'scripts/there'):
            with open(f'{name}.py', 'w', encoding='ascii') as f:
                f.write(f'x = {name!r}')
        result = run('import here, there; print(here.x, there.x)', code_cwd='scripts')
        self.assertEqual(result['stdout'], 'here scripts/there\n')

    def test_stop_signal(self):
        signal = []
        threading.Timer(0.2, signal.append, [1]).start()
        begin = time.monotonic()
        result = run('import time; print("x", flush=True); time.sleep(300)', stop_signal=signal)
        self.assert_soon(begin)
        self.assertEqual((result['status'], result['stdout'], result['reason']),
                         ('error', f'x\n{STOP_LINE}', 'stopped'))
        self.assertIn(result['exit_code'], (-15, -9))

    def test_stop_signal_beside_much_output(self):
        signal = []
        threading.Timer(0.2, signal.append, [1]).start()
        self.assertTrue(run('yes', 'bash', stop_signal=signal)['stdout'].endswith('\n' + STOP_LINE))

    def test_maxlen(self):
        result = run('print("x" * 50000)', maxlen=500)
        self.assertLessEqual(len(result['stdout']), 500)
        with open(result['log_file'], encoding='ascii') as f:
            self.assertEqual(f.read(), 'x' * 50000 + '\n')
        wide = run('print("é" * 600)', maxlen=1000)
        self.assertEqual(wide['stdout'], 'é' * 600 + '\n')


class Runs(PythonTest):
    """1.2"""

    def test_python(self):
        code = ('import sys, os\n'
                'print(sys.flags.utf8_mode, sys.stdout.write_through, os.path.basename(__file__))\n'
                'print(oct(os.stat(__file__).st_mode)[-3:], __name__)\n')
        out = run(code)['stdout'].split()
        self.assertEqual((out[0], out[3], out[4]), ('1', '600', '__main__'))
        self.assertTrue(out[2].endswith('.ai.py'))

    def test_same_interpreter(self):
        code = 'import sys; print(sys.version_info[:3], sys.prefix)'
        self.assertEqual(run(code)['stdout'].strip(), f'{sys.version_info[:3]} {sys.prefix}')
        self.assertEqual(do_code_run({'code': code})['stdout'].strip(),
                         f'{sys.version_info[:3]} {sys.prefix}')

    def test_virtual_environment(self):
        """Its interpreter is a link to the system's, and another one all the same."""
        folder = os.path.join(self.temp, 'venv')
        home = os.path.dirname(os.path.realpath(sys.executable))
        os.makedirs(os.path.join(folder, 'bin'))
        os.symlink(os.path.realpath(sys.executable), os.path.join(folder, 'bin', 'python3'))
        with open(os.path.join(folder, 'pyvenv.cfg'), 'w', encoding='utf-8') as f:
            f.write(f'home = {home}\n')
        program = ('from rein.compat.genericagent import code_run\n'
                   'print(list(code_run("import sys; print(sys.prefix)", echo=False))[-1]["stdout"])')
        out = subprocess.run([os.path.join(folder, 'bin', 'python3'), '-c', program], check=True,
                             env={**self.env, 'PATH': f'{home}:/usr/bin:/bin'},
                             stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(out.strip(), folder)

    def test_tracebacks_name_the_file(self):
        self.assertRegex(run('\n1/0')['stdout'], r'File ".*\.ai\.py", line 2')

    def test_no_file_is_left(self):
        for code, kind, timeout in (('1', 'python', 9), ('1', 'py', 9), ('1/0', 'python', 9),
                                    ('while True: pass', 'python', 0.3), ('echo', 'bash', 9)):
            run(code, kind, timeout)
        self.assert_no_scripts()

    def test_no_file_is_left_by_a_killed_caller(self):
        marker = self.marker(300)
        host = self.host('''
            from rein.compat.genericagent import code_run
            list(code_run('sleep ' + sys.argv[1], 'bash'))
        ''', marker)
        wait_until(lambda: self.processes(marker), PATIENCE, 'the start')
        host.kill()
        host.wait()
        self.assert_gone(marker)
        folder = os.path.join(self.state, 'code')
        wait_until(lambda: not os.listdir(folder), PATIENCE, 'the end of the script file')

    def test_bash_of_any_size(self):
        result = run('echo begin\n' + ': ' + 'x' * 1_000_000 + '\necho end', 'bash')
        self.assertEqual(result['stdout'], 'begin\nend\n')

    def test_streams(self):
        code = ('import sys\nfor i in range(3):\n'
                '    print(i)\n    print(-i, file=sys.stderr)\nprint(repr(sys.stdin.read()))')
        self.assertEqual(run(code)['stdout'], "0\n0\n1\n-1\n2\n-2\n''\n")

    def test_environment_is_inherited(self):
        os.environ['OWN_VARIABLE'] = 'value'
        self.assertEqual(run('echo $OWN_VARIABLE', 'bash')['stdout'], 'value\n')

    def test_decoding(self):
        code = ('import sys; w = sys.stdout.buffer.write\n'
                'w("中文\\n".encode("gbk")); w("中文\\n".encode()); w(b"a\\xff\\n")')
        self.assertEqual(run(code)['stdout'], '中文\n中文\na�\n')


class Answers(PythonTest):
    """1.3"""

    def test_texts(self):
        items, result = drain(code_run('print("text")', cwd=self.work, echo=False))
        self.assertEqual(items[0], '[Action] Running python in work: print("text")\n')
        self.assertEqual(''.join(items[1:-1]), 'text\n')
        self.assertEqual(items[-1], '[Status] ✅ Exit Code: 0\n[Stdout]\ntext\n\n')
        self.assertEqual({k: result[k] for k in ('status', 'stdout', 'exit_code')},
                         {'status': 'success', 'stdout': 'text\n', 'exit_code': 0})
        self.assertIs(type(result), dict)

    def test_preview(self):
        code = 'x = 1\n' * 20
        items, _ = drain(code_run(code, echo=False))
        self.assertEqual(items[0].partition(': ')[2], code[:60].replace('\n', ' ') + '...\n')

    def test_failure(self):
        items, result = drain(code_run('import sys; sys.exit(3)', echo=False))
        self.assertTrue(items[-1].startswith('[Status] ❌ Exit Code: 3\n'))
        self.assertEqual((result['status'], result['exit_code']), ('error', 3))

    def test_signal(self):
        self.assertEqual(run('kill -USR1 $$', 'bash')['exit_code'], -10)

    def test_guide_reads_the_last_item(self):
        last = list(code_run('print(1)', echo=False))[-1]
        self.assertEqual((last['status'], last['stdout'], last['exit_code']), ('success', '1\n', 0))
        self.assertIsInstance(last, str)
        self.assertEqual(last.get('nothing', 5), 5)
        self.assertIn('status', last)
        self.assertIn('Exit Code', last)
        self.assertNotIn('nothing at all', last)
        self.assertEqual(dict(last), last.result)
        self.assertEqual(dict(last.items()), last.result)
        self.assertEqual(list(last.values()), list(last.result.values()))
        self.assertEqual(last[:8], '[Status]')
        with self.assertRaises(KeyError):
            last['nothing']

    def test_program_reads_the_return_value(self):
        def agent():
            return (yield from code_run('print(1)', echo=False))
        self.assertEqual(drain(agent())[1]['stdout'], '1\n')

    def test_text_comes_while_it_runs(self):
        open('go', 'w', encoding='ascii').close()
        for text in code_run('echo x; while [ -e go ]; do sleep 0.01; done', 'bash', echo=False):
            if text == 'x\n':
                os.unlink('go')
        self.assertEqual(text['status'], 'success')

    def test_each_line_is_printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            drain(code_run('print("to be seen")'))
        self.assertEqual(out.getvalue(), 'to be seen\n')
        with contextlib.redirect_stdout(None):
            self.assertEqual(drain(code_run('print(1)'))[1]['stdout'], '1\n')

    def test_snippet(self):
        items, _ = drain(code_run('print("`" * 5); print("y" * 5000)', echo=False))
        shown = items[-1].partition('[Stdout]\n')[2]
        self.assertLessEqual(len(shown), 602)
        self.assertIn('[omitted long output]', shown)
        self.assertNotIn('````', shown)

    def test_deadline_marker_is_the_last_line(self):
        result = run('import time; print("before"); time.sleep(300)', timeout=1)
        self.assertEqual(result['stdout'], f'before\n{TIMEOUT_LINE}')
        result = run('printf before; sleep 300', 'bash', 1)
        self.assertEqual(result['stdout'], f'before\n{TIMEOUT_LINE}')

    def test_start_that_fails(self):
        result = run('1', cwd='/nonexistent')
        self.assertEqual(result['status'], 'error')
        self.assertEqual(result['msg'], result['error'])

    def test_closing_ends_the_code(self):
        marker = self.marker(300)
        generator = code_run(f'echo x; sleep {marker}', 'bash', echo=False)
        next(generator)
        next(generator)
        generator.close()
        self.assertEqual(self.processes(marker), [])


class Tool(PythonTest):
    """1.4"""

    def test_json(self):
        self.assertEqual(do_code_run('{"script": "print(1)", "type": "python"}')['stdout'], '1\n')
        self.assertEqual(do_code_run({'code': 'print(2)', 'script': 'print(3)'})['stdout'], '2\n')
        self.assertEqual(do_code_run({'code': '', 'script': 'print(3)'})['stdout'], '3\n')
        json.dumps(do_code_run({'script': 'print(1)'}))

    def test_reply(self):
        class Response:
            content = 'First\n```bash\necho no\n```\nthen\n```python\nprint("yes")\n```\nend'
        self.assertEqual(do_code_run({}, Response)['stdout'], 'yes\n')
        self.assertEqual(do_code_run({'type': 'bash'}, Response.content)['stdout'], 'no\n')

    def test_no_code(self):
        result = do_code_run({}, 'no block')
        text = "[Error] Code missing. Must use reply code block or 'script' arg."
        self.assertEqual((result['error'], result['error_code'], result['status']),
                         (text, 'bad_request', 'error'))

    def test_ceiling(self):
        result = do_code_run({'script': 'print(1)', 'timeout': 601})
        self.assertTrue(result['error'].startswith(
            '[ERROR] Timeout must be <= 600 seconds; code not executed.'))
        self.assertEqual(result['error_code'], 'limit_exceeded')
        self.assertIn('run_in_background', result['hint'])
        self.assertEqual(do_code_run({'script': 'print(1)', 'timeout': 600})['status'], 'success')

    def test_timeout_that_cannot_be_read(self):
        for timeout in ('x', None, [], '30'):
            self.assertEqual(do_code_run({'script': 'print(1)', 'timeout': timeout})['status'],
                             'success')
        self.assertEqual(do_code_run({'script': 'import time; time.sleep(300)',
                                      'timeout': 0.2})['reason'], 'timeout')

    def test_folder_of_the_agent(self):
        os.makedirs('agent/sub')
        for cwd in ('sub', os.path.join(self.work, 'agent', 'sub')):
            result = do_code_run({'type': 'bash', 'script': 'pwd', 'cwd': cwd}, cwd='agent')
            self.assertEqual(result['stdout'].strip(), os.path.join(self.work, 'agent', 'sub'))

    def test_cap_is_divided(self):
        script = {'script': 'print("x" * 20000)'}
        self.assertGreater(len(do_code_run(script)['stdout']), 5000)
        self.assertLessEqual(len(do_code_run({**script, '_tool_num': 4})['stdout']), 2500)

    def test_inline_eval_is_refused(self):
        result = do_code_run({'script': '1', 'inline_eval': True})
        self.assertEqual((result['error_code'], result['status']), ('bad_request', 'error'))
        self.assertTrue(result['hint'])

    def test_stop(self):
        self.assertEqual(do_code_run({'script': '1'}, stop_signal=[1])['stdout'], STOP_LINE)
        signal = []
        threading.Timer(0.2, signal.append, [1]).start()
        result = do_code_run({'type': 'bash', 'script': 'sleep 300'}, stop_signal=signal)
        self.assertEqual(result['stdout'], STOP_LINE)

    def test_background(self):
        """Section 6: "running", then "exited" for the tools that follow."""
        result = do_code_run({'type': 'bash', 'script': 'echo x', 'run_in_background': True})
        self.assertEqual(result['status'], 'running')
        rein.attach(result['process_id']).wait(PATIENCE)
        self.assertEqual(rein.call_tool('get_command_output',
                                        {'process_id': result['process_id']})['status'], 'exited')


class Prelude(PythonTest):
    """1.5"""

    def test_what_agents_rely_on(self):
        self.assertEqual(run('print(sys.argv[1:], os.sep, re, json, time, subprocess)')['status'],
                         'success')
        self.assertIn('[Agent Hint]: NO GUESSING! You MUST probe first. If missing common package, '
                      'pip.', run('import no_such_module_98')['stdout'])
        code = 'print(repr(subprocess.run(["printf", "\\\\xd6\\\\xd0"], capture_output=True, text=True).stdout))'
        self.assertEqual(run(code)['stdout'], "'中'\n")

    def test_line_numbers_and_future(self):
        self.assertIn('line 1', run('1/0')['stdout'])
        self.assertEqual(run('from __future__ import annotations\nprint(1)')['stdout'], '1\n')

    def test_without_it(self):
        self.assertEqual(run('print(os)', prelude='none')['status'], 'error')


class Faults(PythonTest):
    """5: what it does better on purpose."""

    def test_1_no_poll(self):
        times = sorted(run('print("hi")')['duration_ms'] for _ in range(3))
        self.assertLess(times[1], 900)

    def test_3_much_output(self):
        begin = time.monotonic()
        result = run('head -c 50000000 /dev/zero | tr "\\0" x', 'bash')
        self.assertEqual(result['output_bytes'], 50_000_000)
        self.assert_soon(begin, 20)

    def test_4_the_whole_tree_ends(self):
        marker = self.marker(300)
        run(f'setsid sleep {marker} & (sleep {marker} &) ; sleep {marker}', 'bash', 0.5)
        self.assertEqual(self.processes(marker), [])

    def test_5_child_that_holds_the_pipe(self):
        begin = time.monotonic()
        result = run(f'sleep {self.marker(300)} & echo done', 'bash')
        self.assert_soon(begin)
        self.assertEqual((result['status'], result['stdout']), ('success', 'done\n'))
        self.assertEqual(len(result['left_running']), 1)

    def test_7_exit_code_after_a_kill(self):
        for _ in range(3):
            self.assertEqual(run('sleep 300', 'bash', 0.1)['exit_code'], -9)

    def test_10_stop_belongs_to_one_run(self):
        with mock.patch.object(genericagent, 'Streamed', side_effect=AssertionError('started')):
            result = run('touch started', 'bash', stop_signal=[1])
            self.assertEqual(do_code_run({'script': '1'}, stop_signal=[1]), result)
        self.assertEqual((result['status'], result['stdout']), ('error', STOP_LINE))
        self.assertIsInstance(result['exit_code'], int)
        self.assertEqual(run('print(1)', stop_signal=[])['stdout'], '1\n')

    def test_12_cap_includes_its_marker(self):
        self.assertLessEqual(len(run('print("x" * 50000)')['stdout']), 10000)

    def test_15_good_characters_stay(self):
        code = 'import sys; sys.stdout.buffer.write("ä中".encode() + b"\\xff\\n")'
        self.assertEqual(run(code)['stdout'], 'ä中�\n')

    def test_20_lone_surrogate(self):
        self.assertEqual(run('print("\ud800")')['error_code'], 'bad_request')
        self.assert_no_scripts()

    def test_module_has_what_it_says(self):
        for name in genericagent.__all__:
            self.assertTrue(hasattr(genericagent, name))


if __name__ == '__main__':
    unittest.main()
