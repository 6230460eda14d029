#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What of MPI is wrapped, as tables for doc/COVERAGE.md:  doc/coverage.sh BUILD-DIRECTORY...
#
# For each build (one for Open MPI, one for MPICH, say): the table of calls against what the MPI library and its Fortran
# bindings export, and against what libpythia_pmpi exports.
set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Names of the table: "class call" and "reason call" (with * for any ending).
awk '/^left / { for (i = 3; i <= NF; i++) print $2, $i }' "$top/pmpi/mpi_calls.def" >"$work/left"
awk -v every=1 -f "$top/pmpi/calls.awk" -f "$top/pmpi/names.awk" "$top/pmpi/mpi_calls.def" >"$work/table"

exports() { nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u; }

# names LIBRARY BINDING: its calls as the table names them in lower case, "_c" for large counts.
names() {
    case $2 in
    C) exports "$1" | grep -E '^MPIX?_' ;;
    mpif) exports "$1" | grep -E '^mpix?_.*[a-z0-9]_$' | grep -v -E '__$|_f08(ts)?_(large_)?$' | sed 's/_$//' ;;
    f08) exports "$1" | grep -E '_f08(ts)?_(large_)?$' | grep -v '^pmpi' |
        sed -E 's/_f08(ts)?_large_$/_c/; s/_f08(ts)?_$//' ;;
    esac | tr '[:upper:]' '[:lower:]' | sort -u
}

# fate: reads names; writes "class-or-reason kind" for each
fate() {
    awk -v left="$work/left" -v table="$work/table" '
        BEGIN {
            while ((getline line < table) > 0) { split(line, f, " "); class[tolower(f[2])] = f[1] }
            while ((getline line < left) > 0) {
                split(line, f, " "); name = tolower(f[2])
                if (gsub(/\*/, ".*", name)) pattern["^" name "$"] = f[1]; else reason[name] = f[1]
            }
        }
        function base(n) { sub(/_c$/, "", n); return n }
        function why(n,    p) {
            if (n in reason) return reason[n]
            for (p in pattern) if (n ~ p) return pattern[p]
            return "unlisted"
        }
        { sub(/^mpi_win_allocate(_shared)?_cptr$/, "mpi_win_allocate", $1) } # the interface with C pointers
        { if ($1 in class) print "wrapped", class[$1], $1
          else if ((base($1) in class) && $1 ~ /_c$/ && !($1 in reason)) print "wrapped", class[base($1)], $1
          else print "left", why($1), $1 }'
}

# count BINDING THEIRS OURS: adds "BINDING wrapped-or-left class number", and what is missing or absent, to $work/rows
count() {
    names "$2" "$1" | fate >"$work/fate"
    names "$3" "$1" >"$work/ours"
    awk '$1 == "wrapped" { print $3 }' "$work/fate" | sort -u >"$work/should"
    comm -23 "$work/should" "$work/ours" | sed "s/^/$1 missing - /" >>"$work/rows"
    awk '{ print tolower($2) }' "$work/table" | sort -u | comm -23 - "$work/should" | sed "s/^/$1 absent - /" >>"$work/rows"
    awk -v b="$1" '{ n[$1 " " $2]++; n[$1 " all"]++ } END { for (c in n) print b, c, n[c] }' "$work/fate" >>"$work/rows"
}

# print: $work/rows as one table, a column a binding
print() {
    printf '\n| calls | C | mpif.h, use mpi | use mpi_f08 |\n|---|---|---|---|\n'
    for kind in wrapped left absent; do
        sort -k2,3 "$work/rows" | awk -v kind="$kind" '
            $2 == kind && kind == "absent" { n["all", $1]++; seen["all"] = 1 }
            $2 == kind && kind != "absent" { n[$3, $1] = $4; if (!seen[$3]++ && $3 != "all") order[++rows] = $3 }
            function line(name, class) {
                printf "| %s | %d | %d | %d |\n", name, n[class, "C"], n[class, "mpif"], n[class, "f08"]
            }
            END {
                line(kind == "wrapped" ? "**wrapped**" : kind == "left" ? "**left out**" : "**absent** here", "all")
                for (i = 1; i <= rows; i++) line(order[i], order[i])
            }'
    done
    awk '$2 == "missing" { print "\nNOT WRAPPED: " $4 " (" $1 ")" }' "$work/rows"
    printf '\nAbsent: %s\n' "$(awk '$2 == "absent" { print $4 }' "$work/rows" | sort -u | tr '\n' ' ')" | fold -s -w 120 |
        sed 's/ $//'
}

for build in "$@"; do
    ours=$build/.libs/libpythia_pmpi.so
    libmpi=$(ldd "$ours" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')
    directory=$(dirname "$(readlink -f "$libmpi")")
    name=$(sed -n 's/^MPI_FLAVOUR = //p' "$build/Makefile")
    printf '\n## %s (%s)\n' "$name" "$(basename "$(readlink -f "$libmpi")")"
    : >"$work/rows"
    count C "$libmpi" "$ours"
    for pair in mpif:libmpi_mpifh mpif:libmpichfort f08:libmpi_usempif08 f08:libmpichfort; do
        # Beside this MPI, not the other one.
        case $name:$pair in mpich:*libmpi_*) continue ;; openmpi:*libmpichfort) continue ;; esac
        object=$(find "$directory" /usr/lib -maxdepth 3 -name "${pair#*:}.so.[0-9]*" 2>/dev/null | head -n 1)
        [ -z "$object" ] || count "${pair%%:*}" "$object" "$ours"
    done
    print
done
