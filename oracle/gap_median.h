/* SPDX-License-Identifier: MIT */
/*
 * The typical gap before an event, as this run shows it. A mean of gaps is mostly made of a few long ones; what is
 * likely is the median, followed by steps up and down that shrink.
 *
 *   node of the reference     Isend^26
 *   first turn                one median         what comes before a loop is not what is between its turns
 *   later turns               one median
 *   turns 1 … 31              one median each    a loop over neighbours packs a face, then an edge, then a corner
 *
 * Whether a turn's own median or that of all turns answers is decided by which was nearer at this turn so far.
 * Cost: some ns an event; 16 bytes a node, 512 for each of the first ORACLE_GAP_LOOPS nodes that are loops.
 */
#pragma once

#include <stdint.h>

enum { ORACLE_GAP_TURNS = 32, ORACLE_GAP_LOOPS = 512 };

struct oracle_gap_median { float gap, step; /* ns; share of the gap; step 0: not seen in this run */ };

struct oracle_turn_gaps {
    struct oracle_gap_median own;
    float error, others; /* recent relative errors at this turn: of its own median, and of that of all turns */
};

static inline void oracle_gap_learn(struct oracle_gap_median *h, uint64_t gap)
{
    float off = (float)gap - h->gap, most = h->gap * h->step + 1;

    if (h->step == 0) {
        *h = (struct oracle_gap_median){ (float)gap, 0.5f };
        return;
    }
    h->gap += off > most ? most : off < -most ? -most : off; /* never beyond what was seen */
    h->step = h->step > 0.04f ? h->step * 0.9f : h->step;
}

static inline float oracle_gap_error(const struct oracle_gap_median *h, uint64_t gap)
{
    float off = h->gap > (float)gap ? h->gap - (float)gap : (float)gap - h->gap;
    return off < (float)gap ? off / (float)gap : 1; /* one that is far off says no more than one that is off */
}

/* `all`: the median of all later turns, before it learns of this gap. */
static inline void oracle_turn_learn(struct oracle_turn_gaps *t, const struct oracle_gap_median *all, uint64_t gap)
{
    if (t->own.step > 0 && all->step > 0) {
        t->error += (oracle_gap_error(&t->own, gap) - t->error) / 8;
        t->others += (oracle_gap_error(all, gap) - t->others) / 8;
    }
    oracle_gap_learn(&t->own, gap);
}

/* The median that answers for a turn that has one of its own. */
static inline const struct oracle_gap_median *oracle_turn_choose(const struct oracle_turn_gaps *t,
                                                                 const struct oracle_gap_median *all)
{
    return t->error < t->others ? &t->own : all;
}
