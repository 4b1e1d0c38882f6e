#!/usr/bin/env python3
"""Checks every text file of the tree for words that have no place in it.

usage: lint-words.py [ROOT]

Paths of one developer's machine, hosts of package registries, marks of unfinished work, tabs and
blanks at the end of a line, and files without a last newline.
"""

import os
import re
import sys

SKIPPED_FOLDERS = ('.git', 'corpus', '__pycache__')
TABS_BELONG_IN = ('Makefile', '.scd')
# Split where this file would find itself.
RULES = (
    (re.compile(r'(?<![\w.])/wo' r'rk/'), 'a path of one machine'),
    (re.compile(r'\b(?:deb\.deb' r'ian|security\.deb' r'ian|registry\.npm' r'js|pypi\.py' r'thon|'
                r'files\.pythonho' r'sted|proxy\.gol' r'ang|sum\.gol' r'ang|static\.cra' r'tes|'
                r'index\.cra' r'tes|snapshot\.deb' r'ian)\.(?:org|com|io)\b|\bpypi\.o' r'rg\b|'
                r'\bcrates\.i' r'o\b'), 'a registry\'s host'),
    (re.compile(r'\b(?:TO' r'DO|FIX' r'ME|XX' r'X)\b'), 'a mark of unfinished work'),
    (re.compile(r'[ \t]+$'), 'blanks at the end of the line'),
)


def text_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS
                            and not os.path.exists(os.path.join(folder, name, 'meson-private')))
        for name in sorted(names):
            yield os.path.join(folder, name)


def faults(path):
    with open(path, 'rb') as f:
        data = f.read()
    if b'\0' in data:
        return
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError as e:
        yield 1, f'not UTF-8: {e}'
        return
    for number, line in enumerate(text.split('\n'), 1):
        for pattern, what in RULES:
            if pattern.search(line):
                yield number, f'{what}: {line.strip()[:80]}'
        if '\t' in line and not path.endswith(TABS_BELONG_IN):
            yield number, 'a tab'
    if text and not text.endswith('\n'):
        yield text.count('\n') + 1, 'no newline at the end of the file'


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    found = [f'{os.path.relpath(path, root)}:{number}: {text}' for path in text_files(root)
             for number, text in faults(path)]
    print('\n'.join(found), end='\n' if found else '')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
