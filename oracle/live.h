/* SPDX-License-Identifier: MIT */
/*
 * What happened before in places like this one: the second source of answers. It knows some of the references' events and
 * the last ones of this run (text.h), and answers in two ways.
 *
 * A match is an earlier place whose past equals the present's: it predicts what followed there, at any distance at once,
 * and once it reaches the present, the same again (a loop).
 *
 *     text     … x a b c d y a b c e a b c      now
 *                      ^       ^
 *                      match   match            length 3: "d y a" or "e a b c a b c" comes
 *
 * A match is kept while what follows it is what happens, and grows: after one turn of an outer loop a match holds the
 * whole turn, inner trip counts included, where a context of fixed length forgets them. New ones are found by hashes of
 * the last 6 to 32 events, of one order the last few places. Several matches vote, long ones more.
 *
 * What usually follows the last few events (often.h) is the better answer where the program itself is a matter of chance.
 *
 * Invariants, when looked at: 1. a match's place can be read and is before the present;  2. the last min(length, 32)
 * events up to it are the last events of the run: when found events are compared, not hashes.
 *
 * An event costs a store. What came since is looked at when it is asked for: matches go on or end, some events are
 * indexed, a bounded number at a time.
 * Cost: O(orders + matches) of a look; a question O(matches) whatever the distance. Memory: as given.
 * Threads: owner.  Hook-safe: all but creation and destruction.
 */
#ifndef PYTHIA_ORACLE_LIVE_H
#define PYTHIA_ORACLE_LIVE_H

#include "oracle/often.h"
#include "oracle/text.h"

enum { ORACLE_LIVE_MATCHES = 16, ORACLE_LIVE_ORDERS = 4, ORACLE_LIVE_OFTEN = 2, ORACLE_LIVE_MEMORY_MIN = 64 << 10 };

struct oracle_live_match { uint64_t at; uint64_t length; };

/* Hashes of the last events up to a place, by order. */
struct oracle_live_context { uint64_t next, since, hash[ORACLE_LIVE_ORDERS]; }; /* the next place; seen from here on */

/* Of each order: hash of a context -> oracle_text_name() of its last place. */
struct oracle_live_table { uint32_t *slot; uint64_t mask; };

struct oracle_live {
    struct oracle_text text;
    uint32_t *link;          /* of places: the place before with the same 6 events, as in the tables */
    struct oracle_live_table taught, lived; /* places of references, of this run */
    uint64_t power[ORACLE_LIVE_ORDERS];
    struct oracle_live_context lesson; /* up to where the references' places are */
    struct oracle_live_context index; /* up to where places are indexed */
    struct oracle_live_context here;  /* of the present, when it was last asked for */
    struct oracle_often often[ORACLE_LIVE_OFTEN]; /* by the last 6 events, by the last 2 */
    uint32_t matches;
    struct oracle_live_match match[ORACLE_LIVE_MATCHES];
};

struct oracle_live_answer {
    uint32_t terminal;      /* GRAMMAR_NONE: unknown */
    double share;           /* of the weight of those asked */
    uint64_t length;        /* of the longest match that says so; of places asked */
    double until, duration; /* ns, as they were there */
    bool fixed;             /* there: in a reference */
};

/* At most `memory` bytes, at least ORACLE_LIVE_MEMORY_MIN, of which some for `fixed` events of references. NULL when out of
   memory. */
struct oracle_live *oracle_live_create(size_t memory, uint64_t fixed);
void oracle_live_destroy(struct oracle_live *l); /* NULL is legal */

/* The run begins; pieces of references were planned before (oracle_text_plan). */
void oracle_live_start(struct oracle_live *l);
/* The next of the planned events; there is one. */
void oracle_live_teach(struct oracle_live *l, uint32_t terminal, uint64_t gap, uint64_t duration);

/* The next event happened. */
static inline void oracle_live_store(struct oracle_live *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    oracle_text_store(&l->text, terminal, gap, duration);
}

/* Looks at what came since the last time. Places of the references are looked for if they are `wanted`. */
void oracle_live_follow(struct oracle_live *l, bool wanted);

/* The event `distance` >= 1 ahead, by the matches. Returns 0, or 1 (unknown). */
int oracle_live_ask(const struct oracle_live *l, uint64_t distance, struct oracle_live_answer *answer);
/* The same by what usually follows the last few events: 6 (`which` 0) or 2 (1). */
int oracle_live_usual(struct oracle_live *l, int which, uint64_t distance, struct oracle_live_answer *answer);
/* The longest match with a place of a reference, of at least `length` events; NULL: none. */
const struct oracle_live_match *oracle_live_anchor(const struct oracle_live *l, uint64_t length);

/* Audits the invariants. 0 or PYTHIA_EFORMAT. */
int oracle_live_check(const struct oracle_live *l, char *why, size_t size);

#endif
