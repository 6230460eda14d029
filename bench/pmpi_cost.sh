#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the MPI wrappers add to a call, in ns: without them, recording and predicting, by depth of callsites and threads.
#
#   bench/pmpi_cost.sh [-n TURNS] [-c "DEPTH ..."] [-t "THREADS ..."] [-m "MODE ..."]       from the build directory
#
# "none" is the same loop without the library: what it shows is the noise of the machine.
set -eu
. "$(dirname "$0")/lib.sh"
turns=20000 depths='0 1 4 8' threads='1 8' modes='none record predict'
bench_options 'n=turns c=depths t=threads m=modes' "$@"
program=$builddir/bench/pmpi_cost
library=$builddir/.libs/libpythia_pmpi.so
bench_need "make bench-pmpi makes it" "$program" "$library"
bench_ranks
bench_dir
export OMPI_MCA_mpi_yield_when_idle=0 PYTHIA_VERBOSE=0 PYTHIA_SUMMARY=no

# run LABEL MODE THREADS
run() {
    local preload=()
    [ "$2" = none ] || preload=(env LD_PRELOAD="$library" PYTHIA_MODE="$2" PYTHIA_OUTPUT="$dir/$PYTHIA_DEPTH-$3.pythia")
    "${MPIEXEC:-mpirun}" -n 1 ${preload[@]+"${preload[@]}"} "$program" "$1" "$turns" "$3"
}

echo 'ns: mode/depth/threads, call, bare p50; added at p50, p99, p99.9'
for t in $threads; do
    for mode in $modes; do
        for depth in $depths; do
            export PYTHIA_DEPTH=$depth
            if [ "$mode" = none ]; then
                run "none/-/$t" none "$t"
                break
            fi
            [ "$mode" = record ] || [ -e "$dir/$depth-$t.pythia" ] || run x record "$t" >/dev/null
            run "$mode/$depth/$t" "$mode" "$t"
        done
    done
done
