# SPDX-License-Identifier: MIT
# For the tests that run ranks; after tests/lib.sh.
#
#   launch RANKS MODE PROGRAM ARG...   runs under the preload; stdout and stderr in $scratch/out, exit code in $status
#   sequence RANK [FILE]               "function peer" of each recorded event
#   times N LINE...                    the lines, N times over
#   starts_two_programs                whether it can start several: Open MPI 5.0.7's mpirun crashes by itself
#   can_ask                            whether this MPI's launcher can be asked who runs under Pythia (see configure)
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

starts_two_programs() { "$MPIEXEC" -n 1 true : -n 1 true >two.out 2>&1; }
can_ask() { grep -q -e pythia.here -e kvsname= "$preload"; }

need_tool() { [ -x "$PYTHIA" ] || skip_all "$PYTHIA is not built"; }

sequence() {
    "$PYTHIA" events "${2:-$job}" --rank "$1" --format tsv | awk -F '\t' '!/^#/ && $1 != "index" { print $2, $4 }'
}

times() {
    local n=$1 i
    shift
    for ((i = 0; i < n; i++)); do printf '%s\n' "$@"; done
}

# Hides the launcher from the ranks: sets $blind, which goes before what they run, and the preload.
blind_launcher() {
    if [ "$MPI_FLAVOUR" = mpich ]; then
        blind="env -u HYDI_CONTROL_FD"
    else
        cat >blind.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void __tsan_init(void) {} /* as a sanitizer: what stands here stands before the C library for Pythia, too */
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return name && strcmp(name, "libpmix.so.2") == 0 ? NULL : real(name, flags);
}
C
        ok 'a preload that hides the launcher' $CC -shared -fPIC -o blind.so blind.c
        preload=$scratch/blind.so:$preload blind=
    fi
}
