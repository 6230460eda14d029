/* SPDX-License-Identifier: MIT */
/*
 * Peers in the order of the stream: known where no node's formula holds for them.
 *
 *     Isend at a callsite     rank 3 from event 12 on, rank 1 from event 840 on, rank 2 from event 1100 on, …
 *
 * Kept by terminal, so that nothing that happens to rules and nodes touches it, as long as a terminal changes its
 * peer at most GRAMMAR_COURSE_RUNS times: peers that change more often follow a formula, or are not worth a list.
 *
 * Cost: an event with a peer costs a comparison, a change sometimes a cell of the attributes' pool.
 * Private to grammar/.  Threads: owner.  Hook-safe: yes.
 */
#ifndef PYTHIA_GRAMMAR_COURSE_H
#define PYTHIA_GRAMMAR_COURSE_H

#include "grammar/flat.h"

enum {
    GRAMMAR_COURSE_TERMINALS = 4096, /* the first ones */
    GRAMMAR_COURSE_RUNS = 512,
    GRAMMAR_CELL_RUNS = sizeof(struct grammar_attr) / sizeof(struct grammar_run)
};
#define GRAMMAR_COURSE_CHANNELS (1u << GRAMMAR_PEER | 1u << GRAMMAR_SOURCE)

/* Of a terminal, a channel. */
struct grammar_course {
    int64_t last;
    uint32_t first, end; /* cells */
    uint32_t runs;       /* GRAMMAR_NONE: not kept any more */
};

#endif
