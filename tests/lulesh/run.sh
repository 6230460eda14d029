# SPDX-License-Identifier: MIT
# For the tests of bench/lulesh, after tests/lib.sh: run a program, compare what it reached, preload a helper.
bin=$top_builddir/bench/lulesh
here=$top_srcdir/tests/lulesh
why=

fails() { ! "$@"; }

compare() { awk -v tolerance=1e-10 -f "$here/compare.awk" "$here/expected.tsv" - <"$1"; }

# agrees NAME COMMAND...: its final state is that of the original. Says by how much.
agrees() {
    local name=$1
    shift
    "$@" --state >reached 2>reached.err
    ok "$name" compare reached
    { cat .out; cat reached.err; } | diagnose
}

# What MPI itself leaves behind at the end is not ours to report.
ranks() {
    local n=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$MPIEXEC" -n "$n" "$@"
}

have_mpi() {
    if [ ! -x "$bin/lulesh-mpi" ]; then
        why='built without MPI'
    elif [ -z "${MPIEXEC:-}" ] || ! command -v "$MPIEXEC" >/dev/null; then
        why='no mpirun'
    else
        return 0
    fi
    return 1
}

# preload NAME COMPILER PROGRAM SYMBOL: builds NAME.so, if PROGRAM calls SYMBOL and nothing else needs to be loaded
# first.
preload() {
    if [ -n "${SANITIZERS:-}" ]; then
        why='sanitizers must be loaded first'
    elif ! nm -D "$3" 2>/dev/null | grep -q " U $4"; then
        why="$(basename "$3") does not call $4"
    elif ! $2 -O2 -shared -fPIC -o "$scratch/$1.so" "$here/$1.c" -ldl 2>cc.err; then
        why="no $1.so: $(head -n 1 cc.err)"
    else
        return 0
    fi
    return 1
}
