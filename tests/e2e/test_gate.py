"""The gate before the start: refusals, approvals, rules, the trail. Rows of what other systems get
wrong are named after what is right."""

import json
import os
import pty
import select
import time

from background_test import BackgroundTest
from rein_test import PATIENCE, REIN, wait_until

# What needs an approval by its risk alone, and would change nothing if it ran: not as this user,
# not with this name.
CRITICAL = ['sh', '-c', 'test -n "" && crontab -r; echo ran']


class GateTest(BackgroundTest):

    def try_call(self, tool, /, *options, **arguments):
        return self.rein('tool', 'call', tool, '-', *options, input=json.dumps(arguments).encode(),
                         cwd=self.work)

    def call(self, tool, /, *options, **arguments):
        o = self.try_call(tool, *options, **arguments)
        self.assertEqual((o.rc, o.err), (0, b''), str(o))
        return o.json

    def refused(self, code, /, *words, **arguments):
        """A refused execute_command: nothing runs, there is no handle, all keys are there."""
        o = self.try_call('execute_command', **arguments)
        r = self.assert_refused(o, code, 1, *words)
        self.assertEqual((r['stdout'], r['exit_code'], r['execution_time']), ('', -1, 0))
        self.assertEqual(r['stderr'], 'Error executing command: ' + r['error'])
        self.assertNotIn('process_id', r)
        self.assertEqual(self.list('--all'), [], 'nothing was started')
        return r

    def config_file(self, text):
        folder = os.path.join(self.config, 'rein')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'config.ini'), 'w', encoding='utf-8') as f:
            f.write(text)

    def trail(self):
        """The lines of the audit trail, which is whole."""
        o = self.rein('audit', 'verify')
        self.assertEqual(o.rc, 0, str(o))
        try:
            with open(os.path.join(self.state, 'audit', 'audit.jsonl'), encoding='utf-8') as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def make_harmless(self):
        """Puts programs that do nothing in the place of those that a broken gate would let do harm."""
        stubs = os.path.join(self.temp, 'stubs')
        os.mkdir(stubs)
        for name in ('rm', 'dd', 'mkfs', 'mkfs.ext4', 'shutdown', 'chmod', 'sudo', 'crontab'):
            path = os.path.join(stubs, name)
            with open(path, 'w', encoding='utf-8') as f:
                f.write('#!/bin/sh\nexit 0\n')
            os.chmod(path, 0o755)
        self.env['PATH'] = stubs + ':' + self.env['PATH']

    def make_dir(self, *names):
        path = os.path.join(self.work, *names)
        os.makedirs(path)
        return path

    def assert_there(self, path):
        self.assertTrue(os.path.exists(path), f'{path} was removed')


class Refusals(GateTest):

    def test_I11_the_gate_stands_before_the_tools(self):
        build = os.path.join(self.temp, 'build')
        os.mkdir(build)
        for background in (False, True):
            r = self.refused('dangerous_command', "Command 'rm' is in DANGEROUS_COMMANDS; pass "
                             'allow_dangerous=True to override.', command='rm -rf ../build',
                             run_in_background=background)
            self.assertIn('allow_dangerous', r['hint'])
            self.assert_there(build)
        self.assertEqual(self.call('execute_command', command='echo rm -rf /')['stdout'],
                         'rm -rf /\n')
        r = self.call('execute_command', command='rm -rf ../build', allow_dangerous=True)
        self.assertTrue(r['success'])
        self.assertFalse(os.path.exists(build))

    def test_I11_a_person_passes_the_gate_only_with_gate(self):
        build = os.path.join(self.temp, 'build')
        for verb in ('run', 'start'):
            os.mkdir(build)
            o = self.rein(verb, '--gate', '--', 'rm', '-rf', '../build', cwd=self.work)
            self.assert_complains(o, 125, 'DANGEROUS_COMMANDS')
            self.assert_there(build)
            o = self.rein(verb, '--', 'rm', '-rf', '../build', cwd=self.work)
            self.assertEqual(o.rc, 0, str(o))
            wait_until(lambda: not os.path.exists(build), what='the removal')
        os.mkdir(build)
        o = self.rein('run', '--gate', '--allow-dangerous', '--', 'rm', '-rf', '../build',
                      cwd=self.work)
        self.assertEqual(o.rc, 0, str(o))
        self.assertFalse(os.path.exists(build))

    def test_I11_gate_and_json(self):
        self.make_harmless()
        o = self.rein('run', '--gate', '--json', '--', 'rm', '-rf', '/')
        self.assert_refused(o, 'forbidden_command', 125, 'self-preservation policy: rm -rf /')

    def test_a_variable_puts_a_person_through_the_gate(self):
        o = self.rein('run', '--', 'rm', '-rf', '../x', cwd=self.work, extra_env={'REIN_GATE': '1'})
        self.assert_complains(o, 125, 'DANGEROUS_COMMANDS')

    def test_row_25_shell_syntax_is_refused(self):
        for background in (False, True):
            r = self.refused('shell_syntax', "Shell syntax '>' is not supported by this executor, "
                             'which runs commands directly (shell=False) so untrusted input cannot '
                             'reach a shell.', command='echo x > f', run_in_background=background)
            for word in ('character 8', 'shell: true', 'array', 'code_run'):
                self.assertIn(word, r['hint'])
        self.assertEqual(os.listdir(self.work), [])

    def test_row_28_what_is_forbidden_in_every_spelling(self):
        self.make_harmless()
        for command in ('rm -rf /', 'rm -r -f /', 'rm --recursive --force /', 'rm -Rf /',
                        'rm -rf -- /', 'rm -rf "/"', 'rm -rf $HOME', 'rm -rf ~',
                        'dd of=/dev/sda if=/dev/zero', 'mkfs.ext4 /dev/sda1', 'shutdown -P now',
                        'shutdown +0', 'sudo rm -rf /', 'env X=1 nice rm -rf //',
                        'bash -c "rm -rf /"', 'chmod -R 777 /'):
            for dangerous in (False, True):
                with self.subTest(command=command, allow_dangerous=dangerous):
                    self.refused('forbidden_command',
                                 'Command blocked by self-preservation policy: ',
                                 command=command, allow_dangerous=dangerous)

    def test_row_28_nothing_lifts_it(self):
        self.make_harmless()
        self.config_file('approve = auto\n[rules]\nallow = *\n')
        self.refused('forbidden_command', command='rm -rf /', allow_dangerous=True)
        o = self.rein('run', '--gate', '--yes', '--allow-dangerous', '--', 'rm', '-rf', '/',
                      extra_env={'REIN_APPROVE': 'auto'})
        self.assert_complains(o, 125, 'self-preservation policy')
        o = self.try_call('code_run', type='bash', code='true\nrm -rf /\n')
        self.assert_refused(o, 'forbidden_command', 1)

    def test_the_27_dangerous_names(self):
        """By their name without folder, in any case; what is worse is forbidden."""
        names = ('rm rmdir del format mkfs dd shred chmod chown chgrp kill killall pkill shutdown '
                 'reboot halt poweroff sudo su doas curl wget ssh scp rsync mv cp').split()
        self.assertEqual(len(names), 27)
        for name in [*names, 'RM', '/usr/bin/Sudo', '../bin/Kill']:
            with self.subTest(name=name):
                where = 'http://192.0.2.1/' if name in ('curl', 'wget') else '../x'
                o = self.rein('policy', 'check', '--json', '--', name, where, cwd=self.work)
                self.assertEqual((o.rc, o.json['decision']), (1, 'refuse'), str(o))
                self.assertTrue(any(f['dangerous'] or f['forbidden']
                                    for f in o.json['findings']))

    def test_row_28_a_fork_bomb_by_any_name(self):
        for script in ('b() { b | b & }; b', ':(){ :|:& };:', 'function x { x|x& }\nx'):
            with self.subTest(script=script):
                o = self.rein('policy', 'check', '--json', '--shell', '--', script)
                self.assertEqual((o.rc, o.json['decision']), (1, 'refuse'), str(o))
                self.assertTrue(o.json['findings'][0]['forbidden'])

    def test_row_27_wrappers_are_looked_through(self):
        for command in ('env rm ../x', 'nice rm ../x', 'nohup rm ../x', 'timeout 5 rm ../x',
                        'xargs rm ../x', 'busybox rm ../x', "bash -c 'rm ../x'", "sh -c 'rm ../x'",
                        'find ../x -delete', 'setsid rm ../x', '/bin/rm ../x', 'RM=1 true; rm ../x'):
            with self.subTest(command=command):
                self.refused('dangerous_command', command=command, shell=';' in command)

    def test_row_29_no_false_alarms(self):
        self.make_dir('build', 'x')
        self.make_dir('.cache')
        for command in ('rm -rf ./build/x', 'rm -rf .cache', 'echo mkfs', 'rmdir build'):
            with self.subTest(command=command):
                self.assertTrue(self.call('execute_command', command=command)['success'])
        self.assertEqual(os.listdir(self.work), [])
        message = 'drop table users'
        self.rein('run', '--', 'git', 'init', '-q', '.', cwd=self.work)
        r = self.call('execute_command', command=f"git -c user.name=x -c user.email=x@y commit "
                      f"--allow-empty -q -m '{message}'")
        self.assertTrue(r['success'], r)

    def test_row_30_what_cannot_be_parsed_is_refused(self):
        self.refused('bad_request', command="rm -rf '/")
        self.refused('bad_request', command='rm -rf "')

    def test_row_22_the_final_words_are_judged(self):
        """`~` and variables are replaced before the look, and not inside single quotes."""
        self.make_harmless()
        self.refused('forbidden_command', command='rm -rf $D', env={'D': '/'})
        r = self.call('execute_command', command="printf %s '$HOME'")
        self.assertEqual((r['stdout'], r['command']), ('$HOME', ['printf', '%s', '$HOME']))

    def test_loopback_requests_are_harmless(self):
        r = self.call('execute_command', command='curl -s -o /dev/null -w %{http_code} '
                      'http://localhost:1/')
        self.assertNotEqual(r['exit_code'], 0)    # it ran, and found nobody
        self.refused('dangerous_command', command='curl http://192.0.2.1/x')

    def test_code_is_not_refused_as_dangerous(self):
        """But what it does is looked at where a shell reads it."""
        target = self.make_dir('x')
        r = self.call('code_run', type='bash', code=f'rm -rf {self.work}/../work/x')
        self.assertEqual(r['status'], 'success', r)
        self.assertFalse(os.path.exists(target))


class Approvals(GateTest):

    def setUp(self):
        super().setUp()
        self.make_harmless()

    def ask_for(self, **more):
        o = self.try_call('execute_command', command=CRITICAL, **more)
        r = self.assert_refused(o, 'approval_required', 1, 'needs an approval')
        self.assertRegex(r['approval_id'], r'\A[0-9a-f]{8}\Z')
        self.assertIn('rein approve ' + r['approval_id'], r['hint'])
        return r['approval_id']

    def run_it(self, **more):
        return self.call('execute_command', command=CRITICAL, **more)

    def test_row_26_an_approval_is_used_up_by_one_call(self):
        one = self.ask_for()
        self.assertEqual(self.ask_for(), one, 'the same call has the same ID')
        o = self.rein('approvals', '--json')
        self.assertEqual([(a['id'], a['status']) for a in json.loads(o.text)], [(one, 'pending')])
        o = self.rein('approve', one)
        self.assertEqual(o.rc, 0, str(o))
        self.assertEqual(self.run_it()['stdout'], 'ran\n')
        self.assertEqual(self.ask_for(), one)

    def test_an_approval_covers_one_request(self):
        one = self.ask_for()
        others = {self.ask_for(cwd=self.home), self.ask_for(env={'A': '1'}),
                  self.ask_for(stdin='text')}
        self.assertEqual(len(others | {one}), 4, 'what differs is another request')
        self.assertEqual(self.rein('approve', one).rc, 0)
        self.ask_for(cwd=self.home)
        self.ask_for(env={'A': '1'})
        self.assertTrue(self.run_it()['success'])

    def test_a_store_that_others_can_write_approves_nothing(self):
        one = self.ask_for()
        self.assertEqual(self.rein('approve', '--always', one).rc, 0)
        os.chmod(self.state, 0o777)
        o = self.try_call('execute_command', command=CRITICAL)
        self.assertEqual(o.rc, 1, str(o))
        self.assertIn('can be written by others', o.json['error'])
        o = self.rein('run', '--gate', '--', *CRITICAL)
        self.assert_complains(o, 125, 'can be written by others')
        os.chmod(self.state, 0o700)
        self.assertTrue(self.run_it()['success'])

    def test_a_denial_says_why(self):
        one = self.ask_for()
        self.assertEqual(self.rein('deny', one, '--reason', 'not today').rc, 0)
        o = self.try_call('execute_command', command=CRITICAL)
        self.assert_refused(o, 'approval_denied', 1,
                            'Execution of execute_command denied: not today')
        o = self.rein('approve', one)
        self.assert_complains(o, 2, 'has been answered: denied')

    def test_always_is_stored_and_taken_back(self):
        one = self.ask_for()
        self.assertEqual(self.rein('approve', '--always', one).rc, 0)
        self.assertTrue(self.run_it()['success'])
        self.assertTrue(self.run_it()['success'])
        self.ask_for(env={'A': '1'})
        self.assertEqual(self.rein('deny', one).rc, 0)
        self.ask_for()

    def test_two_callers_share_no_approval(self):
        """Of many that make the call at once exactly one runs."""
        self.assertEqual(self.rein('approve', self.ask_for()).rc, 0)
        calls = [self.spawn('tool', 'call', 'execute_command', json.dumps({'command': CRITICAL}),
                            cwd=self.work) for _ in range(8)]
        answers = [json.loads(p.communicate(timeout=PATIENCE)[0]) for p in calls]
        self.assertEqual(sum(a['success'] for a in answers), 1, answers)

    def test_modes(self):
        o = self.try_call('execute_command', '--approve', 'never', command=CRITICAL)
        self.assert_refused(o, 'approval_denied', 1, 'Execution of execute_command denied')
        self.assertEqual(json.loads(self.rein('approvals', '--json').text), [])
        self.assertEqual(self.call('execute_command', '--yes', command=CRITICAL)['stdout'], 'ran\n')
        o = self.rein('tool', 'call', 'execute_command', json.dumps({'command': CRITICAL}),
                      extra_env={'REIN_APPROVE': 'auto'})
        self.assertEqual(o.json['stdout'], 'ran\n')
        self.assertEqual([d['by'] for d in self.trail() if d['event'] == 'decision'],
                         ['never', 'auto', 'auto'])
        o = self.rein('run', '--gate', '--yes', '--approve', 'never', '--', 'true')
        self.assert_complains(o, 125, '--yes and --approve: only one of them')

    def test_levels_that_ask_are_configurable(self):
        self.config_file('ask-level = high\n')
        self.refused('dangerous_command', command='rm ../x')
        self.refused('approval_required', command='rm ../x', allow_dangerous=True)
        o = self.rein('run', '--gate', '--ask-level', 'critical', '--allow-dangerous', '--', 'rm',
                      '-f', '../x', cwd=self.work)
        self.assertEqual(o.rc, 0, str(o))

    def test_code_asks_only_where_somebody_says_so(self):
        code = {'type': 'bash', 'code': CRITICAL[2]}
        self.assertEqual(self.call('code_run', **code)['status'], 'success')
        o = self.try_call('code_run', '--ask-level', 'critical', **code)
        self.assert_refused(o, 'approval_required', 1)
        self.config_file('[rules]\nask = tool:code_run python\n')
        self.assertEqual(self.call('code_run', **code)['status'], 'success')
        o = self.try_call('code_run', code='print(1)')
        self.assert_refused(o, 'approval_required', 1)

    def test_ids_that_are_none(self):
        for args in (['approve', '12345678'], ['approve', 'x'], ['deny', '']):
            with self.subTest(args=args):
                self.assertEqual(self.rein(*args).rc, 2)
        o = self.rein('approve')
        self.assert_complains(o, 2)
        self.assertNotIn('job', o.err_text)

    def test_a_broken_list_of_approvals(self):
        """Nothing that asks runs, and the message says what to do."""
        path = os.path.join(self.state, 'approvals.json')
        os.makedirs(self.state, exist_ok=True)
        for text in ('', '{', '[]', 'x' * (5 << 20)):
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            with self.subTest(text=text[:4]):
                o = self.try_call('execute_command', command=CRITICAL)
                r = self.assert_refused(o, 'internal', 1, 'approvals.json')
                self.assertIn('remove it', r['hint'])
                o = self.rein('approvals')
                self.assertEqual((o.rc, 'remove it' in o.err_text), (125, True), str(o))


class Terminal(GateTest):
    """A person at the terminal is asked."""

    def setUp(self):
        super().setUp()
        self.make_harmless()

    def ask(self, answer, *args, ahead=b''):
        """Runs rein on a terminal, types the answer when asked; gives exit status and screen.

        ahead: typed before there is anything to answer."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(REIN, [REIN, *args], {**self.env, 'TERM': 'dumb'})
        os.write(fd, ahead)
        seen = b''
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not select.select([fd], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(fd, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if answer is not None and b'[a]lways' in seen:
                os.write(fd, answer)
                answer = None
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        return os.waitstatus_to_exitcode(status), seen.decode(errors='replace').replace('\r', '')

    def test_what_is_asked(self):
        rc, seen = self.ask(b'n\n', 'run', '--gate', '-e', 'A=1', '--', *CRITICAL)
        self.assertEqual(rc, 125, seen)
        for word in ('run needs an approval: critical', 'crontab -r', self.work, 'A=1', 'why'):
            self.assertIn(word, seen)
        self.assertIn('Execution of run denied: User denied', seen)
        self.assertNotIn('\nran', seen)

    def test_yes_is_once_and_always_is_always(self):
        args = ('run', '--gate', '--', *CRITICAL)
        rc, seen = self.ask(b'yes\n', *args)
        self.assertEqual((rc, '\nran\n' in seen), (0, True), seen)
        rc, seen = self.ask(b'a\n', *args)
        self.assertEqual(rc, 0, seen)
        rc, seen = self.ask(None, *args)
        self.assertEqual((rc, 'Run it?' in seen), (0, False), seen)
        rc, seen = self.ask(b'\n', 'run', '--gate', '-e', 'A=1', '--', *CRITICAL)
        self.assertEqual(rc, 125, seen)

    def test_a_command_cannot_write_over_the_question(self):
        script = CRITICAL[2] + ' # \x1b[2J\x1b[Hharmless'
        rc, seen = self.ask(b'n\n', 'run', '--gate', '--', 'sh', '-c', script)
        self.assertEqual(rc, 125, seen)
        self.assertNotIn('\x1b[2J', seen)
        self.assertIn('\\x1b[2J', seen)

    def test_what_was_typed_before_is_no_answer(self):
        rc, seen = self.ask(b'n\n', 'run', '--gate', '--', *CRITICAL, ahead=b'y\n')
        self.assertEqual((rc, '\nran' in seen), (125, False), seen)

    def test_nothing_in_a_command_is_hidden(self):
        """Overrides of the direction of text, and what takes no room, would show another command."""
        script = CRITICAL[2] + ' # a\u202ecba\u2066 x\u200by\ufeff z\u2028 \U000e0041 中文'
        rc, seen = self.ask(b'n\n', 'run', '--gate', '--', 'sh', '-c', script)
        self.assertEqual(rc, 125, seen)
        for one in '\u202e\u2066\u200b\ufeff\u2028\U000e0041':
            self.assertNotIn(one, seen)
        self.assertIn('a\\xe2\\x80\\xaecba', seen)
        self.assertIn('中文', seen)

    def test_a_tool_asks_a_person_too(self):
        rc, seen = self.ask(b'y\n', 'tool', 'call', 'execute_command',
                            json.dumps({'command': CRITICAL}))
        self.assertEqual(rc, 0, seen)
        self.assertIn('"stdout": "ran\\n"', seen)

    def test_an_interrupt_is_a_no(self):
        rc, seen = self.ask(b'\x03', 'tool', 'call', 'execute_command',
                            json.dumps({'command': CRITICAL}))
        self.assertNotEqual(rc, 0, seen)
        self.assertNotIn('"stdout": "ran', seen)


class Rules(GateTest):

    def test_rules_of_the_configuration(self):
        self.config_file('[rules]\nallow = rm ../ok\nask = printf ask\ndeny = printf deny\n'
                         'deny = tool:send_input\n')
        ok = os.path.join(self.temp, 'ok')
        with open(ok, 'w', encoding='utf-8'):
            pass
        self.assertTrue(self.call('execute_command', command='rm ../ok')['success'])
        self.refused('dangerous_command', command='rm ../ok2')
        self.refused('approval_required', 'ask = printf ask', command='printf ask')
        self.refused('approval_denied', "Execution of execute_command denied: rule "
                     "'deny = printf deny'", command='printf deny')
        self.refused('approval_denied', command='env printf deny')
        self.refused('approval_denied', command='true && printf deny', shell=True)
        o = self.try_call('send_input', process_id='12345678', text='x')
        self.assert_refused(o, 'approval_denied', 1, 'Execution of send_input denied')

    def test_a_mistake_in_a_rule_is_told(self):
        self.config_file('[rules]\npermit = x\n')
        o = self.try_call('execute_command', command='true')
        self.assert_refused(o, 'bad_request', 1, 'config.ini:2', 'permit')

    def test_a_rule_about_no_tool_is_told(self):
        self.config_file('[rules]\ndeny = tool:send_inptu\n')
        o = self.try_call('execute_command', command='true')
        self.assert_refused(o, 'bad_request', 1, 'config.ini:2', "no tool 'send_inptu'")
        self.config_file('[rules]\ndeny = tool:run true\n')
        self.assert_complains(self.rein('run', '--gate', '--', 'true'), 125, 'denied')
        o = self.rein('policy', 'check', '--tool', 'nonsense', '--', 'true')
        self.assert_complains(o, 2, "no tool 'nonsense'")

    def test_a_project_is_trusted_first(self):
        project, below = self.make_dir('p'), self.make_dir('p', 'below')
        with open(os.path.join(project, '.rein.ini'), 'w', encoding='utf-8') as f:
            f.write('[rules]\nallow = rm ../../x\n')

        def check():
            return self.rein('policy', 'check', '--', 'rm', '../../x', cwd=below)

        o = check()
        self.assertEqual((o.rc, 'does not count' in o.err_text), (1, True), str(o))
        self.assertEqual(self.rein('policy', 'trust', project).rc, 0)
        self.assertEqual((check().rc, check().err), (0, b''), str(check()))
        with open(os.path.join(project, '.rein.ini'), 'a', encoding='utf-8') as f:
            f.write('allow = rm\n')
        self.assertEqual(check().rc, 1, 'a changed file is another one')
        self.assertEqual(self.rein('policy', 'trust', cwd=project).rc, 0)
        self.assertEqual(check().rc, 0)
        self.assertEqual(self.rein('policy', 'untrust', project).rc, 0)
        self.assertEqual(check().rc, 1)

    def test_the_directory_of_a_call_brings_no_rules(self):
        """An agent must not choose whose rules count by the cwd that it asks for."""
        project = self.make_dir('p')
        with open(os.path.join(project, '.rein.ini'), 'w', encoding='utf-8') as f:
            f.write('[rules]\nallow = rm ../x\n')
        self.assertEqual(self.rein('policy', 'trust', project).rc, 0)
        self.refused('dangerous_command', command='rm ../x', cwd=project)

    def test_check_explains(self):
        self.config_file('[rules]\nallow = rm ../ok\n')
        o = self.rein('policy', 'check', '--', 'sudo', 'rm', '-rf', '/', cwd=self.work)
        self.assertEqual(o.rc, 1, str(o))
        for word in ('critical: is refused', 'rm', 'sudo'):
            self.assertIn(word, o.text)
        o = self.rein('policy', 'check', '--json', '--', 'rm', '../ok', cwd=self.work)
        self.assertEqual(o.rc, 0, str(o))
        self.assertEqual(o.json['decision'], 'allow')
        self.assertEqual(o.json['rule']['rule'], 'allow = rm ../ok')
        self.assertTrue(o.json['findings'][0]['dangerous'])
        o = self.rein('policy', 'check', '--json', '--shell', '--', 'ls | wc -l; rm ../x',
                      cwd=self.work)
        self.assertEqual((o.rc, o.json['decision']), (1, 'refuse'))
        self.assertEqual(self.trail(), [], 'a look leaves no trace')
        self.assertEqual(self.rein('policy', 'check', '--', 'ls').rc, 0)
        for args in ([], ['check'], ['check', 'ls'], ['nonsense'], ['trust', 'a', 'b']):
            with self.subTest(args=args):
                self.assertEqual(self.rein('policy', *args).rc, 2)


class Trail(GateTest):

    def test_a_line_for_each_decision_and_each_end(self):
        self.call('execute_command', command='true')
        self.refused('dangerous_command', command='rm ../x')
        self.refused('shell_syntax', command='echo a > b')
        self.rein('run', '--', 'true')    # of a person: nothing
        self.rein('run', '--gate', '--', 'false')
        lines = self.trail()
        self.assertEqual([(a['event'], a.get('decision'), a['tool']) for a in lines],
                         [('decision', 'allow', 'execute_command'), ('end', None, 'execute_command'),
                          ('decision', 'refuse', 'execute_command'),
                          ('decision', 'refuse', 'execute_command'),
                          ('decision', 'allow', 'run'), ('end', None, 'run')])
        self.assertEqual(lines[0]['command'], ['true'])
        self.assertEqual((lines[1]['reason'], lines[1]['exit_code']), ('exit', 0))
        self.assertEqual(lines[1]['request'], lines[0]['request'])
        self.assertEqual(lines[3]['error_code'], 'shell_syntax')
        self.assertEqual(lines[5]['exit_code'], 1)
        self.assertEqual([a['seq'] for a in lines], [1, 2, 3, 4, 5, 6])

    def test_ends_of_the_background(self):
        """Whoever comes next writes them down, also of a job that was forgotten meanwhile."""
        for forgets in (False, True):
            r = self.call('execute_command', command='sleep 0.05', run_in_background=True)
            one = r['process_id']
            self.wait(one)
            if forgets:
                self.assertEqual(self.rein('rm', one).rc, 0)
            self.call('execute_command', command='true')
            ends = [a for a in self.trail() if a['event'] == 'end' and a['process_id'] == one]
            self.assertEqual([(a['reason'], a['exit_code']) for a in ends], [('exit', 0)])
            self.assertEqual(os.listdir(os.path.join(self.state, 'audit', 'open')), [])

    def test_audit_writes_the_ends_first(self):
        one = self.call('execute_command', command='true', run_in_background=True)['process_id']
        self.wait(one)
        o = self.rein('audit')
        self.assertEqual(o.rc, 0, str(o))
        self.assertIn(one, o.text)

    def test_a_changed_line_is_found(self):
        self.call('execute_command', command='true')
        self.call('execute_command', command='true')
        path = os.path.join(self.state, 'audit', 'audit.jsonl')
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        text = self.read(path).decode()
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace('"true"', '"evil"', 1))
        o = self.rein('audit', 'verify')
        self.assertEqual(o.rc, 1, str(o))
        self.assertIn('audit.jsonl', o.text + o.err_text)

    def test_a_trail_that_cannot_be_written(self):
        os.makedirs(self.state, exist_ok=True)
        with open(os.path.join(self.state, 'audit'), 'w', encoding='utf-8') as f:
            f.write('in the way')
        r = self.call('execute_command', command='true')
        self.assertTrue(any('audit' in w for w in r['warnings']), r)
        o = self.try_call('execute_command', '--audit', 'required', command='touch made')
        self.assertEqual(o.rc, 1, str(o))
        self.assertIn('audit', o.json['error'])
        self.assertEqual(os.listdir(self.work), [])
        r = self.call('execute_command', '--audit', 'off', command='true')
        self.assertEqual(r['warnings'], [])


    def test_a_trail_that_is_no_file(self):
        """What goes into a pipe is in no trail."""
        self.call('execute_command', command='true')
        path = os.path.join(self.state, 'audit', 'audit.jsonl')
        os.remove(path)
        os.mkfifo(path)
        r = self.call('execute_command', command='true')
        self.assertTrue(any('no file' in w for w in r['warnings']), r)
        o = self.try_call('execute_command', '--audit', 'required', command='touch made')
        self.assert_refused(o, 'internal', 1, 'no file')
        self.assertEqual(os.listdir(self.work), [])


class Secrets(GateTest):

    def test_what_is_shown_has_no_secrets(self):
        """The words are final, so a variable's value is in them, which the caller never saw."""
        self.make_harmless()
        secret, given, token = 'keep-this-quiet', 'given-by-the-call', 'sk-' + 'a' * 40
        self.env.update(API_KEY=secret)
        for command in (f'rm -rf ../$API_KEY ../$GIVEN_TOKEN ../{token} ../--password={given}',
                        f'crontab $API_KEY $GIVEN_TOKEN {token}', f'echo $API_KEY {token}'):
            for shell in (False, True):
                self.try_call('execute_command', command=command, shell=shell,
                              env={'GIVEN_TOKEN': given})
        o = self.try_call('execute_command', command='rm -rf ../$API_KEY')
        self.assertNotIn(secret, o.text)
        o = self.try_call('execute_command', command='rm -rf /$API_KEY/..')
        self.assertNotIn(secret, o.text)
        self.assertEqual(o.json['error_code'], 'forbidden_command')
        o = self.try_call('execute_command', command='crontab $API_KEY')
        self.assertNotIn(secret, o.text)
        self.assertEqual(o.json['error_code'], 'approval_required')
        self.trail()
        for name in ('approvals.json', 'audit/audit.jsonl'):
            text = self.read(os.path.join(self.state, name)).decode()
            self.assertIn('crontab', text)
            for one in (secret, given, token):
                self.assertNotIn(one, text, name)
        self.assertNotIn(secret, self.rein('approvals').text)

    def test_no_list_shows_an_environment_value(self):
        """A variable in a command line stands for its value when it runs, and for stars after."""
        self.env.update(API_KEY='keep-this-quiet', HARMLESS='may-be-shown')
        r = self.call('execute_command', command='echo $API_KEY $HARMLESS')
        self.assertEqual(r['stdout'], 'keep-this-quiet may-be-shown\n')
        self.assertEqual(r['command'], ['echo', '*' * 15, 'may-be-shown'])
        one = self.start('--', 'echo', 'keep-this-quiet')
        self.wait(one)
        self.assertNotIn('quiet', self.rein('ps', '--all', '--json').text)
        self.assertNotIn('quiet', self.read(os.path.join(self.state, 'jobs', one,
                                                         'job.json')).decode())

    def test_declared_secrets(self):
        o = self.rein('run', '--gate', '--secret', 'PLAIN', '--', 'echo', 'of no shape',
                      extra_env={'PLAIN': 'of no shape'})
        self.assertEqual(o.text, '***********\n', str(o))
        self.assertEqual(self.trail()[0]['command'], ['echo', '***********'])


class BadInput(GateTest):

    def test_long_and_broken_commands(self):
        big = 'x' * (1 << 20)
        for command in ('', ' ', "'", '"', '\\', 'a ' + "'" * 4001, '$(' * 50000, '(' * 50000,
                        'echo ' + '`' * 50001):
            o = self.try_call('execute_command', command=command)
            self.assertEqual(o.rc, 1, str(o))
            self.assertIn(o.json['error_code'], ('bad_request', 'shell_syntax'))
        for command in ('echo ' + big, 'echo ' + 'a ' * (1 << 19), ['echo'] + ['a'] * (1 << 18)):
            o = self.try_call('execute_command', command=command)
            self.assertIn(o.json.get('error_code'), ('spawn_failed', 'limit_exceeded'), str(o))
        for script in ('$(' * 50000, '{ ' * 50000, '"$(' * 20000, '((' * 50000, 'a <<X\n' * 20000,
                       "echo '" + big):
            o = self.try_call('execute_command', command=script, shell=True)
            self.assertLess(o.seconds, PATIENCE)

    def test_invalid_utf8_of_a_person(self):
        o = self.rein('run', '--gate', '--', 'printf', '%s', b'\xff\xfe')
        self.assertEqual((o.rc, o.out), (0, b'\xff\xfe'), str(o))
        self.assertEqual(self.trail()[0]['command'][2], '\ufffd\ufffd')
