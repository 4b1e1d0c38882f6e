"""Declared secrets: no reader of a job's output, of its command or of the store ever has them."""

import json
import os
import signal
import unittest

from background_test import BackgroundTest
from rein_test import PATIENCE, SLOW, proc_stat, wait_until

SECRET = 's3cr3t-välue'
SIZE = len(SECRET.encode())
STARS = '*' * SIZE


class SecretsTest(BackgroundTest):

    def setUp(self):
        super().setUp()
        self.env['TOKEN'] = SECRET
        self.ready = os.path.join(self.temp, 'ready')

    def assert_not_in_store(self, secret=SECRET):
        """Neither as bytes nor as JSON writes them."""
        spellings = {secret.encode(), json.dumps(secret)[1:-1].encode()}
        n_files = 0
        for folder, _, names in os.walk(self.state):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.isfile(path):
                    continue
                n_files += 1
                with open(path, 'rb') as f:
                    text = f.read()
                for spelling in spellings:
                    self.assertNotIn(spelling, text, path)
        self.assertGreater(n_files, 0)

    def wait_ready(self):
        wait_until(lambda: os.path.exists(self.ready), PATIENCE, 'the job being ready')


class Output(SecretsTest):

    def test_run(self):
        script = 'echo "<$TOKEN>"; echo "$TOKEN" >&2'
        o = self.rein('run', '--secret', 'TOKEN', '--', 'sh', '-c', script)
        self.assertEqual((o.rc, o.text, o.err), (0, f'<{STARS}>\n{STARS}\n', b''), str(o))
        r = self.run_json('--secret', 'TOKEN', '--', 'sh', '-c', script).R
        self.assertEqual(r['output'], f'<{STARS}>\n{STARS}\n')
        self.assertEqual(r['output_bytes'], 2 * SIZE + 4)
        self.assertEqual(r['warnings'], [])

    def test_without_it_nothing_is_masked(self):
        o = self.rein('run', '--', 'sh', '-c', 'echo "$TOKEN"')
        self.assertEqual(o.text, SECRET + '\n')

    def test_code_and_events(self):
        o = self.rein('code', '--secret=TOKEN', '--jsonl', 'python', '-c',
                      'import os; print(os.environ["TOKEN"])')
        self.assertNotIn(SECRET.encode(), o.out)
        self.assertEqual(''.join(e['text'] for e in o.events if e['event'] == 'output'),
                         STARS + '\n')

    def test_byte_by_byte(self):
        script = ('import os, time\n'
                  'for byte in b"a" + os.environb[b"TOKEN"] + b"z":\n'
                  '    os.write(1, bytes([byte]))\n'
                  '    time.sleep(0.002)\n')
        o = self.rein('run', '--secret', 'TOKEN', '--', 'python3', '-c', script)
        self.assertEqual(o.text, f'a{STARS}z', str(o))

    def test_split_streams(self):
        script = ('import os\n'
                  'token = os.environb[b"TOKEN"]\n'
                  'os.write(1, token[:5])\n'
                  'os.write(2, b"<" + token[:3])\n'
                  'os.write(1, token[5:] + b"\\n")\n'
                  'os.write(2, token[3:] + b">")\n')
        r = self.run_json('--split', '--secret', 'TOKEN', '--', 'python3', '-c', script).R
        self.assertEqual((r['stdout'], r['stderr']), (STARS + '\n', f'<{STARS}>'))

    def test_several_that_overlap(self):
        o = self.rein('run', '--secret', 'A', '--secret', 'B', '-e', 'A=abcd', '-e', 'B=cdef',
                      '--', 'sh', '-c', 'echo abcdef abc def $A $B')
        self.assertEqual(o.text, '****** abc def **** ****\n')

    def test_the_value_that_the_job_has(self):
        o = self.rein('run', '--secret', 'TOKEN', '-e', 'TOKEN=other', '--', 'echo', 'other',
                      SECRET)
        self.assertEqual(o.text, f'***** {SECRET}\n')
        o = self.rein('run', '--secret', 'TOKEN', '--env-profile', 'clean', '--', 'sh', '-c',
                      f'echo "<$TOKEN> {SECRET}"')
        self.assertEqual(o.text, f'<> {STARS}\n')

    def test_much_of_it(self):
        """Through memory to the disk, with a middle that is dropped."""
        r = self.run_json('--secret', 'TOKEN', '--output-limit', '2M', '--', 'sh', '-c',
                          'yes "0123$TOKEN" | head -n 300000').R
        self.assertEqual(r['output_bytes'], 300000 * (SIZE + 5))
        self.assertIsNotNone(r['log_file'])
        with open(r['log_file'], 'rb') as f:
            f.seek(-(SIZE + 5) * 1000, os.SEEK_END)
            self.assertEqual(f.read(), f'0123{STARS}\n'.encode() * 1000)
        self.assert_not_in_store()

    def test_its_beginning_alone_at_the_end(self):
        o = self.rein('run', '--secret', 'TOKEN', '--', 'printf', '%s', SECRET[:7])
        self.assertEqual(o.text, SECRET[:7])

    def test_deadline_in_the_middle(self):
        r = self.run_json('--secret', 'TOKEN', '-t', f'{SLOW}', '--', 'sh', '-c',
                          'printf "<%s>%s" "$TOKEN" s3cr; exec sleep 60').R
        self.assertEqual((r['reason'], r['output']), ('timeout', f'<{STARS}>s3cr'))

    def test_supervisor_killed_in_the_middle(self):
        job = self.start_sh(f'printf "<%s>%s" "$TOKEN" s3cr; >{self.ready}; exec sleep 60',
                            '--secret', 'TOKEN')
        self.wait_ready()
        supervisor = proc_stat(self.list()[0]['pid'])[1]
        os.kill(supervisor, signal.SIGKILL)
        r = self.wait(job)
        self.assertEqual((r['reason'], r['output']), ('lost', f'<{STARS}>s3cr'))
        self.assert_not_in_store()


class Background(SecretsTest):

    def test_another_process_reads(self):
        job = self.start_sh('echo "$TOKEN"; read line; echo "$TOKEN$line"', '--secret', 'TOKEN',
                            '--stdin', 'pipe')
        self.wait_for_line(job, r'^\*+$')
        self.assertEqual(self.output(job)['output'], STARS + '\n')
        self.assert_not_in_store()
        self.assertEqual(self.rein('send', '--line', job, SECRET).rc, 0)
        self.wait(job)
        self.assertEqual(self.rein('output', job).text, f'{STARS}\n{STARS}{STARS}\n')
        self.assert_not_in_store()

    def test_arguments(self):
        job = self.start('--secret', 'TOKEN', '--', 'sh', '-c', 'echo "$1"', 'sh', f'x={SECRET}')
        shown = ['sh', '-c', 'echo "$1"', 'sh', f'x={STARS}']
        r = self.wait(job)
        self.assertEqual((r['command'], r['output']), (shown, f'x={STARS}\n'))
        self.assertEqual(self.list('--all')[0]['command'], shown)
        self.assertNotIn(SECRET.encode(), self.rein('ps', '--all').out)
        self.assert_not_in_store()


class Words(SecretsTest):

    def test_command_of_a_result(self):
        r = self.run_json('--secret', 'TOKEN', '--', 'true', SECRET).R
        self.assertEqual(r['command'], ['true', STARS])

    def test_what_is_left_running(self):
        r = self.run_json('--secret', 'TOKEN', '--', 'bash', '-c',
                          'exec -a "my $TOKEN" sleep 60 & '
                          'until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done').R
        self.assertEqual([one['command'] for one in r['left_running']], [f'my {STARS} 60'])

    def test_errors(self):
        o = self.rein('run', '--secret', 'TOKEN', '--', SECRET)
        self.assertEqual(o.rc, 127)
        self.assertIn(STARS, o.err_text)
        self.assertNotIn(SECRET, o.err_text)

    def test_directory_and_name(self):
        o = self.rein('run', '--secret', 'TOKEN', '-C', '/none/' + SECRET, '--', 'true')
        self.assertEqual(o.rc, 125)
        self.assertIn('/none/' + STARS, o.err_text)
        self.assertNotIn(SECRET, o.err_text)
        folder = os.path.join(self.temp, SECRET)
        os.mkdir(folder)
        r = self.run_json('--secret', 'TOKEN', '--name', 'n ' + SECRET, '-C', folder, '--', 'pwd').R
        self.assertEqual((r['name'], r['cwd'], r['output']),
                         ('n ' + STARS, os.path.join(self.temp, STARS),
                          os.path.join(self.temp, STARS) + '\n'))
        self.rein('start', '--secret', 'TOKEN', '--name', SECRET, '-C', folder, '--', 'true')
        self.assertNotIn(SECRET, self.rein('ps', '--all', '--json').text)

    def test_what_cannot_be_masked_is_told(self):
        r = self.run_json('--secret', 'NONE', '--secret', 'SHORT', '--secret', 'LONG',
                          '--secret', 'EMPTY', '--', 'sh', '-c', 'echo "$SHORT"',
                          extra_env={'SHORT': 'abc', 'LONG': 'x' * 4097, 'EMPTY': ''}).R
        self.assertEqual(r['output'], 'abc\n')
        self.assertEqual(r['warnings'], [
            'secret NONE: there is no such variable, and not masked',
            'secret SHORT: it is shorter than 4 bytes, and not masked',
            'secret LONG: it is longer than 4096 bytes, and not masked',
            'secret EMPTY: it is shorter than 4 bytes, and not masked'])

    def test_the_longest(self):
        value = 'x' * 4095 + 'y'
        r = self.run_json('--secret', 'LONG', '--render', 'raw', '--', 'sh', '-c',
                          'printf %s "$LONG$LONG"', extra_env={'LONG': value}).R
        self.assertEqual((r['output'], r['warnings']), ('*' * 8192, []))

    def test_settings(self):
        o = self.rein('run', '--', 'sh', '-c', 'echo $TOKEN $OTHER',
                      extra_env={'REIN_SECRET': 'TOKEN\nOTHER', 'OTHER': 'other'})
        self.assertEqual(o.text, f'{STARS} *****\n')

    def test_bad_names(self):
        for name in '', 'A=b', '=':
            o = self.rein('run', '--secret', name, '--', 'true')
            self.assertEqual(o.rc, 125, str(o))
        many = [word for n in range(65) for word in ('--secret', f'N{n}')]
        o = self.rein('run', *many, '--', 'true')
        self.assert_complains(o, 125, 'more than 64 secrets')


if __name__ == '__main__':
    unittest.main()
