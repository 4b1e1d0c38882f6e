#!/usr/bin/env python3
"""Checks what runs between fork and exec: only calls that are safe there.

usage: lint-child.py [ROOT]

The child shares its memory with its parent, whose locks other threads may hold: nothing may
allocate, lock, print or write to what the parent uses. The files are compiled without optimisation,
and the functions that they then need from elsewhere are compared with a list.
"""

import os
import shlex
import subprocess
import sys
import tempfile

FILES = ('src/supervisor/exec-child.c',)

# Async-signal-safe by POSIX, or plain system calls.
SAFE = frozenset((
    '__errno_location', '_exit', 'chdir', 'close', 'dup2', 'execve', 'fchdir', 'fcntl', 'getpid',
    'getppid', 'getrlimit', 'ioctl', 'kill', 'open', 'openat', 'prctl', 'raise', 'read', 'setgid',
    'setgroups', 'setpgid', 'setrlimit', 'setsid', 'setuid', 'sigaction', 'sigaddset', 'sigdelset',
    'sigemptyset', 'sigfillset', 'sigprocmask', 'syscall', 'umask', 'write',
    # what compilers call for assignments of structs and arrays
    'memcpy', 'memmove', 'memset',
))


def needed_functions(root, path):
    compiler = shlex.split(os.environ.get('CC', 'cc'))
    with tempfile.NamedTemporaryFile(suffix='.o') as f:
        subprocess.run([*compiler, '-std=gnu17', '-D_GNU_SOURCE', '-O0', '-w', '-fno-stack-protector',
                        '-U_FORTIFY_SOURCE', '-fno-sanitize=all', '-fno-pic', '-fno-pie',
                        f'-I{root}/src', f'-I{root}/include',
                        '-c', os.path.join(root, path), '-o', f.name], check=True)
        listing = subprocess.run(['nm', '-u', f.name], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    failed = False
    for path in FILES:
        for name in sorted(needed_functions(root, path) - SAFE):
            print(f'{path}: calls {name}(), which is not known to be safe between fork and exec')
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
