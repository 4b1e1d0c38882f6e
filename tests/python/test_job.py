"""Jobs of the background."""

import os
import select
import signal
import threading
import time
import unittest

from python_test import PATIENCE, PythonTest

import rein

SERVER = ['python3', '-u', '-c', '''
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print("port", s.getsockname()[1])
time.sleep(300)
''']


class JobTest(PythonTest):

    def start(self, *args, **kw):
        job = rein.start(*args, **kw)
        self.addCleanup(job.close)
        self.addCleanup(job.stop, 0)
        return job

    def ended(self, script):
        job = self.start(['sh', '-c', script])
        job.wait(PATIENCE)
        return job


class Basics(JobTest):

    def test_life(self):
        job = self.start(['sh', '-c', 'echo begun; sleep 300'], name='label')
        self.assertRegex(job.id, '^[0-9a-f]{8}$')
        self.assertEqual(job.process_id, job.id)
        self.assertTrue(job.running)
        self.assertIn(job.id, repr(job))
        job.wait(PATIENCE, for_line='begun')
        r = job.result()
        self.assertEqual((r.status, r.exit_code, r.output, r.name, r.pid),
                         ('running', None, 'begun\n', 'label', job.pid))
        r = job.stop()
        self.assertEqual((r.status, r.reason, r.exit_code), ('exited', 'stopped', -15))
        self.assertFalse(job.running)

    def test_stop_with_grace(self):
        job = self.start('trap "" TERM; echo ready; while :; do sleep 0.01; done', shell=True)
        job.wait(PATIENCE, for_line='ready')
        begin = time.monotonic()
        self.assertEqual(job.stop(grace=0.2).signal, 'SIGKILL')
        self.assert_soon(begin)

    def test_stop_without_grace(self):
        self.assertEqual(self.start(['sleep', '300'], grace=0).stop().signal, 'SIGKILL')

    def test_block_stops_it(self):
        with rein.start(['sleep', '300']) as job:
            known = job.id
        self.assertEqual(rein.attach(known).result().reason, 'stopped')
        with self.assertRaises(rein.BadRequestError):
            job.running

    def test_job_outlives_its_object(self):
        known = rein.start(['sleep', '300']).id
        self.assertTrue(rein.attach(known).running)
        rein.attach(known).stop(0)

    def test_attach(self):
        job = self.ended('echo text; exit 4')
        self.assertEqual(rein.attach(job.id).result().output, 'text\n')
        for unknown in ('deadbeef', '', '../..', 'ü', 'a\0b', 5):
            with self.subTest(unknown), self.assertRaises(rein.NoSuchJobError):
                rein.attach(unknown)

    def test_list_and_forget(self):
        running = self.start(['sleep', '300'], session='mine')
        ended = self.ended('exit 7')
        self.assertEqual([row.process_id for row in rein.jobs()], [running.id, ended.id])
        self.assertEqual([row.process_id for row in rein.jobs('running')], [running.id])
        row, = rein.jobs('exited')
        self.assertEqual((row.exit_code, row.reason, row.running), (7, 'exit', False))
        self.assertEqual([row.process_id for row in rein.jobs(session='mine')], [running.id])
        self.assertEqual([row.process_id for row in rein.jobs(limit=1)], [ended.id])
        with self.assertRaises(rein.BadRequestError):
            rein.forget(running.id)
        with self.assertRaises(rein.BadRequestError):
            rein.jobs('nonsense')
        rein.forget(ended.id)
        with self.assertRaises(rein.NoSuchJobError):
            rein.forget(ended.id)

    def test_code(self):
        job = rein.start_code('python', 'import time; print("here"); time.sleep(300)')
        self.assertEqual(job.wait(PATIENCE, for_line='here').matched, 'here')
        job.stop(0)

    def test_start_fails(self):
        with self.assertRaises(rein.CommandNotFoundError):
            rein.start(['no-such-program-98'])
        self.assertEqual(rein.jobs(), [])


class Output(JobTest):

    def test_iteration(self):
        job = self.start('for i in 1 2 3; do echo $i; sleep 0.02; done', shell=True)
        self.assertEqual(''.join(job), '1\n2\n3\n')
        self.assertEqual(list(job), [])

    def test_lines(self):
        job = self.start(['printf', 'one\\ntwo\\n\\nthree'])
        self.assertEqual(list(job.lines()), ['one', 'two', '', 'three'])

    def test_two_readers_do_not_meet(self):
        job = self.ended('seq 1 3')
        other = rein.attach(job.id)
        self.assertEqual(''.join(job), ''.join(other))

    def test_pages(self):
        job = self.ended('seq 1 30000')
        text, cursor, pages = '', 0, 0
        while True:
            page = job.read(cursor)
            if page.cursor == cursor:
                break
            text, cursor, pages = text + page.output, page.cursor, pages + 1
        self.assertEqual(text, ''.join(f'{i}\n' for i in range(1, 30001)))
        self.assertGreater(pages, 1)

    def test_tail_and_grep(self):
        job = self.ended('seq 1 1000')
        self.assertEqual(job.read(tail=2).output, '999\n1000\n')
        self.assertEqual(job.read().output.count('\n'), 200)
        self.assertEqual(job.output.count('\n'), 200)
        self.assertEqual(job.read(grep='^99.$').output.split(), [str(i) for i in range(990, 1000)])
        for wrong in ({'tail': 0}, {'since': -1}, {'grep': '('}, {'tail': 'x'}):
            with self.subTest(**wrong), self.assertRaises(rein.BadRequestError):
                job.read(**wrong)

    def test_wait_for_news(self):
        job = self.start('echo one; read x; echo $x; sleep 300', shell=True, stdin=rein.PIPE)
        job.wait(PATIENCE, for_line='one')
        timer = threading.Timer(0.1, job.send, ['two\n'])
        timer.start()
        found = job.read(4, wait=PATIENCE)
        self.assertEqual((found.output, found.cursor), ('two\n', 8))
        timer.join()
        begin = time.monotonic()
        self.assertEqual(job.read(8, wait=0.05).output, '')
        self.assert_soon(begin)

    def test_wait_for_news_ends_with_the_job(self):
        job = self.ended('echo x')
        begin = time.monotonic()
        self.assertEqual(job.read(wait=300).output, 'x\n')
        self.assert_soon(begin)

    def test_descriptor(self):
        job = self.start(['cat'], stdin=rein.PIPE)
        poller = select.poll()
        poller.register(job, select.POLLIN)
        self.assertTrue(job.running)
        job.send('x\n')
        text = iter(job)
        self.assertEqual(next(text), 'x\n')
        job.send_eof()
        while job.running:
            self.assertTrue(poller.poll(PATIENCE * 1000))


class Waiting(JobTest):

    def test_end(self):
        self.assertEqual(self.start(['sh', '-c', 'exit 5']).wait(PATIENCE).exit_code, 5)

    def test_no_time(self):
        job = self.start(['sleep', '300'])
        for kw in ({}, {'for_line': 'x'}, {'for_port': 9}):
            begin = time.monotonic()
            with self.subTest(**kw), self.assertRaises(TimeoutError) as caught:
                job.wait(0.05, **kw)
            self.assertEqual(caught.exception.code, 'timeout')
            self.assert_soon(begin)
        self.assertTrue(job.running)

    def test_line(self):
        job = self.start(['printf', 'a\\n\\033[32mready\\033[0m in 5 ms\\r\\n'])
        self.assertEqual(job.wait(PATIENCE, for_line=r'^ready in \d').matched, 'ready in 5 ms')

    def test_line_without_an_end(self):
        job = self.start('printf "name? "; read x', shell=True, stdin=rein.PIPE)
        self.assertEqual(job.wait(PATIENCE, for_line=r'\?').matched, 'name? ')

    def test_line_since(self):
        job = self.ended('echo ready; echo other; echo ready again')
        self.assertEqual(job.wait(for_line='ready', since=5).matched, 'ready again')

    def test_empty_line(self):
        self.assertEqual(self.ended('echo x; echo; echo y').wait(for_line='^$').matched, '')
        with self.assertRaises(rein.JobEndedError):
            self.ended('echo x').wait(for_line='^$')

    def test_port(self):
        job = self.start(SERVER)
        port = int(job.wait(PATIENCE, for_line='port').matched.split()[1])
        self.assertEqual(job.wait(PATIENCE, for_port=port).matched, port)

    def test_what_cannot_come_any_more(self):
        job = self.ended('echo x')
        for kw in ({'for_line': 'never'}, {'for_port': 9}):
            with self.subTest(**kw), self.assertRaises(rein.JobEndedError):
                job.wait(PATIENCE, **kw)
        for kw in ({'for_line': 'never'}, {'for_port': 9}):
            job = self.start(['sleep', '0.3'])
            with self.subTest(**kw), self.assertRaises(rein.JobEndedError):
                job.wait(PATIENCE, **kw)

    def test_refused(self):
        job = self.ended('true')
        for kw in ({'for_line': '('}, {'for_line': 5}, {'for_port': 0}, {'for_port': 'x'},
                   {'for_line': 'x', 'for_port': 9}):
            with self.subTest(**kw), self.assertRaises(rein.BadRequestError):
                job.wait(1, **kw)


class Input(JobTest):

    def test_send(self):
        job = self.start(['cat'], stdin=rein.PIPE)
        job.send('one ä\n')
        job.send(b'two', eof=True)
        self.assertEqual(job.wait(PATIENCE).output, 'one ä\ntwo')
        with self.assertRaisesRegex(rein.JobEndedError, 'has ended'):
            job.send('x')

    def test_much(self):
        job = self.start(['wc', '-c'], stdin=rein.PIPE)
        job.send(b'x' * 5_000_000, eof=True)
        self.assertEqual(job.wait(PATIENCE).output.strip(), '5000000')

    def test_job_that_does_not_read(self):
        job = self.start(['sleep', '300'], stdin=rein.PIPE)
        with self.assertRaises(rein.WaitTimeoutError):
            job.send(b'x' * 5_000_000, timeout=0.1)

    def test_without_a_pipe(self):
        job = self.start(['sleep', '300'])
        with self.assertRaises(rein.BadRequestError) as caught:
            job.send('x')
        self.assertIn('PIPE', caught.exception.hint)

    def test_signal(self):
        job = self.start(['sleep', '300'])
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(PATIENCE).signal, 'SIGUSR1')
        with self.assertRaises(rein.JobEndedError):
            job.send_signal(signal.SIGTERM)
        with self.assertRaises(rein.BadRequestError):
            self.start(['sleep', '300']).send_signal(500)


class Memory(JobTest):

    def test_no_descriptor_is_left(self):
        def once():
            with rein.start(['sh', '-c', 'echo x; sleep 300']) as job:
                job.wait(PATIENCE, for_line='x')
                with self.assertRaises(TimeoutError):
                    job.read(2, wait=0.001)
                    job.wait(0.01, for_line='y')
                rein.attach(job.id)
        once()
        before = sorted(os.listdir('/proc/self/fd'))
        for _ in range(10):
            once()
        self.assertLessEqual(len(os.listdir('/proc/self/fd')), len(before) + 1)


if __name__ == '__main__':
    unittest.main()
