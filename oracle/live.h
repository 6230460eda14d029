/* SPDX-License-Identifier: MIT */
/*
 * What this run itself has shown: the second source of answers, for what the reference does not know.
 *
 * The last events are kept in a ring. A match is an earlier place whose past equals the present's: it predicts what
 * followed there, at any distance at once, and once it reaches the present, the same again (a loop).
 *
 *     ring     … x a b c d y a b c e a b c      now
 *                      ^       ^
 *                      match   match            length 3: "d y a" or "e a b c a b c" comes
 *
 * A match is kept while what follows it is what happens, and grows: after one turn of an outer loop a match holds the
 * whole turn, inner trip counts included, where a context of fixed length forgets them. New ones are found by hashes of
 * the last 1 to 32 events, of one order the last few places. Several matches vote, long ones more.
 *
 * Invariants: 1. a match's place is in the ring, before the present;  2. the last min(length, 32) events up to it
 * are the last events of the run: when found events are compared, not hashes.
 *
 * While nobody needs it, it sleeps: events are only stored, and indexed a bounded number at a time after it wakes.
 * Cost: a store asleep; O(orders + matches) awake; a question O(matches) whatever the distance. Memory: as given.
 * Threads: owner.  Hook-safe: all but creation and destruction.
 */
#ifndef PYTHIA_ORACLE_LIVE_H
#define PYTHIA_ORACLE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORACLE_LIVE_MATCHES = 16, ORACLE_LIVE_ORDERS = 6, ORACLE_LIVE_MEMORY_MIN = 64 << 10 };

struct oracle_live_event { uint64_t end; uint32_t symbol, duration; }; /* ns since the first event; ns, saturated */
struct oracle_live_match { uint64_t at; uint64_t length; };

struct oracle_live {
    struct oracle_live_event *ring;
    uint32_t *link;          /* of events: low half of 1 + the place before with the same 8 events */
    uint32_t *table;         /* of each order: hash of a context -> low half of 1 + its last place */
    uint64_t size, slots;    /* of the ring, of the table of one order: powers of two */
    uint64_t count, indexed; /* events stored and indexed so far */
    uint64_t since;          /* the hashes have seen the events from here on */
    uint64_t clock;          /* ns, end of the last event */
    uint64_t hash[ORACLE_LIVE_ORDERS], power[ORACLE_LIVE_ORDERS];
    uint32_t matches;
    struct oracle_live_match match[ORACLE_LIVE_MATCHES];
};

struct oracle_live_answer {
    uint32_t terminal;      /* GRAMMAR_NONE: unknown */
    double share;           /* of the matches' weight */
    uint64_t length;        /* of the longest match that says so */
    double until, duration; /* ns, as they were there */
};

/* At most `memory` bytes, at least ORACLE_LIVE_MEMORY_MIN; NULL when out of memory. */
struct oracle_live *oracle_live_create(size_t memory);
void oracle_live_destroy(struct oracle_live *l); /* NULL is legal */

/* The next event happened. */
static inline void oracle_live_store(struct oracle_live *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    struct oracle_live_event *e = &l->ring[l->count++ & (l->size - 1)];

    l->clock += gap + duration;
    e->end = l->clock;
    e->symbol = terminal;
    e->duration = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX;
}

/* After each event while awake: what goes on, what is new. After a sleep the matches come back once the events are
   indexed, some at each call. */
void oracle_live_follow(struct oracle_live *l);

/* The event `distance` >= 1 ahead. Returns 0, or 1 (unknown). */
int oracle_live_ask(const struct oracle_live *l, uint64_t distance, struct oracle_live_answer *answer);

/* Audits the invariants. 0 or PYTHIA_EFORMAT. */
int oracle_live_check(const struct oracle_live *l, char *why, size_t size);

#endif
