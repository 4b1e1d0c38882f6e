"""The suite's runner: what counts as passed, and that nothing which goes wrong is lost."""

import json
import os
import pwd
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNNER = os.path.join(ROOT, 'tests', 'run-suite.py')
PASS = 'echo 1..2; echo "ok 1 - a"; echo "ok 2 - b"'


class RunSuite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = os.path.join(folder.name, 'source')
        self.build = os.path.join(self.source, 'build')
        os.makedirs(os.path.join(self.build, 'meson-info'))

    def write(self, path, value):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(value if isinstance(value, str) else json.dumps(value))

    def run_suite(self, *scripts, arguments=(), options=(), timeout=20, env=None):
        """Runs bash scripts as tests. Gives the exit status, the last line and all lines."""
        tests = [{'name': f't{i}', 'suite': ['rein:unit'],
                  'cmd': ['/bin/bash', '-c', script, *arguments],
                  'env': {}, 'timeout': timeout, 'protocol': 'tap', 'is_parallel': True, 'priority': 0}
                 for i, script in enumerate(scripts)]
        self.write(os.path.join(self.build, 'meson-info', 'intro-tests.json'), tests)
        self.write(os.path.join(self.build, 'meson-info', 'meson-info.json'),
                   {'directories': {'source': self.source}})
        done = subprocess.run([sys.executable, RUNNER, self.build, *options], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | (env or {}))
        lines = done.stdout.splitlines()
        return done.returncode, lines[-1], lines

    def assert_counts(self, expected, *scripts, **kw):
        status, last, lines = self.run_suite(*scripts, **kw)
        self.assertEqual(last, expected, '\n'.join(lines))
        self.assertEqual(status, 0 if ' 0 failed' in expected else 1)
        return lines

    def test_results_are_counted_not_programs(self):
        self.assert_counts('4 passed, 0 failed', PASS, PASS)

    def test_one_failed_result(self):
        self.assert_counts('3 passed, 1 failed', PASS,
                           'echo 1..2; echo ok 1; echo "not ok 2 - x"; exit 1')

    def test_output_of_a_failure_is_shown(self):
        lines = self.assert_counts('0 passed, 1 failed',
                                   'echo 1..1; echo "# detail"; echo "not ok 1"; echo oops >&2; exit 1')
        self.assertIn('     | # detail', lines)
        self.assertIn('     | oops', lines)

    def test_a_crash_after_good_results(self):
        lines = self.assert_counts('1 passed, 1 failed', 'echo 1..1; echo ok 1; kill -SEGV $$')
        self.assertTrue(any('SIGSEGV' in line for line in lines))

    def test_a_bad_status_after_good_results(self):
        self.assert_counts('1 passed, 1 failed', 'echo 1..1; echo ok 1; exit 3')

    def test_fewer_results_than_planned(self):
        self.assert_counts('1 passed, 1 failed', 'echo 1..3; echo ok 1')

    def test_no_plan(self):
        self.assert_counts('1 passed, 1 failed', 'echo ok 1')

    def test_silence(self):
        self.assert_counts('0 passed, 1 failed', 'true')

    def test_a_plan_of_nothing(self):
        self.assert_counts('0 passed, 1 failed', 'echo 1..0')

    def test_program_that_does_not_exist(self):
        self.assert_counts('0 passed, 1 failed', 'exec /nonexistent/program')

    def test_no_test_at_all(self):
        self.assert_counts('0 passed, 1 failed')

    def test_skips_are_told(self):
        lines = self.assert_counts('1 passed, 0 failed, 1 skipped',
                                   'echo 1..2; echo ok 1; echo "ok 2 - b # SKIP no such thing"')
        self.assertIn('       skipped: b: no such thing', lines)

    def test_skips_in_the_form_of_cmocka(self):
        self.assert_counts('1 passed, 0 failed, 1 skipped',
                           'echo 1..2; echo ok 1; echo "not ok 2 # SKIP b"')

    def test_a_skipped_program(self):
        self.assert_counts('2 passed, 0 failed, 1 skipped', PASS, 'echo "1..0 # SKIP nothing here"')

    def test_a_hang_is_ended_with_its_tree(self):
        path = os.path.join(self.source, 'pid')
        lines = self.assert_counts(
            '0 passed, 1 failed', f'setsid sleep 1000 & echo $! > {path}; wait', timeout=1)
        self.assertTrue(any('did not end within 1 s' in line for line in lines))
        with open(path, encoding='utf-8') as f:
            self.assertFalse(os.path.exists(f'/proc/{f.read().strip()}'))

    def test_a_process_left_behind(self):
        path = os.path.join(self.source, 'pid')
        lines = self.assert_counts(
            '2 passed, 1 failed',
            f'{PASS}; setsid sleep 1001 >/dev/null 2>&1 & echo $! > {path}')
        self.assertTrue(any('left running' in line and 'sleep 1001' in line for line in lines))
        with open(path, encoding='utf-8') as f:
            self.assertFalse(os.path.exists(f'/proc/{f.read().strip()}'))

    def test_what_a_sanitizer_writes_is_a_failure(self):
        log = os.path.join(self.build, 'sanitizer-logs', 'log.1')
        lines = self.assert_counts('2 passed, 1 failed', f'{PASS}; echo heap-use > {log}')
        self.assertIn('heap-use', lines)
        self.assert_counts('2 passed, 0 failed', PASS)

    def test_each_test_has_its_own_places(self):
        script = ('echo 1..1; [ -z "$(ls -A "$HOME")$(ls -A "$TMPDIR")" ] && [ "$PWD" = "$TMPDIR" ] '
                  '&& touch "$HOME/x" "$TMPDIR/x" && ! read -r && echo ok 1')
        self.assert_counts('2 passed, 0 failed', script, script)

    def test_own_settings_do_not_reach_the_tests(self):
        self.assert_counts('1 passed, 0 failed',
                           'echo 1..1; [ -z "$REIN_STATE$XDG_STATE_HOME" ] && [ "$REIN_TEST_X" = 1 ] '
                           '&& echo ok 1',
                           env={'REIN_STATE': '/x', 'XDG_STATE_HOME': '/x', 'REIN_TEST_X': '1'})

    def test_suites_and_names_choose(self):
        self.assert_counts('2 passed, 0 failed', PASS, 'exit 1', options=['--jobs', '1', 't0'])
        self.assert_counts('0 passed, 1 failed', PASS, options=['--suite', 'e2e'])

    def test_counts_file(self):
        path = os.path.join(self.source, 'counts')
        self.run_suite(PASS, 'echo 1..2; echo not ok; echo ok # skip; exit 1',
                       options=['--counts', path])
        with open(path, encoding='utf-8') as f:
            self.assertEqual(f.read(), '3 1 0\n')

    @unittest.skipIf(os.geteuid(), 'only root can be another user')
    def test_another_user_counts_too(self):
        """Even where the tree and the programs are closed to that user, and in Meson's notation."""
        program, file = os.path.join(self.build, 'program'), f'{self.build}/../file'
        self.write(os.path.join(self.source, 'file'), 'x')
        self.write(program, '#!/bin/sh\nid -un')
        os.chmod(program, 0o700)
        os.chmod(os.path.dirname(self.source), 0o700)
        script = 'echo 1..1; [ "$("$0")" = "$USER" ] && [ -O "$HOME" ] && [ -r "$1" ] && echo ok 1'
        lines = self.assert_counts('2 passed, 0 failed', script, arguments=[program, file],
                                   options=['--also-user', pwd.getpwuid(65534).pw_name])
        self.assertIn('---- as nobody', lines)


if __name__ == '__main__':
    unittest.main()
