#!/usr/bin/env python3
"""Checks the manual pages of a build with mandoc.

usage: lint-man.py BUILD [ROOT]

Every source in man/ has to be a page of the build. What scdoc always writes, empty paragraphs, is no
fault of a page.
"""

import glob
import os
import subprocess
import sys

SCDOC_HABIT = 'WARNING: skipping paragraph macro'


def main():
    build, root = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '.'
    names = [os.path.basename(path).removesuffix('.scd')
             for path in sorted(glob.glob(os.path.join(root, 'man', '*.scd')))]
    pages = [os.path.join(build, 'man', name) for name in names]
    faults = [f'{page}: not built' for page in pages if not os.path.exists(page)]
    if not pages:
        faults.append('there are no manual pages')
    else:
        said = subprocess.run(['mandoc', '-Tlint', '-Wwarning', *pages], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        faults += [line for line in said.splitlines() if SCDOC_HABIT not in line]
    print('\n'.join(faults), end='\n' if faults else '')
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
