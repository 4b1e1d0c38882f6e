#!/usr/bin/env python3
"""Builds the package's wheel: a backend for pip (PEP 517 and 660), and a program.

usage: rein_build.py DIRECTORY [--build BUILD]

The wheel has the package, librein, the shared libraries beyond libc that librein needs, and their
licence texts. The tree's own build makes librein: in BUILD, else in $REIN_BUILD, which then has to be
finished, else in `build` of the tree. Two wheels of the same files are the same bytes.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
NAME = 'rein'
BUILT = 'librein-wheel.so'      # looks for its libraries beside itself
SHIPPED = 'librein.so.0'
# What every system has, and what belongs to its kernel and loader.
SYSTEMS_OWN = re.compile(r'(lib(c|m|dl|rt|pthread)\.so|ld-linux|linux-vdso|linux-gate)')

METADATA = '''Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Runs an AI agent's commands and code, and keeps hold of them
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}'''
WHEEL = '''Wheel-Version: 1.0
Generator: rein_build
Root-Is-Purelib: false
Tag: {tag}
'''


class UnsupportedOperation(Exception):
    """For pip: there is no such thing here."""


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def version():
    text = read(os.path.join(HERE, NAME, '_native.py')).decode()
    return re.search(r"^VERSION = '([^']+)'", text, re.M)[1]


def tag():
    platform = re.sub('[^a-zA-Z0-9]', '_', sysconfig.get_platform())
    return f'py3-none-{platform}'


# ---- the library --------------------------------------------------------------------------------

def run(*command):
    """Runs a program of the machine's, without what pip tells its own children about modules."""
    env = {key: value for key, value in os.environ.items() if not key.startswith('PYTHON')}
    try:
        return subprocess.run(command, check=True, env=env, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing; 'make deps' in {TREE} installs what is needed")


def built_library(build=None):
    """The path of the built library; builds it unless the build is said to be finished."""
    finished = None if build else os.environ.get('REIN_BUILD')
    build = build or finished or os.path.join(TREE, 'build')
    if not finished:
        if not os.path.exists(os.path.join(build, 'build.ninja')):
            run('meson', 'setup', build, TREE)
        run('ninja', '-C', build, BUILT)
    return os.path.join(build, BUILT)


def needed_libraries(library):
    """Name and path of each shared library that has to come along."""
    found = re.findall(r'^\s*(\S+) => (\S+)', run('ldd', library), re.M)
    return [(name, path) for name, path in found if not SYSTEMS_OWN.match(name)]


def license_of(path):
    """The text that goes with a library of Debian's."""
    owner = run('dpkg-query', '-S', f'*/{os.path.basename(os.path.realpath(path))}')
    package = owner.splitlines()[0].partition(':')[0]
    return package, read(f'/usr/share/doc/{package}/copyright')


def stripped(path):
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, os.path.join(folder, 'library'))
        run('strip', '--strip-unneeded', copy)
        return read(copy)


# ---- the wheel ----------------------------------------------------------------------------------

def package_files():
    """Name in the wheel and contents of what is Python."""
    for folder, folders, names in os.walk(os.path.join(HERE, NAME)):
        folders[:] = sorted(name for name in folders if name not in ('__pycache__', 'lib'))
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, HERE), read(path)


def library_files(info, build):
    library = built_library(build)
    yield f'{NAME}/lib/{SHIPPED}', stripped(library)
    for name, path in needed_libraries(library):
        yield f'{NAME}/lib/{name}', read(path)
        package, text = license_of(path)
        yield f'{info}/licenses/{package}', text


def info_files(info, wheel_tag):
    description = read(os.path.join(HERE, 'README.md')).decode()
    yield f'{info}/licenses/LICENSE', read(os.path.join(TREE, 'LICENSE'))
    yield f'{info}/METADATA', METADATA.format(name=NAME, version=version(),
                                              description=description).encode()
    yield f'{info}/WHEEL', WHEEL.format(tag=wheel_tag).encode()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    return f'{name},sha256={digest},{len(data)}\n'


def timestamp():
    epoch = int(os.environ.get('SOURCE_DATE_EPOCH', 315532800))     # the oldest that zip knows
    return time.gmtime(max(epoch, 315532800))[:6]


def write_wheel(directory, files, info, wheel_tag):
    name = f'{NAME}-{version()}-{wheel_tag}.whl'
    os.makedirs(directory, exist_ok=True)
    record = ''
    with zipfile.ZipFile(os.path.join(directory, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data):
            entry = zipfile.ZipInfo(path, timestamp())
            entry.external_attr = (0o100755 if '.so' in path else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        for path, data in files:
            add(path, data)
            record += record_line(path, data)
        add(f'{info}/RECORD', (record + f'{info}/RECORD,,\n').encode())
    return name


def info_name():
    return f'{NAME}-{version()}.dist-info'


def make_wheel(directory, build=None):
    info = info_name()
    files = [*package_files(), *library_files(info, build), *info_files(info, tag())]
    return write_wheel(directory, files, info, tag())


# ---- for pip ------------------------------------------------------------------------------------

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make_wheel(wheel_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Points at this folder; the library is then the one in the tree's `build`."""
    built_library()
    info, files = info_name(), [(f'{NAME}.pth', f'{HERE}\n'.encode())]
    return write_wheel(wheel_directory, [*files, *info_files(info, tag())], info, tag())


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation('the package is built from a checkout of the whole tree')


def main():
    parser = argparse.ArgumentParser(usage='rein_build.py DIRECTORY [--build BUILD]')
    parser.add_argument('directory')
    parser.add_argument('--build')
    args = parser.parse_args()
    print(os.path.join(args.directory, make_wheel(args.directory, args.build)))


if __name__ == '__main__':
    main()
