#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a predicted run does before its first event, by size of the job file: eight ranks without much order, and one rank.
#
#   bench/start.sh [-r ROUNDS]       from the build directory
#
# Of ROUNDS starts of the first and the last rank the median (by the sum of the first three), in us.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=11
while getopts r: option; do
    case $option in
    r) rounds=$OPTARG ;;
    *) exit 2 ;;
    esac
done
start=$builddir/bench/start_cost
bench_need "make bench-start makes it" "$start"
bench_dir

printf 'file MB\trank\tstart\tof it: choose\topen\tfirst event\tthen 1000 events\tlongest\n'
measure() { # ranks events a rank
    "$start" write "$dir/job.pythia" "$1" "$2"
    for rank in $(printf '%s\n' 0 $(($1 - 1)) | sort -u); do
        for _ in $(seq "$rounds"); do
            "$start" start "$dir/job.pythia" "$rank" "$1"
        done | awk '{print $1 + $2 + $3 "\t" $0}' | sort -g | sed -n $(((rounds + 1) / 2))p |
            sed "s/^/$(awk -v b="$(stat -c %s "$dir/job.pythia")" 'BEGIN {printf "%.1f", b / 1e6}')\t$rank of $1\t/"
    done
}
measure 8 2000
measure 8 20000
measure 8 170000
measure 1 150000
measure 1 700000
