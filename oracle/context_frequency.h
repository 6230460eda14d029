/* SPDX-License-Identifier: MIT */
/*
 * What usually follows: for each context (the last few events, by their hash) a sample of the places where it occurred.
 * The places vote on what comes `distance` events later, whatever the distance.
 *
 * The sample is a reservoir (Vitter, "Random Sampling with a Reservoir", 1985): place number n is taken with
 * probability ROOM / n, so that all places are as likely to be in it; never with less than 1 / turnover, so that it
 * follows a program that changes. A context that collides with a rarer one takes its slot.
 *
 * Votes are remembered for a few contexts and distances until the sample has changed by an eighth.
 *
 * Threads: owner.  Hook-safe: all. Cost: an update touches one slot; a question reads at
 * most ROOM places.
 */
#ifndef PYTHIA_ORACLE_FREQUENCY_H
#define PYTHIA_ORACLE_FREQUENCY_H

#include "oracle/history.h"

enum { ORACLE_FREQUENCY_ROOM = 61, ORACLE_FREQUENCY_CACHE = 1024 };

struct oracle_frequency_slot {
    uint32_t tag;                   /* upper half of the context's hash */
    uint32_t seen;                  /* times that the context occurred, saturated */
    uint32_t taken;                 /* places taken so far: changes of the sample */
    uint32_t at[ORACLE_FREQUENCY_ROOM]; /* oracle_history_name() of places; the first min(taken, ROOM) */
};

struct oracle_frequency_answer { uint32_t terminal, asked, agreed; float until, duration; bool fixed; };

struct oracle_frequency_kept { uint64_t distance; uint32_t slot, tag, taken; struct oracle_frequency_answer answer; };

struct oracle_frequency {
    struct oracle_frequency_slot *slot;
    struct oracle_frequency_kept *kept;
    uint64_t mask;   /* slots - 1 */
    uint64_t random;
    uint32_t turnover;
};

enum { ORACLE_FREQUENCY_SLOTS = 16, /* at least */
       ORACLE_FREQUENCY_MIN = ORACLE_FREQUENCY_SLOTS * sizeof(struct oracle_frequency_slot) +
                              ORACLE_FREQUENCY_CACHE * sizeof(struct oracle_frequency_kept) };

/* At most `memory` bytes out of `room`, but at least ORACLE_FREQUENCY_MIN. 0, or -1: it is too small. */
int oracle_frequency_create(struct oracle_frequency *s, struct base_arena *room, size_t memory, uint32_t turnover);

/* The context with this (mixed) hash ends at the place with this name. */
void oracle_frequency_add(struct oracle_frequency *s, uint64_t hash, uint32_t name);
/* What comes `distance` >= 1 after this context; terminal GRAMMAR_NONE: unknown. */
struct oracle_frequency_answer oracle_frequency_ask(struct oracle_frequency *s, const struct oracle_history *t,
                                                    uint64_t hash, uint64_t distance);

#endif
