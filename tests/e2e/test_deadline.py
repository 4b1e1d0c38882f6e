"""Deadlines: they come on time, whatever the tree does, and they reach all of it."""

import os
import signal
import time
import unittest

from rein_test import SLOW, ReinTest, wait_until

DAEMON = '''
import os, sys, time
if os.fork(): os.waitpid(-1, 0); os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep({})
'''


class Tree(ReinTest):
    """What the deadline ends."""

    def test_A1_grandchild(self):
        m = self.marker(98701)
        script = f'python3 -c "import time; print(1, flush=True); time.sleep({m})"; true'
        o, ms = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '0'), 1, '1')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', '1\n')
        self.assert_duration(r, ms, ms + 2000)

    def test_A2_sigterm_is_ignored(self):
        m = self.marker(98702)
        script = f'trap "" TERM; echo up; sleep {m}; sleep {m}'
        for grace in 0.5, 0:
            o, ms = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', str(grace)),
                                      0.5, 'up')
            self.assert_gone(m)
            r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', 'up\n')
            self.assert_duration(r, ms + grace * 1000, ms + grace * 1000 + 2000)

    def test_A2_every_signal_is_ignored(self):
        m = self.marker(98702)
        o, ms = self.ready_before(
            lambda t: self.run_json('-t', t, '--grace', '0.3', '--', self.helper('ignore-term'), m),
            0.5, 'ready')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', 'ready\nTERM\n')
        self.assert_duration(r, ms + 300, ms + 2300)

    def test_A3_descendant_in_a_new_session(self):
        m = self.marker(98703)
        script = f'setsid sh -c "echo up; exec sleep {m}" & sleep {m}'
        o, _ = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '0'), 0.5, 'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, 'SIGKILL', 'up\n')

    def test_A4_double_forked_daemon(self):
        m = self.marker(98704)
        self.write('daemon.py', DAEMON.format(m))
        script = f'python3 daemon.py; echo up; sleep {m}'
        o, _ = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '0'), 1, 'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, output='up\n')

    def test_A4_many_daemons(self):
        m = self.marker(98704)
        daemonize = self.helper('daemonize')
        script = f'for i in 1 2 3 4 5 6 7 8; do {daemonize} {m}; done; echo up; sleep {m}'
        o, _ = self.ready_before(lambda t: self.sh(script, '-t', t), 0.5, 'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, output='up\n')

    def test_A5_members_of_a_pipeline(self):
        m = self.marker(98705)
        script = f'sleep {m} | {{ echo up >&2; sleep {m}; }} | sleep {m}'
        o, _ = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '0'), 0.5, 'up')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, 'SIGKILL', 'up\n')

    def test_A9_never_becomes_a_background_job(self):
        m = self.marker(98709)
        o = self.run_json('-t', '0.3', '--grace', '0', '--', 'sleep', m)
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', '')
        self.assertEqual(r['left_running'], [], 'rein itself ended the tree')
        self.assertEqual(r['command'], ['sleep', m])

    def test_A10_waiting_for_input(self):
        m = self.marker(98710)
        fifo = os.path.join(self.temp, 'fifo')
        os.mkfifo(fifo)
        fifo_fd = os.open(fifo, os.O_RDWR)
        read_fd, write_fd = os.pipe()
        try:
            for stdin in fifo_fd, read_fd:
                for command in ('cat',), ('bash', '-c', 'read x', m):
                    with self.subTest(command=command, stdin=stdin):
                        o = self.run_json('-t', '0.3', '--grace', '0', '--stdin', 'inherit', '--',
                                          *command, stdin=stdin)
                        r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', '')
                        self.assert_duration(r, 300, 2000)
                        self.assert_gone(m)
        finally:
            for fd in fifo_fd, read_fd, write_fd:
                os.close(fd)

    def test_B7_output_before_the_deadline_is_kept(self):
        m = self.marker(98727)
        o, _ = self.ready_before(
            lambda t: self.run_json('-t', t, '--grace', '0', '--', 'sh', '-c',
                                    f'echo before; sleep {m}'), 0.5, 'before')
        self.assert_gone(m)
        self.assert_ended(o, 'timeout', -9, output='before\n')

    def test_stopped_processes_are_killed(self):
        m = self.marker(98729)
        o, ms = self.ready_before(
            lambda t: self.run_json('-t', t, '--', self.helper('stopper'), m), 0.5, 'stopped')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9, 'SIGKILL', 'stopped\n')
        self.assert_duration(r, ms, ms + 1500)

    def test_stopped_processes_are_woken_for_sigterm(self):
        m = self.marker(98729)
        o, ms = self.ready_before(
            lambda t: self.run_json('-t', t, '--grace', '10', '--', self.helper('stopper'), m),
            0.5, 'stopped')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -15, 'SIGTERM', 'stopped\n')
        self.assert_duration(r, ms, ms + 4500)

    def test_exit_with_0_on_sigterm_is_a_timeout(self):
        m = self.marker(98730)
        script = f'trap "echo bye; exit 0" TERM; echo up; sleep {m} & wait'
        o, ms = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '10'), 0.5, 'up')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', 0, output='up\nbye\n')
        self.assertFalse(r['success'])
        self.assertEqual(o.rc, 124)
        self.assert_duration(r, ms, ms + 4500)

    def test_members_that_outlive_the_main_process_in_the_grace_time(self):
        """The main process obeys SIGTERM, another one does not: it is not left."""
        m = self.marker(98731)
        script = f'{self.helper("ignore-term")} {m} & exec sleep {m}'
        o, ms = self.ready_before(lambda t: self.sh(script, '-t', t, '--grace', '0.5'), 0.5,
                                  'ready')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -15, 'SIGTERM', 'ready\nTERM\n')
        self.assert_duration(r, ms + 500, ms + 3500)

    def test_after_wait(self):
        m = self.marker(98732)
        o, ms = self.ready_before(
            lambda t: self.sh(f'sleep {m} & echo up; exit 0', '--after', 'wait', '-t', t), 0.5,
            'up')
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', 0)
        self.assertEqual(o.rc, 124)
        self.assert_duration(r, ms, ms + 1500)

    def test_text_mode_says_it(self):
        m = self.marker(98733)
        o = self.rein('run', '-t', '1', '--', 'sh', '-c', f'echo before; sleep {m}')
        self.assert_gone(m)
        self.assertEqual((o.rc, o.out), (124, b'before\n'))
        self.assertRegex(o.err_text, r'\Arein: [^\n]*\n\Z')


class Precision(ReinTest):
    """When it comes."""

    def test_not_early_and_not_much_later(self):
        for text, ms in ('0.2', 200), ('300ms', 300), ('0.25s', 250):
            with self.subTest(timeout=text):
                m = self.marker(98740)
                o = self.run_json('-t', text, '--', 'sleep', m)
                self.assert_gone(m)
                r = self.assert_ended(o, 'timeout', -9)
                self.assert_duration(r, ms, ms + 500)
                self.assertLess(o.seconds * 1000, (ms + 1000) * SLOW)

    def test_none_by_default_and_with_0(self):
        for options in [], ['-t', '0'], ['-t', '0s']:
            o = self.run_json(*options, '--', 'sleep', '0.2')
            r = self.assert_ended(o, 'exit', 0)
            self.assert_duration(r, 200, 2000)

    def test_a_far_deadline_is_not_a_near_one(self):
        for far in '1h', '100000h', '2500000h', '106751d', '292y':
            o = self.run_json('-t', far, '--', 'sleep', '0.05')
            if o.rc != 125:
                self.assert_ended(o, 'exit', 0)

    def test_while_flooding(self):
        m = self.marker(98741)
        o = self.run_json('-t', '0.5', '--show', '4K', '--', 'yes', m)
        self.assert_gone(m)
        r = self.assert_ended(o, 'timeout', -9)
        self.assert_duration(r, 500, 2000)

    def test_while_nobody_reads(self):
        """rein is blocked on its full standard output; the deadline holds all the same."""
        m = self.marker(98742)
        p = self.spawn('run', '-t', '2', '--', 'yes', m)
        self.wait_running('yes', m)
        wait_until(lambda: not self.processes(m), 5, 'the end of the flood')
        o = self.finish(p)
        self.assertEqual(o.rc, 124)
        self.assertEqual(o.out[:2 * len(m) + 2], f'{m}\n{m}\n'.encode())

    def test_while_rein_is_stopped(self):
        m = self.marker(98743)
        p = self.spawn('run', '--json', '-t', '2', '--', 'sleep', m)
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGSTOP)
        try:
            wait_until(lambda: not self.processes(m), 5, 'the end of the job')
            time.sleep(0.3)     # the job's time must not go on with rein's
        finally:
            p.send_signal(signal.SIGCONT)
        r = self.assert_ended(self.finish(p), 'timeout', -9)
        self.assert_duration(r, 2000, 2250)

    def test_G8_the_clock_jumps(self):
        """The wall clock is set by an hour in the middle of the run, for rein, all its processes
        and the job, which shows that it was so."""
        for jump in 3600, -3600:
            with self.subTest(jump=jump):
                m = self.marker(98744)
                prefix = [*self.as_namespace_root(), self.helper('jump-clock'), '700', str(jump)]
                o = self.run_json('-t', '1.5', '--', 'sh', '-c',
                                  f'date +%s; sleep 1; date +%s; sleep {m}', prefix=prefix,
                                  extra_env=self.without_leak_check())
                self.assert_gone(m)
                r = self.assert_ended(o, 'timeout', -9)
                self.assert_duration(r, 1500, 3500)
                before, after = map(int, r['output'].split())
                self.assertAlmostEqual(after - before, jump, delta=10)
                self.assertLess(o.seconds, 5 * SLOW)


class Storm(ReinTest):
    """Bounded fork storms: some processes only sleep, others fork and exit all the time."""

    size = ['120', '8']

    def assert_storm_is_over(self, m):
        self.assert_gone(m)
        # Processes that move on all the time escape a look at /proc, but not their parent; and
        # what has lost its parent is the test's.
        wait_until(lambda: not self._reap_orphans(), 2, 'the end of the storm')

    def test_deadline(self):
        m = self.marker(98750)
        o, ms = self.ready_before(
            lambda t: self.run_json('-t', t, '--grace', '0', '--', self.helper('fork-storm'), m,
                                    *self.size), 0.7, 'storm')
        r = self.assert_ended(o, 'timeout', -9, output='storm\n')
        self.assert_duration(r, ms, ms + 2000)
        self.assert_storm_is_over(m)

    def test_stop(self):
        m = self.marker(98751)
        p = self.spawn('run', '--grace', '0.3', '--', self.helper('fork-storm'), m, *self.size)
        self.read_some(p.stdout, b'storm\n')
        p.send_signal(signal.SIGTERM)
        o = self.finish(p)
        self.assertEqual(o.rc, 143, str(o))
        self.assert_storm_is_over(m)

    def test_leftovers(self):
        m = self.marker(98752)
        o = self.run_json('--', self.helper('fork-storm'), m, *self.size, 'leave')
        r = self.assert_ended(o, 'exit', 0, output='storm\n')
        self.assert_at_once(o)
        self.assertTrue(r['left_running'])
        self.assert_storm_is_over(m)

    def test_rein_is_killed(self):
        m = self.marker(98753)
        p = self.spawn('run', '--', self.helper('fork-storm'), m, *self.size)
        self.read_some(p.stdout, b'storm\n')
        p.kill()
        p.wait()
        wait_until(lambda: not self._reap_orphans(), 2, 'the end of the storm')
        self.assert_gone(m)


if __name__ == '__main__':
    unittest.main()
