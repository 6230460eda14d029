/* SPDX-License-Identifier: MIT */
/*
 * What has happened, as plain lists: some of the references' events, then the last ones of this run.
 *
 *     place    0 … fixed - 1                fixed …                              count - 1
 *              events of the references     this run, a ring of `size`           now
 *
 * The references' part is written once, in pieces; each remembers where in its reference it comes from, so that a place
 * that looks like the present is also a position (oracle_history_origin). The pieces are planned before the run, and
 * written when there is time: a run that goes as its reference did has no need of them.
 *
 * Invariants: 1. places from oldest() to count - 1 and below `preloaded` are readable, no others; preloaded <= fixed
 * 2. pieces do not overlap and cover all places below `fixed`.
 *
 * Threads: owner.  Hook-safe: all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { ORACLE_HISTORY_PIECES = 64 };

struct oracle_history_piece { uint64_t place, event; uint32_t reference; };
struct oracle_history_time { uint64_t end; uint64_t duration; }; /* ns: since the part's begin, of the event */

struct oracle_history {
    uint32_t *symbol;
    struct oracle_history_time *time;
    uint64_t fixed, size; /* size: a power of two */
    uint64_t preloaded;      /* of the places below `fixed`, written so far */
    uint64_t count;       /* the first free place of the run */
    uint64_t clock;       /* ns, end of the last event */
    uint64_t preloaded_clock; /* ns, end of the last one that was preloaded */
    uint32_t pieces;
    struct oracle_history_piece piece[ORACLE_HISTORY_PIECES];
};

/* Room for `fixed` events of references and the last `size` of the run, out of `room`. 0, or -1: it is too small. */
int oracle_history_create(struct oracle_history *t, struct base_arena *room, uint64_t fixed, uint64_t size);

/* Before the run: `events` events of a reference, from number `event` on, are the next piece, as far as there is
   room. */
void oracle_history_plan(struct oracle_history *t, uint32_t reference, uint64_t event, uint64_t events);
/* That was the last one: `fixed` shrinks to what was planned, and the run begins. */
void oracle_history_seal(struct oracle_history *t);

const struct oracle_history_piece *oracle_history_search(const struct oracle_history *t, uint64_t place);

/* Where a place below `fixed` comes from. */
static inline const struct oracle_history_piece *oracle_history_origin(const struct oracle_history *t, uint64_t place)
{
    return t->pieces == 1 ? t->piece : oracle_history_search(t, place);
}

/* The first place after a piece. */
static inline uint64_t oracle_history_end(const struct oracle_history *t, const struct oracle_history_piece *p)
{
    return p + 1 < t->piece + t->pieces ? p[1].place : t->fixed;
}

static inline uint64_t oracle_history_slot(const struct oracle_history *t, uint64_t place)
{
    return place < t->fixed ? place : t->fixed + ((place - t->fixed) & (t->size - 1));
}

static inline uint32_t oracle_history_symbol(const struct oracle_history *t, uint64_t place)
{
    return t->symbol[oracle_history_slot(t, place)];
}

static inline const struct oracle_history_time *oracle_history_time(const struct oracle_history *t, uint64_t place)
{
    return &t->time[oracle_history_slot(t, place)];
}

/* The oldest event of this run that is still there. */
static inline uint64_t oracle_history_oldest(const struct oracle_history *t)
{
    return t->count > t->fixed + t->size ? t->count - t->size : t->fixed;
}

/* The first place that can be read going back from `place` without a gap. */
static inline uint64_t oracle_history_first(const struct oracle_history *t, uint64_t place)
{
    return place < t->fixed ? oracle_history_origin(t, place)->place : oracle_history_oldest(t);
}

/* Whether `distance` events after `place` are known and follow it. */
static inline bool oracle_history_reaches(const struct oracle_history *t, uint64_t place, uint64_t distance)
{
    if (place >= t->fixed)
        return distance < t->count - place;
    const struct oracle_history_piece *p = oracle_history_origin(t, place);
    uint64_t end = oracle_history_end(t, p);
    return place < t->preloaded && distance < (end < t->preloaded ? end : t->preloaded) - place;
}

/* A place in 32 bits: the low half of 1 + it; 0 is no place. */
static inline uint32_t oracle_history_name(uint64_t place)
{
    return (uint32_t)(place + 1);
}

/* The place with this name, the last one where there are several; false: none, or it can no longer be read. */
static inline bool oracle_history_find(const struct oracle_history *t, uint32_t name, uint64_t *place)
{
    uint64_t age = (uint32_t)((uint32_t)t->count - name);

    if (name == 0)
        return false;
    *place = name - 1u;
    if (*place < t->fixed)
        return *place < t->preloaded;
    *place = t->count - 1 - age;
    return age < t->count && *place >= oracle_history_oldest(t);
}

static inline void oracle_history_store(struct oracle_history *t, uint32_t symbol, uint64_t gap, uint64_t duration)
{
    uint64_t slot = oracle_history_slot(t, t->count++);

    t->clock += gap + duration;
    t->symbol[slot] = symbol;
    t->time[slot] = (struct oracle_history_time){ t->clock, duration };
}

/* What follows the place with this name so far ahead, and that place; false: it can no longer be read, or is not known
   yet. As oracle_history_find() and so on, at once. */
static inline bool oracle_history_ahead(const struct oracle_history *t, uint32_t name, uint64_t distance,
                                        uint64_t *place, uint32_t *symbol)
{
    uint64_t back = (uint32_t)((uint32_t)t->count - name); /* events since, where it is of this run */

    if (name > t->fixed && back < t->count - t->fixed && back < t->size) {
        *place = t->count - 1 - back;
        *symbol = t->symbol[t->fixed + ((*place + distance - t->fixed) & (t->size - 1))];
        return distance <= back;
    }
    if (!oracle_history_find(t, name, place) || !oracle_history_reaches(t, *place, distance))
        return false;
    *symbol = oracle_history_symbol(t, *place + distance);
    return true;
}

/* The next of the planned places. */
static inline void oracle_history_preload(struct oracle_history *t, uint32_t symbol, uint64_t gap, uint64_t duration)
{
    uint64_t slot = t->preloaded++;

    t->preloaded_clock += gap + duration;
    t->symbol[slot] = symbol;
    t->time[slot] = (struct oracle_history_time){ t->preloaded_clock, duration };
}
