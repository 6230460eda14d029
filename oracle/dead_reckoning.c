/* SPDX-License-Identifier: MIT */
/*
 * Where the position is wrong more often than right, looking for a better one at every event costs much and finds
 * nothing. Then one hypothesis goes by dead reckoning: it advances with every event, whatever that is, so that it keeps
 * in phase with a program that repeats itself in time though not in order. It is a position again when it is right,
 * when the past knows a place in a reference that looks like the present for long, or, from time to time, to try.
 */
#include "oracle/internal.h"

enum {
    RECENT = 32,   /* events over which trouble is averaged */
    TRIAL = 512,   /* events between attempts to find a position */
    ALIKE = 24    /* events that have to be alike to be taken for a position */
};
#define WORSE 0.5     /* trouble from which on it is left alone */
#define BETTER 0.3    /* … and below which it stops */
#define ATTEMPT 0.45f /* trouble that an attempt begins with */

void oracle_dead_reckoning_judge(struct oracle *o, bool foreseen)
{
    o->trouble += ((foreseen ? 0 : 1) - o->trouble) / RECENT;
}

static void keep_heaviest(struct oracle *o)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < o->count; i++)
        if (o->now[i].weight > o->now[best].weight)
            best = i;
    struct oracle_hypothesis h = o->now[best];
    o->now[best] = o->now[0];
    o->now[0] = h;
    o->now[0].weight = 1;
    o->now[0].kind = ORACLE_HIT;
    o->count = 1;
}

/* A place in a reference that looks like the present. */
static bool at_known_place(struct oracle *o)
{
    o->spare_count = 0;
    if (!oracle_relocate_by_history(o, 1, ALIKE))
        return false;
    struct oracle_hypothesis *set = o->now;
    o->now = o->spare;
    o->spare = set;
    o->count = 1;
    keep_heaviest(o);
    return true;
}

void oracle_dead_reckoning_begin(struct oracle *o)
{
    if (o->dead_reckoning || (double)o->trouble < WORSE || o->count == 0)
        return;
    keep_heaviest(o);
    o->dead_reckoning = true;
    o->reckoned = 0;
}

void oracle_dead_reckon(struct oracle *o, uint32_t terminal)
{
    struct oracle_hypothesis *h = &o->now[0];
    bool foreseen = oracle_peek(o, h) == terminal && terminal != GRAMMAR_NONE;

    oracle_dead_reckoning_judge(o, foreseen);
    oracle_advance(o, h, GRAMMAR_NONE, false);
    o->won[ORACLE_SUBSTITUTED] += foreseen ? 0 : 1.0 / RECENT;
    o->reckoned++;
}

void oracle_dead_reckoning_end(struct oracle *o)
{
    bool found = o->ensemble && !o->ensemble->asleep && at_known_place(o);

    if (!found && (double)o->trouble >= BETTER && o->reckoned < TRIAL)
        return;
    o->dead_reckoning = false;
    if (found || o->trouble >= ATTEMPT)
        o->trouble = ATTEMPT;
}
