"""The asynchronous world: the same results, and a loop that stays free."""

import asyncio
import os
import signal
import threading
import time
import unittest

from python_test import AT_ONCE, PATIENCE, PythonTest

import rein
from rein import aio


class AioTest(PythonTest):

    def go(self, coroutine):
        async def bounded():
            return await asyncio.wait_for(coroutine, PATIENCE)
        return asyncio.run(bounded())


class Run(AioTest):

    def test_result(self):
        r = self.go(aio.run(['sh', '-c', 'echo out; exit 3']))
        self.assertEqual((r.exit_code, r.output), (3, 'out\n'))
        self.assertEqual(self.go(aio.run(['cat'], input='text')).output, 'text')
        r = self.go(aio.run('echo out; echo err >&2', shell=True, split=True))
        self.assertEqual((r.stdout, r.stderr), ('out\n', 'err\n'))

    def test_code(self):
        self.assertEqual(self.go(aio.code('python', 'print(6 * 7)')).output, '42\n')

    def test_deadline(self):
        self.assertEqual(self.go(aio.run(['sleep', '300'], timeout=0.1)).reason, 'timeout')

    def test_many_at_once_without_threads(self):
        async def work():
            runs = [asyncio.create_task(aio.run(['sh', '-c', f'sleep 0.3; echo {i}']))
                    for i in range(20)]
            await asyncio.sleep(0.1)
            self.assertEqual(threading.active_count(), 1)
            return [r.output for r in await asyncio.gather(*runs)]
        begin = time.monotonic()
        self.assertEqual(self.go(work()), [f'{i}\n' for i in range(20)])
        self.assert_soon(begin, 5)

    def test_the_loop_is_free(self):
        async def work():
            run = asyncio.create_task(aio.run(['sleep', '0.5']))
            ticks = 0
            while not run.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return ticks
        self.assertGreater(self.go(work()), 10)

    def test_listeners(self):
        for asynchronous in (False, True):
            seen = []

            async def later(text, stream):
                await asyncio.sleep(0)
                seen.append((text, stream))

            def at_once(text, stream):
                seen.append((text, stream))
            self.go(aio.run(['echo', 'x'], on_output=later if asynchronous else at_once))
            self.assertEqual(seen, [('x\n', 'output')])

    def test_exception_ends_the_command(self):
        class Own(Exception):
            pass

        async def fail(text, stream):
            raise Own
        marker = self.marker(300)
        with self.assertRaises(Own):
            self.go(aio.run(['sh', '-c', f'echo; sleep {marker}'], on_output=fail))
        self.assertEqual(self.processes(marker), [])

    def test_cancelling_ends_the_command(self):
        marker = self.marker(300)

        async def work():
            run = asyncio.create_task(aio.run(['sleep', marker]))
            while not self.processes(marker):
                await asyncio.sleep(0.01)
            run.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await run
            return self.processes(marker)
        self.assertEqual(self.go(work()), [])

    def test_failure(self):
        with self.assertRaises(rein.CommandNotFoundError):
            self.go(aio.run(['no-such-program-98']))

    def test_interrupt(self):
        marker = self.marker(300)
        host = self.host('''
            import asyncio
            from rein import aio
            try:
                asyncio.run(aio.run(['sleep', sys.argv[1]]))
            except KeyboardInterrupt:
                print(time.monotonic(), flush=True)
        ''', marker)
        while not self.processes(marker):
            time.sleep(0.01)
        sent = time.monotonic()
        host.send_signal(signal.SIGINT)
        out, _ = host.communicate(timeout=PATIENCE)
        self.assertLess(float(out) - sent, AT_ONCE)
        self.assert_gone(marker)


class Jobs(AioTest):

    def test_life(self):
        async def work():
            async with aio.start(['sh', '-c', 'echo begun; sleep 300'], name='label') as job:
                self.assertEqual((await job.wait(9, for_line='begun')).matched, 'begun')
                self.assertTrue(job.running)
                self.assertEqual(job.result().name, 'label')
                self.assertIn(job.id, repr(job))
                self.assertEqual(aio.attach(job.id).pid, job.pid)
                self.assertGreaterEqual(job.fileno(), 0)
            return job.id
        self.assertEqual(rein.attach(self.go(work())).result().reason, 'stopped')

    def test_output(self):
        async def work():
            job = aio.start('for i in 1 2 3; do echo $i; sleep 0.02; done', shell=True)
            text = ''.join([piece async for piece in job])
            lines = [line async for line in aio.attach(job.id).lines()]
            return text, lines, (await job.read(2)).output, (await job.read(tail=1)).output
        self.assertEqual(self.go(work()), ('1\n2\n3\n', ['1', '2', '3'], '2\n3\n', '3\n'))

    def test_code(self):
        async def work():
            job = aio.start_code('python', 'print(5)')
            return (await job.wait(PATIENCE)).output
        self.assertEqual(self.go(work()), '5\n')

    def test_input_and_news(self):
        async def work():
            async with aio.start(['cat'], stdin=rein.PIPE) as job:
                news = asyncio.create_task(job.read(0, wait=PATIENCE))
                await asyncio.sleep(0)
                await job.send('one\n')
                found = (await news).output
                await job.send_eof()
                return found, (await job.wait()).exit_code
        self.assertEqual(self.go(work()), ('one\n', 0))

    def test_several_waits_on_one_job(self):
        async def work():
            async with aio.start('echo a; sleep 0.2; echo b; sleep 0.2', shell=True) as job:
                return [r.matched or r.exit_code for r in await asyncio.gather(
                    job.wait(9), job.wait(9), job.wait(9, for_line='a'), job.wait(9, for_line='b'))]
        self.assertEqual(self.go(work()), [0, 0, 'a', 'b'])

    def test_no_time(self):
        async def work():
            async with aio.start(['sleep', '300']) as job:
                for kw in ({}, {'for_line': 'x'}, {'for_port': 9}):
                    with self.assertRaises(TimeoutError):
                        await job.wait(0.05, **kw)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(job.wait(), 0.05)
                return job.running
        self.assertTrue(self.go(work()))

    def test_signal(self):
        async def work():
            job = aio.start(['sleep', '300'])
            job.send_signal(signal.SIGUSR1)
            return (await job.wait(PATIENCE)).signal
        self.assertEqual(self.go(work()), 'SIGUSR1')

    def test_no_descriptor_is_left(self):
        async def once():
            async with aio.start(['sh', '-c', 'echo x; sleep 300']) as job:
                await job.wait(9, for_line='x')
                with self.assertRaises(TimeoutError):
                    await job.wait(0.01)

        async def work():
            await once()
            before = len(os.listdir('/proc/self/fd'))
            for _ in range(5):
                await once()
            return len(os.listdir('/proc/self/fd')) - before
        self.assertLessEqual(self.go(work()), 1)


class Tools(AioTest):

    def test_call(self):
        answer = self.go(aio.call_tool('execute_command', {'command': 'echo x'}))
        self.assertEqual(answer['stdout'], 'x\n')

    def test_listener_runs_in_the_loop(self):
        seen = []

        async def listen(text, stream):
            seen.append((text, threading.current_thread() is threading.main_thread()))
        self.go(aio.call_tool('execute_command', {'command': 'echo x'}, on_output=listen))
        self.assertEqual(seen, [('x\n', True)])

    def test_stop(self):
        signal = []

        async def work():
            asyncio.get_running_loop().call_later(0.1, signal.append, 1)
            return await aio.call_tool('code_run', {'type': 'sh', 'code': 'sleep 300'}, stop=signal)
        self.assertEqual(self.go(work())['reason'], 'stopped')

    def test_cancelling(self):
        marker = self.marker(300)

        async def work():
            call = asyncio.create_task(aio.call_tool(
                'execute_command', {'command': f'sleep {marker}', 'timeout': 0}))
            while not self.processes(marker):
                await asyncio.sleep(0.01)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            return self.processes(marker)
        self.assertEqual(self.go(work()), [])

    def test_exception(self):
        def fail(text, stream):
            raise KeyError('own')
        with self.assertRaises(KeyError):
            self.go(aio.call_tool('execute_command', {'command': 'yes', 'timeout': 0},
                                  on_output=fail))


if __name__ == '__main__':
    unittest.main()
