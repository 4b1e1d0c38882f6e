"""PraisonAI's shell tools: each row of what a drop-in keeps, and of the faults that it does not keep."""

import inspect
import json
import os
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

from python_test import PATIENCE, PythonTest, wait_until

import rein
from rein.compat import praisonai
from rein.compat.praisonai import (ApprovalDecision, ShellTools, execute_command,
                                   get_command_output, get_system_info, kill_process,
                                   list_processes, set_approval_callback, stop_command)

FOREGROUND = ('exit_code', 'success', 'execution_time', 'stdout', 'stderr')


class PraisonTest(PythonTest):

    def background(self, command, **kw):
        answer = execute_command(command, run_in_background=True, **kw)
        self.assertTrue(answer['success'], answer)
        self.addCleanup(stop_command, answer['process_id'])
        return answer['process_id']

    def ended(self, process_id):
        rein.attach(process_id).wait(PATIENCE)
        return get_command_output(process_id)

    def check_refused(self, answer, code):
        self.assertEqual((answer['success'], answer['error_code']), (False, code))
        self.assertEqual((answer['stdout'], answer['exit_code'], answer['execution_time']),
                         ('', -1, 0))
        self.assertEqual(answer['stderr'], 'Error executing command: ' + answer['error'])


class Signatures(unittest.TestCase):

    def check(self, function, expected):
        self.assertEqual([(p.name, p.default) for p in
                          inspect.signature(function).parameters.values()], expected)

    def test_execute_command(self):
        self.check(execute_command, [
            ('command', inspect.Parameter.empty), ('cwd', None), ('timeout', 30), ('env', None),
            ('max_output_size', 10000), ('spill', True), ('spill_dir', None),
            ('allow_dangerous', False), ('run_in_background', False)])

    def test_others(self):
        empty = inspect.Parameter.empty
        self.check(get_command_output, [('process_id', empty), ('tail', 200)])
        self.check(stop_command, [('process_id', empty)])
        self.check(kill_process, [('pid', empty), ('force', False)])
        self.check(list_processes, [])
        self.check(get_system_info, [])

    def test_module(self):
        for name in praisonai.__all__:
            self.assertTrue(hasattr(praisonai, name))

    def test_docstrings(self):
        for name in praisonai.__all__:
            self.assertTrue(getattr(praisonai, name).__doc__, name)


class Background(PraisonTest):
    """2.1 to 2.3"""

    def test_start(self):
        begin = time.monotonic()
        answer = execute_command('sleep 300', run_in_background=True)
        self.assert_soon(begin)
        self.assertEqual((answer['success'], answer['status']), (True, 'running'))
        self.assertRegex(answer['process_id'], '^[0-9a-f]{8}$')
        self.assertIsInstance(answer['pid'], int)
        self.assertTrue(os.path.exists(answer['log_file']))
        answer = stop_command(answer['process_id'])
        self.assertEqual((answer['success'], answer['status'], answer['exit_code']),
                         (True, 'exited', -15))

    def test_timeout_is_ignored(self):
        known = execute_command('sleep 300', timeout=1, run_in_background=True)
        self.addCleanup(stop_command, known['process_id'])
        self.assertIn('timeout', ' '.join(known['warnings']))
        self.assertEqual(execute_command('true', run_in_background=True)['warnings'], [])

    def test_output(self):
        known = self.background(['sh', '-c', 'seq 1 500; exit 3'])
        answer = self.ended(known)
        self.assertEqual((answer['success'], answer['status'], answer['exit_code']),
                         (False, 'exited', 3))
        self.assertEqual(answer['output'], ''.join(f'{i}\n' for i in range(301, 501)))
        self.assertEqual(get_command_output(known, tail=2)['output'], '499\n500\n')
        self.assertEqual(set(('success', 'process_id', 'pid', 'status', 'exit_code', 'output',
                              'log_file')) - set(answer), set())

    def test_output_while_it_runs(self):
        known = self.background(['sh', '-c', 'echo begun; sleep 300'])
        rein.attach(known).wait(PATIENCE, for_line='begun')
        answer = get_command_output(known)
        self.assertEqual((answer['success'], answer['status'], answer['exit_code'],
                          answer['output']), (True, 'running', None, 'begun\n'))

    def test_at_most_64_kib(self):
        known = self.background(['sh', '-c', 'head -c 200000 /dev/zero | tr "\\0" x'])
        self.ended(known)
        self.assertLessEqual(len(get_command_output(known, tail=10)['output']), 64 << 10)

    def test_unknown_id(self):
        for call in (get_command_output, stop_command):
            answer = call('deadbeef')
            self.assertEqual((answer['success'], answer['error']),
                             (False, "No background command with process_id 'deadbeef'"))

    def test_use_server(self):
        """Start a web server, request a page, stop it."""
        known = self.background([sys.executable, '-u', '-m', 'http.server', '0',
                                 '--bind', '127.0.0.1'])
        line = rein.attach(known).wait(PATIENCE, for_line=r'port \d+ ').matched
        port = line.partition('port ')[2].split()[0]
        page = execute_command([sys.executable, '-c', 'import urllib.request as u; '
                                f'print(u.urlopen("http://127.0.0.1:{port}/").status)'])
        self.assertEqual(page['stdout'], '200\n')
        self.assertEqual(stop_command(known)['exit_code'], -15)
        with self.assertRaises(OSError):
            urllib.request.urlopen(f'http://127.0.0.1:{port}/')

    def test_use_test_suite(self):
        """Poll with tail=10 until it is not running, then read exit_code."""
        known = self.background(['sh', '-c', 'for i in 1 2 3; do echo test $i; sleep 0.05; done'])
        answer = wait_until(lambda: (a := get_command_output(known, tail=10))['status']
                            != 'running' and a, PATIENCE)
        self.assertEqual((answer['exit_code'], answer['success']), (0, True))

    def test_use_watcher(self):
        known = self.background(['sh', '-c', 'while :; do echo tick; sleep 0.01; done'])
        for _ in range(3):
            execute_command('true')
            self.assertEqual(get_command_output(known)['status'], 'running')
        self.assertTrue(stop_command(known)['success'])

    def test_refusal_gives_no_handle(self):
        answer = execute_command('echo x > f', run_in_background=True)
        self.assertNotIn('process_id', answer)
        self.check_refused(answer, 'shell_syntax')

    def test_stop_ends_the_whole_tree(self):
        marker = self.marker(300)
        known = self.background(['sh', '-c', f'setsid sleep {marker} & trap "" TERM; echo ready; '
                                             f'sleep {marker}; sleep {marker}'])
        rein.attach(known).wait(PATIENCE, for_line='ready')
        wait_until(lambda: len(self.processes(marker)) >= 2, PATIENCE)
        stop_command(known)
        self.assertEqual([pid for pid in self.processes(marker)], [])

    def test_end_of_the_interpreter(self):
        for end in ('', 'os.kill(os.getpid(), signal.SIGKILL)'):
            marker = self.marker(300)
            host = self.host('from rein.compat.praisonai import execute_command\n'
                             'execute_command(["sleep", sys.argv[1]], run_in_background=True)\n'
                             + end, marker)
            host.communicate(timeout=PATIENCE)
            self.assert_gone(marker)

    def test_handle_is_valid_in_other_processes(self):
        known = self.background('echo x')
        self.ended(known)
        out = self.host_says('from rein.compat.praisonai import get_command_output\n'
                             f'print(get_command_output("{known}")["output"])')
        self.assertEqual(out, 'x\n\n')

    def test_log_can_be_read(self):
        answer = execute_command('echo logged', run_in_background=True)
        self.ended(answer['process_id'])
        with open(answer['log_file'], encoding='ascii') as f:
            self.assertEqual(f.read(), 'logged\n')


class Arguments(PraisonTest):
    """3.1"""

    def test_words(self):
        for command, expected in (
                ("printf '[%s]' 'a b' c", '[a b][c]'), ('"echo one word"', 'one word\n'),
                ('printf %s $OWN', 'value'), ('printf %s ${OWN}', 'value'),
                ("printf %s '$OWN ~'", '$OWN ~'), ('printf %s $OWN_NOT', '$OWN_NOT'),
                (['printf', '%s', '$OWN'], '$OWN'), (('printf', 'x'), 'x'),
                ("'echo' 'hi'", 'hi\n')):
            with self.subTest(command=command):
                os.environ['OWN'] = 'value'
                self.assertEqual(execute_command(command)['stdout'], expected)
        self.assertEqual(execute_command('echo ~')['command'], ['echo', self.home])

    def test_cwd(self):
        os.mkdir(os.path.join(self.home, 'folder'))
        for cwd in ('~/folder', '$HOME/folder'):
            self.assertEqual(execute_command('pwd', cwd=cwd)['stdout'].strip(),
                             os.path.join(self.home, 'folder'))
        self.assertEqual(execute_command('pwd', cwd='')['stdout'].strip(), self.work)
        self.check_refused(execute_command('pwd', cwd='/nonexistent'), 'bad_cwd')

    def test_timeout(self):
        for none in (None, 0):
            self.assertTrue(execute_command('true', timeout=none)['success'])
        self.check_refused(execute_command('true', timeout=-1), 'bad_request')

    def test_env(self):
        os.environ['OWN'] = 'value'
        answer = execute_command(['sh', '-c', 'echo $OWN $MORE'], env={'MORE': 'more'})
        self.assertEqual(answer['stdout'], 'value more\n')
        self.check_refused(execute_command('true', env={'A': 5}), 'bad_request')

    def test_max_output_size(self):
        answer = execute_command(['sh', '-c', 'seq 1 20000; seq 1 20000 >&2'], max_output_size=900)
        for stream in ('stdout', 'stderr'):
            self.assertLessEqual(len(answer[stream]), 900)
            self.assertIn('bytes omitted; full output: ', answer[stream])
            self.assertEqual(answer[stream + '_artifact'], answer['log_file'])

    def test_spill(self):
        self.assertTrue(execute_command('true', spill=False)['success'])
        self.assertIn('spill_dir', execute_command('true', spill_dir='/tmp')['warnings'][0])


class Results(PraisonTest):
    """3.2"""

    def test_ran(self):
        answer = execute_command(['sh', '-c', 'echo out; echo err >&2; exit 4'])
        self.assertEqual((answer['stdout'], answer['stderr'], answer['exit_code'],
                          answer['success']), ('out\n', 'err\n', 4, False))
        self.assertIsInstance(answer['execution_time'], float)
        self.assertLess(answer['execution_time'], 5)
        json.dumps(answer)

    def test_deadline(self):
        answer = execute_command(['sh', '-c', 'echo before; sleep 300'], timeout=0.5)
        self.assertEqual((answer['stdout'], answer['stderr'], answer['exit_code'],
                          answer['reason'], answer['success']),
                         ('before\n', 'Command timed out after 0.5 seconds', -9, 'timeout', False))
        self.assertGreaterEqual(answer['execution_time'], 0.5)

    def test_pipe_held(self):
        answer = execute_command(['sh', '-c', f'sleep {self.marker(300)} & exit 5'])
        self.assertEqual((answer['exit_code'], len(answer['left_running'])), (5, 1))

    def test_refusals_are_complete(self):
        for command, code in (('no-such-program-98', 'command_not_found'), ('', 'bad_request'),
                              ('echo "open', 'bad_request'), (None, 'bad_request'),
                              ('echo a | cat', 'shell_syntax')):
            with self.subTest(command=command):
                answer = execute_command(command)
                self.assertFalse(set(FOREGROUND) - set(answer), answer)
                self.check_refused(answer, code)

    def test_empty_command(self):
        self.assertEqual(execute_command('')['error'], 'Empty command')

    def test_live_output(self):
        seen = []
        tools = ShellTools(on_output=lambda text, stream: seen.append((text, stream)))
        tools.execute_command(['sh', '-c', 'echo out; echo err >&2'])
        self.assertEqual(sorted(seen), [('err\n', 'stderr'), ('out\n', 'stdout')])


class Checks(PraisonTest):
    """4"""

    def test_shell_syntax(self):
        for command, token in (('echo x > f', '>'), ('a && b', '&&'), ('a; b', ';'),
                               ('echo $(id)', '$('), ('a &', '&')):
            with self.subTest(command=command):
                answer = execute_command(command)
                self.assertTrue(answer['error'].startswith(
                    f"Shell syntax '{token}' is not supported by this executor, which runs commands"
                    ' directly (shell=False) so untrusted input cannot reach a shell.'),
                    answer['error'])
        answer = execute_command('printf %s "fix: a > b" *')
        self.assertEqual(answer['stdout'], 'fix: a > b*')

    def ask(self, asker):
        self.rules('ask = printf ask\ndeny = printf deny')
        set_approval_callback(asker)
        self.addCleanup(set_approval_callback, None)
        return execute_command('printf ask', env={'A': 'b'})

    def test_denied(self):
        seen = []

        def deny(name, request, risk):
            seen.append((name, request['command'], risk))
            return ApprovalDecision(False, 'not today')
        with self.assertRaises(PermissionError) as caught:
            self.ask(deny)
        self.assertEqual(str(caught.exception), 'Execution of execute_command denied: not today')
        self.assertEqual(seen, [('execute_command', ['printf', 'ask'], 'low')])
        with self.assertRaises(PermissionError) as caught:
            self.ask(lambda *_: False)
        self.assertEqual(str(caught.exception), 'Execution of execute_command denied: User denied')

    def test_denied_by_a_rule(self):
        self.rules('deny = printf deny')
        with self.assertRaisesRegex(PermissionError,
                                    "^Execution of execute_command denied: rule 'deny = printf"):
            execute_command('printf deny')

    def test_nobody_to_ask(self):
        with self.assertRaisesRegex(PermissionError, 'Execution of execute_command denied: '
                                                     'needs an approval, [0-9a-f]{8}'):
            self.ask(None)

    def test_allowed(self):
        for decision in (ApprovalDecision(True), True):
            self.assertEqual(self.ask(lambda *_: decision)['stdout'], 'ask')
            with self.assertRaises(PermissionError):    # used up by one call
                self.ask(None)
        self.assertEqual(self.ask(lambda *_: ApprovalDecision(True, scope='always'))['stdout'],
                         'ask')
        self.assertEqual(self.ask(None)['stdout'], 'ask')

    def test_nobody_is_asked_for_what_is_harmless(self):
        def asker(*_):
            raise AssertionError
        set_approval_callback(asker)
        self.addCleanup(set_approval_callback, None)
        self.assertIs(praisonai.get_approval_callback(), asker)
        self.assertEqual(execute_command('echo x')['stdout'], 'x\n')

    def test_dangerous(self):
        for command, base in (('rm ../x', 'rm'), ('/bin/chmod 600 ../x', 'chmod'),
                              ('env rm ../x', 'rm'), ("sh -c 'rm ../x'", 'rm'),
                              ('curl -s http://example.invalid', 'curl')):
            with self.subTest(command=command):
                answer = execute_command(command)
                self.check_refused(answer, 'dangerous_command')
                self.assertEqual(answer['error'], f"Command '{base}' is in DANGEROUS_COMMANDS; pass "
                                                  'allow_dangerous=True to override.')
        answer = execute_command('chmod 600 ../x', allow_dangerous=True)
        self.assertNotIn('error_code', answer)

    def test_guide_asks_its_own_server(self):
        """Not dangerous: nothing but loopback, and no file that matters."""
        self.need('curl')
        answer = execute_command('curl -s -o /dev/null -w %{http_code} http://localhost:9')
        self.assertEqual((answer['exit_code'], answer['stdout']), (7, '000'))

    def test_inside_the_working_directory(self):
        os.mkdir('build')
        self.assertTrue(execute_command('rm -rf build')['success'])
        self.assertFalse(os.path.exists('build'))

    def test_never(self):
        os.environ['PATH'] = self.work  # there is nothing to be run, should a check fail
        for command in ('rm -r -f /', 'rm -Rf ~', 'mkfs.ext4 /dev/sda', 'shutdown -P now'):
            for allowed in (False, True):
                with self.subTest(command=command):
                    answer = execute_command(command, allow_dangerous=allowed)
                    self.check_refused(answer, 'forbidden_command')
                    self.assertEqual(answer['error'], 'Command blocked by self-preservation policy: '
                                     + command.replace('~', self.home))
                    self.assertTrue(answer['hint'])

    def test_false_alarms(self):
        for command in ('echo mkfs', "echo 'drop table users'"):
            self.assertTrue(execute_command(command)['success'])


class Machine(PraisonTest):
    """What only reads, and the one thing that kills."""

    def test_list_processes(self):
        mine = next(p for p in list_processes() if p['pid'] == os.getpid())
        self.assertEqual(set(mine), {'pid', 'name', 'username', 'memory_percent', 'cpu_percent'})
        self.assertGreater(mine['memory_percent'], 0)
        self.assertLess(mine['memory_percent'], 100)
        self.assertTrue(mine['username'])

    def test_get_system_info(self):
        info = get_system_info()
        self.assertEqual(set(info), {'cpu', 'memory', 'disk', 'boot_time', 'platform'})
        self.assertEqual(set(info['cpu']), {'percent', 'cores', 'physical_cores'})
        self.assertEqual(set(info['memory']), {'total', 'available', 'percent', 'used', 'free'})
        self.assertEqual(set(info['disk']), {'total', 'used', 'free', 'percent'})
        self.assertEqual((info['platform'], info['cpu']['cores']), ('Linux', os.cpu_count()))
        self.assertLess(info['memory']['available'], info['memory']['total'])
        self.assertLess(info['boot_time'], time.time())
        self.assertTrue(0 <= info['cpu']['percent'] <= 100)

    def test_kill_process_of_a_job(self):
        for force, signal in ((False, -15), (True, -9)):
            answer = execute_command('sleep 300', run_in_background=True)
            self.assertEqual(kill_process(answer['pid'], force), {
                'success': True, 'message': f'Process {answer["pid"]} killed successfully'})
            self.assertEqual(get_command_output(answer['process_id'])['exit_code'], signal)

    def test_kill_process_of_a_stranger(self):
        stranger = subprocess.Popen(['sleep', '300'])
        self.spawned.append(stranger)
        ended = execute_command('true', run_in_background=True)
        self.ended(ended['process_id'])
        for pid in (stranger.pid, 1, os.getpid(), -1, 0, ended['pid'], True, 'x', None):
            answer = kill_process(pid)
            self.assertEqual((answer['success'], set(answer)), (False, {'success', 'message'}))
        self.assertIsNone(stranger.poll())

    def test_class(self):
        tools = ShellTools()
        self.assertEqual(tools.execute_command('echo x')['stdout'], 'x\n')
        self.assertTrue(tools.list_processes())


class Faults(PraisonTest):
    """5: what it does better on purpose."""

    def test_8_no_zombie_of_the_command(self):
        answer = execute_command(['sh', '-c', 'sleep 300'], timeout=0.3)
        self.assertLess(answer['execution_time'], 3)
        self.assertFalse(os.path.exists(f'/proc/{answer["pid"]}'))

    def test_14_invalid_byte(self):
        answer = execute_command(['printf', 'a\\377b\\n'])
        self.assertEqual((answer['stdout'], answer['exit_code']), ('a�b\n', 0))

    def test_16_no_threads_and_descriptors(self):
        execute_command('true')
        before = len(os.listdir('/proc/self/fd'))
        for _ in range(5):
            execute_command(['sh', '-c', 'sleep 300 & true'])
        self.assertLessEqual(len(os.listdir('/proc/self/fd')), before + 2)
        self.assertEqual(threading.active_count(), 1)

    def test_17_store_is_private(self):
        answer = execute_command('seq 1 50000')
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o700)
        self.assertTrue(answer['log_file'].startswith(self.state))

    def test_24_stdin(self):
        self.assertEqual(execute_command('cat')['stdout'], '')


if __name__ == '__main__':
    unittest.main()
