#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of the OpenMP hooks, in ns for an empty region: p50, p99, p99.9 of single ones, and the mean of a loop of
# them without a clock between (the least of several loops). From the build directory.
#   bench/omp_cost.sh [COUNT [THREADS]]
# "clock" is the time of measuring, "one" a region with if(0), "team" one with all threads (predicting, it is lowered).
# libgomp's own time for a region depends on where the heap happens to be (it allocates each team), by more than a hook
# takes. So last a function that only calls the region stands in for libgomp's: what is left is the hook.
set -eu
. "$(dirname "$0")/lib.sh"
count=${1:-100000}
export OMP_NUM_THREADS=${2:-2}
bench_omp omp_cost
echo "empty region, $OMP_NUM_THREADS threads, ns       p50       p99     p99.9   mean"
"$program" none "$count"
for mode in off record predict; do
    under $mode job.pythia "$program" $mode "$count"
done
echo 'void GOMP_parallel(void (*f)(void *), void *d, unsigned n, unsigned g) { (void)n, (void)g, f(d); }' >stand_in.c
if ${CC:-cc} -O2 -fPIC -shared stand_in.c -o stand_in.so 2>/dev/null; then
    stand_in=$dir/stand_in.so
    echo "a call in libgomp's place"
    LD_PRELOAD=$stand_in "$program" none "$count" one
    under off job.pythia "$program" off "$count" one
    under record job.pythia "$program" record "$count" one
else
    echo "omp_cost.sh: no C compiler: the hook alone is not measured"
fi
