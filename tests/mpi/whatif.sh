# SPDX-License-Identifier: MIT
# What `pythia replay` foretells, against a run with the change really made; after tests/mpi/mpi.sh.
#
#   saves "PROGRAM ARGUMENT..." "ARGUMENT... of the changed run" OPTION...
#
# passes when the prediction from the first is within 5 % of the second, in one of three tries: others may be at work.
need_tool
[ -n "$PYTHON" ] || skip_all 'no Python'
[ -n "$MPICC" ] || skip_all 'no compiler for MPI'
$MPICC -O1 -g "$top_srcdir/tests/mpi/whatif.c" -o whatif || exit 99
ranks=4

# field NAME OPTION...: of what the replay says.
field() {
    local name=$1
    shift
    "$PYTHIA" replay "$job" "$@" --format json >replay.json
    "$PYTHON" -c 'import json, sys; print(json.load(open("replay.json"))[sys.argv[1]])' "$name"
}

# seconds RANKS ARGUMENT...: how long that run takes.
seconds() {
    local ranks=$1
    shift
    rm -f "$job"
    launch "$ranks" record ./whatif "$@"
    field recorded_seconds
}

saves() {
    local with=$1 changed=$2
    shift 2
    for try in 1 2 3; do
        really=$(seconds "$ranks" ${with%% *} ${turns:-40} "scale=${scale:-1}" $changed)
        seconds "$ranks" ${with%% *} ${turns:-40} "scale=${scale:-1}" ${with#* } >before
        foretold=$(field predicted_seconds "$@")
        off=$("$PYTHON" -c "print(round(100 * ($foretold / $really - 1), 1))")
        "$PYTHON" -c "exit(abs($off) >= 5)" && off='' && break
    done
    is "$off" '' "$with $*: $foretold s foretold from $(cat before) s, $really s really"
}

# foretells "PROGRAM ARGUMENT..." BEFORE AFTER OPTION...: the same against what the source says, in seconds. What the
# recording took longer than BEFORE, on a busy machine, may be in the prediction; in one of three tries, as above.
foretells() {
    local with=$1 before=$2 after=$3 recorded foretold off
    shift 3
    for try in 1 2 3; do
        recorded=$(seconds "$ranks" ${with%% *} ${turns:-40} "scale=${scale:-1}" ${with#* })
        foretold=$(field predicted_seconds "$@")
        off=$("$PYTHON" -c "print(0.95 * $after < $foretold < 1.05 * $after + $recorded - $before)")
        [ "$off" = True ] && break
    done
    is "$off" True "$with $*: $foretold s foretold from $recorded s"
}
