"""Commands and code that run to their end."""

import os
import time
import unittest

from python_test import PythonTest

import rein


class Run(PythonTest):

    def test_result(self):
        r = rein.run(['sh', '-c', 'echo out; echo err >&2; exit 3'])
        self.assertEqual((r.status, r.reason, r.success, r.exit_code), ('exited', 'exit', False, 3))
        self.assertEqual(r.output, 'out\nerr\n')
        self.assertEqual(r.command, ['sh', '-c', 'echo out; echo err >&2; exit 3'])
        self.assertFalse(r.running)
        self.assertEqual(r.to_dict()['output_bytes'], 8)
        self.assertNotIn('stdout', r.to_dict())
        self.assertEqual(rein.Result.from_dict({**r.to_dict(), 'a_new_key': 1}), r)

    def test_split(self):
        r = rein.run(['sh', '-c', 'echo out; echo err >&2'], split=True)
        self.assertEqual((r.stdout, r.stderr, r.output), ('out\n', 'err\n', None))
        self.assertNotIn('output', r.to_dict())

    def test_shell(self):
        self.assertEqual(rein.run('echo $((6 * 7)) | cat', shell=True).output, '42\n')

    def test_deadline(self):
        begin = time.monotonic()
        r = rein.run(['sh', '-c', 'echo before; sleep 300'], timeout=0.2)
        self.assert_soon(begin)
        self.assertTrue(r.timed_out)
        self.assertEqual((r.exit_code, r.signal, r.output), (-9, 'SIGKILL', 'before\n'))

    def test_grace(self):
        r = rein.run(['sh', '-c', 'trap "echo bye; exit 5" TERM; while :; do sleep 0.01; done'],
                     timeout=0.3, grace=10)
        self.assertEqual((r.reason, r.exit_code), ('timeout', 5))
        self.assertTrue(r.output.endswith('bye\n'))

    def test_input(self):
        self.assertEqual(rein.run(['cat'], input='text ä').output, 'text ä')
        self.assertEqual(rein.run(['wc', '-c'], input=b'x' * 3_000_000).output.strip(), '3000000')
        self.assertEqual(rein.run(['cat']).output, '')
        with open('file', 'w+', encoding='utf-8') as f:
            f.write('from a file')
            f.seek(0)
            self.assertEqual(rein.run(['cat'], stdin=f).output, 'from a file')

    def test_environment(self):
        script = ['sh', '-c', 'echo "$A $PAGER"']
        self.assertEqual(rein.run(script, env={'A': 'b'}).output, 'b cat\n')
        self.assertEqual(rein.run(script, env={'A': 'b'}, env_profile='inherit').output, 'b \n')

    def test_secrets(self):
        os.environ['OWN_TOKEN'] = 'hunter2hunter2'
        script = ['sh', '-c', 'echo "<$OWN_TOKEN>"']
        self.assertEqual(rein.run(script, env_profile='clean').output, '<>\n')
        self.assertEqual(rein.run(script, env_profile='clean', env_keep=['OWN_TOKEN']).output,
                         '<hunter2hunter2>\n')
        self.assertEqual(rein.run(script, secrets=['OWN_TOKEN']).output, '<**************>\n')

    def test_cwd_and_name(self):
        os.mkdir('folder')
        r = rein.run(['pwd'], cwd='folder', name='label')
        self.assertEqual((r.output.strip(), r.name), (os.path.join(self.work, 'folder'), 'label'))

    def test_limits(self):
        r = rein.run(['yes'], output_limit=8192, on_output_limit='kill')
        self.assertEqual(r.reason, 'output_limit')

    def test_pass_fds(self):
        r, w = os.pipe()
        os.write(w, b'passed')
        os.close(w)
        self.assertEqual(rein.run(['sh', '-c', f'cat <&{r}'], pass_fds=[r]).output, 'passed')
        os.close(r)

    def test_show(self):
        command = ['sh', '-c', 'seq 1 50000']
        short = rein.run(command, show=1000)
        self.assertTrue(short.truncated)
        self.assertLessEqual(len(short.output), 1000)
        with open(short.log_file, encoding='ascii') as f:
            self.assertEqual(len(f.read()), short.output_bytes)
        whole = rein.run(command, show=None)
        self.assertEqual(whole.output.count('\n'), 50000)

    def test_render(self):
        command = ['printf', '1%%\\r2%%\\n']
        self.assertEqual(rein.run(command).output, '2%\n')
        self.assertEqual(rein.run(command, render='raw').output, '1%\r2%\n')

    def test_left_running(self):
        r = rein.run(['sh', '-c', f'sleep {self.marker(300)} & echo'])
        self.assertEqual(len(r.left_running), 1)


class Live(PythonTest):

    def test_pieces_come_as_they_are_written(self):
        seen = []

        def on_output(text, stream):
            seen.append((text, stream))
            os.unlink('go')
        open('go', 'w', encoding='ascii').close()
        r = rein.run('echo first; while [ -e go ]; do sleep 0.01; done; touch go; echo second',
                     shell=True, on_output=on_output)
        self.assertEqual(seen, [('first\n', 'output'), ('second\n', 'output')])
        self.assertEqual(r.output, 'first\nsecond\n')

    def test_streams(self):
        seen = []
        rein.run(['sh', '-c', 'echo out; echo err >&2'], split=True,
                 on_output=lambda text, stream: seen.append((text, stream)))
        self.assertEqual(sorted(seen), [('err\n', 'stderr'), ('out\n', 'stdout')])

    def test_all_of_much(self):
        sizes = []
        rein.run(['head', '-c', '5000000', '/dev/zero'], output_limit=65536,
                 on_output=lambda text, stream: sizes.append(len(text)))
        self.assertEqual(sum(sizes), 5_000_000)

    def test_exception_ends_the_command(self):
        class Own(Exception):
            pass

        def on_output(text, stream):
            raise Own
        marker = self.marker(300)
        with self.assertRaises(Own):
            rein.run(['sh', '-c', f'echo; sleep {marker}'], on_output=on_output)
        self.assertEqual(self.processes(marker), [])

    def test_asynchronous_callback_is_refused(self):
        async def on_output(text, stream):
            pass
        with self.assertRaisesRegex(TypeError, 'rein.aio'):
            rein.run(['sh', '-c', 'echo; sleep 300'], on_output=on_output)


class Code(PythonTest):

    def test_languages(self):
        self.assertEqual(rein.code('python', 'print(6 * 7)').output, '42\n')
        self.assertEqual(rein.code('bash', b'echo "$1"', args=['arg']).output, 'arg\n')

    def test_file(self):
        with open('script.py', 'w', encoding='ascii') as f:
            f.write('print(__file__)')
        self.assertEqual(rein.code('python', file='script.py').output,
                         os.path.join(self.work, 'script.py\n'))

    def test_prelude(self):
        self.assertFalse(rein.code('python', 'print(json.dumps(1))').success)
        self.assertEqual(rein.code('python', 'print(json.dumps(1))', prelude=True).output, '1\n')
        with open('mine.py', 'w', encoding='ascii') as f:
            f.write('own = 5')
        self.assertEqual(rein.code('python', 'print(own)', prelude='mine.py').output, '5\n')

    def test_live_and_deadline(self):
        seen = []
        r = rein.code('python', 'import time; print("x"); time.sleep(300)', timeout=1,
                      on_output=lambda text, stream: seen.append(text))
        self.assertEqual((r.reason, ''.join(seen)), ('timeout', 'x\n'))

    def test_refused(self):
        for source, file in ((None, None), ('1', 'x.py'), ('\ud800', None), (5, None)):
            with self.subTest(source=source), self.assertRaises(rein.BadRequestError):
                rein.code('python', source, file=file)
        with self.assertRaises(rein.BadRequestError):
            rein.code('klingon', '1')


class Refused(PythonTest):

    def check(self, error, *args, **kw):
        with self.assertRaises(error) as caught:
            rein.run(*args, **kw)
        self.assertEqual(caught.exception.code, error.code)
        self.assertTrue(str(caught.exception))
        return caught.exception

    def test_what_cannot_be_run(self):
        e = self.check(rein.CommandNotFoundError, ['no-such-program-98'])
        self.assertIn('no-such-program-98', str(e))
        self.assertEqual(e.errno, 2)
        self.assertTrue(e.step)
        with open('plain', 'w', encoding='ascii') as f:
            f.write('text')
        self.check(rein.NotExecutableError, ['./plain'])
        self.check(rein.BadCwdError, ['true'], cwd='/nonexistent')

    def test_arguments(self):
        for args, kw in (
                (('ls',), {}), (([],), {}), ((['a', 'b'],), {'shell': True}), (([None],), {}),
                ((['a\0b'],), {}), ((['ls', 5],), {}),
                ((['ls'],), {'timeout': -1}), ((['ls'],), {'timeout': 'x'}),
                ((['ls'],), {'timeout': float('nan')}), ((['ls'],), {'timeout': 1e300}),
                ((['ls'],), {'timeout': True}), ((['ls'],), {'env': {'A=B': 'c'}}),
                ((['ls'],), {'env': {'A': None}}), ((['ls'],), {'env': ['A=b']}),
                ((['ls'],), {'env_profile': 'x'}), ((['ls'],), {'after': 'x'}),
                ((['ls'],), {'memory': -5}), ((['ls'],), {'render': 'x'}),
                ((['ls'],), {'show': 0}), ((['ls'],), {'show': 1.5}),
                ((['ls'],), {'stdin': rein.INHERIT, 'input': 'x'})):
            with self.subTest(args=args, **kw):
                self.check(rein.BadRequestError, *args, **kw)

    def test_unknown_option(self):
        with self.assertRaises(TypeError):
            rein.run(['ls'], no_such_option=1)

    def test_classes(self):
        self.assertTrue(issubclass(rein.WaitTimeoutError, TimeoutError))
        self.assertTrue(issubclass(rein.BadRequestError, ValueError))
        self.assertTrue(issubclass(rein.NoSuchJobError, LookupError))
        for cls in rein.errors.BY_CODE.values():
            self.assertTrue(issubclass(cls, rein.ReinError))
            self.assertEqual(str(cls('text', hint='h')), 'text')
        unknown = rein.errors.make('brand_new', 'text')
        self.assertEqual((type(unknown), unknown.code), (rein.ReinError, 'brand_new'))

    def test_no_descriptor_is_left(self):
        def count():
            return len(os.listdir('/proc/self/fd'))
        rein.run(['true'])
        before = count()
        for _ in range(20):
            rein.run(['true'], input='x', on_output=lambda text, stream: None)
            with self.assertRaises(rein.ReinError):
                rein.run(['no-such-program-98'], input='x')
        # Some are of supervisors that are on their way out, and go with the next job.
        self.assertLessEqual(count(), before + 2)



if __name__ == '__main__':
    unittest.main()
