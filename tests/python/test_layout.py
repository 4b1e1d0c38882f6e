"""What the package says of the library is what the header says: structs, constants, functions, the
version."""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
import unittest

from python_test import SOURCE, PythonTest

from rein import _native, errors

CONSTANTS = {
    'REIN_SPEC_SPLIT': _native.SPEC_SPLIT, 'REIN_SPEC_SHELL': _native.SPEC_SHELL,
    'REIN_SPEC_PACED': _native.SPEC_PACED, 'REIN_SPEC_BACKGROUND': _native.SPEC_BACKGROUND,
    'REIN_SPEC_DETACHED': _native.SPEC_DETACHED, 'REIN_GRACE_NONE': _native.GRACE_NONE,
    'REIN_TOOL_DETACHED': _native.TOOL_DETACHED, 'REIN_TOOL_STOP_FD': _native.TOOL_STOP_FD,
    'REIN_VIEW_SINCE': _native.VIEW_SINCE, 'REIN_VIEW_CHARS': _native.VIEW_CHARS,
    'REIN_STDIN_NULL': _native.STDIN_NULL, 'REIN_STDIN_INHERIT': _native.STDIN_INHERIT,
    'REIN_STDIN_FD': _native.STDIN_FD, 'REIN_STDIN_FILE': _native.STDIN_FILE,
    'REIN_STDIN_PIPE': _native.STDIN_PIPE,
    **{f'REIN_ENV_{name.upper()}': value for name, value in _native.ENV_PROFILES.items()},
    **{f'REIN_AFTER_{name.upper()}': value for name, value in _native.AFTER.items()},
    **{f'REIN_OUTPUT_{name.upper()}': value for name, value in _native.ON_OUTPUT_LIMIT.items()},
    **{f'REIN_RENDER_{name.upper()}': value for name, value in _native.RENDERS.items()},
    **{f'REIN_STREAM_{name.upper()}': value for value, name in enumerate(_native.STREAMS)},
}


def header():
    with open(os.path.join(SOURCE, 'include', 'rein.h'), encoding='utf-8') as f:
        return re.sub(r'/\*.*?\*/', ' ', f.read(), flags=re.S)


def fields_of(struct):
    """Its fields as the header declares them."""
    body = re.search(rf'struct {struct} {{(.*?)}};', header(), re.S)[1]
    names = []
    for declaration in body.split(';'):
        pointer = re.search(r'\(\*(\w+)\)', declaration)
        for part in [pointer[1]] if pointer else declaration.split(','):
            found = re.findall(r'\w+', part)
            if found:
                names.append(found[-1])
    return names


class Layout(unittest.TestCase):

    def measured_in_c(self, expressions):
        lines = ''.join(f'printf("%lld\\n", (long long)({e}));\n' for e in expressions)
        program = ('#include <rein.h>\n#include <stdio.h>\n'
                   f'int main(void) {{\n{lines}return 0;\n}}\n')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'layout')
            subprocess.run(['cc', '-xc', '-', '-I', os.path.join(SOURCE, 'include'), '-o', path],
                           input=program, text=True, check=True)
            out = subprocess.run([path], check=True, stdout=subprocess.PIPE, text=True).stdout
        return dict(zip(expressions, map(int, out.split())))

    def test_structs(self):
        expected = {}
        for name, struct in _native.STRUCTS.items():
            expected[f'sizeof(struct {name})'] = ctypes.sizeof(struct)
            for field, _ in struct._fields_:
                where = getattr(struct, field)
                expected[f'offsetof(struct {name}, {field})'] = where.offset
                expected[f'sizeof(((struct {name} *)0)->{field})'] = where.size
        self.assertEqual(self.measured_in_c(list(expected)), expected)

    def test_fields_are_those_of_the_header(self):
        for name, struct in _native.STRUCTS.items():
            with self.subTest(struct=name):
                self.assertEqual([field for field, _ in struct._fields_], fields_of(name))

    def test_constants(self):
        self.assertEqual(self.measured_in_c(list(CONSTANTS)), CONSTANTS)
        self.assertIn('REIN_LIMIT_NONE UINT64_MAX', header())
        self.assertEqual(_native.LIMIT_NONE, (1 << 64) - 1)

    def test_functions_are_declared(self):
        declared = set(re.findall(r'\b(rein_\w+)\s*\(', header()))
        self.assertEqual(set(_native.FUNCTIONS) - declared, set())

    def test_error_codes(self):
        with open(os.path.join(SOURCE, 'src/tools/error-codes.c'), encoding='utf-8') as f:
            codes = set(re.findall(r'\.name = "(\w+)"', f.read()))
        self.assertEqual(codes, set(errors.BY_CODE))

    def test_version(self):
        with open(os.path.join(SOURCE, 'meson.build'), encoding='utf-8') as f:
            self.assertEqual(re.search(r"\bversion: '([^']*)'", f.read())[1], _native.VERSION)
        self.assertEqual(_native.lib.rein_version().decode(), _native.VERSION)


class Finding(PythonTest):

    def import_with(self, **env):
        return subprocess.run([sys.executable, '-c', 'import rein'], env={**self.env, **env},
                              text=True, stderr=subprocess.PIPE, check=False)

    def test_no_library(self):
        done = self.import_with(REIN_LIBRARY='/nonexistent/librein.so')
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'ImportError: /nonexistent/librein\.so: .*REIN_LIBRARY')

    def test_another_library(self):
        path = os.path.join(self.temp, 'libother.so')
        subprocess.run(['cc', '-shared', '-xc', '-', '-o', path], input='int other;', text=True,
                       check=True)
        self.assertIn('ImportError', self.import_with(REIN_LIBRARY=path).stderr)

    def test_another_version(self):
        """All functions, and a version of its own."""
        path = os.path.join(self.temp, 'libnewer.so')
        text = ''.join(f'void {name}(void) {{}}\n' for name in _native.FUNCTIONS
                       if name != 'rein_version')
        text += 'const char *rein_version(void) { return "9.9.0"; }\n'
        subprocess.run(['cc', '-shared', '-xc', '-', '-o', path], input=text, text=True,
                       check=True)
        self.assertIn('is version 9.9.0 of rein, this package needs 0.1',
                      self.import_with(REIN_LIBRARY=path).stderr)

    def test_names_are_exported(self):
        import rein
        for name in rein.__all__:
            self.assertTrue(hasattr(rein, name), name)
        self.assertLessEqual({cls.__name__ for cls in errors.BY_CODE.values()}, set(rein.__all__))


if __name__ == '__main__':
    unittest.main()
