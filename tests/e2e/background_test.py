"""What the tests of background jobs share: starting, looking at and ending them from outside."""

import json
import os

from rein_test import PATIENCE, ReinTest

SHORT_KEYS = frozenset((
    'process_id', 'pid', 'status', 'reason', 'success', 'exit_code', 'signal', 'command', 'cwd',
    'name', 'started_at', 'duration_ms', 'output_bytes'))


class BackgroundTest(ReinTest):
    """A test whose jobs outlive the calls that start them, and end with the test."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self._stop_all)

    def _stop_all(self):
        if os.path.isdir(os.path.join(self.state, 'jobs')):
            self.rein('stop', '--all', '--grace', '0')

    def start(self, *args, **kw):
        """`rein start ARGS`; gives the handle, which is all that it prints."""
        o = self.rein('start', *args, **kw)
        self.assertEqual(o.rc, 0, str(o))
        self.assertRegex(o.text, r'\A[0-9a-f]{8}\n\Z', str(o))
        self.assertEqual(o.err, b'', str(o))
        return o.text.strip()

    def start_sh(self, script, *options, **kw):
        return self.start(*options, '--', 'bash', '-c', script, **kw)

    def list(self, *args, **kw):
        """`rein ps --json`, a bare array."""
        o = self.rein('ps', '--json', *args, **kw)
        self.assertEqual(o.rc, 0, str(o))
        value = json.loads(o.text)
        self.assertIsInstance(value, list, str(o))
        return value

    def ids(self, *args, **kw):
        return [one['process_id'] for one in self.list(*args, **kw)]

    def output(self, job, *args):
        """The result object of `rein output --json`."""
        o = self.rein('output', '--json', job, *args)
        self.assertEqual(o.rc, 0, str(o))
        return o.R

    def wait(self, job, *args):
        """The result object of `rein wait --json`, of a wait that was successful."""
        o = self.rein('wait', '--json', job, *args)
        self.assertEqual(o.rc, 0, str(o))
        return o.R

    def wait_for_line(self, job, pattern):
        return self.wait(job, '--for', f'line:{pattern}', '--timeout', f'{PATIENCE:g}')

    def stop(self, job, *args):
        o = self.rein('stop', '--json', job, *args)
        self.assertEqual(o.rc, 0, str(o))
        return o.R

    def assert_no_job(self, outcome, job, json_output=True):
        message = f"No background command with process_id '{job}'"
        if json_output:
            r = self.assert_refused(outcome, 'no_such_job', 1)
            self.assertEqual(r['error'], message)
        else:
            self.assert_complains(outcome, 1, message)

    def log_of(self, job):
        return self.read(os.path.join(self.state, 'jobs', job, 'output.log'))
