#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What predicting costs or gains on any OpenMP programs, which somebody else has built: is none slower, do all say the
# same, and how many of their regions may be changed.
#
#   bench/omp_programs.sh [-r ROUNDS] [-t "THREADS"] [-w "POLICIES"] LIST
#
# From the build directory. LIST: a line a program, its name, a tab, its command. Runs of a second and more say most. A
# line a cell: medians of seconds of alternating rounds (also of the recorded run, and of first ones, without a job
# file), predicted and first / as shipped, the same of processor time (which a busy machine disturbs less, and spinning
# threads take), whether standard output is what two unmodified runs say, where these agree word for word; then a line a
# program about its regions: the work of how many may be done by fewer threads, how many are left alone and why. At the
# end: the medians of the ratios, and how many cells are beyond 1.03 predicted and 1.06 in the first run.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=5 threads='2 4' policies='passive default'
bench_options 'r=rounds t=threads w=policies' "$@"
shift $((OPTIND - 1))
if [ $# -ne 1 ] || [ ! -r "$1" ]; then
    echo "usage: bench/omp_programs.sh [-r ROUNDS] [-t THREADS] [-w POLICIES] LIST" >&2
    exit 2
fi
list=$(readlink -f "$1")
bench_need "run it in a build directory, after make" "$builddir/pythia"
bench_dir
export PYTHIA_SUMMARY=no PYTHIA_VERBOSE=0
unset OMP_NUM_THREADS OMP_WAIT_POLICY GOMP_SPINCOUNT PYTHIA_MODE PYTHIA_ACT
preload=$builddir/.libs/libpythia_omp.so most=60

# Seconds that a run takes, elapsed and of processors; its output goes to FILE.
elapsed() { # FILE CMD...
    local TIMEFORMAT='%R %U %S'
    { time timeout "$most" "${@:2}" >"$dir/$1" 2>/dev/null </dev/null || echo "exit $?" >>"$dir/$1"; } 2>&1 |
        awk '{ print $1, $2 + $3 }'
}
median() { # COLUMN
    cut -d ' ' -f "$1" |
        sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
same() { # FILE
    for f in bare1 bare2 "$1"; do tr -s ' \t' '\n' <"$dir/$f" >"$dir/words.$f"; done
    paste -d '\001' "$dir/words.bare1" "$dir/words.bare2" "$dir/words.$1" |
        awk -F '\001' '$1 == $2 && $1 != $3 { bad = 1 } END { exit bad }'
}
hooks="env LD_PRELOAD=$preload PYTHIA_OUTPUT=$dir/job.pythia PYTHIA_INPUT=$dir/job.pythia"

cell() { # NAME COMMAND
    local equal=same
    rm -f "$dir/job.pythia" "$dir"/rows.*
    elapsed bare1 $2 >/dev/null
    elapsed bare2 $2 >/dev/null
    elapsed out $hooks PYTHIA_MODE=record $2 >"$dir/rows.record"
    same out || equal=RECORDED
    for _ in $(seq "$rounds"); do
        elapsed out $2 >>"$dir/rows.bare"
        elapsed out $hooks PYTHIA_MODE=predict $2 >>"$dir/rows.predict"
        same out || equal=PREDICTED
        rm -f "$dir/first.pythia"
        elapsed out $hooks PYTHIA_MODE=auto PYTHIA_OUTPUT="$dir/first.pythia" PYTHIA_INPUT="$dir/first.pythia" $2 \
            >>"$dir/rows.first"
        same out || equal=FIRST
    done
    for n in 1 2; do for k in bare record predict first; do median $n <"$dir/rows.$k"; done; done | paste -s |
        awk -v name="$1" -v t="$OMP_NUM_THREADS" -v p="$policy" -v same="$equal" '{
            printf "%-22s %3d %-8s %8.3f %8.3f %8.3f %8.3f %6.2f %6.2f %8.3f %8.3f %8.3f %6.2f %6.2f %s\n", name, t, p,
                $1, $2, $3, $4, $3 / $1, $4 / $1, $5, $7, $8, $5 ? $7 / $5 : 1, $5 ? $8 / $5 : 1, same }' |
        tee -a "$dir/cells"
}

regions() {
    [ -e "$dir/job.pythia" ] || return 0
    "$builddir/pythia" report "$dir/job.pythia" --format json | python3 -c '
import json, sys
from collections import Counter
found = [r["choice"] for r in json.load(sys.stdin)["oracle"]["regions"]]
left = [c["kept"][-1:] for c in found if not c["proven"] or c["kept"]]
why = Counter(k.split(" at ")[0].split(" in ")[0] for kept in left for k in kept)
text = "; ".join("%d %s" % (n, k) for k, n in why.items())
print("%-22s %d regions: fewer threads may do the work of %d, %d left alone%s" %
      (sys.argv[1], len(found), len(found) - len(left), len(left), " (" + text + ")" if text else ""))' "$1"
}

middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
summary() {
    awk -v wall="$(awk '{ print $8 }' "$dir/cells" | middle)" -v cpu="$(awk '{ print $13 }' "$dir/cells" | middle)" \
        -v first="$(awk '{ print $9 }' "$dir/cells" | middle)" \
        '{ slow += $8 > 1.03; late += $9 > 1.06; other += $15 != "same" }
        END { printf "%d cells: predicted / as shipped %.2f, processor time %.2f, first %.2f (medians); ", NR, wall, cpu,
                  first
              printf "beyond 1.03 predicted %d, beyond 1.06 first %d; other output %d\n", slow, late, other }' "$dir/cells"
}

printf '%-22s %3s %-8s %8s %8s %8s %8s %6s %6s %8s %8s %8s %6s %6s\n' program T policy shipped recorded predict first \
    ratio first cpu predict first ratio first
while IFS="$(printf '\t')" read -r name command; do
    [ -n "$name" ] || continue
    for policy in $policies; do
        for t in $threads; do
            if [ "$policy" = default ]; then unset OMP_WAIT_POLICY; else export OMP_WAIT_POLICY=$policy; fi
            export OMP_NUM_THREADS=$t
            cell "$name" "$command"
        done
    done
    regions "$name"
done <"$list"
summary
