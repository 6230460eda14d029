# SPDX-License-Identifier: MIT
# Does a line of `lulesh --state` (standard input) agree with expected.tsv? awk -v tolerance=1e-10 -f compare.awk expected.tsv -
# Prints the largest relative difference. Fails when it is above the tolerance, when the state has no row, or there is none.
FILENAME != "-" {
    if ($1 == "ranks")
        for (i = 1; i <= NF; i++)
            name[i] = $i
    else if ($1 !~ /^#/)
        row[$1, $2, $3] = $0
    next
}

{
    for (i = 1; i <= NF; i++) {
        split($i, pair, "=")
        state[pair[1]] = pair[2]
    }
    key = state["ranks"] SUBSEP state["s"] SUBSEP state["iterations"]
    if (!(key in row))
        next
    known = split(row[key], expected)
    for (i = 4; i <= known; i++) {
        if (expected[i] == "-")
            continue
        if (state[name[i]] !~ /^-?[0-9]/) {     # missing, nan, inf
            print name[i] " is " state[name[i]]
            broken = 1
            continue
        }
        scale = expected[i] < 0 ? -expected[i] : expected[i]
        difference = state[name[i]] - expected[i]
        if (difference < 0)
            difference = -difference
        if (scale > 0)
            difference /= scale
        if (difference >= worst + 0) {
            worst = difference
            where = name[i]
        }
        compared++
    }
}

END {
    if (!compared) {
        print "no state with a row of its own"
        exit 1
    }
    printf "%d values, largest relative difference %.1e (%s)\n", compared, worst, where
    exit broken || worst > tolerance
}
