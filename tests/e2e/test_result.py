"""The result object: every key, and what it says."""

import datetime
import os
import shutil
import unittest

from rein_test import ReinTest


class Result(ReinTest):

    def test_of_a_plain_job(self):
        before = datetime.datetime.now(datetime.timezone.utc)
        o = self.run_json('--', 'sh', '-c', 'echo hello')
        after = datetime.datetime.now(datetime.timezone.utc)
        r = self.assert_ended(o, 'exit', 0, output='hello\n')
        self.assertIs(r['success'], True)
        self.assertIsNone(r['signal'])
        self.assertEqual(r['command'], ['sh', '-c', 'echo hello'])
        self.assertEqual(r['cwd'], self.work)
        self.assertIsNone(r['name'])
        self.assertEqual(r['output_bytes'], 6)
        self.assertEqual((r['omitted_bytes'], r['omitted_at'], r['truncated']), (0, None, False))
        self.assertEqual(r['encoding'], 'utf-8')
        self.assertIsNone(r['log_file'])
        self.assertEqual(r['left_running'], [])
        self.assertEqual(r['warnings'], [])
        self.assertEqual(r['sandbox'], {'level': 'off', 'enforced': [], 'missing': []})
        started = datetime.datetime.fromisoformat(r['started_at'].replace('Z', '+00:00'))
        margin = datetime.timedelta(milliseconds=2)
        self.assertTrue(before - margin <= started <= after + margin, r['started_at'])

    def test_ids_are_unique(self):
        ids = {self.run_json('--', 'true').R['process_id'] for _ in range(20)}
        self.assertEqual(len(ids), 20)

    def test_pid_is_the_main_processes(self):
        o = self.sh('echo $$')
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['output'], f'{r["pid"]}\n')

    def test_duration(self):
        r = self.assert_ended(self.run_json('--', 'sleep', '0.3'), 'exit', 0)
        self.assert_duration(r, 300, 1500)

    def test_usage(self):
        script = 'b = bytearray(40 << 20); sum(range(3000000))'
        r = self.assert_ended(self.run_json('--', 'python3', '-c', script), 'exit', 0)
        self.assertGreater(r['usage']['user_ms'], 5)
        self.assertGreaterEqual(r['usage']['system_ms'], 0)
        self.assertGreater(r['usage']['max_rss_bytes'], 40 << 20)
        r = self.assert_ended(self.run_json('--', 'true'), 'exit', 0)
        self.assertLess(r['usage']['max_rss_bytes'], 40 << 20)

    def test_usage_counts_the_tree(self):
        o = self.sh("python3 -c 'sum(range(3000000))'; true")
        self.assertGreater(self.assert_ended(o, 'exit', 0)['usage']['user_ms'], 5)

    def test_split(self):
        o = self.run_json('--split', '--', 'sh', '-c', 'echo out; echo err >&2; exit 2')
        r = self.assert_ended(o, 'exit', 2, split=True)
        self.assertEqual((r['stdout'], r['stderr']), ('out\n', 'err\n'))
        self.assertEqual((r['output_bytes'], r['cursor']), (8, 8))

    def test_name(self):
        o = self.run_json('--name', 'my job', '--', 'true')
        self.assertEqual(self.assert_ended(o, 'exit', 0)['name'], 'my job')

    def test_shell_command_is_the_executed_argv(self):
        o = self.run_json('--shell', '--', 'echo hi')
        r = self.assert_ended(o, 'exit', 0, output='hi\n')
        self.assertEqual(r['command'][-1], 'echo hi')
        self.assertIn('-c', r['command'])
        self.assertEqual(os.path.basename(r['command'][0]), 'bash')

    def test_cwd_option(self):
        o = self.run_json('-C', self.home, '--', 'pwd')
        r = self.assert_ended(o, 'exit', 0, output=f'{self.home}\n')
        self.assertEqual(r['cwd'], self.home)

    def test_relative_cwd_is_shown_absolute(self):
        os.mkdir(os.path.join(self.work, 'sub'))
        o = self.run_json('-C', 'sub', '--', 'pwd')
        r = self.assert_ended(o, 'exit', 0, output=f'{self.work}/sub\n')
        self.assertEqual(r['cwd'], f'{self.work}/sub')

    def test_words_that_json_must_escape(self):
        word = 'a"b\\c\n\t\x01\x7f é 你'
        o = self.run_json('--', 'printf', '%s', word)
        r = self.assert_ended(o, 'exit', 0)
        self.assertEqual(r['command'], ['printf', '%s', word])

    def test_words_that_are_not_utf_8(self):
        """JSON is UTF-8; the command gets its bytes as they were."""
        o = self.run_json('--', 'printf', '%s', b'a\xffb')
        r = self.assert_ended(o, 'exit', 0, output='a�b')
        self.assertEqual(r['output_bytes'], 3)
        self.assertEqual(r['command'][2], 'a�b')

    def test_odd_directories(self):
        for name in b'with blank', b'line\nbreak', b'not utf-8 \xff', '你'.encode():
            path = os.path.join(self.work.encode(), name)
            os.mkdir(path)
            for options, cwd in (['-C', path], None), ([], path):
                with self.subTest(name=name, options=bool(options)):
                    o = self.run_json(*options, '--', 'touch', 'here', cwd=cwd)
                    r = self.assert_ended(o, 'exit', 0)
                    self.assertEqual(r['cwd'], path.decode('utf-8', 'replace'))
                    os.unlink(os.path.join(path, b'here'))

    def test_I5_the_working_directory_does_not_carry_over(self):
        self.assertEqual(self.rein('run', '--', 'sh', '-c', 'cd /tmp').rc, 0)
        o = self.run_json('--', 'pwd')
        r = self.assert_ended(o, 'exit', 0, output=f'{self.work}\n')
        self.assertEqual(r['cwd'], self.work)

    def test_the_store_is_private_and_made_only_when_needed(self):
        state = os.path.join(self.temp, 'new', 'state')
        o = self.run_json('--', 'true', extra_env={'REIN_STATE': state})
        self.assert_ended(o, 'exit', 0)
        o = self.run_json('--show', '4K', '--', 'seq', '1', '10000',
                          extra_env={'REIN_STATE': state})
        r = self.assert_ended(o, 'exit', 0)
        self.assertTrue(r['log_file'].startswith(state + '/'), r['log_file'])
        self.assertEqual(os.stat(state).st_mode & 0o777, 0o700)

    def test_places_of_the_store(self):
        del self.env['REIN_STATE']
        for extra, place in (({'XDG_STATE_HOME': self.tmp}, f'{self.tmp}/rein/'),
                             ({}, f'{self.home}/.local/state/rein/')):
            o = self.run_json('--show', '4K', '--', 'seq', '1', '10000', extra_env=extra)
            r = self.assert_ended(o, 'exit', 0)
            self.assertTrue(r['log_file'].startswith(place), r['log_file'])
        self.assertEqual(os.listdir(self.tmp), ['rein'])
        shutil.rmtree(os.path.join(self.tmp, 'rein'))


if __name__ == '__main__':
    unittest.main()
