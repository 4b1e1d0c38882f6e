"""Many jobs at once, and many things at once for a while.

REIN_SOAK_SECONDS: how long the soak goes on. A few seconds in the suite, ten minutes before a
release.
"""

import json
import os
import random
import signal
import subprocess
import time
import unittest

from rein_test import IS_ROOT, SLOW, ReinTest, proc_stat, sanitized, wait_until

MANY = 1000 if IS_ROOT and not sanitized() else 100
SOAK_SECONDS = float(os.environ.get('REIN_SOAK_SECONDS') or 8)
MANY_SECONDS = 120 * SLOW


class Many(ReinTest):

    def jobs(self, *options):
        return json.loads(self.rein('ps', '--json', *options, timeout=MANY_SECONDS).text)

    def test_many_jobs_started_listed_read_stopped(self):
        m = self.marker(98771)
        ids = [self.rein('start', '--', 'sh', '-c', 'echo "job $0"; exec sleep $1', str(i),
                         m).text.strip() for i in range(MANY)]
        self.assertEqual(len(set(ids)), MANY)
        wait_until(lambda: len(self.processes(m)) == MANY, 60, 'all commands')
        listed = self.jobs()
        self.assertEqual([r['process_id'] for r in listed], ids, 'not the oldest first')
        self.assertEqual({r['status'] for r in listed}, {'running'})
        for i, job in enumerate(ids):
            log = os.path.join(self.state, 'jobs', job, 'output.log')
            self.assertEqual(self.read(log), b'job %d\n' % i)
            if i % 20 == 0:
                self.assertEqual(self.rein('output', job).text, f'job {i}\n')
        stopped = json.loads(self.rein('stop', '--all', '--json', timeout=MANY_SECONDS).text)
        self.assert_gone(m)
        self.assertEqual({r['process_id'] for r in stopped}, set(ids))
        self.assertEqual({(r['reason'], r['signal']) for r in stopped}, {('stopped', 'SIGTERM')})
        self.assertEqual(self.jobs(), [])
        self.assertEqual(self.rein('gc', timeout=MANY_SECONDS).rc, 0)
        self.assertLessEqual(len(self.jobs('--all')), 200)


class Soak(ReinTest):
    """Random starts, reads, stops, kills of callers and of supervisors."""

    COMMANDS = (
        'exec sleep $0',
        'echo start; sleep 0.1; echo end; exit 3',
        'setsid sleep $0 & sleep 0.2; echo left',
        'trap "" TERM; sleep $0; sleep $0',
        'while :; do echo "$0"; done',
        'head -c 3000000 /dev/zero; exec sleep $0',
        'cat >/dev/null; exec sleep $0',
    )

    def start(self):
        options = random.choice(([], ['--stdin', 'pipe'], ['--split'], ['-t', '0.5'],
                                 ['--output-limit', '64K'], ['--after', 'wait', '-t', '1']))
        o = self.rein('start', *options, '--', 'sh', '-c', random.choice(self.COMMANDS), self.m)
        self.assertEqual(o.rc, 0, str(o))
        self.ids.append(o.text.strip())

    def caller(self, *args):
        """A call that may be killed in the middle."""
        p = self.spawn(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.callers.append(p)

    def pick(self):
        return random.choice(self.ids[-20:])

    def kill_caller(self):
        running = [p for p in self.callers if p.poll() is None]
        if running:
            random.choice(running).kill()

    def kill_supervisor(self):
        """Or its guard; not both, for then nobody is left who could end the tree."""
        job = self.pick()
        if job in self.wounded:
            return
        self.wounded.add(job)
        path = os.path.join(self.state, 'jobs', job, 'job.json')
        try:
            with open(path, encoding='utf-8') as f:
                pid = json.load(f)['supervisor_pid']
            with open(f'/proc/{pid}/comm', encoding='ascii', errors='replace') as f:
                if 'rein-superviso' not in f.read():
                    return
            victim = random.choice((pid, proc_stat(pid)[1]))
            if victim not in (1, os.getpid()):
                os.kill(victim, signal.SIGKILL)
        except (OSError, TypeError, ValueError):
            return      # it has ended

    def read_all(self):
        self.assertEqual(self.rein('ps', '--all', '--json').rc, 0)

    def act(self):
        random.choice((
            self.start, self.start, self.start, self.read_all, self.kill_caller,
            self.kill_supervisor,
            lambda: self.caller('wait', self.pick(), '--timeout', '5'),
            lambda: self.caller('output', self.pick(), '--follow'),
            lambda: self.caller('output', self.pick(), '--json'),
            lambda: self.caller('stop', self.pick(), '--grace', '0.1'),
            lambda: self.caller('stop', self.pick(), '--grace', '0'),
            lambda: self.caller('send', self.pick(), 'text', '--eof'),
            lambda: self.caller('send', self.pick(), '--signal', 'USR1'),
            lambda: self.caller('rm', self.pick()),
            lambda: self.caller('gc'),
        ))()

    def test_soak(self):
        self.m, self.ids, self.callers, self.wounded = self.marker(98772), [], [], set()
        seed = random.randrange(1 << 32)
        random.seed(seed)
        self.start()
        end = time.monotonic() + SOAK_SECONDS * SLOW
        with self.subTest(seed=seed):
            while time.monotonic() < end:
                self.act()
            self.settle()

    def settle(self):
        """Nothing is left but what the store says."""
        stopped = self.rein('stop', '--all', '--grace', '0.1', '--json', timeout=60 * SLOW)
        self.assertEqual(stopped.rc, 0, str(stopped))
        self.assert_gone(self.m, within=2)
        for p in self.callers:
            self.finish(p)
        listed = json.loads(self.rein('ps', '--all', '--json').text)
        self.assertEqual({r['status'] for r in listed} - {'exited'}, set())
        for r in listed:
            o = self.rein('rm', r['process_id'])
            self.assertEqual(o.rc, 0, str(o))
        self.assertEqual(self.rein('gc').rc, 0)
        self.assertEqual(os.listdir(os.path.join(self.state, 'jobs')), [])


if __name__ == '__main__':
    unittest.main()
