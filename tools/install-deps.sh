#!/bin/sh
# Installs those packages of tools/apt/*.txt that this machine lacks.
#
#   tools/install-deps.sh [LIST...]    LIST: build, test, lint, fuzz; without one: all of them
#   tools/install-deps.sh --missing [LIST...]    only prints what is missing
#
# Where nothing is missing it asks the package database once and touches neither network nor lock.
set -eu

lists_dir=$(dirname "$0")/apt
lock_seconds=600 # how long to wait for another apt

say() {
    echo "install-deps: $*" >&2
}

wanted_packages() {
    for list; do
        sed -e 's/#.*//' "$lists_dir/$list.txt"
    done | tr -s ' \t' '\n' | sort -u | sed '/^$/d'
}

# dpkg-query complains about, and fails for, packages that it does not know: that is the answer.
installed_packages() {
    # shellcheck disable=SC2016,SC2086 # dpkg-query's own variables; one word a package
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' $1 2>/dev/null |
        sed -n 's/^installed //p' | sort -u
}

# `apt-get update` does not wait for its lock as `install` does.
update_lists() {
    tries_left=$((lock_seconds / 5))
    until $as_root env LC_ALL=C apt-get -qq update 2>"$log"; do
        if ! grep -q 'Could not get lock' "$log" || [ "$tries_left" -le 0 ]; then
            cat "$log" >&2
            say "the package lists could not be refreshed; going on with the old ones"
            return 0
        fi
        tries_left=$((tries_left - 1))
        sleep 5
    done
}

only_print=false
if [ "${1:-}" = --missing ]; then
    only_print=true
    shift
fi
[ $# -gt 0 ] || set -- build test lint fuzz
for list; do
    if [ ! -f "$lists_dir/$list.txt" ]; then
        say "no list '$list' in $lists_dir"
        exit 2
    fi
done

wanted=$(wanted_packages "$@")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "not a Debian system; install what corresponds to: $(echo "$wanted" | tr '\n' ' ')"
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
installed_packages "$wanted" >"$log"
missing=$(echo "$wanted" | grep -vxF -f "$log" | tr '\n' ' ' || true)
missing=${missing% }
if $only_print; then
    [ -z "$missing" ] || echo "$missing"
    exit 0
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    say "missing: $missing"
    say "neither root nor sudo; have root run: apt-get install --no-install-recommends $missing"
    exit 1
fi

say "installing: $missing"
update_lists
# shellcheck disable=SC2086 # one word a package
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=$lock_seconds \
    install --no-install-recommends $missing
