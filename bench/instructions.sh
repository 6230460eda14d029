#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions that an event costs, which no busy machine changes: counted by callgrind, recorded and predicted.
#
#   bench/instructions.sh [-n TURNS] [-p "PART ..."] [-m "MODE ..."] [-f FUNCTIONS]         from the build directory
#
# For each part (bench/instructions.c) and mode: instructions of our own object per call, region or task; in brackets
# what all objects take more than without us; lines of 64 bytes of data that our object touches first in a call, by a
# simulated cache that is cold each turn; then the FUNCTIONS that take most. All threads count. Without valgrind: 77.
# Regions: those that are not timed in their threads (one thread, PYTHIA_ACT=none), and those that are (two). Under
# callgrind everything takes longer: of tasks more are timed than in a run, which costs instructions.
set -eu
. "$(dirname "$0")/lib.sh"
turns=3000 parts='allreduce halo single random region timed task named' modes='record predict' functions=20
bench_options 'n=turns p=parts m=modes f=functions' "$@"
program=$builddir/bench/instructions
library=$builddir/.libs/libpythia_pmpi.so
command -v valgrind >/dev/null || { echo "$bench_name: no valgrind" >&2; exit 77; }
bench_need "make instructions makes it" "$program" "$library"
bench_ranks
bench_dir
export PYTHIA_VERBOSE=0 PYTHIA_SUMMARY=no PYTHIA_CHECKPOINT=0 OMP_WAIT_POLICY=passive

# run MODE PART COMMAND...
run() {
    local mode=$1 part=$2 with=()
    [ "$mode" = bare ] || with=(env "LD_PRELOAD=$library" "PYTHIA_MODE=$mode" "PYTHIA_OUTPUT=$dir/$part.pythia"
                                "PYTHIA_INPUT=$dir/$part.pythia")
    [ "$part" != region ] || with+=(env OMP_THREAD_LIMIT=1 PYTHIA_ACT=none)
    "${MPIEXEC:-mpirun}" -n 1 ${with[@]+"${with[@]}"} "${@:3}" "$program" "$part" "$turns" ${cold:+cold}
}

# count MODE PART [OPTION...]: lines "COST OBJECT FUNCTION" -> $dir/PART.MODE, calls -> $calls. What a function calls
# stands behind "calls=", in the line after it. The cost is instructions, or misses of the first level in data.
count() {
    calls=$(run "$1" "$2" valgrind --tool=callgrind --zero-before=measured --dump-after=measured "${@:3}" \
        --compress-strings=no --compress-pos=no --callgrind-out-file="$dir/out" 2>"$dir/log") ||
        { cat "$dir/log" >&2; exit 1; }
    awk -F= '$1 == "ob" { object = $2 } $1 == "fn" { by = object " " $2 } $1 == "calls" { getline; next }
        /^[0-9]/ { split($0, cost, " "); n[by] += "'"${cold:-}"'" ? cost[6] + cost[7] : cost[2] }
        END { for (by in n) print n[by], by }' "$dir/out.1" >"$dir/$2.$1"
    rm -f "$dir"/out*
}

# lines MODE PART: those that our own object touches first, per call
lines() {
    local cold=yes turns=300
    count "$1" "$2" --cache-sim=yes --D1=32768,8,64
    awk -v calls="$calls" '$2 ~ /libpythia/ { own += $1 } END { printf "%.0f", own / calls }' "$dir/$2.$1"
}

cold=
for part in $parts; do
    count bare "$part"
    bare=$(awk '{ n += $1 } END { print n }' "$dir/$part.bare")
    [ -e "$dir/$part.pythia" ] || run record "$part" >/dev/null
    for mode in $modes; do
        lines=$(lines "$mode" "$part")
        count "$mode" "$part"
        awk -v what="$part $mode" -v calls="$calls" -v bare="$bare" -v most="$functions" -v lines="$lines" '
            { all += $1 }
            $2 ~ /libpythia/ { own += $1; by[$3] += $1 }
            END {
                printf "%-18s %6.0f (%.0f), %.0f lines\n", what, own / calls, (all - bare) / calls, lines
                sort = "sort -k1,1nr | head -n " most
                for (f in by)
                    if (by[f] / calls >= 1)
                        printf "    %6.0f  %s\n", by[f] / calls, f | sort
            }' "$dir/$part.$mode"
    done
done
