#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One planted problem each: twenty textbook programs in which rank 1 naps before each turn, and those of
# tests/mpi/firsts.c; is the first finding the planted one, and does any view say otherwise (tests/tool/agree.py)?
#
#   bench/planted_truth.sh [-l LOAD] [-r "RANKS"] [-p "PROGRAMS"]       from the build directory
#
# LOAD: so many processes compute beside it. A line a run: what was first, `yes` where that is the planted one, and what
# views disagree about; then how many were right. Where work goes in turn (ring, pipeline, pingpong, arrivals) the chain
# that rank 1 is in is right, too.
set -eu
. "$(dirname "$0")/lib.sh"
load=0 counts='2 4 8' only=''
bench_options 'l=load r=counts p=only' "$@"
bench_need 'run it in a build directory, after make' "$builddir/pythia"
source=$(cd "$(dirname "$0")/.." && pwd) python=${PYTHON:-python3}
bench_dir
bench_ranks
export PYTHIA_VERBOSE=0 OMP_WAIT_POLICY=passive
for half in textbook textbook_more; do
    sed -E 's/for \(int ([ti]) = 0; \1 < turns( && rank < 2)?; \1\+\+\)/for (int \1 = 0; \1 < turns\2 \&\& planted(); \1++)/' \
        "$source/tests/mpi/$half.c" >"$dir/$half.c"
done
cat >"$dir/planted.h" <<'END'
#include <mpi.h>
#include <time.h>
static __attribute__((noinline, unused)) int planted(void)
{
    static int rank = -1;
    struct timespec t = { 0, 6000000 };
    if (rank < 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        nanosleep(&t, NULL);
    return 1;
}
END
cc="${MPICC:-mpicc} -g -O2 -fopenmp -I$source/tests/mpi"
$cc -include "$dir/planted.h" -o "$dir/textbook" "$dir/textbook.c" "$dir/textbook_more.c" -lm
$cc -o "$dir/firsts" "$source/tests/mpi/firsts.c"

# name:size:turns
programs='ring:100:40 heat1:2000:40 heat2:40:40 torus:40:40 matrix:64:20 summa:32:40 life:60:40 sort:2000:40
    montecarlo:2000:40 cg:2000:40 transpose:32:40 redblack:60:40 pipeline:100:40 pingpong:8:40 io:1024:40 fence:100:40
    hybrid:2000:40 tasks:2000:20 nested:1000:40 arrivals:100:20'
own='slow:2:imbalance:rank_1 slow:8:imbalance:rank_1 late:4:late_sender:rank_0 late:8:late_sender:rank_0
    chain:2:serial_chain:ranks_0-1 chain:8:serial_chain:ranks_0-7 ring:3:serial_chain:ranks_0-2
    moving:4:moving_imbalance:ranks_0-3 uneven:1:uneven_threads:rank_0 serial:2:serial_part:ranks_0-1
    critical:1:threads_wait:rank_0 even:4:-:-'

run() { # NAME RANKS THREADS PROGRAM...; says what is first
    local name=$1 ranks=$2 threads=$3 job=$dir/job.pythia
    shift 3
    rm -f "$job"
    OMP_NUM_THREADS=$threads ${MPIEXEC:-mpirun} -n "$ranks" "$builddir/pythia" record -o "$job" "$@" >"$dir/log" 2>&1 ||
        { echo "failed"; return; }
    "$python" "$source/tests/tool/agree.py" "$builddir/pythia" "$job" >"$dir/differs" 2>&1 || :
    "$builddir/pythia" report "$job" --format json | "$python" -c '
import json, sys
rests = ("not_explained", "no_processor", "transfer", "start_and_end", "ended_early", "fork_and_join", "idle_ranks")
found = [f for f in json.load(sys.stdin)["findings"] if f["kind"] not in rests and f["share"] > 0.05]
print("%s:%s:%.0f" % (found[0]["kind"], found[0]["ranks"].replace(" ", "_"), 100 * found[0]["share"])
      if found else "-:-:0")'
}
say() { # NAME RANKS THREADS FIRST RIGHT
    all=$((all + 1))
    [ "$5" = no ] || right=$((right + 1))
    [ -s "$dir/differs" ] && wrong=$((wrong + 1))
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$(tr '\n' ' ' <"$dir/differs" | cut -c1-80)"
}
wanted() { [ -z "$only" ] || [[ " $only " == *" $1 "* ]]; }
all=0 right=0 wrong=0 pids=
for ((n = 0; n < load; n++)); do
    while :; do :; done &
    pids="$pids $!"
done
trap 'kill $pids 2>/dev/null || :; rm -rf "$dir"' EXIT
printf 'program\tranks\tthreads\tfirst\tright\tviews that disagree\n'
for p in $programs; do
    IFS=: read -r name size turns <<<"$p"
    wanted "$name" || continue
    for ranks in $counts; do
        threads=1
        case $name in hybrid | tasks | nested) threads=$((ranks > 4 ? 2 : ranks)) ;; esac
        first=$(run "$name" "$ranks" "$threads" "$dir/textbook" "$name" "$size" "$turns")
        case $name:$first in
        *:imbalance:rank_1:* | *:late_sender:rank_1:* | *:late_receiver:rank_1:*) answer=yes ;;
        ring:serial_chain:* | pipeline:serial_chain:* | pingpong:serial_chain:* | arrivals:serial_chain:*) answer=yes ;;
        *) answer=no ;;
        esac
        say "$name" "$ranks" "$threads" "$first" $answer
    done
done
for p in $own; do
    IFS=: read -r name ranks kind who <<<"$p"
    wanted "$name" || continue
    for threads in 2 4; do
        first=$(run "$name" "$ranks" $threads "$dir/firsts" "$name")
        case $first in "$kind:$who:"*) answer=yes ;; *) answer=no ;; esac
        say "own:$name" "$ranks" $threads "$first" $answer
    done
done
echo "$right of $all first findings are the planted one; in $wrong of $all two views disagree"
