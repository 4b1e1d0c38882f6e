#!/usr/bin/env python3
"""Compares what librein exports with what it should: four lists that must be one.

usage: lint-abi.py LIBRARY [ROOT]

The functions that include/rein.h declares, the linker's list (src/rein.sym), the promise to users
(tests/abi.txt) and the symbols of the built library.
"""

import os
import re
import subprocess
import sys


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        return f.read()


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def declared(root):
    return set(re.findall(r'\b(rein_\w+)\s*\(', without_comments(read(root, 'include/rein.h'))))


def listed_for_linker(root):
    exported = without_comments(read(root, 'src/rein.sym')).split('local:')[0]
    return set(re.findall(r'([^\s{};:]+);', exported))


def promised(root):
    return set(read(root, 'tests/abi.txt').split())


def exported_by(library):
    listing = subprocess.run(['nm', '-D', '--defined-only', library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return {line.split()[-1].partition('@')[0] for line in listing.splitlines()}


def main():
    library, root = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '.'
    lists = {'include/rein.h': declared(root), 'src/rein.sym': listed_for_linker(root),
             'tests/abi.txt': promised(root), os.path.basename(library): exported_by(library)}
    failed = False
    for name in sorted(set().union(*lists.values())):
        missing = [where for where, names in lists.items() if name not in names]
        if missing:
            print(f'{name} is missing in {", ".join(missing)}')
            failed = True
    if not lists['include/rein.h']:
        print('include/rein.h declares nothing')
        failed = True
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
