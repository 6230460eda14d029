#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Is the gain that a predicted run estimates the one that can be measured? Of each program of a list the median of
# ROUNDS runs as shipped and predicted, in turn, and the median of what the predicted runs estimate (JSON
# `oracle.gain_seconds`; "not known" below five control turns of a region that was changed).
#
#   bench/gain.sh [-r ROUNDS] [-t THREADS] LIST       from the build directory
#
# LIST: a line a program, its name, a tab, its command; LULESH and OpenBLAS where it is left out.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=5 threads=4
bench_options 'r=rounds t=threads' "$@"
shift $((OPTIND - 1))
bench_need 'run it in a build directory, after make' "$builddir/pythia"
bench_dir
export PYTHIA_VERBOSE=0 OMP_NUM_THREADS=$threads
lulesh=$builddir/bench/lulesh/lulesh-omp blas=$builddir/bench/omp_blas
list=${1:-}
[ -n "$list" ] || {
    list=$dir/list
    for size in 5:500 8:150 12:60; do
        printf 'LULESH %s\t%s -s %s -i %s -q\n' "${size%:*}" "$lulesh" "${size%:*}" "${size#*:}"
    done >"$list"
    printf 'dgesdd 50\t%s dgesdd 50 300\ndgesdd 100\t%s dgesdd 100 100\n' "$blas" "$blas" >>"$list"
    printf 'dsyev 100\t%s dsyev 100 200\n' "$blas" >>"$list"
}
seconds() { # CMD...
    local begin=$EPOCHREALTIME
    timeout 60 "$@" >/dev/null 2>&1 </dev/null || :
    awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", e - b }'
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
estimate() {
    "$builddir/pythia" report "$dir/job.pythia" --format json | "${PYTHON:-python3}" -c '
import json, sys
gain = (json.load(sys.stdin).get("oracle") or {}).get("gain_seconds")
print("nan" if gain is None else "%.4f" % gain)'
}
preload=$builddir/.libs/libpythia_omp.so
hooks="env LD_PRELOAD=$preload PYTHIA_OUTPUT=$dir/job.pythia PYTHIA_INPUT=$dir/job.pythia PYTHIA_SUMMARY=no"
printf 'program\tas shipped\tpredicted\tmeasured gain\testimated gain\n'
while IFS=$'\t' read -r name command; do
    rm -f "$dir/job.pythia" "$dir/rows"
    seconds $hooks PYTHIA_MODE=record $command >/dev/null
    for ((n = 0; n < rounds; n++)); do
        echo "$(seconds $command) $(seconds $hooks PYTHIA_MODE=predict $command) $(estimate)" >>"$dir/rows"
    done
    bare=$(cut -d ' ' -f 1 "$dir/rows" | median) with=$(cut -d ' ' -f 2 "$dir/rows" | median)
    said=$(cut -d ' ' -f 3 "$dir/rows" | median)
    awk -v n="$name" -v a="$bare" -v b="$with" -v e="$said" \
        'BEGIN { printf "%s\t%.3f\t%.3f\t%.3f\t%s\n", n, a, b, a - b, e == "nan" ? "not known" : e }'
done <"$list"
