"""The environment of a job: profiles, variables, inherited settings, start-up files, PATH."""

import os
import resource
import signal
import subprocess
import unittest

from rein_test import PASSED_ON, ReinTest, free_of_signals

AGENT = {
    'PYTHONUNBUFFERED': '1',
    'PAGER': 'cat', 'GIT_PAGER': 'cat', 'MANPAGER': 'cat', 'GH_PAGER': 'cat',
    'SYSTEMD_PAGER': '',
    'GIT_TERMINAL_PROMPT': '0',
    'GIT_EDITOR': 'true', 'GIT_SEQUENCE_EDITOR': 'true', 'EDITOR': 'true', 'VISUAL': 'true',
    'GIT_MERGE_AUTOEDIT': 'no',
    'DEBIAN_FRONTEND': 'noninteractive',
    'NO_COLOR': '1', 'TERM': 'dumb',
    'LANG': 'C.UTF-8',
}


class EnvironmentTest(ReinTest):

    def job_env(self, *options, env=None, extra_env=None, verb=('run',)):
        """The environment that a command really gets, as bytes of `env`."""
        o = self.rein(*verb, *options, '--', '/usr/bin/env', '-0', env=env, extra_env=extra_env)
        self.assertEqual((o.rc, o.err), (0, b''), str(o))
        pairs = [entry.decode().partition('=')[::2] for entry in o.out.split(b'\0') if entry]
        self.assertEqual(len(pairs), len(dict(pairs)), 'a variable is there twice')
        return dict(pairs)


class Profiles(EnvironmentTest):

    def test_C2_what_agent_adds(self):
        self.assertEqual(self.job_env(), {**self.env, **AGENT})
        self.assertEqual(self.job_env('--env-profile', 'agent'), {**self.env, **AGENT})

    def test_C2_what_the_caller_set_stays(self):
        own = {name: f'own {name}' for name in AGENT}
        self.assertEqual(self.job_env(extra_env=own), {**self.env, **own})

    def test_C2_set_to_nothing_is_set(self):
        own = {name: '' for name in AGENT if name != 'LANG'}
        self.assertEqual(self.job_env(extra_env=own), {**self.env, **AGENT, **own})

    def test_C2_an_option_wins(self):
        options = [word for name in AGENT for word in ('-e', f'{name}=given')]
        given = dict.fromkeys(AGENT, 'given')
        self.assertEqual(self.job_env(*options), {**self.env, **given})
        self.assertEqual(self.job_env(*options, extra_env=dict.fromkeys(AGENT, 'own')),
                         {**self.env, **given})

    def test_C2_lang_only_without_any_locale(self):
        for name in 'LC_ALL', 'LC_CTYPE':
            env = self.job_env(extra_env={name: 'C'})
            self.assertEqual(env[name], 'C')
            self.assertNotIn('LANG', env)
        env = self.job_env(extra_env={'LC_TIME': 'C'})
        self.assertEqual(env['LANG'], 'C.UTF-8')

    def test_C2_home_from_the_user_data_base(self):
        home = self.need_account().pw_dir
        del self.env['HOME']
        self.assertEqual(self.job_env()['HOME'], home)
        self.assertEqual(self.job_env(extra_env={'HOME': '/own'})['HOME'], '/own')

    def test_C2_and_I8_a_default_path(self):
        env = {'REIN_STATE': self.state}
        path = self.job_env(env=env)['PATH'].split(':')
        for folder in '/usr/local/bin', '/usr/bin', '/bin':
            self.assertIn(folder, path)
        self.assertNotIn('', path)
        self.assertNotIn('.', path)

    def test_I8_commands_are_found_without_a_path(self):
        o = self.rein('run', '--', 'sh', '-c', 'echo "$PATH"', env={})
        self.assertEqual(o.rc, 0, str(o))
        for folder in '/usr/local/bin', '/usr/bin', '/bin':
            self.assertIn(folder, o.text.strip().split(':'))

    def test_inherit_changes_nothing(self):
        extra = {'API_KEY': 'sk-test', 'ODD': 'a=b\nc', 'EMPTY': ''}
        self.assertEqual(self.job_env('--env-profile', 'inherit', extra_env=extra),
                         {**self.env, **extra})
        self.assertEqual(self.job_env('--env-profile', 'inherit', '-e', 'ADDED=1', '-e', 'EMPTY=x',
                                      extra_env=extra),
                         {**self.env, **extra, 'ADDED': '1', 'EMPTY': 'x'})

    def test_I1_clean_is_a_short_list(self):
        secrets = {'API_KEY': 'sk-test', 'AWS_SECRET_ACCESS_KEY': 'sk-test', 'FOO': 'bar',
                   'LD_PRELOAD': '', 'PYTHONPATH': '/x', 'BASH_ENV': '/x', 'SSH_AUTH_SOCK': '/x'}
        env = self.job_env('--env-profile', 'clean', extra_env=secrets)
        self.assertFalse(set(env) & set(secrets), env)
        self.assertEqual({k: v for k, v in env.items() if k in AGENT}, AGENT)
        self.assertEqual((env['PATH'], env['HOME']), (self.env['PATH'], self.home))

    def test_clean_lets_named_ones_through(self):
        secrets = {'API_KEY': 'sk-test', 'OTHER': 'x'}
        for options in ['--env-keep', 'API_KEY'], ['-e', 'API_KEY'], ['-e', 'API_KEY=sk-test']:
            with self.subTest(options=options):
                env = self.job_env('--env-profile', 'clean', *options, extra_env=secrets)
                self.assertEqual(env['API_KEY'], 'sk-test')
                self.assertNotIn('OTHER', env)

    def test_I1_clean_hides_secrets_from_the_job(self):
        script = 'env; echo ----; tr "\\0" "\\n" </proc/$PPID/environ'
        for profile, there in ('clean', False), ('inherit', True):
            with self.subTest(profile=profile):
                o = self.rein('run', '--env-profile', profile, '--', 'sh', '-c', script,
                              extra_env={'API_KEY': 'sk-test'})
                env, line, _ = o.text.partition('----\n')
                self.assertTrue(line, str(o))
                self.assertEqual('sk-test' in env, there, env)

    def test_I1_clean_looks_at_values_and_tells(self):
        shaped = {'LC_ODD': 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'}
        o = self.sh('env', '--env-profile', 'clean', extra_env=shaped)
        r = self.assert_ended(o, 'exit', 0)
        self.assertNotIn('LC_ODD', r['output'])
        self.assertEqual(r['warnings'], [
            'LC_ODD looks like a secret and was left out; --env-keep passes it on'])
        o = self.sh('env', '--env-profile', 'clean', '--env-keep', 'LC_ODD', extra_env=shaped)
        r = self.assert_ended(o, 'exit', 0)
        self.assertIn(shaped['LC_ODD'], r['output'])
        self.assertEqual(r['warnings'], [])

    def test_what_is_set_wins_over_what_is_kept(self):
        for options in (['-e', 'A=set', '--env-keep', 'A'], ['--env-keep', 'A', '-e', 'A=set']):
            env = self.job_env('--env-profile', 'clean', *options, extra_env={'A': 'own'})
            self.assertEqual(env['A'], 'set', options)

    def test_code_has_the_same(self):
        script = 'import os, json; print(json.dumps(dict(os.environ)))'
        o = self.code_json('python', '-c', script)
        r = self.assert_ended(o, 'exit', 0)
        for name, value in AGENT.items():
            self.assertIn(f'"{name}": "{value}"', r['output'])

    def test_an_unknown_profile(self):
        o = self.run_json('--env-profile', 'nonsense', '--', 'true')
        self.assert_refused(o, 'bad_request', 125, 'nonsense')


class Variables(EnvironmentTest):

    def test_forms(self):
        env = self.job_env('-e', 'A=b=c', '--env', 'B=', '-e', 'C=1', '-e', 'C=2', '--env=D=x y',
                           '-e', 'PASSED', '-e', 'NOT_THERE', extra_env={'PASSED': 'on'})
        self.assertEqual((env['A'], env['B'], env['C'], env['D']), ('b=c', '', '2', 'x y'))
        self.assertEqual(env['PASSED'], 'on')
        self.assertNotIn('NOT_THERE', env)

    def test_without_a_name(self):
        for bad in '=x', '':
            with self.subTest(value=bad):
                o = self.run_json('-e', bad, '--', 'true')
                self.assert_refused(o, 'bad_request', 125)

    def test_not_utf_8(self):
        o = self.rein('run', '-e', b'ODD=\xff\xfe', '--', 'sh', '-c', 'printf %s "$ODD"')
        self.assertEqual((o.rc, o.out), (0, b'\xff\xfe'))

    def test_the_jobs_path_finds_the_command(self):
        self.write('tool', '#!/bin/sh\necho mine\n', 0o755)
        o = self.run_json('-e', f'PATH={self.work}:/usr/bin:/bin', '--', 'tool')
        self.assert_ended(o, 'exit', 0, output='mine\n')
        o = self.run_json('--', 'tool')
        self.assert_refused(o, 'command_not_found', 127, 'tool')
        o = self.run_json('-e', 'PATH=/nonexistent', '--', 'true')
        self.assert_refused(o, 'command_not_found', 127, 'true')

    def test_I6_exports_do_not_carry_over(self):
        self.assertEqual(self.rein('run', '--', 'bash', '-c', 'export A=1').rc, 0)
        o = self.rein('run', '--', 'bash', '-c', 'echo "[$A]"')
        self.assertEqual(o.out, b'[]\n')

    def test_F4_no_locale(self):
        o = self.run_json('--', 'python3', '-c', 'print(chr(0x4f60))',
                          env={'PATH': self.env['PATH']})
        self.assert_ended(o, 'exit', 0, output='你\n')


class Inherited(ReinTest):
    """What a process hands to its children besides variables."""

    def test_I9_sigpipe_ignored(self):
        o = self.run_json('--shell', '--', 'yes | head -1',
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
                          restore_signals=False)
        self.assert_at_once(o)
        self.assert_ended(o, 'exit', 0, output='y\n')

    def test_I9_signals_are_reset(self):
        def hostile():
            free_of_signals()
            for n in range(1, 32):
                if n not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(n, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 65))
        for kw in {}, {'preexec_fn': hostile}:
            o = self.run_json('--', 'cat', '/proc/self/status', **kw)
            r = self.assert_ended(o, 'exit', 0)
            values = dict(line.split(':\t', 1) for line in r['output'].splitlines())
            self.assertEqual([values[key] for key in ('SigBlk', 'SigIgn')], ['0' * 16] * 2)

    def test_I9_limits_are_the_callers(self):
        limits = {resource.RLIMIT_NOFILE: (99, 345), resource.RLIMIT_CORE: (0, 0),
                  resource.RLIMIT_STACK: (4 << 20, 5 << 20), resource.RLIMIT_NPROC: (3210, 4321)}

        def limited():
            for what, values in limits.items():
                resource.setrlimit(what, values)
        script = ('import resource\nfor w in {}: print(w, *resource.getrlimit(w))'
                  .format(sorted(limits)))
        o = self.run_json('--', 'python3', '-c', script, preexec_fn=limited)
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output'], ''.join(f'{w} {s} {h}\n'
                                              for w, (s, h) in sorted(limits.items())))

    def test_I9_unlimited_core_and_descriptors_stay(self):
        script = 'ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Hc'
        o = self.sh(script)
        expected = subprocess.run(['bash', '-c', script], capture_output=True, check=True).stdout
        self.assert_ended(o, 'exit', 0, output=expected.decode())

    def test_umask(self):
        for mask in 0o022, 0o077, 0o002:
            o = self.sh('umask', preexec_fn=lambda m=mask: os.umask(m))
            self.assert_ended(o, 'exit', 0, output=f'0{mask:03o}\n')

    def test_nice(self):
        o = self.sh('nice', preexec_fn=lambda: os.nice(3))
        own = os.nice(0)
        self.assert_ended(o, 'exit', 0, output=f'{min(own + 3, 19)}\n')

    def test_session_and_group(self):
        o = self.sh("read -r stat < /proc/$$/stat; set -- ${stat##*)}; echo $$ $3 $4")
        r = self.assert_ended(o, 'exit', 0)
        pid, group, session = r['output'].split()
        self.assertEqual((group, session), (pid, pid))

    def test_only_three_descriptors(self):
        extra, other = os.pipe()
        try:
            o = self.run_json('--', self.helper('fd-list'), pass_fds=(extra, other))
        finally:
            os.close(extra)
            os.close(other)
        r = self.assert_ended(o, 'exit', 0)
        fds = dict(line.split(' ', 1) for line in r['output'].splitlines())
        self.assertEqual(sorted(fds), ['0', '1', '2'], r['output'])
        self.assertEqual(fds['0'], '/dev/null')

    def test_pass_fd(self):
        extra, other = os.pipe()
        try:
            o = self.run_json('--pass-fd', str(other), '--', 'bash', '-c',
                              f'echo through >&{other}; "{self.helper("fd-list")}"',
                              pass_fds=(extra, other))
        finally:
            os.close(other)
        with open(extra, 'rb') as f:
            self.assertEqual(f.read(), b'through\n')
        r = self.assert_ended(o, 'exit', 0)
        fds = [line.split(' ', 1)[0] for line in r['output'].splitlines()]
        self.assertEqual(sorted(fds, key=int), ['0', '1', '2', str(other)])

    def test_pass_fd_that_is_not_open(self):
        for number in '200', 'x', '-1', '99999999999':
            with self.subTest(number=number):
                o = self.run_json('--pass-fd', number, '--', 'true')
                self.assert_refused(o, 'bad_request', 125, number)

    def test_nothing_of_reins_own_in_the_environment(self):
        """A build with sanitizers needs variables; nothing else comes along."""
        names = set(self.env) | set(AGENT)
        o = self.rein('run', '--', '/usr/bin/env')
        for line in o.text.splitlines():
            self.assertIn(line.partition('=')[0], names | set(PASSED_ON))


class StartUpFiles(ReinTest):

    def test_I7_are_not_read(self):
        for name in '.bash_profile', '.bashrc', '.profile', '.bash_login', '.bash_logout', '.zshrc':
            with open(os.path.join(self.home, name), 'w', encoding='utf-8') as f:
                f.write(f'echo FROM {name}\nsleep 5\n')
        for args in (['run', '--json', '--shell', '--', 'echo ok'],
                     ['code', '--json', 'bash', '-c', 'echo ok']):
            with self.subTest(args=args):
                o = self.rein(*args)
                self.assert_ended(o, 'exit', 0, output='ok\n')
                self.assert_at_once(o)


if __name__ == '__main__':
    unittest.main()
