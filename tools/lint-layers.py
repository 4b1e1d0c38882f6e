#!/usr/bin/env python3
"""Checks how the C files of the tree depend on each other and on the platform.

usage: lint-layers.py [ROOT]

- An include runs only from a higher layer to a lower one; a file of the own folder is named without
  its folder, one of another layer, or one that the build makes, with it.
- What is Linux's own (<linux/…>, <asm/…>) and conditional compilation stand only in platform files,
  *-linux.c, *-linux.h and the like. Include guards and default values of a header's own macros are
  no such conditions; nor is `#ifdef __cplusplus` in the public header.
"""

import os
import re
import sys

# What each layer may include. A name with a slash is one file of that layer.
ALLOWED = {
    'base': (),
    'job': ('base',),
    'policy': ('base', 'job'),
    'text': ('base',),
    'code': ('base', 'job'),
    'tools': ('base', 'job', 'policy', 'text', 'code'),
    'cli': ('base', 'job', 'policy', 'text', 'code', 'tools'),
    'supervisor': ('base', 'job/wire.h', 'job/record.h'),
}
PLATFORM_FILE = re.compile(r'-(linux|windows)\.[ch]$')
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITION = re.compile(r'\s*#\s*(?:if|ifdef|ifndef|elif)\b\s*(.*)')


def c_files(root, *folders):
    for folder in folders:
        for directory, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(('.c', '.h')):
                    yield os.path.relpath(os.path.join(directory, name), root)


def is_generated(root, folder, name):
    """Does the folder's meson.build say that the build makes this header?"""
    with open(os.path.join(root, 'src', folder, 'meson.build'), encoding='utf-8') as f:
        return f"output: '{name}'" in f.read()


def include_fault(root, layer, name):
    """Why a file of the layer must not have this #include "name"; None when it may."""
    folder, slash, base = name.partition('/')
    if not slash:
        own = os.path.exists(os.path.join(root, 'src', layer, name))
        return None if own or name == 'rein.h' else f'"{name}" is not in src/{layer}'
    if folder not in ALLOWED:
        return f'"{name}": no layer of that name'
    if folder != layer and folder not in ALLOWED[layer] and name not in ALLOWED[layer]:
        return f'"{name}": {layer} must not know {folder}'
    if is_generated(root, folder, base):
        return None
    if folder == layer:
        return f'"{name}": own folder, so without "{folder}/"'
    return None if os.path.exists(os.path.join(root, 'src', name)) else f'"{name}": no such file'


def is_guard(lines, index, condition):
    """`#ifndef X` with `#define X` right behind it: an include guard, or a macro's default."""
    follows = lines[index + 1] if index + 1 < len(lines) else ''
    return re.match(r'\s*#\s*ifndef\b', lines[index]) and \
        re.match(rf'\s*#\s*define\s+{re.escape(condition)}\b', follows)


def faults(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        lines = f.read().splitlines()
    parts = path.split('/')
    layer = parts[1] if parts[0] == 'src' and len(parts) > 2 else None
    if layer and layer not in ALLOWED:
        yield 1, f'src/{layer} is no layer that tools/lint-layers.py knows'
        return
    platform = bool(PLATFORM_FILE.search(path))
    for index, line in enumerate(lines):
        include = INCLUDE.match(line)
        if include and include[1] == '"' and layer:
            fault = include_fault(root, layer, include[2])
            if fault:
                yield index + 1, fault
        if include and include[2].startswith(('linux/', 'asm/')) and not platform:
            yield index + 1, f'<{include[2]}> outside a platform file'
        condition = CONDITION.match(line)
        if condition and not platform and not is_guard(lines, index, condition[1]) \
                and not (path == 'include/rein.h' and condition[1] == '__cplusplus'):
            yield index + 1, f'conditional compilation outside a platform file: {line.strip()}'


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    found = [f'{path}:{number}: {text}' for path in c_files(root, 'src', 'include')
             for number, text in faults(root, path)]
    print('\n'.join(found), end='\n' if found else '')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
