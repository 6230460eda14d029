#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What choosing teams gains: our LULESH (or OpenBLAS, or any program) with each size and number of threads, run in turn
#   (a) unmodified   (b) with each fixed number of threads, the best of which counts   (c) recorded, then predicted
#   (d) first run, without a reference
#
#   bench/omp_teams.sh [-q] [-p PROGRAM] [-r ROUNDS] [-s "SIZES"] [-t "THREADS"] [-w "POLICIES"] [-n RANKS] [-o PLOT.svg]
#   bench/omp_teams.sh -x "COMMAND" [-r ROUNDS] ...
#
# From the build directory. -q: a small table in about a minute. POLICIES: default passive. PROGRAM: lulesh, or dgesdd
# or dsyev of OpenBLAS (one rank; sizes are orders of matrices). A line a cell, medians of seconds, and the ratios that
# count; then a plot when gnuplot is there. A program that is 60 times slower than its best is not run to the end: what
# takes more than 3 s is estimated, and recorded, from a tenth of its iterations; what was stopped after 30 s (5 with
# -q) shows as ">". COMMAND: any program, %s in it is the size; its time is that of the whole run, and what it says on
# standard output has to be what it says unmodified, but for words in which two unmodified runs differ ("same").
set -eu
. "$(dirname "$0")/lib.sh"
most=30 rounds=5 sizes='5 10 15 20 30' threads='1 2 4 8' policies='default passive' ranks=1 plot='' program=lulesh
while getopts qp:x:r:s:t:w:n:o: option; do
    case $option in
    q) most=5 rounds=3 sizes='5 10' threads='2 8' policies=default ;;
    p) program=$OPTARG ;;
    x) program=command command=$OPTARG ;;
    r) rounds=$OPTARG ;;
    s) sizes=$OPTARG ;;
    t) threads=$OPTARG ;;
    w) policies=$OPTARG ;;
    n) ranks=$OPTARG ;;
    o) plot=$OPTARG ;;
    *) exit 2 ;;
    esac
done
lulesh=$builddir/bench/lulesh/lulesh-omp
[ "$ranks" -gt 1 ] && lulesh=$builddir/bench/lulesh/lulesh
case $program in
lulesh) ;;
command)
    [ "$sizes" != '5 10 15 20 30' ] || case $command in *%s*) ;; *) sizes=- ;; esac
    lulesh=${command%% *}
    ;;
dgesdd | dsyev)
    "$builddir/bench/omp_blas" $program 10 1 >/dev/null || exit
    [ "$sizes" != '5 10 15 20 30' ] || sizes='20 50 100 200'
    ;;
*) exit 2 ;;
esac
bench_need "run it in a build directory, after make" "$lulesh"
bench_dir
bench_ranks
export PYTHIA_SUMMARY=no PYTHIA_VERBOSE=0
unset OMP_NUM_THREADS OMP_WAIT_POLICY GOMP_SPINCOUNT PYTHIA_MODE PYTHIA_ACT

launch=
[ "$ranks" -gt 1 ] && launch="${MPIEXEC:-mpirun} -n $ranks"
# As many as there are for edges of 5 and 10, then about a second of them: starting takes 3 to 8 ms, and learning some
# more.
iterations() { case $1 in 5) echo 70 ;; 10) echo 230 ;; 15) echo 500 ;; 20) echo 400 ;; *) echo 150 ;; esac; }

command_of() { # SIZE STEPS
    case $program in
    lulesh) echo "$lulesh -s $1 -i $2 -q" ;;
    command) echo "${command//%s/$1}" ;;
    *) echo "$builddir/bench/omp_blas $program $1 $((100000000 / ($1 * $1 * $1) + 5))" ;;
    esac
}

# The program's own elapsed time in seconds, finer than it prints: from its grind time; 30 when it was stopped.
elapsed() {
    local begin=$EPOCHREALTIME
    timeout "$most" "$@" >"$dir/out" 2>"$dir/err" || { echo "$most"; return; }
    [ "$program" != command ] || { awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", e - b }'; return; }
    [ "$program" = lulesh ] || { awk '/^Elapsed/ { print $2 }' "$dir/out"; return; }
    awk -v s="$size" -v i="$steps" -v n="$ranks" '/Grind time/ { print $5 * 1e-6 * s * s * s * i }' "$dir/out"
}
# Whether FILE says what two runs of the unmodified program say, where these agree word for word.
same() { # FILE
    for f in bare1 bare2 "$1"; do tr -s ' \t' '\n' <"$dir/$f" >"$dir/words.$f"; done
    paste -d '\001' "$dir/words.bare1" "$dir/words.bare2" "$dir/words.$1" |
        awk -F '\001' '$1 == $2 && $1 != $3 { bad = 1 } END { exit bad }'
}
part=()
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
column() { cut -f "$1" "$dir/rows" | median; }

cell() { # SIZE THREADS POLICY
    size=$1 steps=$(iterations "$1")
    local run fixed='' n few=$((steps / 10))
    run=$(command_of "$1" "$steps")
    if [ "$3" = default ]; then unset OMP_WAIT_POLICY; else export OMP_WAIT_POLICY=$3; fi
    for n in 1 2 4 8; do [ "$n" -le "$2" ] && fixed="$fixed $n"; done
    rm -f "$dir/job.pythia" "$dir/rows" "$dir/differs"
    for n in 1 2; do
        [ "$program" != command ] || { OMP_NUM_THREADS=$2 elapsed $launch $run >/dev/null; \
            mv "$dir/out" "$dir/bare$n"; }
    done
    for n in $fixed; do
        part[n]=1
        [ "$program" != lulesh ] && continue
        case $(steps=$few; OMP_NUM_THREADS=$n elapsed $launch $(command_of "$1" "$few") | awk '{ print ($1 > 0.3) }') \
            in 1) part[n]=10 ;; esac
    done
    # what is slow is recorded for a tenth of the iterations, too
    OMP_NUM_THREADS=$2 timeout 120 $launch "$builddir/pythia" record -o "$dir/job.pythia" -- \
        $(command_of "$1" "$((steps / part[$2]))") >/dev/null 2>&1 || true
    for _ in $(seq "$rounds"); do
        for n in $fixed; do
            printf '%s\t' "$(steps=$((steps / part[n])); OMP_NUM_THREADS=$n elapsed $launch $(command_of "$1" "$steps") |
                awk -v n="${part[n]}" '{ print n * $1 }')"
        done
        printf '%s\t' "$(OMP_NUM_THREADS=$2 elapsed $launch "$builddir/pythia" predict -i "$dir/job.pythia" -- $run)"
        [ "$program" != command ] || same out || echo differs >>"$dir/differs"
        rm -f "$dir/first.pythia"
        printf '%s\n' "$(OMP_NUM_THREADS=$2 PYTHIA_MODE=auto PYTHIA_OUTPUT=$dir/first.pythia elapsed $launch env \
            LD_PRELOAD="$preload" $run)"
    done >"$dir/rows"
    local best=1e9 which=1 last k=1
    for n in $fixed; do
        last=$(column $k)
        if awk -v a="$last" -v b="$best" 'BEGIN { exit !(a < b) }'; then best=$last which=$n; fi
        k=$((k + 1))
    done
    awk -v most="$most" -v s="$1" -v t="$2" -v p="$3" -v a="$last" -v b="$best" -v w="$which" -v c="$(column $k)" -v \
        d="$(column $((k + 1)))" \
        -v same="$([ "$program" != command ] || { [ -e "$dir/differs" ] && echo OTHER || echo same; })" \
        'BEGIN { printf "%s\t%s\t%s\t%s%.3f\t%.3f\t%s\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%s\n", s, t, p, (a >= most ? ">" : ""),
            a, b, w, c, d, c / b, c / a, d / c, same }'
}

preload=$builddir/.libs/libpythia_omp.so
[ "$ranks" -gt 1 ] && preload=$builddir/.libs/libpythia_pmpi.so
echo "$program, $ranks rank(s), $(nproc) processors, median of $rounds; seconds"
printf 'edge\tthreads\tpolicy\t(a)own\t(b)best\tthreads\t(c)pred\t(d)first\tc/b\tc/a\td/c\n'
for policy in $policies; do
    for t in $threads; do
        for s in $sizes; do
            cell "$s" "$t" "$policy" | tee -a "$dir/table"
        done
    done
done
if command -v gnuplot >/dev/null && [ -n "$plot" ]; then
    sed 's/>//' "$dir/table" >"$dir/data"
    gnuplot -e "set terminal svg size 900,500; set output '$plot'; set logscale y; set style data linespoints; \
        set ylabel 'seconds over the best fixed number of threads'; set xlabel 'cell: edge, threads'; set key left top; \
        set xtics rotate; \
        plot '$dir/data' using (\$4/\$5):xtic(sprintf('%s, %s %s', strcol(1), strcol(2), strcol(3))) title 'unmodified', \
        '' using (\$7/\$5) title 'recorded, then predicted', '' using (\$8/\$5) title 'first run'"
    echo "plot: $plot"
fi
