#!/bin/bash
# Records what programs really write, for tests/unit/test-text-corpus.c. Run by hand, in an empty
# directory, when a program is to be added: the recordings are part of the tree, so the test needs
# none of these programs. Nothing here asks another machine.
#
# usage: record.sh DIR      writes DIR/NAME.bin
set -eu
out=${1:?usage: record.sh DIR}
out=$(realpath "$out")
tmp=$(mktemp -d /tmp/demo.XXXXXX)
trap 'kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
cd "$tmp"
export HOME=$tmp LC_ALL=C.UTF-8 TERM=xterm-256color COLUMNS=100 GIT_CONFIG_NOSYSTEM=1

# Through a pipe, as under rein.
piped() {
    name=$1
    shift
    "$@" 2>&1 </dev/null | cat >"$out/$name.bin" || true
}

# At a terminal of 100 columns, where programs show bars that they hide from a pipe.
shown() {
    name=$1
    shift
    script -qec "stty cols 100 rows 40; $*" /dev/null </dev/null >"$out/$name.bin" || true
}

mkdir web && head -c 3000000 /dev/urandom >web/file
/usr/bin/python3 -m http.server 18765 -d web --bind 127.0.0.1 >/dev/null 2>&1 &
server=$!
sleep 1

piped apt-get apt-get -q=0 -s install sl
mkdir -p package app && echo '{"name": "demo-package", "version": "1.0.0"}' >package/package.json
echo '{"name": "app", "version": "1.0.0"}' >app/package.json
shown npm "cd app && npm install --offline --no-audit --no-fund --color=always ../package"
piped curl curl --limit-rate 1M -o /dev/null http://127.0.0.1:18765/file
piped wget wget --limit-rate=1M --progress=bar:force -O /dev/null http://127.0.0.1:18765/file
cat >test_demo.py <<'EOF'
import pytest

@pytest.mark.parametrize('n', range(12))
def test_numbers(n):
    assert n != 7, 'seven is bad luck'
EOF
shown pytest /usr/bin/python3 -m pytest -p no:cacheprovider --color=yes test_demo.py
mkdir c && cat >c/a.c <<'EOF'
int main(void) { int unused; return 0; }
EOF
printf 'all: a\na: a.c\n\tgcc -Wall -fdiagnostics-color=always -o a a.c\n' >c/Makefile
piped make make -C c
git init -q repo && git -C repo -c user.name=demo -c user.email=demo@localhost commit -q --allow-empty -m first
for i in $(seq 300); do echo "$RANDOM $i" >"repo/$i"; done
git -C repo add . && git -C repo -c user.name=demo -c user.email=demo@localhost commit -q -m second
piped git-clone git clone --progress "file://$tmp/repo" copy
mkdir cm && cp c/a.c cm && printf 'cmake_minimum_required(VERSION 3.20)\nproject(demo C)\nadd_executable(a a.c)\n' >cm/CMakeLists.txt
piped cmake env CLICOLOR_FORCE=1 cmake -S cm -B cm/build
shown ninja "cmake -G Ninja -S cm -B cm/ninja >/dev/null; ninja -C cm/ninja"
piped dd timeout -s INT 4 dd if=/dev/zero of=/dev/null bs=64K status=progress
mkdir from && cp web/file from/one && cp web/file from/two
piped rsync rsync -r --progress --bwlimit=4M from/ to/
cat >bar.py <<'EOF'
import sys, time
for i in range(51):
    sys.stdout.write('\r[%-50s] %3d%%' % ('█' * i, i * 2))
    sys.stdout.flush()
    time.sleep(0.005)
print('\ndone')
EOF
piped python-bar python3 bar.py
cat >layers.py <<'EOF'
import sys, time
names = ['3f9a1c2b', '0c11d2e4', 'ab54a98c']
for name in names:
    print(f'{name}: Pulling fs layer')
for step in range(0, 101, 4):
    for i, name in enumerate(names):
        done = max(0, min(100, step * 2 - i * 40))
        up = len(names) - i
        word = 'Pull complete' if done == 100 else f'Downloading [{"=" * (done // 4):<25}] {done}%'
        sys.stdout.write(f'\x1b[{up}A\x1b[2K\r{name}: {word}\x1b[{up}B\r')
    sys.stdout.flush()
    time.sleep(0.01)
print('\x1b[1mStatus:\x1b[0m Downloaded newer image')
EOF
piped layers python3 layers.py
