#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a predicted run does before its first event, by size of the job file: eight ranks without much order, and one
# rank. Then the same of a runtime that opens an oracle by libpythia.
#
#   bench/start.sh [-r ROUNDS]       from the build directory
#
# Of ROUNDS starts of the first and the last rank the median (by the sum of the first three), in us.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=11
bench_options 'r=rounds' "$@"
start=$builddir/bench/start_cost
api=$builddir/bench/start_api
bench_need "make bench-start makes it" "$start" "$api"
bench_dir

by_session() { "$start" start "$file" "$rank" "$ranks"; }
by_library() { "$api" "$file" "$rank"; }

measure() { # by whom; how many of its first columns make the start
    local job
    for job in $jobs; do
        file=$dir/$job.pythia ranks=${job%:*}
        for rank in $(printf '%s\n' 0 $((ranks - 1)) | sort -u); do
            for _ in $(seq "$rounds"); do
                "by_$1"
            done | awk -v n="$2" '{sum = 0; for (i = 1; i <= n; i++) sum += $i; print sum "\t" $0}' | sort -g |
                sed -n $(((rounds + 1) / 2))p |
                sed "s/^/$(stat -c %s "$file" | awk '{printf "%.1f", $1 / 1e6}')\t$rank of $ranks\t/"
        done
    done
}
jobs='8:2000 8:20000 8:170000 1:150000 1:700000 1:1700000' # ranks:events of each
for job in $jobs; do
    "$start" write "$dir/$job.pythia" "${job%:*}" "${job#*:}"
done
printf 'file MB\trank\tstart\tof it: choose\topen\tfirst event\tthen 1000 events\tlongest\n'
measure session 3
printf '\nfile MB\trank\tlibpythia\tof it: open\tfirst event\tthen 1000 events\tlongest\n'
measure library 2
