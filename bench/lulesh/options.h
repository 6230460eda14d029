/* SPDX-License-Identifier: MIT */
/*
 * The command line. `-s -i -r -b -c -p -q -h` mean what LULESH users expect; --state is ours, for tests.
 */
#pragma once

struct options {
    int edge_elems;     /* -s: elements along an edge of a rank's block */
    int iterations;     /* -i: stop after this many, even before the end of simulated time */
    int regions;        /* -r: material regions */
    int balance;        /* -b: 0: regions of about equal size; more: later ones are larger */
    int cost;           /* -c: extra work of the costlier regions */
    int progress;       /* -p: a line per iteration */
    int quiet;          /* -q: the final report only */
    int state;          /* --state: the final state on one line, exact, in place of the report */
    int help;           /* -h */
};

/*
 * Reads argv into *o. Returns 0, or -1 with one line that says what is wrong in `error`.
 */
int options_parse(struct options *o, int argc, char **argv, char *error, int error_size);

/* Usage on standard output. */
void options_help(const char *program);
