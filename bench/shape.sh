#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How well a job is predicted that was never recorded at this size: our LULESH on other numbers of ranks, and with
# another input.
#
#   bench/shape.sh [-i ITERATIONS]       from the build directory
#
# Recorded on 8, 27 and 64 ranks, predicted on others: right events at distance 1 and 16, and right peers of messages
# after the first 200 events of each rank, over all ranks and on the worst. Recorded with -s 10, predicted with -s 10
# and -s 20: the median relative error of the time to the next event, of the whole run.
set -eu
. "$(dirname "$0")/lib.sh"
iterations=40
bench_options 'i=iterations' "$@"
lulesh=$builddir/bench/lulesh/lulesh
bench_need "run it in a build directory with MPI, after make" "$lulesh-mpi"
bench_ranks
bench_dir
export OMP_NUM_THREADS=1

# run MODE FILE RANKS PROGRAM SIZE: what Pythia says in $dir/out
run() {
    PYTHIA_MODE=$1 PYTHIA_INPUT=$2 PYTHIA_OUTPUT=$([ "$1" = record ] && echo "$2" || echo "$dir/scored.pythia") \
        PYTHIA_VERBOSE=2 \
        "${MPIEXEC:-mpirun}" -n "$3" env LD_PRELOAD="$builddir/.libs/libpythia_pmpi.so" "$4" -q -s "$5" -i \
        "$iterations" \
        >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
}
field() { sed -n "s/.*predicted .* $1=\([0-9.]*\).*/\1/p" "$dir/out"; }
peers() {
    sed -n 's/.*peers=.* late=\([0-9]*\) late_foretold=[0-9]* late_right=\([0-9]*\).*/\1 \2/p' "$dir/out" |
        awk '$1 { n += $1; right += $2; if (least == "" || $2 / $1 < least) least = $2 / $1 }
             END { if (n) printf "%.4f\t%.4f", right / n, least }'
}

printf '#\trecorded\trun\tdistance 1\tdistance 16\tpeers\tworst rank\n'
for ranks in 8 27 64; do run record "$dir/$ranks.pythia" $ranks "$lulesh-mpi" 4; done
for pair in '8 8' '8 27' '27 8' '8 64' '64 8'; do
    set -- $pair
    run predict "$dir/$1.pythia" "$2" "$lulesh-mpi" 4
    printf 'ranks\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$(field accuracy)" "$(field accuracy_16)" "$(peers)"
done
printf '#\tranks\trecorded\trun\tdistance 1\tmedian time error\n'
for case in '1 lulesh' '8 lulesh-mpi'; do
    set -- $case
    run record "$dir/size.pythia" "$1" "${lulesh%/*}/$2" 10
    for size in 10 20; do
        run predict "$dir/size.pythia" "$1" "${lulesh%/*}/$2" $size
        printf 'size\t%s\t-s 10\t-s %s\t%s\t%s\n' "$1" $size "$(field accuracy)" "$(field time_error)"
    done
done
