#!/usr/bin/env python3
"""Prints the executables of the Python interpreters that the package is tested with, one a line: the
system's, and the one that PATH has if it is another and new enough.

usage: find-python.py
"""

import os
import shutil
import subprocess
import sys

SYSTEM = '/usr/bin/python3'
OLDEST = (3, 9)
PROBE = 'import sys; print(sys.executable, *sys.version_info[:2])'


def probe(command):
    """(executable, version) of an interpreter, behind a version manager's shim as well."""
    if not command:
        return None
    try:
        done = subprocess.run([command, '-c', PROBE], text=True, check=True, timeout=30,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    executable, major, minor = done.stdout.rsplit(maxsplit=2)
    return executable, (int(major), int(minor))


def main():
    found = {}
    for command in (SYSTEM, sys.executable, shutil.which('python3')):
        answer = probe(command)
        if answer and answer[1] >= OLDEST:
            found.setdefault(os.path.realpath(answer[0]), answer[0])
    print('\n'.join(found.values()))


if __name__ == '__main__':
    main()
