"""The examples of an agent: they do what they say, and leave nothing behind."""

import os
import subprocess
import sys
import unittest

from python_test import PATIENCE, SOURCE, PythonTest

import rein

LAST = 'The server answered 200; it was stopped, exit code -15.'


class Examples(PythonTest):

    def check(self, name):
        path = os.path.join(SOURCE, 'examples', name)
        done = subprocess.run([sys.executable, path], env=self.env, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], LAST, done.stdout)
        self.assertEqual(rein.jobs('running'), [])
        return done.stdout

    def test_agent_loop(self):
        out = self.check('agent_loop.py')
        self.assertIn('-> wait_command', out)

    def test_agent_loop_compat(self):
        self.assertIn('[Status] ✅ Exit Code: 0', self.check('agent_loop_compat.py'))


if __name__ == '__main__':
    unittest.main()
