# SPDX-License-Identifier: MIT
# For the benchmarks, which source it in the build directory (or with its path in top_builddir).
#
#   bench_need HOW PROGRAM...   ends the benchmark where a program is not built; HOW says what makes it
#   bench_options 'r=rounds …' "$@"   -r N sets $rounds, and so on; then shift $((OPTIND - 1))
#   bench_dir                   a directory of our own, $dir, removed in the end
#   bench_ranks                 Open MPI: also as root, more ranks than cores, which then yield and are bound nowhere
#   bench_omp NAME              for the OpenMP hooks: $program and $library, and goes to $dir
#   under MODE FILE CMD...      runs with these hooks
builddir=${top_builddir:-$PWD}
bench_name=${0##*/}

bench_need() {
    local how=$1 need
    for need in "${@:2}"; do
        [ -x "$need" ] || { echo "$bench_name: no $need: $how" >&2; exit 2; }
    done
}

bench_options() {
    local pair option letters=''
    for pair in $1; do letters+=${pair%%=*}:; done
    while getopts "$letters" option "${@:2}"; do
        [ "$option" != '?' ] || exit 2
        for pair in $1; do [ "${pair%%=*}" != "$option" ] || printf -v "${pair#*=}" %s "$OPTARG"; done
    done
}

bench_dir() {
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
}

bench_ranks() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none # Open MPI 5
}

bench_omp() {
    program=$builddir/bench/$1 library=$builddir/.libs/libpythia_omp.so
    bench_need "make bench-omp bench-omp-tasks makes it" "$program" "$library"
    export PYTHIA_VERBOSE=0
    bench_dir
    cd "$dir"
}
under() { PYTHIA_MODE=$1 PYTHIA_OUTPUT=$2 PYTHIA_INPUT=$2 LD_PRELOAD=$library${stand_in:+:$stand_in} "${@:3}"; }
