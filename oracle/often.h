/* SPDX-License-Identifier: MIT */
/*
 * What usually follows: for each context (the last few events, by their hash) a sample of the places where it occurred.
 * The places vote on what comes `distance` events later, whatever the distance.
 *
 * The sample is a reservoir (Vitter, "Random Sampling with a Reservoir", 1985): place number n is taken with probability
 * ROOM / n, so that all places are as likely to be in it; never with less than 1 / turnover, so that it follows a program
 * that changes. A context that collides with a rarer one takes its slot.
 *
 * Votes are remembered for a few contexts and distances until the sample has changed by an eighth.
 *
 * Threads: owner.  Hook-safe: all but creation and destruction. Cost: an update touches one slot; a question reads at most
 * ROOM places.
 */
#ifndef PYTHIA_ORACLE_OFTEN_H
#define PYTHIA_ORACLE_OFTEN_H

#include "oracle/text.h"

enum { ORACLE_OFTEN_ROOM = 61, ORACLE_OFTEN_CACHE = 1024 };

struct oracle_often_slot {
    uint32_t tag;                   /* upper half of the context's hash */
    uint32_t seen;                  /* times that the context occurred, saturated */
    uint32_t taken;                 /* places taken so far: changes of the sample */
    uint32_t at[ORACLE_OFTEN_ROOM]; /* oracle_text_name() of places; the first min(taken, ROOM) */
};

struct oracle_often_answer { uint32_t terminal, asked, agreed; float until, duration; bool fixed; };

struct oracle_often_kept { uint64_t distance; uint32_t slot, tag, taken; struct oracle_often_answer answer; };

struct oracle_often {
    struct oracle_often_slot *slot;
    struct oracle_often_kept *kept;
    uint64_t mask;   /* slots - 1 */
    uint64_t random;
    uint32_t turnover;
};

/* At most `memory` bytes. 0, or -1 when out of memory. */
int oracle_often_create(struct oracle_often *s, size_t memory, uint32_t turnover);
void oracle_often_destroy(struct oracle_often *s);

/* The context with this (mixed) hash ends at the place with this name. */
void oracle_often_add(struct oracle_often *s, uint64_t hash, uint32_t name);
/* What comes `distance` >= 1 after this context; terminal GRAMMAR_NONE: unknown. */
struct oracle_often_answer oracle_often_ask(struct oracle_often *s, const struct oracle_text *t, uint64_t hash,
                                            uint64_t distance);

#endif
