# SPDX-License-Identifier: MIT
# For refused.test and refused-long.test; after tests/lib.sh and mpi.sh.
#
#   build BINDING        refused_c or refused_fortran, of the wrapped calls as this MPI declares them
#   run NAME ENV...      all cases, to $scratch/NAME; errors to NAME.err
#   find_chance          the cases whose result hangs on what is in memory that nobody has written, from two runs without Pythia
#   same NAME            a run is as without Pythia, but for those
#   exercise BINDING MODE...       all that, as tests
export OMPI_MCA_osc=^ucx # Open MPI 4's windows by UCX want more than one rank

# build BINDING: the program, or the reason why not in build.log.
build() {
    local compiler=$MPICC fortran=0
    [ "$1" = c ] || compiler=${MPIFORT:-} fortran=1
    [ -n "$compiler" ] || { echo 'no Fortran compiler wrapper of this MPI' >build.log; return 1; }
    mkdir -p "$1" &&
        "$MPICC" -E "$top_srcdir/pmpi/all_of_mpi.h" >mpi.i &&
        awk -v fortran=$fortran -v flavour="$MPI_FLAVOUR" -f "$top_srcdir/pmpi/calls.awk" \
            -f "$top_srcdir/tests/mpi/refused.awk" mpi.i "$top_srcdir/pmpi/mpi_calls.def" >"$1/refused_calls.c" &&
        "$compiler" -w -I"$1" -I"$top_srcdir/include" -I"$top_srcdir" -o "refused_$1" \
            "$top_srcdir/tests/mpi/refused.c" \
            >build.log 2>&1
}

# MPI may end the process; the next one begins with the next case. A line is a case.
run() {
    local name=$1 starts
    shift
    : >"$name"
    : >"$name.err"
    for ((starts = 0; starts < 40; starts++)); do
        rm -f refused.file* refused.data* refused.fresh* part
        timeout 200 "$MPIEXEC" -n 1 env "$@" "./refused_$binding" "$(wc -l <"$name")" part 2>>"$name.err" >&2
        grep -aoE '^(MPIX?_[A-Za-z_0-9]+, [a-z_A-Z0-9 ]+:( crashes| waits| class [0-9-]+, handlers [0-9 ]+)?|done$)' \
            part |
            sed 's/:$/: ends the process/' >lines
        [ -s lines ] || return 1
        cat lines >>"$name"
        tail -n 1 "$name" | grep -qx done && return 0
    done
    return 1
}

find_chance() { diff bare other | sed -n 's/^[<>] \([^:]*:\).*/\1/p' | sort -u >chance; }
same() { diff <(grep -v -F -f left bare) <(grep -v -F -f left "$1"); }

exercise() {
    local mode modes=("${@:2}") binding=$1
    if ! build "$binding"; then
        skip "$binding: $(grep -im1 error build.log || head -n 1 build.log)"
        return
    fi
    ok "$binding: all cases, without Pythia" run bare REFUSED_GARBAGE=0
    ok "... $(wc -l <bare) of them" test "$(wc -l <bare)" -gt 1000
    ok '... and with other garbage in memory' run other REFUSED_GARBAGE=170 MALLOC_PERTURB_=170
    find_chance
    { cat chance; echo 'no such case'; } >left
    ok "... $(wc -l <chance) hang on it" test "$(wc -l <chance)" -lt 50
    for mode in "${modes[@]}"; do
        rm -f "$job"
        case $mode in
        watched) set -- REFUSED_WATCH=1 PYTHIA_MODE=record ;;
        predict) cp "$scratch/small.pythia" "$job" && set -- PYTHIA_MODE=predict ;;
        *) set -- PYTHIA_MODE=record ;;
        esac
        ok "$binding, $mode: all cases" run "$mode" LD_PRELOAD="$preload" "$@"
        ok '... the same classes, the same calls of error handlers' same "$mode"
        [ "$mode" = watched ] &&
            is "$(grep -a '^not seen' watched.err | grep -v Request_free | head -n 3)" '' \
                '... each call was seen by a callback'
    done
}
