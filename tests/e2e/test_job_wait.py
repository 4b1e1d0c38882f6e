"""Waiting for jobs of the background, and sending them input and signals."""

import json
import os
import socket
import unittest

from background_test import BackgroundTest
from rein_test import AT_ONCE, SLOW, proc_stat, wait_until

LISTEN = '''
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); time.sleep(300)
'''


class Exit(BackgroundTest):

    def test_B4_what_has_ended_is_not_waited_for(self):
        job = self.start('--', 'sh', '-c', 'exit 4')
        self.wait(job)
        o = self.rein('wait', '--json', job, '--timeout', '30s')
        self.assert_at_once(o)
        self.assertEqual((o.rc, o.R['exit_code'], o.R['matched']), (0, 4, None))

    def test_B13_every_waiter_is_told_once(self):
        script = 'until test -e go; do sleep 0.005; done; exit 5'
        jobs = [self.start_sh(script) for _ in range(2)]
        waiters = [self.spawn('wait', '--json', job) for job in jobs for _ in range(2)]
        both = self.spawn('wait', '--json', *jobs)
        self.write('go', '')
        outcomes = [self.finish(p) for p in waiters]
        outcomes += [self.rein('wait', '--json', job) for job in jobs]
        for o in outcomes:
            self.assertEqual((o.rc, o.R['exit_code'], o.R['reason']), (0, 5, 'exit'), str(o))
        o = self.finish(both)
        self.assertEqual([(r['process_id'], r['exit_code']) for r in json.loads(o.text)],
                         [(job, 5) for job in jobs])

    def test_B14_waiting_is_not_polling(self):
        job = self.start('--', 'sleep', '1')
        p = self.spawn('wait', job, '--timeout', '60s', '--json')
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0)
        self.assertLess(usage.ru_utime + usage.ru_stime, 0.2 * SLOW)
        self.assertLess(usage.ru_nvcsw, 60, 'it slept once')

    def test_any_gives_the_first(self):
        m = self.marker(98830)
        long, short = self.start('--', 'sleep', m), self.start('--', 'sh', '-c', 'exit 6')
        o = self.rein('wait', '--any', '--json', long, short)
        self.assertEqual([(r['process_id'], r['exit_code']) for r in json.loads(o.text)],
                         [(short, 6)])
        o = self.rein('wait', '--any', long, short)
        self.assertEqual((o.rc, o.text), (0, f'{short} exit 6\n'))

    def test_timeout_leaves_the_job_alone(self):
        m = self.marker(98831)
        job, done = self.start('--', 'sleep', m), self.start('--', 'true')
        for args in [job], [job, done]:
            o = self.rein('wait', '--json', '--timeout', '0.2', *args)
            self.assert_refused(o, 'timeout', 124)
            self.assertGreaterEqual(o.seconds, 0.2)
            self.assert_at_once(o)
        self.assert_complains(self.rein('wait', '-t', '0', job), 124)
        self.assertEqual(len(self.running('sleep', m)), 1)

    def test_variable_for_deadlines_is_not_for_waits(self):
        job = self.start('--', 'sleep', '0.3')
        o = self.rein('wait', job, extra_env={'REIN_TIMEOUT': '10ms'})
        self.assertEqual((o.rc, o.text), (0, f'{job} exit 0\n'))

    def test_one_unknown_job(self):
        m = self.marker(98832)
        job = self.start('--', 'sleep', m)
        o = self.rein('wait', '--json', job, 'deadbeef')
        self.assert_no_job(o, 'deadbeef')
        self.assert_at_once(o)

    def test_usage(self):
        job = self.start('--', 'true')
        self.assert_complains(self.rein('wait'), 2)
        for goal in 'nothing', 'port:0', 'port:65536', 'port:x', 'line:(', 'exit:0', '':
            with self.subTest(goal=goal):
                o = self.rein('wait', '--json', job, '--for', goal)
                self.assert_refused(o, 'bad_request', 2)


class Line(BackgroundTest):

    def test_a_line_that_comes(self):
        job = self.start_sh(r"printf '\033[32mready\033[0m on 80\r\n'; sleep 300")
        r = self.wait(job, '--for', r'line:^ready on \d+$')
        self.assertEqual((r['matched'], r['status']), ('ready on 80', 'running'))
        o = self.rein('wait', job, '--for', 'line:ready')
        self.assertEqual((o.rc, o.text), (0, f'{job} ready on 80\n'))

    def test_a_prompt_without_an_end(self):
        job = self.start_sh("printf 'name: '; sleep 300")
        self.assertEqual(self.wait(job, '--for', 'line:^name: $')['matched'], 'name: ')

    def test_line_that_comes_in_pieces(self):
        job = self.start_sh("printf 'half'; until test -e go; do sleep 0.01; done; echo whole")
        p = self.spawn('wait', '--json', job, '--for', 'line:^halfwhole$')
        wait_until(lambda: self.output(job)['output_bytes'] == 4)
        self.write('go', '')
        self.assertEqual(self.finish(p).R['matched'], 'halfwhole')

    def test_since(self):
        job = self.start_sh('echo one; until test -e go; do sleep 0.01; done; echo one more')
        r = self.wait(job, '--for', 'line:one')
        p = self.spawn('wait', '--json', job, '--for', 'line:one', '--since', str(r['cursor']))
        self.write('go', '')
        r = self.finish(p).R
        self.assertEqual((r['matched'], r['output']), ('one more', 'one more\n'))

    def test_unfinished_last_line_of_an_ended_job(self):
        job = self.start_sh('printf "x\nlast"')
        self.rein('wait', job)
        self.assertEqual(self.wait(job, '--for', 'line:^last$')['matched'], 'last')

    def test_job_ends_first(self):
        job = self.start_sh('sleep 0.2; echo no')
        for goal in 'line:yes', 'port:1':
            o = self.rein('wait', '--json', job, '--for', goal)
            self.assert_refused(o, 'job_ended', 1, job)
        m = self.marker(98833)
        other = self.start_sh(f'sleep 0.3; echo yes; sleep {m}')
        o = self.rein('wait', '--json', '--any', job, other, '--for', 'line:yes')
        self.assertEqual([r['process_id'] for r in json.loads(o.text)], [other])
        self.assert_refused(self.rein('wait', '--json', job, other, '--for', 'line:yes'),
                            'job_ended', 1, job)

    def test_timeout_holds_against_a_flood(self):
        job = self.start('--', 'yes')
        o = self.rein('wait', '--json', job, '--for', 'line:no', '--timeout', '0.5')
        self.assert_refused(o, 'timeout', 124)
        self.assertLess(o.seconds, 0.5 + AT_ONCE)
        self.stop(job, '--grace', '0')

    def test_split_streams_have_lines_of_their_own(self):
        job = self.start_sh('printf "a"; printf "x" >&2; echo b; echo y >&2', '--split')
        self.assertEqual(self.wait(job, '--for', 'line:^ab$')['matched'], 'ab')
        self.assertEqual(self.wait(job, '--for', 'line:^xy$')['matched'], 'xy')


class Port(BackgroundTest):

    @staticmethod
    def free_port():
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            return s.getsockname()[1]

    def test_a_port_that_opens(self):
        port = self.free_port()
        job = self.start('--', 'python3', '-c', f'import time; time.sleep(0.2)\n{LISTEN}',
                         str(port))
        r = self.wait(job, '--for', f'port:{port}', '--timeout', '20')
        self.assertEqual((r['matched'], r['status']), (port, 'running'))
        socket.create_connection(('127.0.0.1', port)).close()
        o = self.rein('wait', job, '--for', f'port:{port}')
        self.assert_at_once(o)
        self.assertEqual(o.text, f'{job} {port}\n')

    def test_somebody_elses_port_does_not_count(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            s.listen()
            job = self.start('--', 'sleep', '300')
            o = self.rein('wait', '--json', job, '--for', f'port:{s.getsockname()[1]}', '-t', '0.5')
            self.assert_refused(o, 'timeout', 124)


class Send(BackgroundTest):

    def test_C8_input_to_a_job(self):
        job = self.start('--', 'sleep', '300')
        o = self.rein('send', '--json', job, 'x')
        self.assert_refused(o, 'bad_request', 2, '--stdin pipe')
        self.assertEqual(self.output(job)['status'], 'running')
        job = self.start('--stdin', 'pipe', '--', 'cat')
        o = self.rein('send', job, 'x\n')
        self.assertEqual((o.rc, o.out, o.err), (0, b'', b''))
        self.wait_for_line(job, '^x$')
        self.assertEqual(self.rein('send', '--json', job, '--eof').json,
                         {'success': True, 'process_id': job})
        r = self.wait(job)
        self.assertEqual((r['reason'], r['exit_code'], r['output']), ('exit', 0, 'x\n'))
        for args in ['x'], ['--eof'], ['--signal', 'INT'], ['-']:
            self.assert_refused(self.rein('send', '--json', job, *args), 'job_ended', 1)

    def test_bytes_as_they_are(self):
        job = self.start('--stdin', 'pipe', '--', 'cat')
        self.assertEqual(self.rein('send', job, 'a b').rc, 0)
        self.assertEqual(self.rein('send', job, '--line', 'c').rc, 0)
        self.assertEqual(self.rein('send', job, '--line').rc, 0)
        self.assertEqual(self.rein('send', '--eof', job, '--', '--eof').rc, 0)
        self.assertEqual(self.wait(job)['output'], 'a bc\n\n--eof')

    def test_standard_input(self):
        data = os.urandom(3 << 20)
        job = self.start('--stdin', 'pipe', '--', 'cat')
        self.assertEqual(self.rein('send', job, '-', '--eof', input=data).rc, 0)
        self.rein('wait', job)
        self.assertEqual(self.log_of(job), data)

    def test_job_that_does_not_read(self):
        job = self.start_sh('until test -e go; do sleep 0.01; done; cat | wc -c', '--stdin', 'pipe')
        with open('/dev/zero', 'rb') as zeros:
            p = self.spawn('send', job, '-', '--eof', stdin=zeros)
        # it has read what fits into the pipe and the buffers, and waits
        wait_until(lambda: (proc_stat(p.pid) or ('',))[0] == 'S' and self.read_by(p) > 65536)
        self.assertIsNone(p.poll())
        self.stop(job, '--grace', '0')
        self.assert_refused_text(self.finish(p), 1)

    def test_waiting_for_a_reader_is_not_busy(self):
        job = self.start('--stdin', 'pipe', '--', 'sleep', '0.7')
        with open('/dev/zero', 'rb') as zeros:
            p = self.spawn('send', job, '-', stdin=zeros)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 1)
        self.assertLess(usage.ru_utime + usage.ru_stime, 0.2 * SLOW)

    @staticmethod
    def read_by(p):
        with open(f'/proc/{p.pid}/io', encoding='ascii') as f:
            return int(f.readline().split()[1])

    def assert_refused_text(self, o, rc):
        self.assertEqual(o.rc, rc, str(o))
        self.assertRegex(o.err_text, r'\Arein: .*ended')

    def test_job_ends_while_input_is_awaited(self):
        job = self.start_sh('until test -e go; do sleep 0.01; done', '--stdin', 'pipe')
        read, write = os.pipe()
        p = self.spawn('send', job, '-', stdin=read)
        os.close(read)
        self.write('go', '')
        self.assert_refused_text(self.finish(p, AT_ONCE + 1), 1)
        os.close(write)

    def test_input_that_was_closed(self):
        job = self.start_sh('exec <&-; echo closed; sleep 300', '--stdin', 'pipe')
        self.wait_for_line(job, 'closed')
        # the first bytes find out
        o = wait_until(lambda: (o := self.rein('send', '--json', job, 'x')).rc and o)
        self.assert_refused(o, 'bad_request', 2, 'closed')

    def test_signals(self):
        for name in 'USR1', 'SIGUSR1', 'usr1', '10':
            job = self.start_sh('trap "echo got; exit 9" USR1; echo up; '
                                'while :; do sleep 0.01; done')
            self.wait_for_line(job, 'up')
            self.assertEqual(self.rein('send', job, '--signal', name).rc, 0)
            r = self.wait(job)
            self.assertEqual((r['reason'], r['exit_code'], r['output']), ('exit', 9, 'up\ngot\n'))
        for name in 'NONE', '0', '65', '':
            self.assert_refused(self.rein('send', '--json', job, '--signal', name),
                                'bad_request', 2)

    def test_usage(self):
        job = self.start('--', 'true')
        for args in [], [job], [job, 'a', 'b']:
            self.assert_complains(self.rein('send', *args), 2)


if __name__ == '__main__':
    unittest.main()
