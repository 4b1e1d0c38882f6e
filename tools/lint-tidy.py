#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) over the sources of rein, several files at a time.

usage: lint-tidy.py BUILD [FILE...]

BUILD is asked only for the headers that a build makes. The flags are few and our own: those of the
build are gcc's, half of them unknown to clang.
"""

import concurrent.futures
import glob
import os
import subprocess
import sys

FLAGS = ['-std=gnu17', '-D_GNU_SOURCE', '-Isrc', '-Iinclude', '-DREIN_TEST_HOOKS=0',
         '-DREIN_SUPERVISOR_HOST=0']


def check(build, path):
    return subprocess.run(['clang-tidy', '--quiet', path, '--', *FLAGS,
                           '-I' + os.path.join(build, 'src')],
                          check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def main():
    build, chosen = sys.argv[1], sys.argv[2:]
    paths = chosen or sorted(glob.glob('src/*/*.c'))
    if not paths:
        sys.exit('no sources here')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: check(build, path), paths))
    for path, done in zip(paths, results):
        if done.returncode != 0:
            print(f'{path}:\n{done.stdout or done.stderr}', end='')
    sys.exit(1 if any(done.returncode for done in results) else 0)


if __name__ == '__main__':
    main()
