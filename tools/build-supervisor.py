#!/usr/bin/env python3
"""Compiles and links the supervisor with a second C compiler: Meson knows one a project.

usage: build-supervisor.py OUTPUT DEPFILE SCRATCH HOST-CC -- CC FLAG... -- SOURCE...

HOST-CC is the project's own compiler, asked only where the kernel's headers are: musl's wrapper
does not look there, and its own headers must not be mixed with those of another libc. So SCRATCH
gets a directory with links to linux/, asm/ and asm-generic/ alone.
"""

import concurrent.futures
import os
import re
import shlex
import subprocess
import sys

KERNEL_HEADERS = ('linux/version.h', 'asm/unistd.h', 'asm-generic/unistd.h')


def kernel_include_dir(host_cc, scratch):
    """A directory that holds the kernel's headers and nothing else."""
    directory = os.path.join(scratch, 'kernel-headers')
    os.makedirs(directory, exist_ok=True)
    code = ''.join(f'#include <{name}>\n' for name in KERNEL_HEADERS)
    rule = subprocess.run([*host_cc, '-M', '-xc', '-'], input=code, text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    for name in KERNEL_HEADERS:
        found = re.search(rf'(\S+)/{re.escape(name)}', rule)
        folder = os.path.dirname(name)
        link = os.path.join(directory, folder)
        target = os.path.join(found[1], folder)
        if not os.path.islink(link) or os.readlink(link) != target:
            if os.path.islink(link):
                os.unlink(link)
            os.symlink(target, link)
    return directory


def compile_one(compiler, include, scratch, source):
    """Gives the object's path, the files it was made from, and what the compiler said."""
    folder, name = os.path.split(os.path.abspath(source))
    stem = os.path.join(scratch, f'{os.path.basename(folder)}-{os.path.splitext(name)[0]}')
    done = subprocess.run([*compiler, '-idirafter', include, '-MD', '-MF', stem + '.d',
                           '-c', source, '-o', stem + '.o'], check=False)
    if done.returncode != 0:
        sys.exit(1)
    with open(stem + '.d', encoding='utf-8') as f:
        rule = f.read().replace('\\\n', ' ')
    return stem + '.o', rule.split(': ', 1)[1].split()


def main():
    output, depfile, scratch, host_cc = sys.argv[1:5]
    first, second = (i for i, word in enumerate(sys.argv) if word == '--')
    compiler, sources = sys.argv[first + 1:second], sys.argv[second + 1:]

    os.makedirs(scratch, exist_ok=True)
    include = kernel_include_dir(shlex.split(host_cc), scratch)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda s: compile_one(compiler, include, scratch, s), sources))
    linked = subprocess.run([*compiler, *(o for o, _ in made), '-o', output], check=False)
    if linked.returncode != 0:
        sys.exit(1)
    inputs = sorted({path for _, paths in made for path in paths})
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write(f'{output}: {" ".join(inputs)}\n')


if __name__ == '__main__':
    main()
