/* SPDX-License-Identifier: MIT */
/*
 * Which functions made a time longer, or shorter: a time of one execution in two jobs, and the samples of what is in it
 * (findings/inside.h). A function has its share of the time:
 *
 *     before MPI_Allreduce   A  7.0 ms: 30 % third      2.1 ms
 *                            B 23.9 ms: 79 % third     18.9 ms     third: +16.8 ms (16.1 to 17.4)
 *
 * The bounds are for 95 % confidence: of the difference of two shares by Newcombe's hybrid of Wilson's intervals
 * (method 10, 1998), and of the two times by their standard errors. Told is what went where the whole went, beyond
 * chance and by a twentieth of the whole's change; of fewer than FINDINGS_INSIDE_FEW samples in one of the jobs nothing.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/inside.h"

/* A time of one execution, in ns with its relative standard error. */
struct contracts_made { struct findings_inside_part part; double ns, error; };

struct contracts_grown {
    const struct findings_place *place; /* NULL: code that was made at run time */
    double ns[2], share[2];           /* of an execution */
    double change, low, high;         /* ns */
};

/* The caller's array, the largest change first. `pace`: the share by which all of B is longer, which is nobody's. */
struct contracts_grown *contracts_grown_find(const struct contracts_made of[2], double pace, uint32_t *count);
/* "third (work@inside.c:15) 2.10 ms -> 18.9 ms (16.1 ms to 17.4 ms more)". One of findings_text(). */
char *contracts_grown_text(const struct contracts_grown *g);
