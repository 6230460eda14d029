/* SPDX-License-Identifier: MIT */
/*
 * The typical gap before an event where the position says little of it: by the event and the last few before it.
 *
 *     … a b c d e f  x       the median of the gaps before x where the last 6 events were a b c d e f
 *               e f  x       the same of the last 2, and of the last 12
 *
 * An earlier place says what the gap was there once, and a mean is mostly made of a few long gaps (gap_median.h). Each
 * median knows how far off it was lately, and the nearest one answers: a long context tells more apart, a short one has
 * seen more. Whether it answers in the place of the position, or of a match, is decided by how far off these were.
 *
 * Direct-mapped tables by hash; what is seen for the first time takes the slot.
 *
 * Threads: owner.  Hook-safe: all.  Cost: an event that is learned and a question touch a slot of each table.
 */
#pragma once

#include <stdbool.h>

#include "oracle/gap_median.h"

enum { ORACLE_GAP_ORDERS = 3 };

struct oracle_gap_context {
    uint32_t tag;                     /* upper half of the hash */
    float error;                      /* recent relative error of the median */
    struct oracle_gap_median typical;
};
struct oracle_gap_contexts { struct oracle_gap_context *slot; uint64_t mask; };

/* Recent relative errors of the gaps that a source gave, and of those that contexts had for the same events. */
struct oracle_gap_errors { float own, context; };

/* A gap, and how far off such gaps were lately. */
struct oracle_gap_answer { double gap /* ns, < 0: not known */; float error; };

/* The (mixed) hash is of the context and its event. */
static inline void oracle_gap_context_learn(const struct oracle_gap_contexts *t, uint64_t hash, uint64_t gap)
{
    struct oracle_gap_context *c = &t->slot[hash & t->mask];
    uint32_t tag = (uint32_t)(hash >> 32);

    if (c->tag == tag && c->typical.step > 0)
        c->error += (oracle_gap_error(&c->typical, gap) - c->error) / 4;
    else
        *c = (struct oracle_gap_context){ .tag = tag, .error = 0.5f };
    oracle_gap_learn(&c->typical, gap);
}

/* What this context says takes the place of `best` if it was nearer. */
static inline void oracle_gap_context_ask(const struct oracle_gap_contexts *t, uint64_t hash,
                                          struct oracle_gap_answer *best)
{
    const struct oracle_gap_context *c = &t->slot[hash & t->mask];

    if (c->tag == (uint32_t)(hash >> 32) && c->typical.step > 0 && (best->gap < 0 || c->error < best->error))
        *best = (struct oracle_gap_answer){ (double)c->typical.gap, c->error };
}

/* Whether the context answers: such answers were nearer, or this one is far nearer than the source usually is. */
static inline bool oracle_gap_context_wins(const struct oracle_gap_errors *e, const struct oracle_gap_answer *context)
{
    return context->gap >= 0 && (e->context <= e->own || context->error < e->own / 2);
}

/* The gap that the source and the context were asked for came. */
static inline void oracle_gap_errors_learn(struct oracle_gap_errors *e, double own, double context, uint64_t gap)
{
    const struct oracle_gap_median said[2] = { { .gap = (float)own }, { .gap = (float)context } };

    e->own += (oracle_gap_error(&said[0], gap) - e->own) / 64;
    e->context += (oracle_gap_error(&said[1], gap) - e->context) / 64;
}
