# SPDX-License-Identifier: MIT
# For the tests that run ranks; after tests/lib.sh.
#
#   launch RANKS MODE PROGRAM ARG...   runs under the preload; stdout and stderr in $scratch/out, exit code in $status
#   sequence RANK [FILE]               "function peer" of each recorded event
#   times N LINE...                    the lines, N times over
: "${MPI_FLAVOUR:=}" "${MPIEXEC:=}"
[ -n "$MPI_FLAVOUR" ] && [ -n "$MPIEXEC" ] || skip_all 'no MPI'
preload=$top_builddir/.libs/libpythia_pmpi.so
patterns=$top_builddir/tests/mpi/patterns
[ -e "$preload" ] || skip_all "$preload is not built"
export PYTHIA_OUTPUT=$scratch/job.pythia
job=$PYTHIA_OUTPUT
case ${SANITIZERS:-} in *address*) skip_all 'the address sanitizer cannot be preloaded' ;; esac

launch() {
    local ranks=$1 mode=$2
    shift 2
    PYTHIA_MODE=$mode timeout 60 "$MPIEXEC" -n "$ranks" env LD_PRELOAD="$preload" "$@" >"$scratch/out" 2>&1
    status=$?
}

need_tool() { [ -x "$PYTHIA" ] || skip_all "$PYTHIA is not built"; }

sequence() {
    "$PYTHIA" events "${2:-$job}" --rank "$1" --format tsv | awk -F '\t' '!/^#/ && $1 != "index" { print $2, $4 }'
}

times() {
    local n=$1 i
    shift
    for ((i = 0; i < n; i++)); do printf '%s\n' "$@"; done
}
