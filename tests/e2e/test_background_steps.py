"""A supervisor that is killed at any step leaves a store that can be read and tells no lie.

strace kills every process that makes a certain call for the n-th time: the starter, the supervisor
or its guard, whoever comes to it. The calls are those that change the store, or tell others of it.
"""

import json
import os
import unittest

from rein_test import SLOW, ReinTest, wait_until

RENAMES = 'rename,renameat,renameat2'
CALLS = ('mkdirat', 'bind', 'listen', 'flock', 'fallocate', 'ftruncate', 'pwrite64', 'unlinkat',
         'write,writev', RENAMES, 'sendmsg', 'clone,clone3')
STEPS_MAX = 40      # a job makes none of these calls that often


class Steps(ReinTest):

    def start_and_kill(self, calls, n, *command):
        """Starts a job while whoever makes the n-th of these calls is killed. Returns whether
        anybody was, and what was started. With a grace nobody else dies by SIGKILL."""
        trace = os.path.join(self.temp, 'trace')
        o = self.rein('start', '--grace', '9', '--', *command, prefix=(
            self.need('strace'), '-f', '-qq', '-o', trace, '-e', f'trace={calls},{RENAMES}', '-e',
            f'inject={calls}:signal=SIGKILL:when={n}'))
        lines = self.read(trace).splitlines()
        records = [line for line in lines if b'"exit.json"' in line and line.endswith(b'= 0')]
        self.assertLessEqual(len(records), 1, 'an end was recorded twice')
        return any(b'killed by SIGKILL' in line for line in lines), o.text.strip()

    def check_store(self, started, marker):
        """What the store says is so."""
        listed = {r['process_id']: r for r in json.loads(self.rein('ps', '--all', '--json').text)}
        if started:
            self.assertIn(started, listed)
        for job, r in listed.items():
            shown = self.rein('output', job, '--json')
            self.assertEqual(shown.rc, 0, str(shown))
            self.assertEqual(shown.R['reason'], r['reason'])
            self.assertIn(r['reason'], ('exit', 'lost'))
            if r['reason'] == 'exit':
                self.assertEqual((r['exit_code'], shown.R['output']), (3, 'out\n'), str(shown))
            else:
                self.assertIsNone(r['exit_code'])
        self.assert_gone(marker, within=2)

    def forget_all(self):
        """Everything can be removed, whatever it is."""
        for r in json.loads(self.rein('ps', '--all', '--json').text):
            self.assertEqual(self.rein('rm', r['process_id']).rc, 0)
        self.assertEqual(self.rein('gc').rc, 0)
        self.assertEqual(os.listdir(os.path.join(self.state, 'jobs')), [])

    def check_each_step(self, calls):
        self.not_with_sanitizers('strace and the leak checker are in each other\'s way')
        m = self.marker(98761)
        os.makedirs(os.path.join(self.state, 'jobs'), 0o700)
        for n in range(1, STEPS_MAX):
            killed, started = self.start_and_kill(
                calls, n, 'sh', '-c', 'echo out; sleep $0 & exit 3', m)
            with self.subTest(calls=calls, n=n):
                self.check_store(started, m)
                self.forget_all()
            if not killed:
                self.assertGreater(n, 1, 'nobody was killed at all')
                self.assertTrue(started)
                return
        self.fail('the steps have no end')


def add_test(calls):
    def test(self):
        self.check_each_step(calls)
    setattr(Steps, f'test_killed_at_each_{calls.partition(",")[0]}', test)


for each in CALLS:
    add_test(each)


class Both(ReinTest):
    """Supervisor and guard are killed together."""

    def test_running_job_becomes_lost(self):
        m = self.marker(98762)
        job = self.rein('start', '--', 'sleep', m).text.strip()
        with open(os.path.join(self.state, 'jobs', job, 'job.json'), encoding='utf-8') as f:
            supervisor = json.load(f)['supervisor_pid']
        waiter = self.spawn('wait', job, '--json')
        guard = int(self.read(f'/proc/{supervisor}/stat').rpartition(b')')[2].split()[1])
        for pid in guard, supervisor:
            os.kill(pid, 9)
        self.assertEqual(self.finish(waiter).R['reason'], 'lost')
        self.assert_gone(m, within=2)
        (r,) = json.loads(self.rein('ps', '--all', '--json').text)
        self.assertEqual((r['status'], r['reason'], r['exit_code']), ('exited', 'lost', None))

    def test_another_boot(self):
        """What a machine leaves that went down: everything but the lock, and no record."""
        job = self.rein('start', '--', 'sh', '-c', 'echo before; exec sleep 0.1').text.strip()
        folder = os.path.join(self.state, 'jobs', job)
        self.assertEqual(self.rein('wait', job).rc, 0)
        os.unlink(os.path.join(folder, 'exit.json'))
        r = self.rein('output', job, '--json').R
        self.assertEqual((r['status'], r['reason'], r['exit_code'], r['output']),
                         ('exited', 'lost', None, 'before\n'))
        wait_until(lambda: self.rein('wait', job).rc == 0)
        self.assertEqual(self.rein('rm', job).rc, 0)


class Clocks(ReinTest):
    """The wall clock is set: no job becomes older or younger by that, or is forgotten."""

    def test_another_time_of_day(self):
        m = self.marker(98763)
        job = self.rein('start', '--', 'sleep', m).text.strip()
        ended = self.rein('start', '--', 'true').text.strip()
        self.assertEqual(self.rein('wait', ended).rc, 0)
        for jump in 3600, -3600:
            shifted = {
                'prefix': [*self.as_namespace_root(), self.helper('jump-clock'), '0', str(jump)],
                'extra_env': self.without_leak_check()}
            with self.subTest(jump=jump):
                listed = self.rein('ps', '--all', '--json', **shifted)
                ages = {r['process_id']: r['duration_ms'] for r in json.loads(listed.text)}
                self.assertEqual(set(ages), {job, ended}, str(listed))
                self.assertTrue(0 <= ages[job] < 100000 * SLOW, ages)
                late = self.rein('wait', job, '--timeout', '0.2', '--json', **shifted)
                self.assert_refused(late, 'timeout', 124)
                self.assertLess(late.seconds, 20 * SLOW)
                self.assertEqual(self.rein('gc', **shifted).rc, 0)
        self.assertEqual(self.rein('output', ended).rc, 0)
        r = self.rein('stop', job, '--json').R
        self.assertEqual(r['reason'], 'stopped')


if __name__ == '__main__':
    unittest.main()
