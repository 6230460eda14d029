#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording and predicting a whole job costs and gives: our LULESH, plain, recorded and predicted in turn.
#
#   bench/job.sh [-n RANKS] [-t THREADS] [-r ROUNDS] [-- LULESH OPTIONS]       from the build directory
#
# Prints seconds per round, then medians, the median of the rounds' ratios, the size of the job file, what the oracle
# said, and what does not depend on the noise of the machine: the recorded events times the added median of an event
# (bench/pmpi_cost where it is built) over the processor time of the plain run. Rounds alternate, because machines
# drift; compare ratios, not seconds.
set -eu
. "$(dirname "$0")/lib.sh"
ranks=8 threads=1 rounds=7
bench_options 'n=ranks t=threads r=rounds' "$@"
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- -s 10 -i 100
lulesh=$builddir/bench/lulesh/lulesh
bench_need "run it in a build directory, after make" "$lulesh"

bench_ranks
bench_dir
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$threads PYTHIA_SUMMARY=no

# The program's own elapsed time, without start-up: the grind of its loop.
elapsed() {
    "$@" >"$dir/out" 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
    cp "$dir/err" "$dir/err.$mode"
    awk '/Elapsed time/ {print $4}' "$dir/out"
}
run() { elapsed ${MPIEXEC:-mpirun} -n "$ranks" "$@"; }
median() { sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

echo "$ranks ranks x $threads threads, lulesh $*"
printf 'round\tplain\trecorded\tpredicted\n'
for round in $(seq "$rounds"); do
    mode=plain
    plain=$(TIMEFORMAT='%U %S'; { time run "$lulesh" "$@" 2>&3; } 3>&2 2>"$dir/cpu")
    mode=recorded
    recorded=$(PYTHIA_SUMMARY=yes run "$builddir/pythia" record -o "$dir/job.pythia" -- "$lulesh" "$@")
    mode=predicted
    predicted=$(run "$builddir/pythia" predict -i "$dir/job.pythia" -- "$lulesh" "$@")
    printf '%s\t%s\t%s\t%s\n' "$round" "$plain" "$recorded" "$predicted" | tee -a "$dir/rows"
done
for column in 2 3 4; do
    cut -f $column "$dir/rows" | median
done | paste -s | awk '{printf "median\t%s\t%s\t%s\n", $1, $2, $3}'
ratio() { awk -v c="$1" '{print $c / $2}' "$dir/rows" | median; }
echo "recorded / plain, median of ratios: $(ratio 3)"
echo "predicted / plain, median of ratios: $(ratio 4)"
echo "job file: $(stat -c %s "$dir/job.pythia") bytes"
grep 'predicted events' "$dir/err.predicted" || true
events=$(sed -n 's/.*recorded .* events=\([0-9]*\) .*/\1/p' "$dir/err.recorded")
if [ -x "$builddir/bench/pmpi_cost" ] && [ -n "$events" ]; then
    ns=$(cd "$builddir" && bash "$(dirname "$0")/pmpi_cost.sh" -n 5000 -c "${PYTHIA_DEPTH:-1}" -t 1 -m record |
        awk '$1 ~ /^record/ && $2 !~ /miss|Comm_rank/ {print $4}' | median)
    awk -v e="$events" -v ns="$ns" '{printf "%d events x %s ns = %.3f s, %.2f %% of the %.2f s of processor time\n",
        e, ns, e * ns / 1e9, e * ns / 1e7 / ($1 + $2), $1 + $2}' "$dir/cpu"
fi
