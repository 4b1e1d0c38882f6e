"""The plain functions, and how the package presents itself to frameworks and type checkers."""

import inspect
import os
import re
import typing
import unittest

from python_test import PATIENCE, SOURCE, PythonTest

import rein
from rein import aio, functions

NAMED = ('type', 'code', 'script', 'line', 'port')     # how wait_command spells `until`


class Shape(unittest.TestCase):

    def test_all_tools_are_there(self):
        self.assertEqual([f.__name__ for f in functions.ALL], [t['name'] for t in rein.tools()])

    def test_arguments_are_the_tools(self):
        for function, tool in zip(functions.ALL, rein.tools()):
            known = set(tool['inputSchema']['properties'])
            own = set(inspect.signature(function).parameters)
            self.assertLessEqual(own - known, set(NAMED), function.__name__)

    def test_every_argument_is_described_and_typed(self):
        for function in functions.ALL:
            hints = typing.get_type_hints(function)
            described = set(re.findall(r'^        (\w+): ', inspect.getdoc(function).replace(
                '\n    ', '\n        '), re.M))
            for name in inspect.signature(function).parameters:
                self.assertIn(name, hints)
                self.assertIn(name, described, function.__name__)
            self.assertIn('return', hints)

    def test_public_names_have_words(self):
        for module in (rein, aio, functions):
            for name in getattr(module, '__all__', [f.__name__ for f in functions.ALL]):
                value = getattr(module, name)
                if callable(value):
                    self.assertTrue(inspect.getdoc(value), f'{module.__name__}.{name}')
        for cls in (rein.Job, aio.Job, rein.Result):
            for name, value in vars(cls).items():
                if not name.startswith('_') and inspect.isfunction(value):
                    self.assertTrue(typing.get_type_hints(value), f'{cls.__name__}.{name}')
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(rein.__file__), 'py.typed')))


class Calls(PythonTest):

    def test_foreground(self):
        self.assertEqual(functions.code_run('print(6 * 7)')['stdout'], '42\n')
        self.assertEqual(functions.code_run('pwd', 'bash', cwd='/')['stdout'], '/\n')
        self.assertEqual(functions.execute_command('echo x')['stdout'], 'x\n')
        self.assertEqual(functions.execute_command('echo x | cat', shell=True)['stdout'], 'x\n')
        self.assertEqual(functions.execute_command('sleep 300', timeout=0.1)['reason'], 'timeout')
        self.assertEqual(functions.execute_command('no-such-program-98')['error_code'],
                         'command_not_found')

    def test_background(self):
        started = functions.execute_command('sleep 300', run_in_background=True)
        self.assertEqual(started['warnings'], [])
        known = started['process_id']
        self.assertEqual(functions.list_commands()['commands'][0]['process_id'], known)
        functions.stop_command(known, grace=0)
        self.assertEqual(functions.list_commands()['commands'], [])
        self.assertEqual(functions.get_command_output(known)['status'], 'exited')

    def test_input_and_waits(self):
        with rein.start(['sh', '-c', 'read x; echo "got $x"; sleep 300'], stdin=rein.PIPE) as job:
            self.assertTrue(functions.send_input(job.id, 'text\n')['success'])
            self.assertEqual(functions.wait_command(job.id, PATIENCE, line='got')['matched'],
                             'got text')
            self.assertEqual(functions.get_command_output(job.id, since=4)['output'], 'text\n')
            self.assertEqual(functions.wait_command(job.id, 0.05, port=9)['error_code'], 'timeout')
            functions.send_input(job.id, signal='TERM')
            self.assertEqual(functions.wait_command(job.id, PATIENCE)['signal'], 'SIGTERM')


class Snippets(PythonTest):
    """docs/python.md: what it shows works."""

    def blocks(self):
        with open(os.path.join(SOURCE, 'docs', 'python.md'), encoding='utf-8') as f:
            return re.findall(r'```python\n(.*?)```', f.read(), re.S)

    def test_they_compile(self):
        self.assertGreater(len(self.blocks()), 10)
        for block in self.blocks():
            compile(block, 'docs/python.md', 'exec')

    def test_they_run(self):
        """Those that need nothing but the package begin with its import."""
        ran = 0
        os.environ['PATH'] += ':' + os.path.dirname(os.environ.get('REIN_BIN', '/'))
        for block in self.blocks():
            if block.startswith(('import rein', 'from rein')) and 'client' not in block:
                with self.subTest(block=block):
                    self.host_says(block)
                ran += 1
        self.assertGreater(ran, 6)


if __name__ == '__main__':
    unittest.main()
