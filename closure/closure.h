/* SPDX-License-Identifier: MIT */
/*
 * A program made from a job: one C file that makes the calls of the job, on as many ranks, and computes as long between
 * them.
 *
 *   R -> a A^100 z    A -> b c       main() a loop over rule A's calls; a rule that is used in several places, or by
 *                                    several classes, is a function
 *   terminal b                       a function with that one call, so that each place has an address of its own
 *   value of b at a node of A        an expression of the rank (me), of how often it was here (at[]), or a table
 *   completion                       takes the requests that began so many events ago
 *
 * What is fixed (requests, communicators, clock) is proxy.c, of which the sections are taken that a job needs.
 *
 *   1. the same job gives the same bytes
 *   2. what is not made is counted, and an event that is not made counts as one, so that distances stay right
 *   3. what would hang is refused: a message whose peer is not known, or that the replay finds no receive for
 *
 * Size: a line a node of the grammars, a table where ranks differ.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "findings/resolve.h"
#include "job/job.h"

struct closure_how {
    double time;    /* computation, as a factor of what was recorded; 0: none */
    uint32_t ranks; /* 0: as many as recorded */
};

/* What the program does not do as recorded, and how many events that is about. */
struct closure_lack {
    char *what;
    uint64_t events;
};

struct closure_program {
    char *text;    /* NULL: refused */
    char *refused; /* why, and where */
    struct closure_lack *lacks;
    uint32_t lack_count, ranks;
};

/* Free it by closure_free(). `r` is of the same job. */
struct closure_program closure_make(const struct job *j, struct findings_resolver *r, const struct closure_how *how);
void closure_free(struct closure_program *p);

/* --- compare.c --- */
struct closure_time { const char *function; uint64_t calls; double gap[2], duration[2]; }; /* ns, of all calls */
struct closure_comparison {
    uint64_t events, equal; /* of all ranks; the longer stream of a rank counts */
    uint32_t ranks, exact;
    char first[768]; /* the first difference; "": there is none */
    double wall_ns[2];
    struct closure_time *times; /* of each function, by name */
    uint32_t time_count;
};
/* Event by event of each rank's first thread: function, communicator and who is in it, peer, bytes, tag.
   free(times). */
void closure_compare(const struct job *recorded, const struct job *proxy, struct closure_comparison *out);
