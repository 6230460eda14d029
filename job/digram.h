/* SPDX-License-Identifier: MIT */
/*
 * The gap before a terminal by what stood before it in its stream.
 *
 *     loop of a master   Recv Recv Recv Reduce | Recv …                its own work is before the first Recv of a turn
 *     node Recv^3        mean gap 390 ms                               of all three
 *     digrams            Reduce Recv 4 x 1.17 s, Recv Recv 8 x 20 us   which is which
 *
 * A node's mean is of all that its rule is entered from: the first turn of a loop and the later ones. Kept are
 * terminals that came after several others in one stream, of these the first JOB_DIGRAMS that were met. Over all
 * streams; the first event of a stream comes after none.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "job/sum.h"

struct job;

enum { JOB_DIGRAMS = 4 };

/* Of one terminal in one stream, by the stream's numbers. Zero: of no event. */
struct job_before {
    uint32_t terminal[JOB_DIGRAMS];
    struct job_count gap[JOB_DIGRAMS]; /* samples 0: no more of them; total in ns */
};

static inline void job_before_add(struct job_before *b, uint32_t before, struct job_count gap)
{
    for (uint32_t i = 0; i < JOB_DIGRAMS; i++) {
        if (b->gap[i].samples && b->terminal[i] != before)
            continue;
        b->terminal[i] = before;
        b->gap[i].samples += gap.samples;
        b->gap[i].total += gap.total;
        return;
    }
}

/* `before`: GRAMMAR_NONE for the first event of a stream. */
struct job_digram { uint32_t terminal, before; struct job_count gap; };
struct job_digrams {
    struct job_digram *of; /* ordered by terminal, then by what is before */
    uint32_t count, room;
};

/* What a stream noted of a terminal of the job; number[i] is what its terminal i is called there. 0 or
   PYTHIA_ENOMEM. */
int job_digrams_add(struct job *j, uint32_t terminal, const struct job_before *b, const uint32_t *number);
/* NULL: not known. */
const struct job_digram *job_digram_find(const struct job *j, uint32_t terminal, uint32_t before);
