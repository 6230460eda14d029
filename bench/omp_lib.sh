# SPDX-License-Identifier: MIT
# For the benchmarks of the OpenMP hooks, which source it from the build directory: `bench_omp NAME` sets program and library,
# and goes to a directory of its own, which is removed in the end; `under MODE FILE CMD…` runs with the hooks.
bench_omp() {
    program=$PWD/bench/$1 library=$PWD/.libs/libpythia_omp.so
    [ -x "$program" ] && [ -e "$library" ] || { echo "$1.sh: not built here" >&2; exit 2; }
    export PYTHIA_VERBOSE=0
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    cd "$dir"
}
under() { PYTHIA_MODE=$1 PYTHIA_OUTPUT=$2 PYTHIA_INPUT=$2 LD_PRELOAD=$library${stand_in:+:$stand_in} "${@:3}"; }
