"""The wheel: what is in it, and that it works where nothing else of rein is."""

import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from python_test import SOURCE, PythonTest

PACKAGE = os.path.join(SOURCE, 'bindings', 'python')
CHECK = '''
import os, rein
from rein import _native
package = os.path.dirname(os.path.abspath(rein.__file__))
print(os.path.dirname(_native.lib._name) == os.path.join(package, 'lib'))
with open('/proc/self/maps') as f:
    loaded = {line.split()[-1] for line in f if '.so' in line}
for name in ('librein', 'libinih', 'libjansson', 'libpcre2', 'libmd'):
    print(name, {os.path.dirname(path) for path in loaded if name in path}
          == {os.path.join(package, 'lib')})
print(rein.call_tool('code_run', {'code': 'print(6 * 7)'})['stdout'], end='')
print(rein.__version__)
'''
WORKS = ('True\nlibrein True\nlibinih True\nlibjansson True\nlibpcre2 True\nlibmd True\n42\n')


class Wheel(PythonTest):

    def setUp(self):
        super().setUp()
        del self.env['PYTHONPATH'], self.env['REIN_LIBRARY']
        self.env['REIN_BUILD'] = self._old['REIN_BUILD']
        self.version = self.read('rein/_native.py', r"VERSION = '(.*)'")

    @staticmethod
    def read(name, pattern):
        with open(os.path.join(PACKAGE, name), encoding='utf-8') as f:
            return re.search(pattern, f.read())[1]

    def wheel(self):
        """One that all tests share."""
        cls = type(self)
        if not hasattr(cls, 'made'):
            folder = tempfile.TemporaryDirectory()
            cls.addClassCleanup(folder.cleanup)
            cls.made = self.make(os.path.join(folder.name, 'dist'))
        return cls.made

    def make(self, folder):
        subprocess.run([sys.executable, os.path.join(PACKAGE, 'rein_build.py'), folder],
                       check=True, env=self.env, stdout=subprocess.PIPE)
        name, = os.listdir(folder)
        return os.path.join(folder, name)

    def pip(self, *args):
        probe = subprocess.run([sys.executable, '-m', 'pip', '--version'], capture_output=True,
                               check=False)
        if probe.returncode != 0:
            self.cannot('this interpreter has no pip')
        done = subprocess.run(
            [sys.executable, '-m', 'pip', 'install', '--no-index', '--target', 'site',
             '--disable-pip-version-check', '--no-cache-dir', *args],
            env=self.env, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def check_installed(self):
        out = subprocess.run([sys.executable, '-c', CHECK], check=True, text=True,
                             env={**self.env, 'PYTHONPATH': os.path.join(self.work, 'site')},
                             stdout=subprocess.PIPE).stdout
        self.assertEqual(out, WORKS + self.version + '\n')

    def test_contents(self):
        path = self.wheel()
        self.assertRegex(os.path.basename(path),
                         rf'^rein-{re.escape(self.version)}-py3-none-linux_\w+\.whl$')
        with zipfile.ZipFile(path) as wheel:
            self.assertIsNone(wheel.testzip())
            names = set(wheel.namelist())
            info = f'rein-{self.version}.dist-info'
            record = wheel.read(f'{info}/RECORD').decode()
            metadata = wheel.read(f'{info}/METADATA').decode()
        self.assertEqual({row[0] for row in csv.reader(record.splitlines())}, names)
        self.assertIn(f'\nVersion: {self.version}\n', metadata)
        for name in ('rein/__init__.py', 'rein/py.typed', 'rein/compat/praisonai.py',
                     'rein/lib/librein.so.0', 'rein/lib/libjansson.so.4',
                     'rein/lib/libpcre2-8.so.0', 'rein/lib/libmd.so.0', 'rein/lib/libinih.so.1',
                     f'{info}/licenses/LICENSE', f'{info}/licenses/libjansson4',
                     f'{info}/licenses/libpcre2-8-0', f'{info}/licenses/libmd0',
                     f'{info}/licenses/libinih1'):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if name.endswith('.pyc') or 'test' in name], [])

    def test_two_are_the_same(self):
        with open(self.wheel(), 'rb') as one, open(self.make('again'), 'rb') as two:
            self.assertEqual(one.read(), two.read())

    def test_libraries_are_looked_for_beside_it(self):
        with zipfile.ZipFile(self.wheel()) as wheel:
            wheel.extract('rein/lib/librein.so.0', self.work)
        out = subprocess.run(['readelf', '-dW', 'rein/lib/librein.so.0'], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        self.assertRegex(out, r'R(UN)?PATH.*\[\$ORIGIN\]')
        self.assertRegex(out, r'SONAME.*\[librein\.so\.0\]')

    def test_install_the_wheel(self):
        self.pip(self.wheel())
        self.check_installed()

    def test_install_from_the_checkout(self):
        self.pip(PACKAGE)
        self.check_installed()

    def test_build_tree(self):
        """Without being installed: the library of the tree's own build."""
        tree = os.path.join(self.work, 'tree')
        os.makedirs(os.path.join(tree, 'bindings', 'python'))
        os.makedirs(os.path.join(tree, 'build'))
        os.symlink(os.path.join(PACKAGE, 'rein'), os.path.join(tree, 'bindings/python/rein'))
        library = os.path.join(tree, 'build', 'librein.so.0')
        os.symlink(self._old['REIN_LIBRARY'], library)
        out = subprocess.run([sys.executable, '-c',
                              'from rein import _native; print(_native.lib._name)'],
                             check=True, text=True, stdout=subprocess.PIPE,
                             env={**self.env, 'PYTHONPATH': os.path.join(tree, 'bindings/python')})
        self.assertEqual(out.stdout.strip(), library)


if __name__ == '__main__':
    unittest.main()
