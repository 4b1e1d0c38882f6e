"""Every check of tools/lint.py finds the fault it is there for, planted in a copy of the tree."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, 'tree')
        self.build = os.path.join(folder.name, 'built')
        os.mkdir(self.build)
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=lambda at, names: [
            n for n in names if n == '.git'
            or os.path.exists(os.path.join(at, n, 'meson-private'))])

    def path(self, name):
        return os.path.join(self.root, name)

    def append(self, name, text):
        with open(self.path(name), 'a', encoding='utf-8') as f:
            f.write(text)

    def replace(self, name, old, new):
        with open(self.path(name), encoding='utf-8') as f:
            text = f.read()
        self.assertIn(old, text)
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text.replace(old, new))

    def create(self, name, text):
        with open(os.path.join(self.root, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def sources(self):
        return glob.glob(self.path('src/*/*.c'))

    def finds(self, check, *words):
        """The check fails, and one line of what it says has all the words."""
        done = subprocess.run([sys.executable, self.path('tools/lint.py'), '--build', self.build,
                               check],
                              text=True, stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], '0 passed, 1 failed')
        self.assertTrue(any(all(word in line for word in words)
                            for line in done.stdout.splitlines()), done.stdout)

    # ---- layers ---------------------------------------------------------------------------

    def test_include_of_a_higher_layer(self):
        self.append('src/base/buf.h', '#include "job/wire.h"\n')
        self.finds('layers', 'src/base/buf.h', 'base must not know job')

    def test_include_of_a_sibling(self):
        self.append('src/text/utf8.c', '#include "job/wire.h"\n')
        self.finds('layers', 'src/text/utf8.c', 'text must not know job')

    def test_supervisor_knows_two_files_of_the_library(self):
        self.append('src/supervisor/loop.c', '#include "job/launch.h"\n')
        self.finds('layers', 'src/supervisor/loop.c', 'supervisor must not know job')

    def test_include_of_what_is_not_there(self):
        self.append('src/cli/options.c', '#include "job/nothing.h"\n')
        self.finds('layers', 'src/cli/options.c', 'no such file')

    def test_own_folder_is_not_named(self):
        self.append('src/base/buf.c', '#include "base/strv.h"\n')
        self.finds('layers', 'src/base/buf.c', 'own folder')

    def test_unknown_layer(self):
        os.mkdir(self.path('src/misc'))
        self.create('src/misc/x.c', '\n')
        self.finds('layers', 'src/misc/x.c', 'no layer')

    def test_kernel_header_outside_a_platform_file(self):
        self.append('src/supervisor/loop.c', '#include <linux/sched.h>\n')
        self.finds('layers', 'src/supervisor/loop.c', '<linux/sched.h>')
        self.create('src/base/probe-linux.c', '#include <linux/sched.h>\n#ifdef X\n#endif\n')

    def test_conditional_outside_a_platform_file(self):
        for line in ('#ifdef __linux__', '#if 0', '  #  ifndef NDEBUG'):
            with self.subTest(line):
                self.append('src/cli/options.c', f'{line}\nint x;\n#endif\n')
                self.finds('layers', 'src/cli/options.c', line.split()[-1])

    # ---- between fork and exec ------------------------------------------------------------

    def test_unsafe_calls_in_the_child(self):
        for call in ('malloc', 'free', 'exit', 'getenv'):
            with self.subTest(call):
                self.append('src/supervisor/exec-child.c',
                            f'void *{call}(); void unsafe_{call}(void *p);\n'
                            f'void unsafe_{call}(void *p) {{ {call}(p); }}\n')
                self.finds('exec-child', 'exec-child.c', f'calls {call}()')

    # ---- lists ----------------------------------------------------------------------------

    def test_files_that_no_list_names(self):
        for name in ('src/base/forgotten.c', 'tests/unit/test-forgotten.c',
                     'tests/e2e/test_forgotten.py', 'tests/helpers/forgotten.c',
                     'tests/python/test_forgotten.py',
                     'tests/fuzz/fuzz-forgotten.c', 'man/forgotten.1.scd'):
            with self.subTest(name):
                self.create(name, '\n')
                self.finds('lists', name, 'does not name')

    def test_wrapped_function_that_the_linker_does_not_know(self):
        self.append('tests/unit/test-buf.c', 'void __wrap_free(void *p);\n')
        self.finds('lists', 'tests/unit/test-buf.c', '--wrap=free')

    def test_fuzz_target_without_corpus(self):
        self.create('tests/fuzz/fuzz-forgotten.c', '\n')
        self.finds('lists', 'tests/fuzz/fuzz-forgotten.c', 'is empty')

    def test_versions_that_differ(self):
        self.replace('meson.build', "version: '0.", "version: '9.")
        self.finds('lists', 'version')

    # ---- interface ------------------------------------------------------------------------

    def test_header_is_not_strict(self):
        faults = {'c99': 'struct s { struct { int unnamed; }; };\n', 'c++11': 'int f(int class);\n'}
        for standard, fault in faults.items():
            self.replace('include/rein.h', '#define REIN_VERSION_MAJOR',
                         f'{fault}#define REIN_VERSION_MAJOR')
            for compiler in ('gcc', 'clang'):
                with self.subTest(f'{compiler} {standard}'):
                    self.finds(f'header-{compiler}-{standard}', 'rein.h', 'error')

    def library(self, code):
        source = os.path.join(self.build, 'x.c')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(code)
        subprocess.run(['cc', '-shared', '-fPIC', '-o', os.path.join(self.build, 'librein.so'),
                        source], check=True)

    def exports(self):
        with open(self.path('tests/abi.txt'), encoding='utf-8') as f:
            return ''.join(f'void {name}(void) {{}}\n' for name in f.read().split())

    def test_exports_that_differ(self):
        self.library(self.exports() + 'void stray(void) {}\n')
        self.finds('exports', 'stray', 'rein.h', 'rein.sym', 'abi.txt')
        self.library(self.exports().replace('void rein_open(void) {}', ''))
        self.finds('exports', 'rein_open', 'missing in librein.so')

    def test_lists_of_exports_that_differ(self):
        self.library(self.exports())
        faults = {'include/rein.h': ('rein *rein_open(', 'rein *opens('),
                  'src/rein.sym': ('rein_wait;', ''), 'tests/abi.txt': ('rein_stop\n', '')}
        for path, (old, new) in faults.items():
            self.replace(path, old, new)
            with self.subTest(path):
                self.finds('exports', f'missing in {path}')

    # ---- text -----------------------------------------------------------------------------

    def test_layout(self):
        self.append('src/base/buf.c', 'int  f( void ) ;\n')
        self.finds('format', 'src/base/buf.c', 'clang-format')

    def test_shell(self):
        for name in ('tools/x.sh', '.ci/x'):
            with self.subTest(name):
                self.create(name, '#!/bin/sh\ncat $1\n')
                self.finds('shell', 'SC2086')
                os.unlink(self.path(name))

    def test_python(self):
        self.create('tests/e2e/x.py', 'import os\n')
        self.finds('python', 'tests/e2e/x.py', 'imported but unused')
        self.create('tests/e2e/x.py', 'def f(:\n')
        self.finds('python', 'tests/e2e/x.py', 'invalid syntax')

    def test_spelling(self):
        self.append('CONTRIBUTING.md', 'We recieve' + 'd it.\n')
        self.finds('spelling', 'CONTRIBUTING.md', 'receive')

    def test_words(self):
        for text in ('/wo' 'rk/x', 'registry.npm' 'js.org', 'TO' 'DO', 'x \n', 'a\tb', 'no newline'):
            with self.subTest(text):
                self.create('x.md', text if text == 'no newline' else text + '\n')
                self.finds('words', 'x.md:1')

    def test_manual(self):
        shutil.rmtree(self.path('man'))
        self.finds('manual', 'no manual pages')
        os.mkdir(self.path('man'))
        self.create('man/x.1.scd', 'x(1)\n')
        self.finds('manual', 'x.1: not built')
        os.mkdir(os.path.join(self.build, 'man'))
        with open(os.path.join(self.build, 'man', 'x.1'), 'w', encoding='utf-8') as f:
            f.write('.TH x 1\n.SH NAME\n.bogus\n')
        self.finds('manual', 'x.1', 'bogus')

    def test_tool_that_is_missing(self):
        self.replace('tools/lint.py', "['codespell',", "['no-such-tool',")
        self.finds('spelling', 'no-such-tool is not installed')

    def test_static_analysis(self):
        """clang-tidy finds it; what -fanalyzer finds is an error of the compiler."""
        for path in self.sources():
            if not path.endswith('base/strv.c'):
                os.unlink(path)
        self.append('src/base/strv.c', 'int lint_fault(void);\nint lint_fault(void)\n{\n'
                    '    int *p = NULL;\n    return *p;\n}\n')
        self.finds('clang-tidy', 'strv.c', 'null pointer')


if __name__ == '__main__':
    unittest.main()
