#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tasks at three grains: unmodified, all run at once by the program (its if clause), recorded, predicted, and as a first
# run that acts. ms, the least of several runs that alternate. From the build directory.
#   bench/omp_tasks.sh [ROUNDS [THREADS]]
# On a machine with other load the figures mean little; `chrt -r 1 bench/omp_tasks.sh` (as root) keeps it away.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=${1:-3}
export OMP_NUM_THREADS=${2:-2}
bench_omp omp_tasks
least() { sort -n "$1" | head -1 | cut -d' ' -f1; }
echo "$OMP_NUM_THREADS threads        unmodified   inlined  recorded predicted first run   gain  best/predicted"
while read -r grain kernel; do
    rm -f *.ms
    under record job.pythia "$program" $kernel 2 >record.ms
    for ((i = 0; i < rounds; i++)); do
        "$program" $kernel 3 >>plain.ms
        "$program" $kernel 3 inline >>inline.ms
        under predict job.pythia "$program" $kernel 3 >>predict.ms
        rm -f first.pythia
        under auto first.pythia "$program" $kernel 3 >>first.ms
    done
    [ "$(cut -d' ' -f2 -- *.ms | sort -u | wc -l)" = 1 ] || echo "omp_tasks.sh: $kernel: results differ" >&2
    awk -v k="$grain $kernel" -v u="$(least plain.ms)" -v i="$(least inline.ms)" -v r="$(least record.ms)" \
        -v p="$(least predict.ms)" -v f="$(least first.ms)" 'BEGIN { best = u < i ? u : i
        printf "%-23s %9.2f %9.2f %9.2f %9.2f %9.2f %6.2f %8.2f\n", k, u * 1e3, i * 1e3, r * 1e3, p * 1e3, f * 1e3, u / p, best / p }'
done <<'LIST'
fine fib 27 2
middle fib 32 12
coarse fib 36 26
fine queens 10 10
middle queens 12 4
coarse queens 12 2
fine cholesky 128 4
middle cholesky 384 16
coarse cholesky 512 64
fine tree 60 0
middle tree 20 400
coarse tree 2 20000
LIST
