"""The host process: signals, threads, forks, and its end."""

import os
import signal
import threading
import time
import unittest

from python_test import AT_ONCE, PATIENCE, PythonTest, wait_until

import rein
from rein import _context, _steps

# What blocks, each in a host of its own that gets SIGINT. TEXT: the marker of a sleep.
BLOCKING = {
    'run': "rein.run(['sleep', TEXT])",
    'run with a listener': "rein.run(['sleep', TEXT], on_output=print)",
    'code': "rein.code('sh', 'sleep ' + TEXT)",
    'job.wait': "rein.start(['sleep', TEXT]).wait()",
    'job.wait for a line': "rein.start(['sleep', TEXT]).wait(for_line='never')",
    'job.wait for a port': "rein.start(['sleep', TEXT]).wait(for_port=9)",
    'job.read': "rein.start(['sleep', TEXT]).read(wait=300)",
    'iteration': "list(rein.start(['sleep', TEXT]))",
    'job.send': "rein.start(['sleep', TEXT], stdin=rein.PIPE).send(b'x' * 5000000, timeout=None)",
    'tool': "rein.call_tool('execute_command', {'command': 'sleep ' + TEXT, 'timeout': 0})",
    'tool with a listener': "rein.call_tool('execute_command', {'command': 'sleep ' + TEXT, "
                            "'timeout': 0}, on_output=print)",
    'busy tool with a listener': "rein.call_tool('code_run', {'type': 'bash', 'timeout': 600, "
                                 "'code': 'sleep ' + TEXT + '& yes'}, on_output=lambda *_: None)",
    'wait_command': "rein.call_tool('wait_command', {'timeout': None, 'process_id': "
                    "rein.start(['sleep', TEXT]).id})",
}
INTERRUPTED = '''
TEXT = sys.argv[1]
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
'''


class Interrupts(PythonTest):

    def check(self, call):
        marker = self.marker(300)
        host = self.host(INTERRUPTED.format(call=call), marker)
        wait_until(lambda: self.processes(marker), PATIENCE, 'the start')
        time.sleep(0.05)    # somewhere in the wait; anywhere else has to do as well
        sent = time.monotonic()
        host.send_signal(signal.SIGINT)
        out, _ = host.communicate(timeout=PATIENCE)
        self.assertEqual(host.returncode, 0, out)
        seconds = float(out.split()[-1]) - sent
        self.assert_gone(marker)
        return seconds

    def test_everything_that_blocks(self):
        for name, call in BLOCKING.items():
            with self.subTest(name):
                self.assertLess(self.check(call), AT_ONCE)

    def test_how_late(self):
        late = sorted(self.check(BLOCKING['run']) for _ in range(5))
        self.assertLess(late[2], 0.1)
        late = sorted(self.check(BLOCKING['tool']) for _ in range(5))
        self.assertLess(late[2], 0.1)

    def test_no_sleep_of_the_main_thread_is_long(self):
        """A signal just before poll() is noticed after it."""
        seen = [_steps._milliseconds(None), _steps._milliseconds(9), _steps._milliseconds(0)]
        self.assertEqual(seen, [50, 50, 0])
        thread = threading.Thread(target=lambda: seen.append(_steps._milliseconds(None)))
        thread.start()
        thread.join()
        self.assertIsNone(seen[-1])

    def test_handlers_run_and_the_wait_goes_on(self):
        out = self.host_says('''
            seen = []
            signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            r = rein.run(['sleep', '0.5'])
            s = rein.call_tool('execute_command', {'command': 'sleep 0.5'})
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(r.success, s['success'], len(seen) > 4)
        ''')
        self.assertEqual(out, 'True True True\n')

    def test_signal_settings_are_the_hosts(self):
        out = self.host_says('''
            def settings():
                return [signal.getsignal(n) for n in (2, 15, 17)], signal.set_wakeup_fd(-1)
            before = settings()
            rein.run(['true'])
            rein.call_tool('code_run', {'code': '1'}, on_output=print)
            print(settings() == before)
        ''')
        self.assertEqual(out, 'True\n')


class Ends(PythonTest):
    """Jobs that are not detached end with their host, in whatever way it ends."""

    START = "job = rein.start(['sleep', sys.argv[1]])\nprint(job.id, flush=True)\n"

    def check(self, then, code):
        marker = self.marker(300)
        host = self.host(self.START + then, marker)
        job = rein.attach(host.stdout.readline().strip())
        if code == -signal.SIGKILL:
            host.kill()
        host.communicate(timeout=PATIENCE)
        self.assertEqual(host.returncode, code)
        self.assert_gone(marker)
        self.assertEqual(job.wait(PATIENCE).reason, 'owner_gone')

    def test_end_of_the_program(self):
        self.check('', 0)

    def test_exit(self):
        self.check('sys.exit(3)\n', 3)

    def test_hard_exit(self):
        self.check('os._exit(4)\n', 4)

    def test_killed(self):
        self.check('time.sleep(300)\n', -signal.SIGKILL)

    def test_killed_during_a_run(self):
        marker = self.marker(300)
        host = self.host("rein.run(['sleep', sys.argv[1]])", marker)
        wait_until(lambda: self.processes(marker), PATIENCE, 'the start')
        host.kill()
        host.wait()
        self.assert_gone(marker)

    def test_detached(self):
        known = self.host_says("print(rein.start(['sleep', '300'], detach=True).id)").strip()
        job = rein.attach(known)
        with self.assertRaises(TimeoutError):
            job.wait(0.3)
        job.stop(0)

    def test_end_with_a_thread_in_a_call(self):
        marker = self.marker(300)
        out = self.host_says('''
            threading.Thread(target=rein.run, args=(['sleep', sys.argv[1]],), daemon=True).start()
            for text, stream in rein.stream_tool('execute_command', {'command': 'echo x'}):
                print('ends')
        ''', marker)
        self.assertEqual(out, 'ends\n')
        self.assert_gone(marker)


class Forks(PythonTest):

    def test_child_leaves_the_parents_jobs_alone(self):
        out = self.host_says('''
            import gc, warnings
            warnings.simplefilter('ignore')     # that it forks with a thread beside it is the point
            job = rein.start(['sleep', '300'])
            run = threading.Thread(target=rein.run, args=(['sleep', '0.5'],))
            run.start()
            pid = os.fork()
            if pid == 0:
                try:
                    job.stop()
                except rein.BadRequestError as e:
                    print('refused', 'forked' in str(e), flush=True)
                del job
                gc.collect()
                os._exit(0)
            os.waitpid(pid, 0)
            run.join()
            print(job.running, job.stop(0).reason)
        ''')
        self.assertEqual(out, 'refused True\nTrue stopped\n')

    def test_child_has_jobs_of_its_own(self):
        out = self.host_says('''
            rein.run(['true'])
            rein.call_tool('list_commands')
            job = rein.start(['sleep', '300'])
            pid = os.fork()
            if pid == 0:
                print(rein.run(['echo', 'child']).output, end='')
                print(rein.call_tool('execute_command', {'command': 'echo tool'})['stdout'], end='')
                print(rein.attach(job.id).stop(0).reason, flush=True)
                os._exit(0)
            os.waitpid(pid, 0)
            print(job.result().reason)
        ''')
        self.assertEqual(out, 'child\ntool\nstopped\nstopped\n')

    def test_child_that_lives_on_does_not_hold_a_job(self):
        marker = self.marker(300)
        host = self.host('''
            job = rein.start(['sleep', sys.argv[1]])
            print(job.id, flush=True)
            if os.fork() == 0:
                os.close(1)
                open('child', 'w').write(str(os.getpid()))
                time.sleep(100)
            time.sleep(300)
        ''', marker)
        job = rein.attach(host.stdout.readline().strip())
        wait_until(lambda: os.path.exists('child') and os.path.getsize('child'), PATIENCE)
        host.kill()
        host.wait()
        self.assertEqual(job.wait(PATIENCE).reason, 'owner_gone')
        with open('child', encoding='ascii') as f:
            os.kill(int(f.read()), signal.SIGKILL)

    def test_multiprocessing(self):
        out = self.host_says('''
            import multiprocessing
            rein.run(['true'])
            with multiprocessing.get_context('fork').Pool(2) as pool:
                print(pool.map(len, [rein.run(['echo', 'x']).output] * 4),
                      sorted(pool.map(rein.attach, [])))
        ''')
        self.assertEqual(out, '[2, 2, 2, 2] []\n')


class Threads(PythonTest):

    def in_threads(self, count, function):
        failed = []

        def call(number):
            try:
                function(number)
            except BaseException as e:
                failed.append(e)
        threads = [threading.Thread(target=call, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_runs_and_calls_at_once(self):
        def work(number):
            for i in range(5):
                text = f'{number} {i}'
                self.assertEqual(rein.run(['echo', text]).output, text + '\n')
                answer = rein.call_tool('execute_command', {'command': ['echo', text]})
                self.assertEqual(answer['stdout'], text + '\n')
        self.in_threads(8, work)

    def test_they_do_not_wait_for_each_other(self):
        begin = time.monotonic()
        self.in_threads(20, lambda _: rein.run(['sleep', '0.5']))
        self.assert_soon(begin, 5)
        self.in_threads(20, lambda _: rein.call_tool('execute_command', {'command': 'sleep 0.5'}))
        self.assert_soon(begin, 10)

    def test_one_job_for_all(self):
        with rein.start('seq 1 20000; sleep 300', shell=True) as job:
            job.wait(PATIENCE, for_line='^20000$')
            self.in_threads(8, lambda _: (self.assertEqual(job.read(tail=1).output, '20000\n'),
                                          self.assertTrue(job.running),
                                          self.assertRaises(TimeoutError, job.wait, 0.05)))

    def test_stop_from_another_thread(self):
        with rein.start(['sleep', '300']) as job:
            timer = threading.Timer(0.1, job.stop)
            timer.start()
            self.assertEqual(job.wait(PATIENCE).reason, 'stopped')
            timer.join()

    def test_contexts_are_used_again(self):
        for _ in range(3):
            rein.call_tool('list_commands')
            self.assertEqual(len(_context._contexts.idle), 1)

    def test_the_hosts_threads(self):
        rein.run(['true'], on_output=lambda *_: None)
        rein.call_tool('execute_command', {'command': 'true'}, on_output=lambda *_: None)
        self.assertEqual(threading.active_count(), 1)


class Stores(PythonTest):

    def test_the_environment_names_the_store(self):
        first = rein.start(['sleep', '300'])
        other = os.path.join(self.temp, 'other')
        os.environ['REIN_STATE'] = other
        self.assertEqual(rein.jobs(), [])
        rein.run(['true'])
        self.assertTrue(first.running)
        first.stop(0)
        os.environ['REIN_STATE'] = self.state
        self.assertEqual([job.process_id for job in rein.jobs()], [first.id])

    def test_no_zombie(self):
        def zombies():
            return [pid for pid in os.listdir('/proc') if pid.isdigit()
                    and self.stat_of(pid)[1:] == ('Z', str(os.getpid()))]
        for _ in range(20):
            rein.run(['true'])
        rein.run(['sleep', '0.1'])
        self.assertLessEqual(len(zombies()), 2)

    @staticmethod
    def stat_of(pid):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            return pid, '', ''
        return pid, fields[0], fields[1]


if __name__ == '__main__':
    unittest.main()
