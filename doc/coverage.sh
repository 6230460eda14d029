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

# table TITLE THEIRS OURS BINDING
table() {
    names "$2" "$4" | fate >"$work/fate"
    names "$3" "$4" >"$work/ours"
    awk '$1 == "wrapped" { print $3 }' "$work/fate" | sort -u >"$work/should"
    missing=$(comm -23 "$work/should" "$work/ours" | tr '\n' ' ')
    absent=$(awk '{ print tolower($2) }' "$work/table" | sort -u | comm -23 - "$work/should" | tr '\n' ' ')
    printf '\n### %s\n\n| | calls |\n|---|---|\n' "$1"
    awk '$1 == "wrapped" { n[$2]++; all++ } END { printf "| **wrapped** | **%d** |\n", all; for (c in n) printf "| %s | %d |\n", c, n[c] | "sort" }' "$work/fate"
    awk '$1 == "left" { n[$2]++; all++ } END { printf "| **left out** | **%d** |\n", all; for (c in n) printf "| %s | %d |\n", c, n[c] | "sort" }' "$work/fate"
    printf '| **absent** here, in the table | **%s** |\n' "$(echo "$absent" | wc -w)"
    [ -z "$missing" ] || printf '\nNOT WRAPPED: %s\n' "$missing"
    [ -z "$absent" ] || printf '\nAbsent: %s\n' "$absent" | fold -s -w 120
}

for build in "$@"; do
    ours=$build/.libs/libpythia_pmpi.so
    libmpi=$(ldd "$ours" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')
    directory=$(dirname "$(readlink -f "$libmpi")")
    name=$(sed -n 's/^MPI_FLAVOUR = //p' "$build/Makefile")
    printf '\n## %s (%s)\n' "$name" "$(basename "$(readlink -f "$libmpi")")"
    table "$name: C" "$libmpi" "$ours" C
    for pair in mpif:libmpi_mpifh mpif:libmpichfort f08:libmpi_usempif08 f08:libmpichfort; do
        # Beside this MPI, not the other one.
        case $name:$pair in mpich:*libmpi_*) continue ;; openmpi:*libmpichfort) continue ;; esac
        object=$(find "$directory" /usr/lib -maxdepth 3 -name "${pair#*:}.so.[0-9]*" 2>/dev/null | head -n 1)
        [ -n "$object" ] || continue
        case $pair in mpif:*) title='mpif.h and use mpi' ;; *) title='use mpi_f08' ;; esac
        table "$name: $title" "$object" "$ours" "${pair%%:*}"
    done
done
