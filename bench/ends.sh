#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What starting and ending a recorded job costs, in alternating rounds: medians, in ms.
#
#   bench/ends.sh [-n RANKS] [-r ROUNDS]       from the build directory
#
# By step, a rank's mean: wall and processor time, page faults. Then the job as a whole, with its launcher: `bare`;
# `loaded`, our libraries with PYTHIA_MODE=off; `record`; `command`, by `pythia record`, with its summary.
set -eu
. "$(dirname "$0")/lib.sh"
ranks=8 rounds=7
bench_options 'n=ranks r=rounds' "$@"
program=$builddir/bench/ends library=$builddir/.libs/libpythia_pmpi.so
bench_need "make bench-ends makes it" "$program" "$library" "$builddir/pythia"
bench_ranks
bench_dir
file=$dir/job.pythia
TIMEFORMAT='job %R %U %S'

with() {
    case $1 in
    bare) "${@:2}" ;;
    loaded) PYTHIA_MODE=off LD_PRELOAD=$library "${@:2}" ;;
    record) PYTHIA_SUMMARY=no PYTHIA_VERBOSE=0 PYTHIA_MODE=record PYTHIA_OUTPUT=$file LD_PRELOAD=$library "${@:2}" ;;
    command) "$builddir/pythia" record -o "$file" "${@:2}" ;;
    esac
}
export -f with
export builddir library file

run() {
    rm -f "$file"
    { time "${MPIEXEC:-mpirun}" -n "$ranks" bash -c 'with "$@"' _ "$1" "$program" 2>"$dir/log"; } 2>&1 |
        awk -v mode="$1" -v ranks="$ranks" '
            $1 == "job" { printf "%s job %.2f %.2f 0\n", mode, $2 * 1e3, ($3 + $4) * 1e3; next }
            NF == 4 { wall[$1] += $2; processor[$1] += $3; faults[$1] += $4 }
            END { for (s in wall) print mode, s, wall[s] / ranks, processor[s] / ranks, faults[s] / ranks }'
}

for ((i = 0; i < rounds; i++)); do
    for mode in bare loaded record command; do run "$mode"; done
done >"$dir/all"
printf 'step\tmode\twall\tprocessor\tfaults\n'
for step in load init calls finalize job; do
    for mode in bare loaded record command; do
        printf '%s\t%s' "$step" "$mode"
        for column in 3 4 5; do
            awk -v m="$mode" -v s="$step" -v c="$column" '$1 == m && $2 == s { print $c }' "$dir/all" | sort -g |
                sed -n $(((rounds + 1) / 2))p | awk '{ printf "\t%.1f", $1 }'
        done
        echo
    done
done
