#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How far contracts can be trusted (pythia compare --fail-if): false alarms among equal runs of our LULESH, and how many
# runs are found in which one thing is worse.
#
#   bench/contracts.sh [-p PAIRS] [-c CHANGES] [-i STEPS] [-t THREADS] [-o ROWS] [omp | mpi]...
#
# From the build directory.
#
# omp: one rank with THREADS (2) threads (-s 10 -i STEPS (50)); of its regions that are worth judging one after the
# other gets slower, by 3, 5 and 10 %. mpi: eight ranks (-s 5); MPI_Isend gets slower, or all ranks make one collective
# more. PAIRS equal runs, each compared with the one before it and with the five before it as a baseline; between them
# CHANGES changed runs, each compared with the equal runs before it. A run that is not changed by all of that ends the
# campaign.
# Rows are added to the file ROWS, where one is given, so that a long series may be made in pieces; the table is of all
# of them: in how many runs which rule was broken, in how many a broken time is that of what was changed (named), in how
# many one is of something else (beside; not of loops and of calls that wait, which are longer in consequence), and in
# how many a rule of times, other than wall, could not be judged.
#
# 200 pairs and 100 changes, on a machine where nothing else runs, in pieces of at most 12 minutes (a run of omp takes 2
# to 6 s, for idle processors wake slowly; of mpi 1 to 2):
#   for piece in 1 2 3; do bench/contracts.sh -p 67 -c 34 -i 300 -o contracts.rows omp; done
#   bench/contracts.sh -p 200 -c 100 -i 300 -o contracts.rows mpi
set -eu
. "$(dirname "$0")/lib.sh"
pairs=100 changes=48 steps=50 threads=2 rows=''
bench_options 'p=pairs c=changes i=steps t=threads o=rows' "$@"
shift $((OPTIND - 1))
percents=(3 5 10 10)
slower=$builddir/bench/slower.so hooks=$builddir/.libs/libpythia_pmpi.so
bench_need "make bench-contracts makes it" "$builddir/bench/lulesh/lulesh-mpi" "$builddir/bench/lulesh/lulesh-omp" \
    "$slower"
bench_ranks
bench_dir
rows=$(realpath "${rows:-$dir/rows}")
rules='structure, wall > 2%, callsite > 2%, region > 2%, loop > 2%, callsite[MPI_Isend] > 2%'
export PYTHIA_MODE=record PYTHIA_SUMMARY=no PYTHIA_VERBOSE=0 OMP_WAIT_POLICY=passive

# record FILE PRELOAD [VARIABLE=VALUE]...
record() {
    local run=(env OMP_NUM_THREADS=$threads LD_PRELOAD="$2" "$builddir/bench/lulesh/lulesh-omp" -s 10)
    [ "$job" = omp ] || run=("${MPIEXEC:-mpirun}" -n 8 env OMP_NUM_THREADS=1 LD_PRELOAD="$2"
        "$builddir/bench/lulesh/lulesh-mpi" -s 5)
    env PYTHIA_OUTPUT="$1" "${@:3}" "${run[@]}" -q -i "$steps" >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
}

# Offset and place of the regions that have more than 0.2 % of the first equal run's time, and many executions: below
# 0.1 % they are not judged unasked.
find_regions() {
    "$builddir/pythia" report "$dir/equal.0" --format json | python3 -c '
import json, sys
job = json.load(sys.stdin)
regions = [r for r in job["regions"] if r["count"] >= 20]
whole = sum(s["wall_seconds"] for s in job["streams"])
for r in sorted(regions, key=lambda r: r["offset"]):
    if r["time_seconds"] > 0.002 * whole and r["file"]:
        print(r["offset"], "%s@%s:%d" % (r["function"], r["file"], r["line"]))
'
}

waits='time in MPI_\(Wait\|All\|Barrier\|Reduce\|Finalize\)'

# compare CHANGE FILE PLACE: rows for a baseline of the last run and of the last five; PLACE: what was changed
compare() {
    local base runs named beside undecided
    for base in 1 5; do
        [ "${#equal[@]}" -ge $base ] || continue
        runs=("${equal[@]: -base}")
        "$builddir/pythia" compare --baseline $base "${runs[@]}" "$2" --fail-if "$rules" >"$dir/out" || [ $? != 3 ]
        undecided=$(grep -c '^cannot say: [crl]' "$dir/out" || true)
        named=$([ -z "$3" ] || grep -c "^broken: .*: time .*$3" "$dir/out" || true)
        beside=$(grep '^broken: .*: time \(in\|before\) ' "$dir/out" | grep -v "${3:-$waits}" |
            grep -vc "$waits" || true)
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$job -i $steps" "$1" $base \
            "$(sed -n 's/^broken: \([a-zA-Z_]*\)\(\[[^]]*\]\)\{0,1\}.*/\1\2/p' "$dir/out" | sort -u | paste -sd ' ')" \
            "${named:-0}" "$beside" "$undecided" >>"$rows"
    done
}

# The last run told by how much it was changed; all of it has to be there.
must_be_longer() {
    sed -n 's/^slower: .* times, \(.*\) %$/\1/p' "$dir/out" |
        awk -v least="$1" '$1 >= least {n++} END {exit NR == 0 || n < NR}' ||
        { echo "$bench_name: a run that should be $1 % longer: $(grep '^slower:' "$dir/out")" >&2; exit 1; }
}

# change N: the N-th changed run
change() {
    local percent=${percents[$1 % ${#percents[@]}]} region
    if [ "$job" = omp ]; then
        region=(${regions[($1 * 5 + start) % ${#regions[@]}]})
        record "$dir/new" "$hooks:$slower" SLOWER_PERCENT=$percent SLOWER_REGION="${region[0]}"
        must_be_longer "$percent"
        compare "region $percent %" "$dir/new" "${region[1]}"
    elif [ $(($1 % 4)) = 3 ]; then
        record "$dir/new" "$slower:$hooks" SLOWER_BARRIER=$((($1 + start) % 40))
        compare 'one collective more' "$dir/new" ''
    else
        record "$dir/new" "$hooks:$slower" SLOWER_PERCENT=$percent SLOWER_SEND=1
        must_be_longer "$percent"
        compare "MPI_Isend $percent %" "$dir/new" MPI_Isend
    fi
}

[ $# -gt 0 ] || set -- omp mpi
start=$(wc -l 2>/dev/null <"$rows" || echo 0)
for job; do
    equal=() changed=0
    for ((i = 0; i <= pairs; i++)); do
        record "$dir/equal.$i" "$hooks:$slower"
        [ $i = 0 ] && [ "$job" = omp ] && mapfile -t regions < <(find_regions)
        [ $i = 0 ] || compare equal "$dir/equal.$i" ''
        equal+=("$dir/equal.$i")
        for (( ; i && changed < changes * i / pairs; changed++)); do change $changed; done
    done
done

printf 'job\tchange\tbaseline\truns\tstructure\twall\tcallsite\tregion\tloop\tcallsite[MPI_Isend]\tany time\tnamed\t'
printf 'beside\tcannot say\n'
awk -F '\t' -v OFS='\t' '{
    key = $1 OFS $2 OFS $3; runs[key]++; times = 0
    n = split($4, broken, " ")
    for (k = 1; k <= n; k++) { found[key, broken[k]]++; times = times || broken[k] != "structure" }
    found[key, "times"] += times
    found[key, "named"] += $5 > 0
    found[key, "beside"] += $6 > 0
    found[key, "undecided"] += $7 > 0
} END {
    split("structure wall callsite region loop callsite[MPI_Isend] times named beside undecided", rule, " ")
    for (key in runs) {
        line = key OFS runs[key]
        for (k = 1; k <= 10; k++) line = line OFS found[key, rule[k]] + 0
        print line
    }
}' "$rows" | sort
