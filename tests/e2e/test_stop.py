"""Who ends a job early, and how: signals to rein, Ctrl-C, a closed output, SIGKILL of rein and of
the processes between rein and the job."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import time
import unittest

from rein_test import AT_ONCE, SLOW, ReinTest, chain_between, children_of, free_of_signals, \
    proc_argv, wait_until


class SignalsToRein(ReinTest):

    def spawn_free(self, *args, **kw):
        return self.spawn(*args, preexec_fn=free_of_signals, **kw)

    def test_each_signal_stops_the_job(self):
        for signo in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            with self.subTest(signal=signo.name):
                m = self.marker(98760)
                p = self.spawn_free('run', '--json', '--', 'sh', '-c', f'echo up; exec sleep {m}')
                self.wait_running('sleep', m)
                p.send_signal(signo)
                o = self.finish(p, AT_ONCE)
                self.assert_gone(m)
                self.assert_ended(o, 'stopped', -15, 'SIGTERM', 'up\n')
                self.assertEqual(o.rc, 143)

    def test_A3_a_tree_of_all_kinds(self):
        m = self.marker(98703)
        p = self.spawn_free('run', '--json', '--grace', '0.5', '--', 'bash', '-c', f'''
            setsid sleep {m} &
            {self.helper("daemonize")} {m}
            {self.helper("ignore-term")} {m} > ready &
            {self.helper("stopper")} {m} > stopped &
            until test -s ready -a -s stopped; do sleep 0.01; done
            sleep {m} | sleep {m}''')
        self.wait_running('sleep', m, count=3)
        p.send_signal(signal.SIGTERM)
        o = self.finish(p)
        self.assert_gone(m)
        r = self.assert_ended(o, 'stopped', -15, 'SIGTERM')
        self.assertEqual(r['left_running'], [], 'rein itself ended the tree')

    def test_text_mode(self):
        m = self.marker(98761)
        p = self.spawn_free('run', '--', 'sh', '-c', f'printf partial; exec sleep {m}')
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGTERM)
        o = self.finish(p, AT_ONCE)
        self.assert_gone(m)
        self.assertEqual((o.rc, o.out), (143, b'partial'))
        self.assertRegex(o.err_text, r'\A\n?rein: [^\n]*\n\Z')

    def test_exit_with_0_on_sigterm_is_no_success(self):
        m = self.marker(98762)
        p = self.spawn_free('run', '--json', '--', 'bash', '-c',
                            f'trap "exit 0" TERM; sleep {m} & wait')
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGTERM)
        o = self.finish(p, AT_ONCE)
        self.assert_gone(m)
        self.assert_ended(o, 'stopped', 0)
        self.assertEqual(o.rc, 137)

    def start_stubborn(self, *options):
        """A job that has its first SIGTERM behind it and did not care."""
        m = self.marker(98763)
        p = self.spawn_free('run', '--jsonl', *options, '--', self.helper('ignore-term'), m)
        self.read_some(p.stdout, b'ready')
        p.send_signal(signal.SIGTERM)
        self.read_some(p.stdout, b'TERM')
        return p, m

    def finish_stubborn(self, p, m):
        o = self.finish(p)
        self.assert_gone(m)
        r = o.events[-1]
        self.assertEqual((r['event'], r['reason'], r['exit_code']), ('exit', 'stopped', -9))
        self.assertEqual(o.rc, 137)

    def test_second_signal_hastens(self):
        for signo in signal.SIGINT, signal.SIGTERM:
            with self.subTest(signal=signo.name):
                p, m = self.start_stubborn('--grace', '60')
                start = time.monotonic()
                p.send_signal(signo)
                self.finish_stubborn(p, m)
                self.assertLess(time.monotonic() - start, AT_ONCE)

    def test_the_jobs_own_grace_counts(self):
        p, m = self.start_stubborn('--grace', '0.5')
        start = time.monotonic()
        self.finish_stubborn(p, m)
        self.assertLess(time.monotonic() - start, AT_ONCE)

    def test_five_seconds_of_grace_by_default(self):
        p, m = self.start_stubborn()
        start = time.monotonic()
        self.finish_stubborn(p, m)
        self.assertGreater(time.monotonic() - start, 4)
        self.assertLess(time.monotonic() - start, 8 * SLOW)

    def test_the_deadline_holds_during_the_grace_time(self):
        p, m = self.start_stubborn('-t', '1', '--grace', '60')
        p.send_signal(signal.SIGTERM)
        o = self.finish(p, 5 * SLOW)
        self.assert_gone(m)
        self.assertIn(o.rc, (124, 137), str(o))

    def test_a_signal_at_the_very_start(self):
        """Whenever the signal comes, rein ends, by it or with a result, and leaves nothing."""
        m = self.marker(98764)
        for i in range(30):
            p = self.spawn_free('run', '--json', '--', 'sleep', m)
            time.sleep(i * 0.0003)
            p.send_signal(signal.SIGTERM)
            o = self.finish(p, AT_ONCE)
            self.assertIn(o.rc, (-signal.SIGTERM, 143), str(o))
            self.assert_gone(m, within=2)

    def test_signals_blocked_by_the_caller(self):
        """A caller's mask and ignored SIGCHLD are inherited; rein works all the same."""
        def hostile():
            free_of_signals()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 32))
        m = self.marker(98765)
        p = self.spawn('run', '--json', '--', 'sleep', m, preexec_fn=hostile)
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGTERM)
        o = self.finish(p, AT_ONCE)
        self.assert_gone(m)
        self.assert_ended(o, 'stopped', -15)

    def test_what_the_caller_ignores_stays_ignored(self):
        """Ctrl-C is not meant for a shell's background job, a hang-up not for one under nohup."""
        def in_background():
            free_of_signals()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        m = self.marker(98766)
        p = self.spawn('run', '--json', '--', 'sh', '-c', f'echo up; sleep {m}',
                       preexec_fn=in_background)
        self.wait_running('sleep', m)
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGHUP)
        time.sleep(0.2)     # no event can tell that nothing happened
        self.assertIsNone(p.poll())
        self.assertTrue(self.running('sleep', m))
        p.send_signal(signal.SIGTERM)
        self.assert_ended(self.finish(p, AT_ONCE), 'stopped', -15)

    def test_A15_a_job_that_signals_its_own_group(self):
        m = self.marker(98714)
        o = self.sh(f'kill 0; sleep {m}')
        self.assert_gone(m)
        self.assert_ended(o, 'signal', -15, 'SIGTERM')
        self.assertEqual(o.rc, 143)

    def test_A15_a_job_that_signals_its_parent(self):
        """Not the job's business: whatever becomes of the job, rein reports and nothing is left."""
        for signo in 'TERM', 'INT', 'HUP', 'STOP':
            with self.subTest(signal=signo):
                m = self.marker(98714)
                o = self.sh(f'kill -{signo} $PPID; echo over', '-t', '3', timeout=10 * SLOW)
                self.assertIn(o.R['reason'], ('exit', 'stopped', 'lost', 'timeout'), str(o))
                self.assert_gone(m)


class Terminal(ReinTest):
    """rein on a terminal, as a person starts it."""

    def spawn_on_terminal(self, *command):
        """Runs a command with a terminal of its own. Returns (process, our end)."""
        ours, theirs = pty.openpty()
        attributes = termios.tcgetattr(theirs)
        attributes[1] &= ~termios.OPOST      # bytes come as they were written
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)

        def take_terminal():
            free_of_signals()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        p = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=self.env,
                             cwd=self.work, start_new_session=True, preexec_fn=take_terminal)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.spawned.append(p)
        return p, ours

    def test_ctrl_c(self):
        m = self.marker(98770)
        p, terminal = self.spawn_on_terminal(*self.command('run', '--', 'sh', '-c',
                                                           f'echo up; exec sleep {m}'))
        self.read_some(terminal, b'up\n')
        self.wait_running('sleep', m)
        os.write(terminal, b'\x03')
        self.assertEqual(p.wait(AT_ONCE), 143)
        self.assert_gone(m)
        self.assertIn(b'rein: ', self.read_some(terminal, b'rein: '))

    def test_hang_up(self):
        """The terminal goes away: so does the job."""
        m = self.marker(98771)
        ours, theirs = pty.openpty()
        try:
            def take_terminal():
                free_of_signals()
                fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            p = self.spawn('run', '--', 'sleep', m, stdin=theirs, stdout=theirs, stderr=theirs,
                           start_new_session=True, preexec_fn=take_terminal)
        finally:
            os.close(theirs)
        self.wait_running('sleep', m)
        os.close(ours)
        p.wait(AT_ONCE)
        self.assert_gone(m)

    def test_partial_lines_are_shown(self):
        m = self.marker(98772)
        p, terminal = self.spawn_on_terminal(*self.command('run', '--', 'sh', '-c',
                                                           f'printf "Name? "; exec sleep {m}'))
        self.read_some(terminal, b'Name? ')
        self.assertIsNone(p.poll())
        p.terminate()
        p.wait(AT_ONCE)
        self.assert_gone(m)

    def test_C3_no_controlling_terminal(self):
        m = self.marker(98773)
        script = (f'"{self.command()[0]}" run -t 10 -- sh -c \'read x </dev/tty; echo r=$?\' {m}'
                  '; read line; echo "got=$line"')
        p, terminal = self.spawn_on_terminal('sh', '-c', script)
        os.write(terminal, b'mine\n')
        text = self.read_some(terminal, b'got=')
        text += self.read_some(terminal, b'\n') if b'got=mine' not in text else b''
        self.assertRegex(text, rb'r=[1-9]')
        self.assertIn(b'got=mine', text, 'the input went to the job')
        self.assertEqual(p.wait(AT_ONCE), 0)
        self.assert_gone(m)

    def test_no_colour_in_messages_where_none_is_wanted(self):
        self.env['NO_COLOR'] = '1'
        p, terminal = self.spawn_on_terminal(*self.command('run', '--', 'no-such-command-here'))
        text = self.read_some(terminal, b'no-such-command-here')
        self.assertEqual(p.wait(AT_ONCE), 127)
        self.assertNotIn(b'\x1b', text)


class OutputGoesAway(ReinTest):

    def test_reader_ends_first(self):
        m = self.marker(98780)
        script = f'"{self.command()[0]}" run -- sh -c "while :; do echo x; done" {m} | head -1'
        start = time.monotonic()
        p = subprocess.run(['bash', '-c', script], env=self.env, cwd=self.work, timeout=20 * SLOW,
                           stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertLess(time.monotonic() - start, AT_ONCE)
        self.assertEqual(p.stdout, b'x\n')
        self.assert_gone(m)

    def test_reader_ends_while_the_job_is_silent(self):
        """Nobody can read any more: noticed at the next write at the latest."""
        m = self.marker(98781)
        p = self.spawn('run', '--', 'sh', '-c',
                       f'echo up; until test -e go; do sleep 0.02; done; echo more; sleep {m}')
        self.read_some(p.stdout, b'up\n')
        p.stdout.close()
        p.stdout = None
        self.write('go', '')
        rc = p.wait(AT_ONCE)
        self.assertNotIn(rc, (0, 124, None))
        self.assert_gone(m)

    def test_full_device(self):
        m = self.marker(98782)
        with open('/dev/full', 'wb') as full:
            o = self.rein('run', '--', 'sh', '-c', f'echo x; sleep {m}', stdout=full,
                          timeout=5 * SLOW)
        self.assertEqual(o.rc, 125, str(o))
        self.assertRegex(o.err_text, r'\A(?:rein: [^\n]*\n)+\Z')
        self.assertIn('No space left on device', o.err_text)
        self.assert_gone(m)

    def test_full_device_for_the_result(self):
        with open('/dev/full', 'wb') as full:
            o = self.run_json('--', 'true', stdout=full)
        self.assertEqual(o.rc, 125, str(o))
        self.assertRegex(o.err_text, r'\Arein: [^\n]*No space left on device[^\n]*\n')

    def test_slow_reader_gets_everything(self):
        """The job waits for its reader; nothing is dropped, even with a small log."""
        p = self.spawn('run', '--output-limit', '64K', '--', 'seq', '1', '200000')
        got = b''
        for _ in range(20):
            got += os.read(p.stdout.fileno(), 4096)
            time.sleep(0.005)
        o = self.finish(p)
        expected = b''.join(b'%d\n' % i for i in range(1, 200001))
        self.assertTrue(got + o.out == expected, 'lines were lost')
        self.assertEqual(o.rc, 0)


class KilledFromOutside(ReinTest):
    """SIGKILL of rein, or of what stands between rein and the job: nothing of the tree lives on."""

    TREE = 'setsid sleep {m} & {daemonize} {m}; (sleep {m} &); sleep {m}; true'

    def start_tree(self, *options):
        m = self.marker(98711)
        p = self.spawn('run', *options, '--', 'bash', '-c',
                       self.TREE.format(m=m, daemonize=self.helper('daemonize')))
        self.wait_running('sleep', m, count=3)
        self.wait_running('daemonize', m)
        return p, m

    def test_A11_rein_is_killed(self):
        p, m = self.start_tree()
        p.kill()
        p.wait()
        self.assert_gone(m, within=2)

    def test_A11_rein_is_killed_while_it_waits_for_a_deadline(self):
        p, m = self.start_tree('-t', '1h', '--grace', '1h', '--after', 'wait')
        p.kill()
        p.wait()
        self.assert_gone(m, within=2)

    def test_A11_the_script_of_rein_code_is_removed(self):
        m = self.marker(98711)
        p = self.spawn('code', 'python', '-c',
                       f'import time; print(__file__, flush=True); time.sleep({m})')
        script = self.read_some(p.stdout, b'\n').decode().strip()
        self.assertTrue(os.path.exists(script))
        p.kill()
        p.wait()
        wait_until(lambda: not os.path.exists(os.path.dirname(script)), 2, 'removal of the script')

    def test_the_supervisor_is_killed(self):
        """Its guard ends the tree, and says that the job is lost."""
        p, m = self.start_tree('--json')
        os.kill(self.chain(p, m)[0], signal.SIGKILL)
        o = self.finish(p, 5 * SLOW)
        self.assert_gone(m)
        self.assert_ended(o, 'lost')
        self.assertEqual(o.rc, 125)

    def test_the_guard_is_killed(self):
        """The supervisor does not need it; the job goes on and ends as it would have."""
        p, m = self.start_tree('--json')
        supervisor, guard = self.chain(p, m)
        main = proc_argv(self.main_process(p, m))
        os.kill(guard, signal.SIGKILL)
        self.assertIn(main, map(proc_argv, children_of(supervisor)))
        p.send_signal(signal.SIGTERM)
        o = self.finish(p, 10 * SLOW)
        self.assert_gone(m)
        self.assert_ended(o, 'stopped')

    def test_supervisor_and_guard_are_killed(self):
        """Nobody is left to look after the tree, but the main process dies with its parent."""
        m = self.marker(98713)
        p = self.spawn('run', '--jsonl', '--', 'sleep', m)
        self.read_some(p.stdout, b'"started"')
        (main,) = self.wait_running('sleep', m)
        for pid in reversed(chain_between(p.pid, main)):
            os.kill(pid, signal.SIGKILL)
        o = self.finish(p, 5 * SLOW)
        self.assert_gone(m, within=2)
        self.assertEqual((o.events[-1]['reason'], o.events[-1]['exit_code'], o.rc),
                         ('lost', None, 125), str(o))

    def main_process(self, p, m):
        """A shell with the marker, none of whose ancestors up to rein has it."""
        marked = set(self.processes(m))
        (main,) = [pid for pid in marked if proc_argv(pid)[:2] == [b'bash', b'-c']
                   and not marked & set(chain_between(p.pid, pid) or marked)]
        return main

    def chain(self, p, m):
        """What stands between the main process and rein: the supervisor, its guard."""
        return chain_between(p.pid, self.main_process(p, m))

    def test_lost_in_text_mode(self):
        p, m = self.start_tree()
        os.kill(self.chain(p, m)[0], signal.SIGKILL)
        o = self.finish(p, 5 * SLOW)
        self.assert_gone(m)
        self.assertEqual(o.rc, 125)
        self.assertRegex(o.err_text, r'\Arein: [^\n]*\n')

    def test_output_before_it_was_lost_is_kept(self):
        m = self.marker(98712)
        p = self.spawn('run', '--jsonl', '--', 'bash', '-c', f'echo before; sleep {m}; true')
        self.read_some(p.stdout, b'before')
        self.wait_running('sleep', m)
        os.kill(self.chain(p, m)[0], signal.SIGKILL)
        o = self.finish(p, 5 * SLOW)
        self.assert_gone(m)
        r = json.loads(o.text.splitlines()[-1])
        self.assertEqual((r['reason'], r['exit_code'], r['success']), ('lost', None, False))
        self.assertEqual(r['output'], 'before\n')


if __name__ == '__main__':
    unittest.main()
