"""tools/install-deps.sh with a package database and an apt-get of the test's own."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REAL_PROGRAMS = ('sh', 'dirname', 'sed', 'sort', 'tr', 'grep', 'mktemp', 'rm', 'env', 'cat', 'sleep')

DPKG_QUERY = '''#!/bin/sh
for word; do
    case " $INSTALLED " in *" $word "*) echo "installed $word" ;; esac
done
echo "dpkg-query: no packages found matching something" >&2
exit 1
'''
APT_GET = '''#!/bin/sh
echo "apt-get $*" >>"$LOG"
case $* in
*update*) [ -z "$UPDATE_FAILS" ] || { echo "E: $UPDATE_FAILS" >&2; exit 100; } ;;
*) exit "${INSTALL_STATUS:-0}" ;;
esac
'''


class InstallDeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = os.path.join(folder.name, 'bin')
        self.log = os.path.join(folder.name, 'log')
        tools = os.path.join(folder.name, 'tools')
        os.makedirs(os.path.join(tools, 'apt'))
        os.mkdir(self.bin)
        self.script = shutil.copy(os.path.join(ROOT, 'tools', 'install-deps.sh'), tools)
        for name in ('build', 'test', 'lint', 'fuzz'):
            with open(os.path.join(tools, 'apt', f'{name}.txt'), 'w', encoding='utf-8') as f:
                f.write(f'# A list.\n{name}-one   # why\nshared\n\n')
        for name in REAL_PROGRAMS:
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        self.program('dpkg-query', DPKG_QUERY)
        self.program('apt-get', APT_GET)
        self.program('id', '#!/bin/sh\necho "${FAKE_UID:-0}"\n')

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(path, 0o755)

    def install(self, *args, **env):
        """Runs the script. Gives its status, what it said, and the calls of apt-get."""
        open(self.log, 'w', encoding='utf-8').close()
        done = subprocess.run([self.script, *args], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={'PATH': self.bin, 'LOG': self.log, **env})
        with open(self.log, encoding='utf-8') as f:
            return done.returncode, done.stdout, f.read().splitlines()

    def test_nothing_missing_means_nothing_done(self):
        installed = 'build-one test-one lint-one fuzz-one shared'
        self.assertEqual(self.install(INSTALLED=installed), (0, '', []))

    def test_only_what_is_missing_is_installed(self):
        status, _, calls = self.install(INSTALLED='build-one lint-one shared')
        self.assertEqual(status, 0)
        self.assertEqual(len(calls), 2)
        self.assertIn('update', calls[0])
        self.assertTrue(calls[1].endswith('--no-install-recommends fuzz-one test-one'), calls[1])
        self.assertIn('DPkg::Lock::Timeout=', calls[1])

    def test_chosen_lists(self):
        _, _, calls = self.install('build', INSTALLED='')
        self.assertTrue(calls[1].endswith(' build-one shared'), calls[1])

    def test_printing_installs_nothing(self):
        status, said, calls = self.install('--missing', 'build', 'test', INSTALLED='shared')
        self.assertEqual((status, said, calls), (0, 'build-one test-one\n', []))

    def test_unknown_list(self):
        status, said, calls = self.install('nonsense', INSTALLED='')
        self.assertEqual((status, calls), (2, []))
        self.assertIn("no list 'nonsense'", said)

    def test_neither_root_nor_sudo(self):
        status, said, calls = self.install('build', INSTALLED='', FAKE_UID='1000')
        self.assertEqual((status, calls), (1, []))
        self.assertIn('apt-get install --no-install-recommends build-one shared', said)

    def test_sudo_when_not_root(self):
        self.program('sudo', '#!/bin/sh\necho "sudo $*" >>"$LOG"\nexec "$@"\n')
        status, _, calls = self.install('build', INSTALLED='', FAKE_UID='1000')
        self.assertEqual(status, 0)
        self.assertEqual(len([c for c in calls if c.startswith('sudo ')]), 2)

    def test_no_sudo_for_root(self):
        self.program('sudo', '#!/bin/sh\necho "sudo $*" >>"$LOG"\n')
        _, _, calls = self.install('build', INSTALLED='')
        self.assertFalse([c for c in calls if c.startswith('sudo ')])

    def test_failed_update_is_told_and_not_the_end(self):
        status, said, calls = self.install('build', INSTALLED='', UPDATE_FAILS='no network')
        self.assertEqual(status, 0)
        self.assertIn('no network', said)
        self.assertEqual(len(calls), 2)

    def test_failed_installation_is_a_failure(self):
        status, _, _ = self.install('build', INSTALLED='', INSTALL_STATUS='100')
        self.assertEqual(status, 100)

    def test_not_debian(self):
        os.unlink(os.path.join(self.bin, 'dpkg-query'))
        status, said, _ = self.install('build')
        self.assertEqual(status, 1)
        self.assertIn('build-one shared', said)

    def test_the_real_lists_name_packages(self):
        """One word a line, and nothing twice within a list."""
        folder = os.path.join(ROOT, 'tools', 'apt')
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                packages = [line.partition('#')[0].strip() for line in f]
            packages = [p for p in packages if p]
            self.assertTrue(packages)
            self.assertEqual(len(set(packages)), len(packages), name)
            for package in packages:
                self.assertRegex(package, r'^[a-z0-9][a-z0-9.+-]+$')


if __name__ == '__main__':
    unittest.main()
