"""What the tests of the Python package share: a store and an environment of their own for this process,
which is the host here, and programs of Python in processes of theirs."""

import os
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

from rein_test import AT_ONCE, PATIENCE, ReinTest, wait_until

__all__ = ['AT_ONCE', 'PATIENCE', 'PythonTest', 'SOURCE', 'wait_until']

SOURCE = os.path.abspath(os.environ['REIN_SOURCE'])


class PythonTest(ReinTest):
    """A test whose jobs belong to this process."""

    def setUp(self):
        super().setUp()
        self._old = dict(os.environ)
        self.addCleanup(self._restore)
        self.env.update({name: os.environ[name] for name in ('PYTHONPATH', 'REIN_LIBRARY')})
        self.env.update({'LANG': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'})
        os.environ.clear()
        os.environ.update(self.env)
        os.chdir(self.work)

    def _restore(self):
        os.chdir('/')
        os.environ.clear()
        os.environ.update(self._old)

    def rules(self, text):
        """Sets the gate's rules."""
        folder = os.path.join(self.config, 'rein')
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'config.ini'), 'w', encoding='utf-8') as f:
            f.write(f'[rules]\n{text}\n')

    def host(self, program, *args, **kw):
        """A host of its own: starts a program of Python."""
        text = 'import os, signal, sys, threading, time, rein\n' + textwrap.dedent(program)
        kw.setdefault('stdout', subprocess.PIPE)
        process = subprocess.Popen([sys.executable, '-c', text, *args], env=self.env, text=True,
                                   stdin=subprocess.DEVNULL, cwd=self.work, **kw)
        self.spawned.append(process)
        return process

    def host_says(self, program, *args):
        """What such a program prints, when it ends well."""
        process = self.host(program, *args, stderr=subprocess.STDOUT)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, out)
        return out

    def assert_gone(self, marker, seconds=AT_ONCE):
        wait_until(lambda: not self.processes(marker), seconds, f'the end of {marker}')

    def assert_soon(self, begin, seconds=AT_ONCE):
        self.assertLess(time.monotonic() - begin, seconds)
