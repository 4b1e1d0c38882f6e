"""The tools: JSON in, JSON out, over `rein tool call`."""

import base64
import json
import os
import signal
import socket
import time

from background_test import SHORT_KEYS, BackgroundTest
from rein_test import GAP_LINE, RESULT_KEYS, SLOW

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden', 'tool-list.json')

TIMEOUT_MARK = '[Timeout Error] 超时强制终止'
STOPPED_MARK = '[Stopped] 用户强制终止'
TOOLS = ('code_run', 'execute_command', 'get_command_output', 'stop_command', 'list_commands',
         'wait_command', 'send_input')


class ToolTest(BackgroundTest):

    def try_call(self, tool, /, *options, **arguments):
        return self.rein('tool', 'call', tool, '-', *options, input=json.dumps(arguments).encode())

    def call(self, tool, /, **arguments):
        o = self.try_call(tool, **arguments)
        self.assertEqual((o.rc, o.err), (0, b''), str(o))
        return o.json

    def refused(self, tool, code, /, *words, **arguments):
        o = self.try_call(tool, **arguments)
        r = self.assert_refused(o, code, 1, *words)
        if tool == 'execute_command':
            self.assertEqual((r['stdout'], r['exit_code'], r['execution_time']), ('', -1, 0))
            self.assertEqual(r['stderr'], 'Error executing command: ' + r['error'])
        elif tool == 'code_run':
            self.assertEqual((r['status'], r['msg'], r['stdout'], r['exit_code']),
                             ('error', r['error'], '', -1))
        self.assertEqual(self.list('--all'), [], 'nothing was started')
        return r

    def background(self, command, **arguments):
        r = self.call('execute_command', command=command, run_in_background=True, **arguments)
        self.assertEqual(set(r), {'success', 'process_id', 'pid', 'status', 'log_file', 'warnings'})
        self.assertEqual((r['success'], r['status']), (True, 'running'))
        self.assertRegex(r['process_id'], r'\A[0-9a-f]{8}\Z')
        return r


class List(ToolTest):

    def test_text(self):
        tools = json.loads(self.rein('tool', 'list', '--json').text)
        self.assertEqual(self.rein('tool', 'list').text,
                         ''.join(f"{t['name']}\t{t['title']}\n" for t in tools))

    def test_json(self):
        o = self.rein('tool', 'list', '--json')
        found = json.loads(o.text)
        self.maxDiff = None
        with open(GOLDEN, encoding='utf-8') as f:
            self.assertEqual(json.dumps(found, indent=1, ensure_ascii=False) + '\n', f.read(),
                             f'{GOLDEN}: write it anew if this is meant')
        self.assertEqual(tuple(t['name'] for t in found), TOOLS)
        for t in found:
            self.assertEqual(set(t), {'name', 'title', 'description', 'inputSchema',
                                      'outputSchema', 'annotations'})
            for schema in (t['inputSchema'], t['outputSchema']):
                self.assertEqual(schema['type'], 'object')
            self.assertEqual(len(t['outputSchema']['anyOf']), 2)

    def test_usage(self):
        for args in ([], ['lsit'], ['call'], ['list', 'x'], ['call', 'code_run', '{}', 'x']):
            self.assert_complains(self.rein('tool', *args), 2)

    def test_unknown_tool(self):
        self.assert_refused(self.rein('tool', 'call', 'code_rnu', '{}'), 'bad_request', 1,
                            'code_rnu', 'did you mean code_run?')


class Arguments(ToolTest):

    def test_refusals_name_the_argument(self):
        for tool, words, arguments in (
                ('execute_command', ('command', 'a string'), {}),
                ('execute_command', ('timeout: "5"', 'a number from 0'),
                 {'command': 'touch f', 'timeout': '5'}),
                ('execute_command', ('timeout: -1',), {'command': 'touch f', 'timeout': -1}),
                ('execute_command', ('shel', 'did you mean shell?'),
                 {'command': 'touch f', 'shel': True}),
                ('execute_command', ('env: A is 5',), {'command': 'touch f', 'env': {'A': 5}}),
                ('execute_command', ("env: 'A=B'",), {'command': 'touch f', 'env': {'A=B': ''}}),
                ('execute_command', ('stdin: true',), {'command': 'touch f', 'stdin': True}),
                ('execute_command', ('sandbox', 'not supported by this version'),
                 {'command': 'touch f', 'sandbox': 'strict'}),
                ('execute_command', ('net', 'not supported by this version'),
                 {'command': 'touch f', 'net': 'none'}),
                ('execute_command', ('command', 'shell: true'),
                 {'command': ['touch', 'f'], 'shell': True}),
                ('execute_command', ('Empty command',), {'command': ' '}),
                ('execute_command', ('Empty command',), {'command': []}),
                ('execute_command', ('No closing quotation',), {'command': 'touch "f'}),
                ('code_run', ('max_output_size: 0', 'from 1'),
                 {'code': '1', 'max_output_size': 0}),
                ('code_run', ('inline_eval',), {'code': '1', 'inline_eval': True}),
                ('code_run', ('given twice',), {'code': '1', 'script': '2'})):
            with self.subTest(tool=tool, arguments=arguments):
                self.refused(tool, 'bad_request', *words, **arguments)
        self.assertFalse(os.path.exists(os.path.join(self.work, 'f')))

    def test_what_is_no_json(self):
        for text in (b'{', b'[]', b'{"command": "\xff"}', b'{"command": "\\ud800"}',
                     b'[' * 1000000, b'{"command": ' + b'[' * 1000 + b']' * 1000 + b'}'):
            o = self.rein('tool', 'call', 'execute_command', '-', input=text)
            r = self.assert_refused(o, 'bad_request', 1)
            self.assertEqual((r['stdout'], r['exit_code']), ('', -1))

    def test_B5_nothing_is_clamped_in_silence(self):
        self.assertEqual(self.call('execute_command', command='true', timeout=999999999)['warnings'],
                         [])
        for name, value in (('timeout', 1e300), ('timeout', 10**30), ('max_output_size', 1e30)):
            self.refused('execute_command', 'limit_exceeded', name, command='touch f',
                         **{name: value})
        self.refused('code_run', 'limit_exceeded', 'run_in_background',
                     '[ERROR] Timeout must be <= 600 seconds; code not executed.',
                     code='1', timeout=601)
        for none in (0, None):
            self.refused('code_run', 'limit_exceeded', code='1', timeout=none)
        self.assertFalse(os.path.exists(os.path.join(self.work, 'f')))
        r = self.background('true', timeout=7)
        self.assertEqual(len(r['warnings']), 1)
        self.assertIn('timeout: 7 ', r['warnings'][0])

    def test_I4_nul_and_cr_in_a_command(self):
        for command in ('touch f\0b', ['touch', 'f\0b']):
            self.refused('execute_command', 'bad_request', 'command', 'NUL', command=command)
        self.assertEqual(os.listdir(self.work), [])
        r = self.call('execute_command', command=['sh', '-c', 'printf %s "$1" | od -An -tx1', 'sh',
                                                  'a\r\n'])
        self.assertEqual(r['stdout'].split(), ['61', '0d', '0a'])

    def test_json_as_an_argument_and_none(self):
        o = self.rein('tool', 'call', 'execute_command', '{"command": "echo x"}')
        self.assertEqual((o.rc, o.json['stdout']), (0, 'x\n'))
        self.assertEqual(self.rein('tool', 'call', 'list_commands').json,
                         {'success': True, 'commands': []})


class ExecuteCommand(ToolTest):

    def test_result(self):
        r = self.call('execute_command', command='sh -c "echo out; echo err >&2; exit 3"')
        self.assertEqual(set(r), RESULT_KEYS | {'stdout', 'stderr', 'execution_time'})
        self.assertEqual((r['stdout'], r['stderr'], r['exit_code'], r['success'], r['status']),
                         ('out\n', 'err\n', 3, False, 'exited'))
        self.assertAlmostEqual(r['execution_time'], r['duration_ms'] / 1000, places=5)

    def test_I10_words_not_a_shell(self):
        self.refused('execute_command', 'shell_syntax', "Shell syntax '>' is not supported",
                     'character 9', 'shell: true', command='echo hi > f')
        self.assertEqual(os.listdir(self.work), [])
        self.assertEqual(self.call('execute_command', command="printf %s 'a > b; c'")['stdout'],
                         'a > b; c')
        r = self.call('execute_command', command="printf '[%s]' '$HOME' $HOME \"a  b\"")
        self.assertEqual(r['stdout'], f'[$HOME][{self.home}][a  b]')
        self.assertEqual(r['command'], ['printf', '[%s]', '$HOME', self.home, 'a  b'])
        r = self.call('execute_command', command=['printf', '[%s]', '$HOME', '>', '~'])
        self.assertEqual(r['stdout'], '[$HOME][>][~]')
        r = self.call('execute_command', command='echo $((1 + 1)) | tr 2 3 > f; cat f', shell=True)
        self.assertEqual(r['stdout'], '3\n')

    def test_where_and_with_what(self):
        os.mkdir(os.path.join(self.home, 'sub'))
        r = self.call('execute_command', command='sh -c "pwd; echo [$A]" $A', cwd='~/sub',
                      env={'A': 'x y'})
        self.assertEqual(r['stdout'], f'{self.home}/sub\n[x y]\n')
        self.refused('execute_command', 'bad_cwd', command='true', cwd='$HOME/none')
        self.refused('execute_command', 'command_not_found', command='no-such-command')

    def test_stdin_is_text_or_nothing(self):
        self.assertEqual(self.call('execute_command', command='cat', stdin='a\0b')['stdout'],
                         'a\0b')
        self.assertEqual(self.call('execute_command', command='cat')['stdout'], '')

    def test_B7_output_before_the_deadline_is_kept(self):
        m = self.marker(98727)
        r = self.call('execute_command', command=f"sh -c 'echo before; sleep {m}'", timeout=1)
        self.assertEqual((r['stdout'], r['reason'], r['exit_code'], r['success']),
                         ('before\n', 'timeout', -9, False))
        self.assertEqual(r['stderr'].splitlines()[-1], 'Command timed out after 1 seconds')
        self.assert_gone(m)

    def test_no_timeout(self):
        for none in (0, None):
            self.assertEqual(self.call('execute_command', command='sleep 0.01',
                                       timeout=none)['reason'], 'exit')

    def test_long_output_counts_in_characters(self):
        r = self.call('execute_command', max_output_size=1000,
                      command=['sh', '-c', 'seq 1 5000 | tr 0-9 ä-ü; seq 1 5000 >&2'])
        self.assertLessEqual(len(r['stdout']), 1000)
        self.assertGreater(len(r['stderr']), 900)
        self.assertLessEqual(len(r['stderr']), 1000)
        self.assertTrue(r['truncated'])
        self.assertEqual(GAP_LINE.search(r['stderr'])[3], r['log_file'])
        self.assertTrue(os.path.exists(r['log_file']))
        self.assertEqual((r['stdout_artifact'], r['stderr_artifact']), (r['log_file'],) * 2)
        r = self.call('execute_command', max_output_size=1000,
                      command=['sh', '-c', 'echo short; seq 1 5000 >&2'])
        self.assertNotIn('stdout_artifact', r)
        self.assertEqual(r['stderr_artifact'], r['log_file'])

    def test_spill_is_taken(self):
        r = self.call('execute_command', command='true', spill=True, spill_dir='/x')
        self.assertIn('spill_dir', r['warnings'][0])

    def test_events(self):
        o = self.try_call('execute_command', '--jsonl', command='sh -c "echo a; echo b >&2"')
        events = o.events
        self.assertEqual([e['event'] for e in events], ['started', 'output', 'output', 'exit'])
        self.assertEqual([(e['stream'], e['text']) for e in events[1:3]],
                         [('stdout', 'a\n'), ('stderr', 'b\n')])
        self.assertEqual((events[-1]['stdout'], events[-1]['exit_code']), ('a\n', 0))
        o = self.try_call('execute_command', '--jsonl', command='no-such-command')
        self.assertEqual(o.json['error_code'], 'command_not_found')
        self.assertNotIn('event', o.json)

    def test_output_comes_while_it_runs(self):
        m = self.marker(98840)
        text = json.dumps({'command': f'echo now; sleep {m}', 'shell': True, 'timeout': 0})
        p = self.spawn('tool', 'call', 'execute_command', text, '--jsonl')
        self.read_some(p.stdout, b'now')
        p.send_signal(signal.SIGTERM)
        o = self.finish(p)
        self.assertEqual((o.rc, o.events[-1]['reason']), (0, 'stopped'), str(o))
        self.assert_gone(m)

    def test_without_a_reader_it_ends(self):
        m = self.marker(98841)
        text = json.dumps({'command': f'echo now; yes; sleep {m}', 'shell': True, 'timeout': 0})
        p = self.spawn('tool', 'call', 'execute_command', text, '--jsonl')
        self.read_some(p.stdout, b'now')
        p.stdout.close()
        p.wait(timeout=20 * SLOW)
        self.assert_gone(m)


class CodeRun(ToolTest):

    def test_result(self):
        r = self.call('code_run', code='import sys\nprint("a")\nprint("b", file=sys.stderr)')
        self.assertEqual(set(r), RESULT_KEYS | {'stdout'})
        self.assertEqual((r['status'], r['success'], r['exit_code'], r['stdout']),
                         ('success', True, 0, 'a\nb\n'))
        r = self.call('code_run', script='raise SystemExit(3)')
        self.assertEqual((r['status'], r['success'], r['exit_code']), ('error', False, 3))
        r = self.call('code_run', code='import os; os.kill(os.getpid(), 11)')
        self.assertEqual((r['status'], r['exit_code'], r['signal']), ('error', -11, 'SIGSEGV'))

    def test_languages_and_their_names(self):
        for name in ('type', 'language', 'code_type'):
            for language in ('bash', 'sh', 'shell'):
                r = self.call('code_run', code='echo $((40 + 2))', **{name: language})
                self.assertEqual(r['stdout'], '42\n')
        r = self.refused('code_run', 'bad_request', type='cobol', code='x')
        self.assertEqual(r['error'], '不支持的类型: cobol')

    def test_no_code(self):
        for arguments in ({}, {'code': ''}, {'reply': 'no block'},
                          {'reply': '```bash\nx\n```', 'type': 'python'}):
            r = self.refused('code_run', 'bad_request', **arguments)
            self.assertEqual(
                r['error'], "[Error] Code missing. Must use reply code block or 'script' arg.")

    def test_code_of_a_reply(self):
        reply = 'First:\n```python\nprint(1)\n```\nno:\n```py\nprint(2)\n```\n```bash\necho 3\n```\n'
        self.assertEqual(self.call('code_run', reply=reply)['stdout'], '2\n')
        self.assertEqual(self.call('code_run', reply=reply, type='bash')['stdout'], '3\n')
        self.assertEqual(self.call('code_run', reply=reply, code='print(4)')['stdout'], '4\n')

    def test_files_lie_beside_the_code(self):
        data = bytes(range(256))
        files = {'helper.py': 'x = 5\n', 'data/raw.bin': {'base64': base64.b64encode(data).decode()}}
        code = 'import helper, os\nprint(helper.x, list(open("data/raw.bin", "rb").read())[-1])'
        self.assertEqual(self.call('code_run', code=code, files=files)['stdout'], '5 255\n')
        r = self.call('code_run', code='import helper, os; print(os.getcwd(), helper.x)',
                      files=files, cwd=self.home)
        self.assertEqual(r['stdout'], f'{self.home} 5\n')
        self.assertEqual(os.listdir(self.work), [])

    def test_files_stay_inside(self):
        for files in ({'../x': ''}, {'/tmp/x': ''}, {'a/../../x': ''}, {'': ''}, {'a//b': ''},
                      {'.': ''}, {'a/': ''}, {'a': 5}, {'a': {'base64': '*'}}, {'a': {}},
                      {'script.ai.py': ''}, {'a': '', 'a/b': ''}, {'a' * 300: ''}):
            with self.subTest(files=files):
                self.refused('code_run', 'bad_request', 'files', code='print(1)', files=files)
        self.assert_no_scripts()

    def test_B7_output_before_the_deadline_is_kept(self):
        m = self.marker(98842)
        r = self.call('code_run', timeout=1,
                      code=f'import os\nprint("before")\nos.system("sleep {m}")')
        self.assertEqual((r['stdout'], r['status'], r['exit_code']),
                         (f'before\n{TIMEOUT_MARK}', 'error', -9))
        self.assert_gone(m)
        r = self.call('code_run', timeout=0.5, type='bash', code=f'printf x; sleep {m}')
        self.assertEqual(r['stdout'], f'x\n{TIMEOUT_MARK}')
        r = self.call('code_run', timeout=0.5, type='bash', code=f'sleep {m}')
        self.assertEqual(r['stdout'], TIMEOUT_MARK)
        self.assertIn('buffers', r['hint'])

    def test_stopped_from_outside(self):
        m = self.marker(98843)
        p = self.spawn('tool', 'call', 'code_run',
                       json.dumps({'type': 'bash', 'code': f'echo a; sleep {m}'}))
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGINT)
        r = self.finish(p).json
        self.assertEqual((r['stdout'], r['status'], r['reason']),
                         (f'a\n{STOPPED_MARK}', 'error', 'stopped'))

    def test_no_output_is_told(self):
        r = self.call('code_run', code='x = 1')
        self.assertEqual(r['stdout'], '')
        self.assertIn('no output', r['hint'])

    def test_the_limit_counts_characters_and_its_own_line(self):
        for name in ('max_output_size', 'maxlen'):
            r = self.call('code_run', code='print("ä" * 5000)', **{name: 500})
            self.assertLessEqual(len(r['stdout']), 500)
            self.assertGreater(len(r['stdout']), 450)
        r = self.call('code_run', code='print("ä" * 9998)')
        self.assertFalse(r['truncated'])
        r = self.call('code_run', code='print("ä" * 10000)')
        self.assertTrue(r['truncated'])

    def test_I3_long_code(self):
        for language, line in (('python', 'x = 1\n'), ('bash', 'x=1\n')):
            code = line * ((1 << 20) // len(line)) + ('print(7)' if language == 'python'
                                                      else 'echo 7')
            self.assertEqual(self.call('code_run', code=code, type=language)['stdout'], '7\n')
        self.refused('execute_command', ('spawn_failed', 'limit_exceeded'),
                     command=['echo', 'x' * (1 << 20)])
        self.refused('execute_command', ('spawn_failed', 'limit_exceeded'), command='true',
                     env={'A': 'x' * (1 << 20)})

    def test_line_numbers_and_future(self):
        r = self.call('code_run', code='from __future__ import annotations\n1 / 0')
        self.assertIn('.ai.py", line 2', r['stdout'])

    def test_background(self):
        r = self.call('code_run', code='print(6 * 7)', run_in_background=True, timeout=5)
        self.assertEqual((r['status'], r['exit_code'], r['stdout']), ('running', None, ''))
        self.assertIn('timeout', r['warnings'][0])
        done = self.call('wait_command', process_id=r['process_id'])
        self.assertEqual((done['output'], done['exit_code'], done['status']), ('42\n', 0, 'exited'))


class Background(ToolTest):

    def test_unknown_ids(self):
        for tool in ('get_command_output', 'stop_command', 'wait_command'):
            for job in ('deadbeef', '', '../x', 'ä', 'a\0b'):
                r = self.assert_refused(self.try_call(tool, process_id=job), 'no_such_job', 1)
                if '\0' not in job:
                    self.assertEqual(r['error'],
                                     f"No background command with process_id '{job}'")
        self.assert_refused(self.try_call('send_input', process_id='deadbeef', text='x'),
                            'no_such_job', 1)

    def test_server_request_stop(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            port = s.getsockname()[1]
        self.write('index.html', 'hello')
        job = self.background(f'python3 -m http.server {port} --bind 127.0.0.1')['process_id']
        r = self.call('wait_command', process_id=job, until={'port': port})
        self.assertEqual((r['matched'], r['status']), (port, 'running'))
        code = f'from urllib.request import urlopen\nprint(urlopen("http://127.0.0.1:{port}/")' \
               '.read().decode())'
        self.assertEqual(self.call('code_run', code=code)['stdout'], 'hello\n')
        r = self.call('stop_command', process_id=job)
        self.assertEqual((r['success'], r['status'], r['exit_code'], r['signal'], r['reason']),
                         (True, 'exited', -15, 'SIGTERM', 'stopped'))
        r = self.call('stop_command', process_id=job)
        self.assertEqual((r['success'], len(r['warnings'])), (True, 1))

    def test_poll_the_tail(self):
        job = self.background(['sh', '-c', 'seq 1 300; exit 4'])['process_id']
        self.call('wait_command', process_id=job)
        r = self.call('get_command_output', process_id=job, tail=2)
        self.assertEqual(set(r), RESULT_KEYS | {'output'})
        self.assertEqual((r['output'], r['status'], r['exit_code'], r['success']),
                         ('299\n300\n', 'exited', 4, False))
        r = self.call('get_command_output', process_id=job)
        self.assertEqual((r['output'].splitlines()[0], len(r['output'].splitlines())), ('101', 200))
        r = self.call('get_command_output', process_id=job, grep='^2.0$', tail=3)
        self.assertEqual(r['output'], '270\n280\n290\n')
        r = self.call('get_command_output', process_id=job, since=4, tail=None)
        self.assertTrue(r['output'].startswith('3\n4\n'))
        self.assert_refused(self.try_call('get_command_output', process_id=job, grep='('),
                            'bad_request', 1)

    def test_B4_what_has_ended_is_not_waited_for(self):
        job = self.background('true')['process_id']
        self.call('wait_command', process_id=job)
        for tool, arguments in (('get_command_output', {'wait': 30}),
                                ('wait_command', {'timeout': 30})):
            o = self.try_call(tool, process_id=job, **arguments)
            self.assert_at_once(o)
            self.assertEqual(o.json['exit_code'], 0)

    def test_waiting_for_news(self):
        m = self.marker(98844)
        job = self.background(['sh', '-c', f'echo a; read x; echo $x; sleep {m}'],
                              stdin=True)['process_id']
        r = self.call('wait_command', process_id=job, until={'line': '^a$'})
        self.assertEqual((r['matched'], r['cursor']), ('a', 2))
        before = time.monotonic()
        r = self.call('get_command_output', process_id=job, since=2, wait=0.3)
        self.assertGreater(time.monotonic() - before, 0.25)
        self.assertEqual((r['output'], r['cursor']), ('', 2))
        p = self.spawn('tool', 'call', 'get_command_output',
                       json.dumps({'process_id': job, 'wait': 60, 'render': 'raw', 'since': 2}))
        self.call('send_input', process_id=job, text='b\n')
        self.assertEqual(self.finish(p).json['output'], 'b\n')
        self.call('send_input', process_id=job, signal='KILL')
        self.assertEqual(self.call('wait_command', process_id=job)['signal'], 'SIGKILL')

    def test_C8_input_to_a_job(self):
        m = self.marker(98845)
        job = self.background(f'sleep {m}')['process_id']
        r = self.assert_refused(self.try_call('send_input', process_id=job, text='x\n'),
                                'bad_request', 1)
        self.assertIn('stdin', r['hint'])
        self.assertTrue(self.processes(m))
        self.call('stop_command', process_id=job, grace=0)
        job = self.background('cat', stdin=True)['process_id']
        self.assertEqual(self.call('send_input', process_id=job, text='x\n', eof=True),
                         {'success': True, 'process_id': job})
        r = self.call('wait_command', process_id=job)
        self.assertEqual((r['output'], r['exit_code'], r['reason']), ('x\n', 0, 'exit'))
        self.assert_refused(self.try_call('send_input', process_id=job, text='x'), 'job_ended', 1)
        self.assert_refused(self.try_call('send_input', process_id=job), 'bad_request', 1)
        self.assert_refused(self.try_call('send_input', process_id=job, signal='NONE'),
                            'bad_request', 1, 'signal')

    def test_H4_list_and_stop_one(self):
        m = self.marker(98846)
        jobs = [self.background(f'sleep {m}')['process_id'] for _ in range(5)]
        commands = self.call('list_commands')['commands']
        self.assertEqual([c['process_id'] for c in commands], jobs)
        self.assertLessEqual(SHORT_KEYS, set(commands[0]))
        self.assertEqual(self.ids(), jobs)
        self.call('stop_command', process_id=jobs[2])
        left = jobs[:2] + jobs[3:]
        for status, expected in (('running', left), ('exited', [jobs[2]]), ('all', jobs)):
            r = self.call('list_commands', status=status)
            self.assertEqual([c['process_id'] for c in r['commands']], expected)
        r = self.call('list_commands', limit=2)
        self.assertEqual([c['process_id'] for c in r['commands']], jobs[3:])

    def test_waiting_for_several(self):
        m = self.marker(98847)
        long = self.background(f'sleep {m}')['process_id']
        jobs = [self.background(['sh', '-c', f'exit {n}'])['process_id'] for n in (3, 4)]
        r = self.call('wait_command', process_ids=jobs)
        self.assertEqual((r['success'], r['matched']), (True, [None, None]))
        self.assertEqual([(x['process_id'], x['exit_code']) for x in r['results']],
                         list(zip(jobs, (3, 4))))
        r = self.call('wait_command', process_id=[long, jobs[1]], any=True)
        self.assertEqual([x['process_id'] for x in r['results']], [jobs[1]])
        for timeout in (0, 0.1):
            self.assert_refused(self.try_call('wait_command', process_id=long, timeout=timeout),
                                'timeout', 1)
        self.assertTrue(self.processes(m))

    def test_until(self):
        job = self.background('true')['process_id']
        self.call('wait_command', process_id=job, until='exit')
        self.assert_refused(self.try_call('wait_command', process_id=job, until={'line': 'x'}),
                            'job_ended', 1)
        for until in ('never', {}, {'line': 5}, {'port': 0}, {'port': 70000}, {'exit': True},
                      {'line': '('}, {'line': 'a', 'port': 5}):
            with self.subTest(until=until):
                self.assert_refused(self.try_call('wait_command', process_id=job, until=until),
                                    'bad_request', 1)
        self.assert_refused(self.try_call('wait_command', process_id=[]), 'bad_request', 1)
