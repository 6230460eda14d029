# SPDX-License-Identifier: MIT
# For the tests of another number of ranks, after tests/mpi/mpi.sh.
#   recorded_on RANKS...     LULESH is recorded on each
#   other_shape FROM RANKS   recorded on so many, predicted on so many: accuracy of events and of peers
#   peers                    share of the peers that were foretold right, after the first 200 events of each rank
lulesh() { PYTHIA_VERBOSE=2 launch "$1" "$2" "$bin/lulesh-mpi" -q -s 5 -i 60; }
field() { sed -n "s/.*predicted .*[ ]$1=\([0-9.]*\).*/\1/p" out; }
at_least() { awk "BEGIN { print \"$1\"; exit !(\"$1\" != \"\" && $1 + 0 >= $2) }"; }

recorded_on() {
    local ranks
    for ranks; do
        export PYTHIA_OUTPUT=$scratch/$ranks.pythia PYTHIA_INPUT=$scratch/$ranks.pythia
        lulesh "$ranks" record
        is "$status" 0 "$ranks ranks are recorded"
    done
}

peers() {
    sed -n 's/.*rank [0-9]*, thread 0: peers=.* late=\([0-9]*\) late_foretold=[0-9]* late_right=\([0-9]*\).*/\1 \2/p' \
        out |
        awk '{ asked += $1; right += $2 } END { if (asked) printf "%.4f\n", right / asked }'
}

other_shape() {
    export PYTHIA_INPUT=$scratch/$1.pythia PYTHIA_OUTPUT=$scratch/scored.pythia
    lulesh "$2" predict
    is "$status" 0 "recorded on $1 ranks, $2 run"
    ok "... they are told" grep -q "recorded on $1 ranks, now $2" out
    ok '... accuracy at distance 1' at_least "$(field accuracy)" 0.98
    ok '... accuracy at distance 16' at_least "$(field accuracy_16)" 0.95
    ok '... peers, after the first 200 events of each rank' at_least "$(peers)" 0.98
    diagnose < <(grep -o 'predicted .*' out)
}
