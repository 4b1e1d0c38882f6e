#!/bin/sh
# The main job on real input: a program that is ended by its deadline, its result object, and one that
# succeeds. Called as: examples/tour.sh path/to/rein
set -u
here=$(cd "$(dirname "$0")" && pwd)
rein=${1:?usage: tour.sh path/to/rein}

say() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
}

say "rein code --timeout 2 python examples/countdown.py"
"$rein" code --timeout 2 python "$here/countdown.py"
status=$?
echo "(exit status $status)"
[ "$status" -eq 124 ] || exit 1

say "rein code --timeout 1 --json python examples/countdown.py"
"$rein" code --timeout 1 --json python "$here/countdown.py"

say "rein code python examples/primes.py"
"$rein" code python "$here/primes.py"
status=$?
echo "(exit status $status)"
exit "$status"
