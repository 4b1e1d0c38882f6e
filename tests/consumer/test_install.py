"""An installed tree, used as a stranger would: by pkg-config, in C and in C++, without the sources.

Environment: REIN_BUILD (the build directory), REIN_CONSUMER (the program's source).
"""

import os
import re
import subprocess
import tempfile
import unittest

WARNINGS = ['-pedantic', '-Wall', '-Wextra', '-Werror']


def output(*command, **kw):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **kw).stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = folder.name
        cls.root = os.path.join(folder.name, 'root')
        cls.version = re.search(r"version: '([^']+)'", cls.read_source('meson.build'))[1]
        output('meson', 'install', '-C', os.environ['REIN_BUILD'], '--no-rebuild', '--destdir',
               cls.root)
        cls.files = sorted(os.path.relpath(os.path.join(at, name), cls.root)
                           for at, _, names in os.walk(cls.root) for name in names)
        cls.library = os.path.join(cls.root, cls.only(f'librein.so.{cls.version}'))
        cls.program = os.path.join(cls.root, cls.only('bin/rein'))
        cls.env = {'PATH': os.environ['PATH'], 'HOME': cls.work, 'TMPDIR': cls.work,
                   'LD_LIBRARY_PATH': os.path.dirname(cls.library),
                   'PKG_CONFIG_SYSROOT_DIR': cls.root,
                   'PKG_CONFIG_LIBDIR': os.path.join(os.path.dirname(cls.library), 'pkgconfig')}

    @staticmethod
    def read_source(name):
        folder = os.path.dirname(os.path.dirname(os.path.dirname(os.environ['REIN_CONSUMER'])))
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            return f.read()

    @classmethod
    def only(cls, ending):
        found = [name for name in cls.files if name.endswith('/' + ending)]
        assert len(found) == 1, (ending, cls.files)
        return found[0]

    def check_consumer(self, compiler, *language):
        program = os.path.join(self.work, f'consumer-{compiler}')
        flags = output('pkg-config', '--cflags', '--libs', 'rein', env=self.env).split()
        subprocess.run([compiler, *language, *WARNINGS, os.environ['REIN_CONSUMER'], '-xnone',
                        '-o', program, *flags], check=True, env=self.env)
        self.assertEqual(output(program, env=self.env, stdin=subprocess.DEVNULL),
                         f'to be read\nversion {self.version}, reason exit, exit code 3\n')

    def dynamic_section(self, path):
        entries = {}
        for kind, value in re.findall(r'\((\w+)\)\s+(.*)', output('readelf', '-dW', path)):
            bracketed = re.search(r'\[(.*)\]', value)
            entries.setdefault(kind, []).append(bracketed[1] if bracketed else value)
        return entries

    def test_c99(self):
        self.check_consumer('gcc', '-xc', '-std=c99')

    def test_cxx11(self):
        self.check_consumer('g++', '-xc++', '-std=c++11')

    def test_version_of_pkg_config(self):
        self.assertEqual(output('pkg-config', '--modversion', 'rein', env=self.env).strip(),
                         self.version)

    def test_names_of_the_library(self):
        self.assertEqual(self.dynamic_section(self.library)['SONAME'], ['librein.so.0'])
        folder = os.path.dirname(self.library)
        for name in ('librein.so', 'librein.so.0'):
            self.assertEqual(os.path.realpath(os.path.join(folder, name)),
                             os.path.realpath(self.library))

    def needed(self, path):
        return {n for n in self.dynamic_section(path)['NEEDED'] if not n.startswith('ld-linux')}

    def test_little_is_needed_at_run_time(self):
        self.assertEqual(self.needed(self.program), {'libc.so.6'})
        self.assertEqual(self.needed(self.library),
                         {'libc.so.6', 'libinih.so.1', 'libjansson.so.4', 'libmd.so.0',
                          'libpcre2-8.so.0'})


    def test_no_path_of_the_build_is_left(self):
        for path in (self.library, self.program):
            self.assertNotIn('RUNPATH', self.dynamic_section(path))
            self.assertNotIn('RPATH', self.dynamic_section(path))

    def test_hardening(self):
        for path in (self.library, self.program):
            self.assertIn('NOW', ' '.join(self.dynamic_section(path).get('FLAGS_1', [])))
            self.assertIn('GNU_RELRO', output('readelf', '-lW', path))
        self.assertIn('PIE', ' '.join(self.dynamic_section(self.program)['FLAGS_1']))

    def test_the_program_stands_alone(self):
        env = {'PATH': self.env['PATH'], 'HOME': self.work}
        self.assertIn(self.version, output(self.program, '--version', env=env))
        self.assertEqual(output(self.program, 'run', '--', 'echo', 'works', env=env), 'works\n')

    def test_what_is_installed(self):
        """One header, the manual pages, and nothing that only tests need."""
        headers = [name for name in self.files if name.endswith('.h')]
        self.assertEqual([os.path.basename(name) for name in headers], ['rein.h'])
        self.only('man/man1/rein.1')
        programs = [name for name in self.files if '/bin/' in name]
        self.assertEqual([os.path.basename(name) for name in programs], ['rein'])


if __name__ == '__main__':
    unittest.main()
