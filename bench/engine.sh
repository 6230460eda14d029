#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The engine alone, on streams of known shapes (bench/streams.c): what an append costs, what following and asking cost,
# how often the answers are right.
#
#   bench/engine.sh [-r ROUNDS] [-s SCALE] [append] [oracle] [accuracy]         from the build directory; all three by default
#
# Costs are the least of ROUNDS (5): other programs only add to them. Times in ns.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=5 scale=1
bench_options 'r=rounds s=scale' "$@"
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- append oracle accuracy
bench_need "make bench-engine makes it" "$builddir"/{pythia,bench/streams,bench/oracle_cost}
bench_dir
stream() { "$builddir/bench/streams" "$@" >"$dir/$1${4:+-$4-$5}${2:+-$2}"; }
families='stencil cg lu irregular shuffle random'

append() {
    printf '\nAppend, the clock read at each event (pythia infer --time --stats)\n'
    printf 'family\tevents\trules\tnodes\tbytes\tmean\tp50\tp99\tp99.9\n'
    for f in $families; do
        stream "$f" 1 "$scale"
        for _ in $(seq "$rounds"); do
            "$builddir/pythia" infer --time --stats "$dir/$f-1"
        done | awk -F '\t' -v OFS='\t' -v family="$f" '
            { if (!($1 in v) || $2 + 0 < v[$1] + 0) v[$1] = $2 }
            END { print family, v["events"], v["rules"], v["nodes"], v["memory_bytes"], v["append_ns_mean"],
                        v["append_ns_p50"], v["append_ns_p99"], v["append_ns_p999"] }'
    done
}

oracle() {
    printf '\nFollowing and asking, another seed of the same shape: mean time of the thread (bench/oracle_cost)\n'
    printf 'family\tlearn\tfollow\tdistance 1\tdistance 16\tdistance 128\tdistance 1000000\n'
    for f in $families; do
        stream "$f" 1 "$scale"
        stream "$f" 2 "$scale"
        for _ in $(seq "$rounds"); do
            "$builddir/bench/oracle_cost" "$dir/$f-1" "$dir/$f-2"
        done | awk -F '\t' -v OFS='\t' -v family="$f" '
            { for (c = 2; c <= 6; c++) if (!(($1, c) in v) || $c + 0 < v[$1, c]) v[$1, c] = $c + 0 }
            END { for (i = split("off on", l, " "); i > 0; i--)
                      print family, l[i], v[l[i], 2], v[l[i], 3], v[l[i], 4], v[l[i], 5], v[l[i], 6] }'
    done
}

right() { # row's name, train, test
    "$builddir/pythia" evaluate --train "$2" --test "$3" --distances 1,16,64,128 --format tsv |
        awk -F '\t' -v OFS='\t' -v name="$1" '$1 + 0 { a = a OFS sprintf("%.1f", 100 * $3) } END { print name a }'
}

accuracy() {
    printf '\nRight answers in %% at distance\n'
    printf 'trained on, tested on\t1\t16\t64\t128\n'
    for f in stencil cg lu irregular; do
        stream "$f" 1 "$scale"
        stream "$f" 2 "$scale"
    done
    stream cg_inner 1 "$scale"
    right 'cg, inner trip count 25 -> 40' "$dir/cg-1" "$dir/cg_inner-1"
    right 'irregular, another seed' "$dir/irregular-1" "$dir/irregular-2"
    for f in stencil cg lu; do
        right "$f, no reference" none "$dir/$f-1"
        for kind in substitute insert drop mix; do
            for rate in 0.01 0.1; do
                stream "$f" 1 "$scale" "$kind" "$rate"
                right "$f, $kind $rate" "$dir/$f-1" "$dir/$f-$kind-$rate-1"
            done
        done
    done
}

echo "$(awk -F ': ' '/model name/ { print $2; exit }' /proc/cpuinfo), load $(cut -d ' ' -f 1 /proc/loadavg)"
for what; do
    case $what in
    append | oracle | accuracy) "$what" ;;
    *) echo "engine.sh: append, oracle or accuracy, not $what" >&2; exit 2 ;;
    esac
done
