# SPDX-License-Identifier: MIT
# For test scripts (*.test, run by bash): a little TAP, and a scratch directory that is removed at the end.
#
#   . "$top_srcdir/tests/lib.sh"
#   ok 'the report names the rank' grep -q 'rank 3' report.txt       # passes when the command succeeds
#   is "$(cat exit)" 3 'a damaged file is refused'                   # passes when equal
#   skip_all 'no MPI'                                                # before any test: the whole script is skipped
#   skip 'needs eight cores'                                         # one test is skipped
#   done_testing                                                     # last line, always
#   as_nobody COMMAND...     root runs it without rights; can_nobody FILE: whether it could reach that
#
# Set by the makefile: top_srcdir, top_builddir, PYTHIA (the command), CC, MPICC, MPIFORT, MPIEXEC, MPI_FLAVOUR, PYTHON,
# SANITIZERS, PYTHIA_FORCE (tests record program after program into the same file), and an environment in which many
# ranks share few cores without harm.
set -u
tests=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pythia-test.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99

diagnose() { sed 's/^/# /'; }

ok() {
    local name=$1
    shift
    tests=$((tests + 1))
    if "$@" >"$scratch/.out" 2>&1; then
        echo "ok $tests - $name"
    else
        echo "not ok $tests - $name"
        { echo "failed: $*"; tail -n 30 "$scratch/.out"; } | diagnose
    fi
}

is() {
    tests=$((tests + 1))
    if [ "$1" = "$2" ]; then
        echo "ok $tests - $3"
    else
        echo "not ok $tests - $3"
        printf 'got: %s\nexpected: %s\n' "$1" "$2" | diagnose
    fi
}

skip() {
    tests=$((tests + 1))
    echo "ok $tests # SKIP $1"
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

as_nobody() { setpriv --reuid=65534 --clear-groups "$@"; }
can_nobody() { as_nobody test -r "$1" 2>/dev/null; }

done_testing() { echo "1..$tests"; }
