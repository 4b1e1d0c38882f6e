"""Options: how they are read, what is refused, and what exactly is said about it."""

import os
import shutil
import subprocess
import unittest

from rein_test import ReinTest

DURATION = 'is not a duration (use 10, 1.5s, 500ms, 5m, 1h)'
TOO_LONG = 'is too long a duration'
SIZE = 'is not a size (use 4096, 64K, 1M, 2G)'
TOO_LARGE = 'is too large a size'


class Words(ReinTest):
    """Where options end and the command begins."""

    def test_options_end_at_the_command(self):
        o = self.rein('run', 'echo', '-t', '1', '--json', '--', '-x')
        self.assertEqual((o.rc, o.out, o.err), (0, b'-t 1 --json -- -x\n', b''))

    def test_double_dash(self):
        o = self.rein('run', '--', 'echo', '--', 'x')
        self.assertEqual((o.rc, o.out), (0, b'-- x\n'))
        self.assert_complains(self.rein('run', '--', '-t'), 127, '-t')

    def test_forms_of_options(self):
        for options in (['-t', '0.2'], ['-t0.2'], ['--timeout', '0.2'], ['--timeout=0.2']):
            with self.subTest(options=options):
                m = self.marker(98800)
                o = self.rein('run', '--json', *options, 'sleep', m)
                self.assert_gone(m)
                self.assert_ended(o, 'timeout')

    def test_the_last_one_wins(self):
        o = self.run_json('-t', '0.01', '-t', '0', '-C', '/nope', '-C', self.home, '--', 'sh', '-c',
                          'sleep 0.1; pwd')
        self.assert_ended(o, 'exit', 0, output=f'{self.home}\n')

    def test_no_command(self):
        for args in ['run'], ['run', '--'], ['run', '-t', '1'], ['run', '--json', '--']:
            with self.subTest(args=args):
                o = self.rein(*args)
                self.assertEqual(o.rc, 125, str(o))
                if '--json' in args:
                    self.assert_refused(o, 'bad_request', 125)
                else:
                    self.assert_complains(o, 125)

    def test_an_empty_command(self):
        o = self.rein('run', '--', '')
        self.assertIn(o.rc, (125, 127))
        self.assert_complains(o, o.rc)

    def test_unknown_options(self):
        for option in '--nonsense', '-Z', '--timeoutt=1', '--nonsense=x':
            for verb in ['run', option, '--', 'touch', 'ran'], ['code', option, 'bash', '-c',
                                                                 'touch ran']:
                with self.subTest(option=option, verb=verb[0]):
                    self.assert_complains(self.rein(*verb), 125,
                                          option.partition('=')[0].lstrip('-')[:8])
        self.assertEqual(os.listdir(self.work), [])

    def test_an_option_without_its_value(self):
        for option in '-t', '--timeout', '--cwd', '-e', '--show', '--stdin':
            with self.subTest(option=option):
                self.assert_complains(self.rein('run', option), 125, option.lstrip('-'))

    def test_a_flag_with_a_value(self):
        for option in '--json=yes', '--split=1', '--shell=x':
            with self.subTest(option=option):
                o = self.rein('run', option, '--', 'touch', 'ran')
                self.assert_complains(o, 125, option.partition('=')[0])
        self.assertEqual(os.listdir(self.work), [])

    def test_shell_takes_exactly_one_word(self):
        o = self.run_json('--shell', '--', 'touch ran', 'two')
        self.assert_refused(o, 'bad_request', 125)
        self.assertEqual(os.listdir(self.work), [])

    def test_I2_the_shell_gets_what_was_written(self):
        for script, output in (
                ("printf '%s' ' != ' | od -An -tx1", ' 20 21 3d 20\n'),
                ('true | true; { echo in; }', 'in\n'),
                ("cat <<'E'\nit's $HOME and `word`\nE", "it's $HOME and `word`\n"),
                ('echo a | cat; echo $$ | grep -c "^[0-9][0-9]*$"', 'a\n1\n'),
                ('  echo "  two  blanks  "  ', '  two  blanks  \n'),
                ('echo \'a"b\' "c\'d" e\\\\f', 'a"b c\'d e\\f\n'),
                ('echo -n x; echo "!"; : #', 'x!\n'),
                ('echo $# "$0"x | cut -c1', '0\n'),
                ('-x', None)):
            with self.subTest(script=script):
                o = self.run_json('--shell', '--', script)
                if output is None:
                    self.assertEqual(self.assert_ended(o, 'exit')['exit_code'], 127)
                else:
                    self.assert_ended(o, 'exit', 0, output=output)

    def test_words_reach_the_command_as_they_are(self):
        words = ['a b', '', '*', '$HOME', "'", '"', '\\', '\n', '!', '~', 'é', '-']
        o = self.rein('run', '--', 'printf', r'%s\0', *words)
        self.assertEqual(o.out.decode().split('\0')[:-1], words)


class Values(ReinTest):

    def refuses(self, option, value, text):
        o = self.rein('run', option, value, '--', 'touch', 'ran')
        self.assert_complains(o, 125, f"'{value}'", text)
        self.assertIn(option, o.err_text.partition(text)[0], str(o))
        o = self.run_json(option, value, '--', 'touch', 'ran')
        self.assert_refused(o, 'bad_request', 125, option, f"'{value}' {text}")
        self.assertEqual(os.listdir(self.work), [])

    def test_durations(self):
        for value in ('', 'x', '-1', '+1', '1x', '1 s', ' 1', '1s ', 'nan', 'inf', '1e3', '0x10',
                      '1.5.2', '.', 's', '1,5', '1m30s', '١'):
            with self.subTest(value=value):
                self.refuses('--timeout', value, DURATION)
        for option in '--grace', '--cpu-time':
            with self.subTest(option=option):
                self.refuses(option, '5x', DURATION)

    def test_durations_that_are_too_long(self):
        for value in '99999999999999999999', '9223372036854775807h', '1' + '0' * 400:
            with self.subTest(value=value[:30]):
                self.refuses('--timeout', value, TOO_LONG)

    def test_units_of_durations(self):
        for value, ms in ('0.25', 250), ('0.25s', 250), ('250ms', 250), ('0.005m', 300):
            with self.subTest(value=value):
                m = self.marker(98801)
                o = self.run_json('-t', value, '--', 'sleep', m)
                self.assert_gone(m)
                self.assert_duration(self.assert_ended(o, 'timeout'), ms, ms + 700)

    def test_the_shortest_deadline_is_not_none(self):
        m = self.marker(98802)
        o = self.run_json('-t', '0.0000000001', '--', 'sleep', m)
        self.assert_gone(m)
        self.assert_ended(o, 'timeout')

    def test_sizes(self):
        for option in '--show', '--output-limit', '--memory', '--file-size':
            for value in '', 'x', '-1', '+1', '1X', '1 K', 'nan', '1.5M', '0x10', 'K', '1e6':
                with self.subTest(option=option, value=value):
                    self.refuses(option, value, SIZE)
            with self.subTest(option=option):
                self.refuses(option, '99999999999999999999G', TOO_LARGE)

    def test_units_of_sizes(self):
        for value, size in ('8192', 8192), ('8K', 8192), ('1M', 1 << 20):
            with self.subTest(value=value):
                o = self.run_json('--show', value, '--', 'seq', '1', '300000')
                r = self.assert_ended(o, 'exit', 0)
                self.assertTrue(r['truncated'])
                self.assertLessEqual(len(r['output'].encode()), size)
                self.assertGreater(len(r['output'].encode()), size - 1024)

    def test_too_small_an_output_limit(self):
        o = self.run_json('--output-limit', '1', '--', 'touch', 'ran')
        if o.rc == 125:
            self.assert_refused(o, ('bad_request', 'limit_exceeded'), 125, '--output-limit', '4096')
            self.assertEqual(os.listdir(self.work), [])
        else:
            self.assertTrue(self.assert_ended(o, 'exit', 0)['warnings'], 'changed in silence')

    def test_huge_values_are_done_or_told(self):
        for option in ['--output-limit', '4G'], ['--show', '4G'], ['--procs', '100000'], \
                ['--file-size', '16T'], ['--output-limit', '16000000T'], ['--grace', '90000d']:
            with self.subTest(option=option):
                o = self.run_json(*option, '--', 'echo', 'ran')
                if o.rc == 125:
                    self.assert_refused(o, ('bad_request', 'limit_exceeded'), 125)
                else:
                    self.assert_ended(o, 'exit', 0, output='ran\n')

    def test_numbers(self):
        for option in '--procs', '--pass-fd':
            for value in '', 'x', '-1', '1.5', '99999999999999999999', '0x3':
                with self.subTest(option=option, value=value):
                    o = self.run_json(option, value, '--', 'touch', 'ran')
                    self.assert_refused(o, 'bad_request', 125, option, f"'{value}'")
        self.assertEqual(os.listdir(self.work), [])

    def test_choices(self):
        for option, good in (('--after', ('kill', 'wait', 'keep')),
                             ('--on-output-limit', ('drop', 'kill')),
                             ('--render', ('clean', 'plain', 'raw')),
                             ('--encoding', ('auto', 'utf-8', 'gbk')),
                             ('--env-profile', ('agent', 'inherit', 'clean'))):
            for value in good:
                with self.subTest(option=option, value=value):
                    o = self.run_json(option, value, '--', 'echo', 'ran')
                    self.assert_ended(o, 'exit', 0, output='ran\n')
            for value in '', 'nonsense', good[0].upper(), good[0][:-1]:
                with self.subTest(option=option, value=value):
                    o = self.run_json(option, value, '--', 'touch', 'ran')
                    r = self.assert_refused(o, 'bad_request', 125, option, f"'{value}'")
                    for word in good:
                        self.assertIn(word, r['error'] + (r['hint'] or ''))
        self.assertEqual(os.listdir(self.work), [])

    def test_json_and_jsonl_together(self):
        """One of them, or a refusal; never a mixture."""
        o = self.rein('run', '--json', '--jsonl', '--', 'echo', 'x')
        if o.rc != 125:
            self.assertEqual(o.rc, 0)
            self.assertIn(len(o.out.splitlines()), (1, 3))


class Verbs(ReinTest):

    def test_unknown(self):
        for args in ['nonsense'], ['--nonsense'], ['-Z'], ['']:
            with self.subTest(args=args):
                self.assert_complains(self.rein(*args), 2, args[0])

    def test_none(self):
        o = self.rein()
        self.assertEqual((o.rc, o.out), (2, b''))
        self.assertIn('run', o.err_text)
        self.assertIn('code', o.err_text)

    def test_version(self):
        o = self.rein('--version')
        self.assertEqual((o.rc, o.err), (0, b''))
        self.assertRegex(o.text, r'\Arein \d+\.\d+\.\d+\n\Z')

    def test_help(self):
        for args, words in ((['help'], ('run', 'code')), (['--help'], ('run', 'code')),
                            (['help', 'run'], ('--timeout', '--cwd', '--json', '--shell')),
                            (['run', '--help'], ('--timeout', '--cwd', '--json', '--shell')),
                            (['help', 'code'], ('--timeout', 'LANGUAGE')),
                            (['code', '--help'], ('--timeout', 'LANGUAGE'))):
            with self.subTest(args=args):
                o = self.rein(*args)
                self.assertEqual((o.rc, o.err), (0, b''), str(o))
                for word in words:
                    self.assertIn(word, o.text)
                self.assertLessEqual(max(map(len, o.text.splitlines())), 100)
        self.assert_complains(self.rein('help', 'nonsense'), 2, 'nonsense')

    def test_help_to_a_closed_pipe(self):
        read_fd, write_fd = os.pipe()
        os.close(read_fd)
        try:
            o = self.rein('help', stdout=write_fd)
        finally:
            os.close(write_fd)
        self.assertLess(o.rc, 126)


class Completion(ReinTest):

    SHELLS = {'bash': ['bash', '-n'], 'zsh': ['zsh', '-n'], 'fish': ['fish', '-n']}

    def test_scripts(self):
        for shell, check in self.SHELLS.items():
            with self.subTest(shell=shell):
                o = self.rein('completion', shell)
                self.assertEqual((o.rc, o.err), (0, b''))
                for word in 'run', 'code', 'timeout', 'output-limit':
                    self.assertIn(word, o.text)
                if shutil.which(check[0]):
                    script = self.write(f'completion.{shell}', o.out)
                    p = subprocess.run([*check, script], capture_output=True, check=False,
                                       env=self.env)
                    self.assertEqual((p.returncode, p.stderr), (0, b''))

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = (f'PATH={os.path.dirname(self.command()[0])}:$PATH; '
                  'source <(rein completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  'f=$(complete -p rein | sed "s/.*-F \\([^ ]*\\).*/\\1/"); '
                  '$f rein "${@: -1}" "${@: -2:1}"; printf "%s\\n" "${COMPREPLY[@]}"')
        p = subprocess.run(['bash', '-c', script, 'bash', *words], capture_output=True, text=True,
                           check=True, env=self.env, cwd=self.work)
        return [word.strip() for word in p.stdout.splitlines()]

    def test_what_bash_offers(self):
        self.assertEqual(self.complete('rein', 'ru'), ['run'])
        self.assertIn('--timeout', self.complete('rein', 'run', '--ti'))
        self.assertNotIn('--cwd', self.complete('rein', 'run', '--ti'))
        self.assertEqual(sorted(self.complete('rein', 'run', '--after', '')),
                         ['keep', 'kill', 'wait'])
        self.assertIn('python', self.complete('rein', 'code', 'py'))
        self.assertEqual(self.complete('rein', 'policy', 'ch'), ['check'])
        self.assertEqual(self.complete('rein', 'audit', ''), ['verify'])
        o = self.rein('tool', 'call', 'execute_command', '{"command": "userdel nobody-of-that-name"}')
        self.assertEqual(self.complete('rein', 'approve', ''), [o.json['approval_id']])

    def test_unknown_shell(self):
        self.assert_complains(self.rein('completion', 'tcsh'), 2, 'bash, zsh, fish')
        self.assert_complains(self.rein('completion'), 2, 'bash, zsh, fish')


class NotInThisVersion(ReinTest):
    """What the command line will have one day is refused, and never quietly ignored."""

    OPTIONS = (['--detach'], ['--owner', '1'], ['--sandbox', 'workspace'], ['--sandbox', 'strict'],
               ['--net', 'none'], ['--ro', '/usr'], ['--rw', '/tmp'], ['--hide', '/home'],
               ['--disk', '1M'], ['--session', 's'], ['--disk', '1M'], ['--best-effort'])

    VERBS = ('tool', 'mcp', 'doctor', 'mcp-config')

    def test_options(self):
        for option in self.OPTIONS:
            for verb in (['run', *option, '--', 'touch', 'ran'],
                         ['code', 'bash', *option, '-c', 'touch ran']):
                with self.subTest(option=option, verb=verb[0]):
                    self.assert_complains(self.rein(*verb), 125, option[0])
                    self.assertEqual(os.listdir(self.work), [])

    def test_options_with_json(self):
        for option in self.OPTIONS:
            with self.subTest(option=option):
                o = self.run_json(*option, '--', 'touch', 'ran')
                self.assert_refused(o, ('bad_request', 'sandbox_unavailable'), 125, option[0])
                self.assertEqual(os.listdir(self.work), [])

    def test_verbs(self):
        for verb, rc in ((verb, 2) for verb in self.VERBS):
            with self.subTest(verb=verb):
                self.assert_complains(self.rein(verb, '--', 'touch', 'ran'), rc, verb)
                self.assert_complains(self.rein(verb), rc, verb)
        self.assertEqual(os.listdir(self.work), [])


if __name__ == '__main__':
    unittest.main()
