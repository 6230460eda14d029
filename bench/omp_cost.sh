#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of the OpenMP hooks, in ns for an empty region: p50, p99, p99.9. From the build directory.
#   bench/omp_cost.sh [COUNT [THREADS]]
# "clock" is the time of measuring, "one" a region with if(0), "team" one with all threads (predicting, it is lowered).
set -eu
count=${1:-100000}
export OMP_NUM_THREADS=${2:-2} PYTHIA_VERBOSE=0
program=$PWD/bench/omp_cost
library=$PWD/.libs/libpythia_omp.so
[ -x "$program" ] && [ -e "$library" ] || { echo "omp_cost.sh: not built here" >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHIA_OUTPUT=$dir/job.pythia
echo "empty region, $OMP_NUM_THREADS threads, ns       p50       p99     p99.9"
"$program" none "$count"
for mode in off record predict; do
    PYTHIA_MODE=$mode LD_PRELOAD=$library "$program" "$mode" "$count"
done
