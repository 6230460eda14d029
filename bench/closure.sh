#!/bin/bash
# SPDX-License-Identifier: MIT
# A program made of a job against the program itself:   bench/closure.sh NAME RANKS PROGRAM [ARGUMENT...]
# Records it, makes the program, runs that recorded, and prints one line of a table: events, share that is equal, exact
# ranks, wall time of the program / recorded, lines, bytes and seconds of compiling.
# PYTHIA: the command (default: build/pythia); ROUNDS: how often (default 1).
set -eu
name=$1 ranks=$2
shift 2
: "${PYTHIA:=$(dirname "$0")/../build/pythia}" "${MPIEXEC:=mpirun}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pythia-closure.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for _ in $(seq "${ROUNDS:-1}"); do
    rm -rf "$scratch"/job.pythia*
    "$MPIEXEC" -n "$ranks" "$PYTHIA" record -o "$scratch/job.pythia" "$@" >"$scratch/out" 2>&1 ||
        { tail -n 3 "$scratch/out" >&2; exit 1; }
    "$PYTHIA" closure "$scratch/job.pythia" --format json -- "$MPIEXEC" -n "$ranks" >"$scratch/json" \
        2>"$scratch/err" || true
    value() { tr -d ' \t' <"$scratch/json" | sed -n "s/^\"$1\":\\([^,]*\\),*$/\\1/p" | head -n 1; }
    awk -v name="$name" -v ranks="$ranks" -v events="$(value events)" -v equal="$(value equal_events)" \
        -v exact="$(value exact_ranks)" -v ratio="$(value wall_ratio)" -v lines="$(value lines)" \
        -v bytes="$(value bytes)" -v compile="$(value compile_seconds)" \
        'BEGIN { printf "| %s | %d | %d | %.2f %% | %d | %.2f | %d | %d | %.1f |\n", name, ranks, events,
                 events ? 100 * equal / events : 0, exact, ratio, lines, bytes, compile }'
done
