#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What Pythia costs where it is used: whole jobs, from the launcher's start to its end, in rounds that alternate.
#
#   bench/cost_in_use.sh [-n RANKS] [-t THREADS] [-r ROUNDS] [-l LIBRARY] [PROGRAM [ARGUMENT...]]    from the build directory
#
# Without PROGRAM: our LULESH, -s 10, in three jobs: one rank and one step (start and end), one rank and 300 steps, eight
# ranks and 100 steps. LIBRARY is another tool that is preloaded, to compare with, such as libmpiP.so.
#
# Of each way to run, medians: seconds, processor time, the median of the rounds' ratios to plain, how many ms more, how
# many page faults more, and what that makes an event. Machines drift: compare ratios, and processor time where others
# use the machine.
set -eu
. "$(dirname "$0")/lib.sh"
ranks='' threads=1 rounds=11 library=''
bench_options 'n=ranks t=threads r=rounds l=library' "$@"
shift $((OPTIND - 1))
bench_need "run it in a build directory, after make" "$builddir/pythia"
bench_ranks
bench_dir
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$threads
ways="plain recorded predicted${library:+ other}"

median() { sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

# One whole job is a row of the way's table: seconds, of user and system time, page faults.
job() {
    local way=$1 TIMEFORMAT='%3R %3U %3S'
    shift
    # There, because what another tool writes goes to the current directory.
    { time (cd "$dir" && /usr/bin/time -q -o faults -f %R "${MPIEXEC:-mpirun}" -n "$ranks" "$@" >out 2>err); } \
        2>"$dir/times" || { cat "$dir/err" >&2; exit 1; }
    paste -d ' ' "$dir/times" "$dir/faults" >>"$dir/$way"
}

rounds_of() {
    local round
    rm -f "$dir"/*
    for ((round = 0; round <= rounds; round++)); do
        job plain "$@"
        job recorded "$builddir/pythia" record -o "$dir/job.pythia" -- "$@"
        job predicted "$builddir/pythia" predict -i "$dir/job.pythia" -- "$@"
        [ -z "$library" ] || job other env LD_PRELOAD="$library" "$@"
        [ "$round" -gt 0 ] || (cd "$dir" && rm -f plain* recorded* predicted* other*) # caches of the disk are cold
    done
}

# column WAY EXPRESSION: its median over the way's table.
column() { awk "{print $2}" "$dir/$1" | median; }

row() {
    local way=$1 events=$2
    awk -v way="$way" -v s="$(column "$way" '$1')" -v plain="$(column plain '$1')" \
        -v ratio="$(paste -d ' ' "$dir/$way" "$dir/plain" | awk '{print $1 / $5}' | median)" \
        -v cpu="$(column "$way" '$2 + $3')" -v plain_cpu="$(column plain '$2 + $3')" \
        -v faults="$(column "$way" '$4')" -v plain_faults="$(column plain '$4')" -v events="$events" 'BEGIN {
            printf "%s\t%.3f\t%.3f\t%.3f\t%+.0f\t%+.0f\t%+d\t%.2f\n", way, s, cpu, ratio, (s - plain) * 1e3,
                (cpu - plain_cpu) * 1e3, faults - plain_faults, (cpu - plain_cpu) * 1e6 / events }'
}

measure() {
    local way events
    rounds_of "$@"
    events=$("$builddir/pythia" report "$dir/job.pythia" --format json |
        sed -n 's/.*"events":[ \t]*\([0-9]*\).*/\1/p' | head -n 1)
    echo "$ranks ranks x $threads threads, ${events:-?} events, $rounds rounds: ${*##*/}"
    printf 'way\ts\tCPU s\tratio\tms more\tCPU ms more\tfaults more\tCPU us an event\n'
    for way in $ways; do
        row "$way" "${events:-1}"
    done
}

if [ $# -gt 0 ]; then
    ranks=${ranks:-1}
    measure "$@"
    exit 0
fi
lulesh=$builddir/bench/lulesh/lulesh
bench_need "run it in a build directory, after make" "$lulesh"
ranks=1 && measure "$lulesh" -s 10 -i 1 -q
ranks=1 && measure "$lulesh" -s 10 -i 300 -q
ranks=8 && measure "$lulesh" -s 10 -i 100 -q
