#!/usr/bin/env python3
"""Runs every check of the tree that is not a test of the program.

usage: lint.py --build DIR [--analyze-build DIR] [--counts FILE] [CHECK...]

--build is a finished build: for the library's symbols, the manual pages and the compile commands.
--analyze-build is one set up with -fanalyzer, which this builds. CHECK: only these, by name.
Each check is one command and counts as one test; it passes when it exits 0. A tool that is not
installed is a failure. The last line is 'N passed, N failed'.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER_WARNINGS = ['-Wall', '-Wextra', '-Werror', '-pedantic', '-fsyntax-only', '-Iinclude']


def tree_files(*suffixes, folders=('.',), shebang=None):
    """Files below the folders by the end of their name, or by the interpreter on their first line,
    without build directories and hidden folders but .ci."""
    found = []
    for top in folders:
        for folder, subfolders, names in os.walk(os.path.join(ROOT, top)):
            subfolders[:] = sorted(
                n for n in subfolders if (n == '.ci' or not n.startswith('.'))
                and n not in ('__pycache__', 'corpus')
                and not os.path.exists(os.path.join(folder, n, 'meson-private')))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(suffixes) or (shebang and has_shebang(path, shebang)):
                    found.append(os.path.relpath(path, ROOT))
    return found


def has_shebang(path, interpreters):
    with open(path, 'rb') as f:
        line = f.readline(100)
    return line.startswith(b'#!') and line.split()[-1].split(b'/')[-1].decode() in interpreters


def c_files(*folders):
    return tree_files('.c', '.h', folders=folders)


def header_check(compiler, language, standard):
    return [compiler, f'-x{language}', f'-std={standard}', *HEADER_WARNINGS, 'include/rein.h']


def all_checks(args):
    """Name and command of each check, the long ones first."""
    python = sys.executable
    checks = {}
    if args.analyze_build:
        checks['analyzer'] = ['ninja', '-k0', '-C', args.analyze_build]
    checks |= {
        'clang-tidy': [python, 'tools/lint-tidy.py', args.build],
        'layers': [python, 'tools/lint-layers.py'],
        'exec-child': [python, 'tools/lint-child.py'],
        'lists': [python, 'tools/lint-lists.py'],
        'words': [python, 'tools/lint-words.py'],
        'exports': [python, 'tools/lint-abi.py', os.path.join(args.build, 'librein.so')],
        'format': ['clang-format', '--dry-run', '-Werror',
                   *c_files('include', 'src', 'tests', 'tools', 'examples')],
        'shell': ['shellcheck', *tree_files('.sh', shebang=('sh', 'bash'))],
        'python': ['pyflakes3', *tree_files('.py', shebang=('python3',))],
        'spelling': ['codespell', '--ignore-words', 'tools/codespell-ignore.txt',
                     '--skip', './build*,./.git,./tests/fuzz/corpus', '.'],
        'manual': [python, 'tools/lint-man.py', args.build],
    }
    for compiler, language, standard in (('gcc', 'c', 'c99'), ('gcc', 'c++', 'c++11'),
                                         ('clang', 'c', 'c99'), ('clang', 'c++', 'c++11')):
        checks[f'header-{compiler}-{standard}'] = header_check(compiler, language, standard)
    return checks


def run(name, command):
    """True when the check passes; says what it found otherwise."""
    started = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True, check=False,
                              errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        passed, output = done.returncode == 0, done.stdout
    except FileNotFoundError:
        passed, output = False, f"{command[0]} is not installed: 'make deps' does it\n"
    verdict = 'ok' if passed else 'FAIL'
    text = f'{verdict:4} lint/{name:24} {time.monotonic() - started:6.2f} s\n'
    if not passed:
        text += ''.join(f'     | {line}\n' for line in output.splitlines() or [' '.join(command)])
    print(text, end='', flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser(usage='lint.py --build DIR [--analyze-build DIR] '
                                           '[--counts FILE] [CHECK...]')
    parser.add_argument('--build', required=True, type=os.path.abspath)
    parser.add_argument('--analyze-build', type=os.path.abspath)
    parser.add_argument('--counts')
    parser.add_argument('names', nargs='*', metavar='CHECK')
    args = parser.parse_intermixed_args()
    checks = all_checks(args)
    unknown = set(args.names) - set(checks)
    if unknown:
        parser.error(f'no such check: {", ".join(sorted(unknown))}')
    chosen = {name: command for name, command in checks.items()
              if not args.names or name in args.names}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, chosen.keys(), chosen.values()))
    passed, failed = results.count(True), results.count(False)
    if args.counts:
        with open(args.counts, 'w', encoding='utf-8') as f:
            f.write(f'{passed} {failed} 0\n')
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
