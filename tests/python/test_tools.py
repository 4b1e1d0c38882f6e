"""The tools for models, through the package."""

import json
import os
import subprocess
import threading
import time
import unittest

from python_test import PATIENCE, PythonTest

import rein
from rein import _tools


class Lists(PythonTest):

    def test_the_same_as_of_the_program(self):
        out = subprocess.run(self.command('tool', 'list', '--json'), check=True, env=self.env,
                             stdout=subprocess.PIPE).stdout
        self.assertEqual(rein.tools(), json.loads(out))

    def test_styles(self):
        names = [t['name'] for t in rein.tools()]
        schemas = [t['inputSchema'] for t in rein.tools()]
        openai = rein.tools('openai')
        self.assertEqual({t['type'] for t in openai}, {'function'})
        self.assertEqual([t['function']['name'] for t in openai], names)
        self.assertEqual([t['function']['parameters'] for t in openai], schemas)
        self.assertEqual([set(t) for t in rein.tools('openai-responses')],
                         [{'type', 'name', 'description', 'parameters'}] * len(names))
        anthropic = rein.tools('anthropic')
        self.assertEqual([set(t) for t in anthropic],
                         [{'name', 'description', 'input_schema'}] * len(names))
        self.assertEqual([t['input_schema'] for t in anthropic], schemas)

    def test_only(self):
        self.assertEqual([t['name'] for t in rein.tools(only=['code_run'])], ['code_run'])
        with self.assertRaises(rein.BadRequestError):
            rein.tools(only=['nothing'])
        with self.assertRaises(rein.BadRequestError):
            rein.tools('klingon')


class Calls(PythonTest):

    def test_result(self):
        answer = rein.call_tool('execute_command', {'command': 'echo "a b" c'})
        self.assertEqual((answer['stdout'], answer['exit_code'], answer['success']),
                         ('a b c\n', 0, True))

    def test_environment(self):
        os.environ.update(PLAIN='of no shape', API_KEY='keep-this-quiet')
        self.addCleanup(os.environ.pop, 'PLAIN')
        self.addCleanup(os.environ.pop, 'API_KEY')
        show = {'command': ['sh', '-c', 'echo "$PLAIN,$API_KEY"']}
        self.assertEqual(rein.call_tool('execute_command', show)['stdout'],
                         'of no shape,keep-this-quiet\n')
        r = rein.call_tool('execute_command', show, env_profile='clean', env_keep=['PLAIN'])
        self.assertEqual(r['stdout'], 'of no shape,\n')
        r = rein.call_tool('execute_command', show, secrets=['PLAIN'])
        self.assertEqual(r['stdout'], '***********,keep-this-quiet\n')
        with self.assertRaises(rein.BadRequestError):
            rein.call_tool('execute_command', show, env_profile='none')

    def test_arguments_as_text(self):
        for arguments in ('{"code": "print(1)"}', b'{"code": "print(1)"}'):
            self.assertEqual(rein.call_tool('code_run', arguments)['stdout'], '1\n')
        self.assertEqual(rein.call_tool('list_commands')['commands'], [])

    def test_error_objects(self):
        for name, arguments, code in (
                ('nothing', {}, 'bad_request'), ('code_run', '{', 'bad_request'),
                ('code_run', b'\xff', 'bad_request'), ('code_run', {'code': '\ud800'}, 'bad_request'),
                ('code_run', '{"code": "\ud800"}', 'bad_request'),
                ('get_command_output', {'process_id': 'deadbeef'}, 'no_such_job'),
                ('execute_command', {'command': 'no-such-program-98'}, 'command_not_found')):
            with self.subTest(name=name, arguments=arguments):
                answer = rein.call_tool(name, arguments)
                self.assertEqual((answer['success'], answer['error_code']), (False, code))
                with self.assertRaises(rein.errors.BY_CODE[code]):
                    _tools.checked(answer)

    def test_what_is_no_json(self):
        for arguments in ({'code': object()}, {'timeout': float('nan')}):
            with self.assertRaises(rein.BadRequestError):
                rein.call_tool('code_run', arguments)

    def test_background_belongs_to_this_process(self):
        out = self.host_says('''
            print(rein.call_tool('execute_command',
                                 {'command': 'sleep 300', 'run_in_background': True})['process_id'])
        ''')
        self.assertEqual(rein.attach(out.strip()).wait(PATIENCE).reason, 'owner_gone')

    def test_detached(self):
        out = self.host_says('''
            print(rein.call_tool('execute_command', {'command': 'sleep 300', 'run_in_background':
                                 True}, detached=True)['process_id'])
        ''')
        job = rein.attach(out.strip())
        with self.assertRaises(TimeoutError):
            job.wait(0.3)
        job.stop(0)

    def test_session(self):
        start = {'command': 'sleep 300', 'run_in_background': True}
        answer = rein.call_tool('execute_command', start, session='one')
        self.assertEqual(rein.call_tool('list_commands', session='two')['commands'], [])
        self.assertEqual(len(rein.call_tool('list_commands', session='one')['commands']), 1)
        rein.call_tool('stop_command', {'process_id': answer['process_id'], 'grace': 0})

    def test_ceiling_and_prelude(self):
        answer = rein.call_tool('code_run', {'code': '1'}, code_timeout_max=5)
        self.assertEqual(answer['error_code'], 'limit_exceeded')
        answer = rein.call_tool('code_run', {'code': 'print(os)'}, prelude='none')
        self.assertEqual(answer['status'], 'error')


class Live(PythonTest):

    def test_output(self):
        seen = []
        answer = rein.call_tool('execute_command', {'command': 'echo out; echo err >&2',
                                                    'shell': True},
                                on_output=lambda text, stream: seen.append((text, stream)))
        self.assertEqual(sorted(seen), [('err\n', 'stderr'), ('out\n', 'stdout')])
        self.assertEqual((answer['stdout'], answer['stderr']), ('out\n', 'err\n'))

    def test_output_comes_while_it_runs(self):
        open('go', 'w', encoding='ascii').close()
        rein.call_tool('execute_command', {'command': 'echo x; while [ -e go ]; do sleep 0.01; done',
                                           'shell': True},
                       on_output=lambda text, stream: os.unlink('go'))

    def test_output_runs_in_the_callers_thread(self):
        threads = set()
        rein.call_tool('execute_command', {'command': 'echo x'},
                       on_output=lambda *_: threads.add(threading.current_thread()))
        self.assertEqual(threads, {threading.current_thread()})

    def test_exception_ends_the_command(self):
        class Own(Exception):
            pass

        def on_output(text, stream):
            raise Own
        marker = self.marker(300)
        with self.assertRaises(Own):
            rein.call_tool('execute_command', {'command': f'echo; sleep {marker}', 'shell': True,
                                               'timeout': 0}, on_output=on_output)
        self.assertEqual(self.processes(marker), [])

    def test_slow_listener(self):
        sizes = []

        def on_output(text, stream):
            time.sleep(0.002)
            sizes.append(len(text))
        rein.call_tool('execute_command', {'command': 'head -c 20000000 /dev/zero'},
                       on_output=on_output)
        self.assertEqual(sum(sizes), 20_000_000)

    def test_stream(self):
        stream = rein.stream_tool('execute_command', {'command': 'echo x'})
        self.assertEqual(next(stream), ('x\n', 'stdout'))
        with self.assertRaises(StopIteration) as end:
            next(stream)
        self.assertEqual(end.exception.value['exit_code'], 0)

    def test_stream_that_is_given_up(self):
        marker = self.marker(300)
        stream = rein.stream_tool('execute_command', {'command': f'echo; sleep {marker}',
                                                      'shell': True, 'timeout': 0})
        next(stream)
        stream.close()
        self.assertEqual(self.processes(marker), [])


class Stop(PythonTest):

    def check(self, stop, **kw):
        begin = time.monotonic()
        answer = rein.call_tool('code_run', {'type': 'sh', 'code': 'sleep 300'}, stop=stop, **kw)
        self.assert_soon(begin)
        self.assertEqual((answer['reason'], answer['stdout']),
                         ('stopped', '[Stopped] 用户强制终止'))

    def test_list(self):
        signal = []
        threading.Timer(0.1, signal.append, [1]).start()
        self.check(signal)

    def test_event(self):
        signal = threading.Event()
        threading.Timer(0.1, signal.set).start()
        self.check(signal, on_output=lambda *_: None)

    def test_function(self):
        end = time.monotonic() + 0.1
        self.check(lambda: time.monotonic() > end)

    def test_function_that_fails(self):
        def stop():
            raise KeyError('own')
        with self.assertRaises(KeyError):
            rein.call_tool('code_run', {'type': 'sh', 'code': 'sleep 300'}, stop=stop)

    def test_busy_output(self):
        signal = []
        threading.Timer(0.2, signal.append, [1]).start()
        answer = rein.call_tool('execute_command', {'command': 'yes', 'timeout': 0}, stop=signal)
        self.assertEqual(answer['reason'], 'stopped')

    def test_how_often(self):
        """At least every 50 ms; the clock is the machine's, so in the middle."""
        seen = []

        def stop():
            seen.append(time.monotonic())
            return len(seen) > 20
        self.check(stop)
        gaps = sorted(b - a for a, b in zip(seen, seen[1:]))
        self.assertLess(gaps[len(gaps) // 2], 0.05)


class Approval(PythonTest):

    def setUp(self):
        super().setUp()
        self.rules('ask = printf ask')

    def call(self, approve, **kw):
        return rein.call_tool('execute_command', {'command': 'printf ask'}, approve=approve, **kw)

    def test_no(self):
        for given in (False, None, 'nonsense', 1):
            with self.subTest(given=given):
                self.assertEqual(self.call(lambda request: given)['error_code'], 'approval_denied')

    def test_once(self):
        for given in (True, 'once'):
            self.assertEqual(self.call(lambda request: given)['stdout'], 'ask')
        self.assertEqual(self.call(None)['error_code'], 'approval_required')

    def test_always(self):
        self.assertEqual(self.call(lambda request: 'always')['stdout'], 'ask')
        self.assertEqual(self.call(None)['stdout'], 'ask')

    def test_request_and_thread(self):
        seen = []
        self.call(lambda request: seen.append((request, threading.current_thread())))
        (request, thread), = seen
        self.assertEqual((request['tool'], request['command'], request['cwd'], request['sandbox']),
                         ('execute_command', ['printf', 'ask'], self.work, 'off'))
        self.assertLessEqual({'env', 'risk', 'reasons'}, set(request))
        self.assertIs(thread, threading.current_thread())

    def test_with_a_listener(self):
        seen = []
        self.call(lambda request: True, on_output=lambda *piece: seen.append(piece))
        self.assertEqual(seen, [('ask', 'stdout')])

    def test_exception_is_a_no(self):
        def approve(request):
            raise KeyError('own')
        with self.assertRaises(KeyError):
            self.call(approve)

    def test_as_an_exception(self):
        with self.assertRaises(rein.ApprovalRequiredError):
            _tools.checked(self.call(None))


if __name__ == '__main__':
    unittest.main()
