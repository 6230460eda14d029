/* SPDX-License-Identifier: MIT */
/*
 * The loops of a program, as its machine code or its source (of Python) has them, and how often they turned.
 *
 *   main ─ loop 36 ─┬─ Bcast                  an event's place: frame by frame, the loops around the call
 *                   ├─ solve ─ loop 16 ─┬─ halo ─ Sendrecv
 *                   │                   └─ Allreduce
 *                   └─ checkpoint ─ Gather
 *
 * Of two successive events (job/hops.h) the first frame in which their places differ tells what the step is:
 *   - one place leads to the other without a turn of a loop that holds both: forward; it enters the loops around the
 *     second place that do not hold the first
 *   - else back: one turn of the innermost loop that holds both, where no loop of that frame does, of the innermost one
 *     around the frames that they share; loops within are entered anew
 *   - where all frames are equal, one turn of the innermost loop around the place
 * Turns are entries and steps back: exact sums, for each stream. Where one turn ends in a loop within and the next one
 * begins in it, with no other call between, that turn is counted as the inner loop's: for { for { A } if (rare) B }.
 *
 * A turn in which nothing is called that is recorded is not seen: for { if (i % 4 == 0) A } turns as often as A comes.
 *
 * What is called along several paths within one turn of a loop is one loop there. Without the code, and for programs
 * that are interpreted, loops are the strongly connected parts of the graph of successive events, their first event the
 * head.
 *
 * Cost: O(stops + hops) x depth of the paths, and of each function that is read some us.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/resolve.h"
#include "job/job.h"

/* Of one stream's figures, or of several. */
struct findings_span { uint64_t least, most, sum; };

struct findings_loop {
    int parent;                       /* the loop around, -1: none */
    const struct findings_place *place; /* what closes it, or its first call; NULL: not known */
    const char *function;             /* that it stands in; NULL: not known */
    uint64_t streams;                 /* that enter it */
    struct findings_span turns, entries; /* of each of these; mean: least 0, most UINT64_MAX */
    uint64_t turns_least, turns_most; /* of one entry; 0: not known, where the grammar does not tell
                                         all of its entries apart, or ranks of a class differ */
    double ns;                        /* of all streams, computation before its calls and the calls */
    uint32_t order, head;             /* of stops: when it is first entered, and there */
    uint32_t mark, rank;              /* of the main loop: a terminal that is in each turn once, and nowhere else
                                         (GRAMMAR_NONE: none is); a rank that enters it */
    bool mean;                        /* of some of its steps only the mean over the streams is known */
    bool unseen;                      /* all its events are in one loop within, or in one of a function that it calls
                                         by a pointer, which turns from one of its turns to the next: its turns are not
                                         known, nor that one's entries; of no loop where there are unknown events */
};

/* All events of one terminal's function, made at one place directly in a loop. */
struct findings_loop_call {
    int loop; /* -1: in none */
    uint32_t terminal, path, order;
    uint64_t count;
    uint64_t streams;      /* that make it; all, where there are too many */
    uint64_t turns, outer; /* of these: turns of the loop, and of findings_loop_turned() */
    double ns, call_ns;    /* computation before them and the calls; the calls */
};

/* Events of one terminal on one path. */
struct findings_loop_stop { int loop; uint32_t terminal, order; uint64_t count; };

struct findings_loops {
    struct findings_loop *loop; /* outer ones first */
    struct findings_loop_call *call;
    struct findings_loop_stop *stop;
    uint32_t loops, calls, stops;
    int main;     /* of those around which none turned the one with most time, of those that turned if one did; where
                     most of its turns do not come to a loop within that takes most of its time, that one; -1: none */
    bool by_code; /* else by events alone */
    uint64_t unknown; /* events of which the path is not known, by code: they were on too many */
    uint64_t streams;
};

struct report;
/* Those of the machine code, where that is known; else, and where it is not asked for, by events. */
struct findings_loops *findings_loops_create(struct report *r, bool by_code);
void findings_loops_destroy(struct findings_loops *l); /* NULL is legal */

/* The loop itself where it turned, or there is none around it; else the next one around of which that is so. */
int findings_loop_turned(const struct findings_loops *l, int loop);
/* Turns of a loop in each stream that enters it; < 0: they differ, or only their mean is known. */
double findings_loop_turns(const struct findings_loop *l);
/* Mean turns, mean entries of a stream that enters it. */
double findings_loop_mean_turns(const struct findings_loop *l);
double findings_loop_mean_entries(const struct findings_loop *l);
