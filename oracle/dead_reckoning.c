/* SPDX-License-Identifier: MIT */
/*
 * What looking for a better position may cost is paid from an account: each event adds ORACLE_EARNED steps, what an
 * unexpected one may mean takes them (follow.c). Where the program goes as it should, or finds its place again, there
 * are always enough. Where every event is a surprise they run out; then one hypothesis goes by dead reckoning: it
 * advances with every event, whatever that is, so that it keeps in phase with a program that repeats itself in time
 * though not in order, and costs next to nothing. It is a position again when it is right, when the past knows a place
 * in a reference that looks like the present for long, or when the account is full, to try; and one that pays for a
 * surprise only if there is something to pay with.
 */
#include "oracle/internal.h"

enum {
    RECENT = 32,   /* events over which trouble is averaged */
    ALIKE = 24    /* events that have to be alike to be taken for a position */
};
#define BETTER 0.3 /* trouble below which the position is right again */

void oracle_dead_reckoning_judge(struct oracle *o, bool foreseen)
{
    o->trouble += ((foreseen ? 0 : 1) - o->trouble) / RECENT;
}

/* Each takes the same share of it off. */
void oracle_dead_reckoning_foreseen(struct oracle *o, uint32_t events)
{
    for (float stays = 1 - 1.0f / RECENT; events; events >>= 1, stays *= stays)
        if (events & 1)
            o->trouble *= stays;
}

static void keep_heaviest(struct oracle *o)
{
    oracle_swap(&o->now[0], &o->now[oracle_heaviest(o) - o->now]);
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
    oracle_swap_sets(o);
    o->count = 1;
    keep_heaviest(o);
    return true;
}

void oracle_dead_reckoning_begin(struct oracle *o)
{
    keep_heaviest(o);
    o->dead_reckoning = true;
}

void oracle_dead_reckon(struct oracle *o, uint32_t terminal)
{
    struct oracle_hypothesis *h = &o->now[0];
    bool foreseen = oracle_peek(o, h) == terminal && terminal != GRAMMAR_NONE;

    oracle_dead_reckoning_judge(o, foreseen);
    oracle_advance(o, h, GRAMMAR_NONE, false);
    o->won[ORACLE_SUBSTITUTED] += foreseen ? 0 : 1.0 / RECENT;
}

void oracle_dead_reckoning_end(struct oracle *o)
{
    bool found = o->mixer.past && !o->mixer.asleep && at_known_place(o);

    o->dead_reckoning = !found && (double)o->trouble >= BETTER && o->account < ORACLE_SAVED;
}
