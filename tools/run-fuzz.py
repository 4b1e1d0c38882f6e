#!/usr/bin/env python3
"""Lets libFuzzer work on every target of a build with -Dfuzz=true, for a while each.

usage: run-fuzz.py BUILD [--seconds N] [TARGET...]

The corpus in tests/fuzz/corpus is where it starts; what it finds on the way stays in
BUILD/fuzz-corpus and is used again. An input that breaks a target is written to
BUILD/fuzz-artifacts and named: mend the fault, and add the input to the corpus. Each target counts
as one test; the last line is 'N passed, N failed'.
"""

import argparse
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST_INPUT = 4096        # bytes; parsers of short texts, so that many are tried
SLOWEST_INPUT = 10          # seconds until one input counts as a hang


def run(build, program, seconds):
    """True when the target survived."""
    name = os.path.basename(program).removeprefix('fuzz-')
    found = os.path.join(build, 'fuzz-corpus', name)
    artifacts = os.path.join(build, 'fuzz-artifacts', '')
    for folder in (found, artifacts):
        os.makedirs(folder, exist_ok=True)
    log = os.path.join(artifacts, f'{name}.log')
    with open(log, 'w', encoding='utf-8') as f:
        status = subprocess.run(
            [program, f'-max_total_time={seconds}', f'-max_len={LONGEST_INPUT}',
             f'-timeout={SLOWEST_INPUT}', f'-artifact_prefix={artifacts}{name}-',
             '-print_final_stats=1', found, os.path.join(ROOT, 'tests', 'fuzz', 'corpus', name)],
            check=False, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT).returncode
    with open(log, encoding='utf-8', errors='replace') as f:
        lines = f.read().splitlines()
    runs = [line.split()[-1] for line in lines if line.startswith('stat::number_of_executed_units')]
    print(f'{"FAIL" if status else "ok":4} fuzz/{name:24} {runs[0] if runs else "?"} inputs')
    if status:
        print(''.join(f'     | {line}\n' for line in lines[-60:]), end='')
    return status == 0


def main():
    parser = argparse.ArgumentParser(usage='run-fuzz.py BUILD [--seconds N] [TARGET...]')
    parser.add_argument('build', type=os.path.abspath)
    parser.add_argument('--seconds', type=int, default=30)
    parser.add_argument('names', nargs='*', metavar='TARGET')
    args = parser.parse_intermixed_args()
    programs = [path for path in sorted(glob.glob(os.path.join(args.build, 'tests/fuzz/fuzz-*')))
                if os.access(path, os.X_OK) and os.path.isfile(path)]
    if args.names:
        programs = [p for p in programs if os.path.basename(p).removeprefix('fuzz-') in args.names]
    if not programs:
        sys.exit('no fuzz target was built')
    results = [run(args.build, program, args.seconds) for program in programs]
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    sys.exit(0 if all(results) else 1)


if __name__ == '__main__':
    main()
