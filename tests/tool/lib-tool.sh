# SPDX-License-Identifier: MIT
# For the tests of the command, after lib.sh: what they all check.
make_job=$top_builddir/tests/tool/make_job

# Runs a command; leaves its output in out and err, its exit code in $code.
run() {
    "$@" >out 2>err
    code=$?
}

# refused CODE NAME COMMAND…: exit code CODE, nothing on stdout, and one line on stderr that begins with "pythia".
refused() {
    local expected=$1 name=$2
    shift 2
    run "$@"
    is "$code $(wc -c <out) $(wc -l <err) $(cut -c 1-6 err)" "$expected 0 1 pythia" "$name"
}

# misused NAME COMMAND…: exit code 2, nothing on stdout, a complaint.
misused() {
    local name=$1
    shift
    run "$@"
    is "$code $(wc -c <out) $(head -n 1 err | cut -c 1-6)" "2 0 pythia" "$name"
}

# Whatever a job command gets instead of a good file: one line, exit 3. Arguments: the command; FILE stands for the
# file.
refuses_bad_files() {
    local good=$1 size i bad=0
    shift
    refused 3 "$*: missing" "${@/FILE/missing}"
    : >zero
    refused 3 "$*: empty file" "${@/FILE/zero}"
    head -c 100000 /dev/urandom >noise
    refused 3 "$*: random bytes" "${@/FILE/noise}"
    refused 3 "$*: directory" "${@/FILE/.}"
    size=$(wc -c <"$good")
    for i in 1 7 31 $((size / 2)) $((size - 1)); do
        head -c "$i" "$good" >cut
        run "${@/FILE/cut}"
        [ "$code $(wc -c <out) $(wc -l <err)" = "3 0 1" ] || bad="$bad cut:$i"
    done
    # A flipped byte is noticed wherever it is.
    for ((i = 0; i < size; i += 1 + size / 60)); do
        flip "$good" "$i"
        run "${@/FILE/flipped}"
        [ "$code $(wc -c <out) $(wc -l <err)" = "3 0 1" ] || bad="$bad flip:$i=$code"
    done
    is "$bad" 0 "$*: cut and flipped"
}

# flip FILE OFFSET: a copy of FILE, flipped, with all bits of one byte turned.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    cp "$1" flipped
    printf "\\x$(printf %x $((byte ^ 255)))" | dd of=flipped bs=1 seek="$2" conv=notrunc status=none
}

# A command's output to a full disk and to a closed pipe: told, and not a success.
reports_lost_output() {
    local name=$1
    shift
    "$@" >/dev/full 2>err
    is "$? $(grep -c 'cannot write' err)" "4 1" "$name: full disk"
    rm -f gate code
    mkfifo gate
    { read -r _ <gate; "$@" 2>err; echo $? >code; } | { exec <&-; echo gone >gate; } # nobody reads when it begins
    is "$(cat code) $(cat err)" '4 ' "$name: closed pipe, without words"
}
