#!/usr/bin/env python3
"""Checks that the build knows every file, and that what is written twice is written alike.

usage: lint-lists.py [ROOT]

A source file, test, helper, fuzz target or manual page that no meson.build names is never built and
never fails. The version stands in meson.build and in the public header.
"""

import glob
import os
import re
import sys

# Files, the meson.build that has to name them, and which part of the file's name stands there.
RULES = (
    ('src/*/*.c', '{folder}/meson.build', r'(.+\.c)'),
    ('tests/unit/test-*.c', '{folder}/meson.build', r'test-(.+)\.c'),
    ('tests/e2e/test_*.py', '{folder}/meson.build', r'test_(.+)\.py'),
    ('tests/python/test_*.py', '{folder}/meson.build', r'test_(.+)\.py'),
    ('tests/tools/test_*.py', '{folder}/meson.build', r'test_(.+)\.py'),
    ('tests/helpers/*.c', '{folder}/meson.build', r'(.+)\.c'),
    ('tests/fuzz/fuzz-*.c', '{folder}/meson.build', r'fuzz-(.+)\.c'),
    ('man/*.scd', '{folder}/meson.build', r'(.+)\.scd'),
)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        return f.read()


# What has its own target in the main meson.build.
PROGRAM = 'src/cli/main.c'


def unlisted(root):
    for pattern, list_path, part in RULES:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            folder, name = os.path.split(os.path.relpath(path, root))
            if f'{folder}/{name}' == PROGRAM:
                continue
            where = list_path.format(folder=folder)
            wanted = re.fullmatch(part, name)[1]
            if f"'{wanted}'" not in read(root, where):
                yield f"{folder}/{name}: {where} does not name '{wanted}'"


def unwrapped(root):
    """A __wrap_f that the linker is not told of is never called: the test then tests nothing."""
    rows = read(root, 'tests/unit/meson.build')
    for path in sorted(glob.glob(os.path.join(root, 'tests/unit/test-*.c'))):
        name = os.path.basename(path)[len('test-'):-len('.c')]
        row = re.search(rf"'{re.escape(name)}': \[([^\]]*)\]", rows)
        for function in sorted(set(re.findall(r'\b__wrap_(\w+)\(', read('', path)))):
            if row and f'--wrap={function}\'' not in row[1]:
                yield f'tests/unit/test-{name}.c: the linker is not told --wrap={function}'


def without_corpus(root):
    for path in sorted(glob.glob(os.path.join(root, 'tests/fuzz/fuzz-*.c'))):
        name = os.path.basename(path)[len('fuzz-'):-len('.c')]
        if not glob.glob(os.path.join(root, 'tests/fuzz/corpus', name, '*')):
            yield f'tests/fuzz/fuzz-{name}.c: tests/fuzz/corpus/{name} is empty'


def versions(root):
    header = read(root, 'include/rein.h')
    numbers = [re.search(rf'#define REIN_VERSION_{part}\s+(\d+)', header)[1]
               for part in ('MAJOR', 'MINOR', 'PATCH')]
    project = re.search(r"\bversion: '([^']*)'", read(root, 'meson.build'))[1]
    if project != '.'.join(numbers):
        yield f'meson.build says version {project}, include/rein.h {".".join(numbers)}'


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    found = [*unlisted(root), *unwrapped(root), *without_corpus(root), *versions(root)]
    print('\n'.join(found), end='\n' if found else '')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
