/* SPDX-License-Identifier: MIT */
/*
 * What happened before in places like this one: the second source of answers. It knows some of the references' events
 * and the last ones of this run (history.h), and answers in two ways.
 *
 * A match is an earlier place whose past equals the present's: it predicts what followed there, at any distance at
 * once, and once it reaches the present, the same again (a loop).
 *
 *     history  … x a b c d y a b c e a b c      now
 *                      ^       ^
 *                      match   match            length 3: "d y a" or "e a b c a b c" comes
 *
 * A match is kept while what follows it is what happens, and grows: after one turn of an outer loop a match holds the
 * whole turn, inner trip counts included, where a context of fixed length forgets them. New ones are found by hashes of
 * the last 6 to 32 events, of one order the last few places. Several matches vote, long ones more.
 *
 * What usually follows the last few events (context_frequency.h) is the better answer where the program itself is a
 * matter of chance. The time until the next event is known by the last few, too (gap_context.h).
 *
 * Invariants, when looked at: 1. a match's place can be read and is before the present;  2. the last min(length, 32)
 * events up to it are the last events of the run: when found events are compared, not hashes.
 *
 * An event costs a store. What came since is looked at when it is asked for: matches go on or end, some events are
 * indexed, a bounded number at a time.
 * Cost: O(orders + matches) of a look; a question O(matches) whatever the distance. Memory: as given.
 * Threads: owner.  Hook-safe: all.
 */
#ifndef PYTHIA_ORACLE_MATCH_H
#define PYTHIA_ORACLE_MATCH_H

#include "oracle/context_frequency.h"
#include "oracle/gap_context.h"
#include "oracle/history.h"

enum { ORACLE_MATCHES = 16, ORACLE_MATCH_ORDERS = 4, ORACLE_MATCH_FREQUENCIES = 2, ORACLE_MATCH_MEMORY_MIN = 64 << 10 };

struct oracle_match { uint64_t at; uint64_t length; };

/* Hashes of the last events up to a place, by order; `next`: the place after it, seen from `since` on. */
struct oracle_match_context { uint64_t next, since, hash[ORACLE_MATCH_ORDERS]; };

/* Of each order: hash of a context -> oracle_history_name() of its last place. */
struct oracle_match_table { uint32_t *slot; uint64_t mask; };

struct oracle_matcher {
    struct oracle_history history;
    uint32_t *link;          /* of places: the place before with the same 6 events, as in the tables */
    struct oracle_match_table preloaded, observed; /* places of references, of this run */
    uint64_t power[ORACLE_MATCH_ORDERS];
    struct oracle_match_context planned; /* up to where the references' places are */
    struct oracle_match_context index; /* up to where places are indexed */
    struct oracle_match_context here;  /* of the present, when it was last asked for */
    struct oracle_frequency frequency[ORACLE_MATCH_FREQUENCIES]; /* by the last 6 events, by the last 2 */
    struct oracle_gap_contexts gap[ORACLE_GAP_ORDERS]; /* by the last 12 events, 6, 2 */
    uint32_t matches;
    struct oracle_match match[ORACLE_MATCHES];
};

struct oracle_match_answer {
    uint32_t terminal;      /* GRAMMAR_NONE: unknown */
    double share;           /* of the weight of those asked */
    uint64_t length;        /* of the longest match that says so; of places asked */
    double until, duration; /* ns, as they were there */
    bool fixed;             /* there: in a reference */
};

/* Out of `room`, oracle_match_room() of which are enough: about `memory` bytes, at least ORACLE_MATCH_MEMORY_MIN, of
   which some for `fixed` events of references. NULL: it is too small. */
struct oracle_matcher *oracle_match_create(struct base_arena *room, size_t memory, uint64_t fixed);
size_t oracle_match_room(size_t memory);

/* The run begins; pieces of references were planned before (oracle_history_plan). */
void oracle_match_start(struct oracle_matcher *l);
/* The next of the planned events; there is one. */
void oracle_match_preload(struct oracle_matcher *l, uint32_t terminal, uint64_t gap, uint64_t duration);

/* The next event happened. */
static inline void oracle_match_store(struct oracle_matcher *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    oracle_history_store(&l->history, terminal, gap, duration);
}

/* Looks at what came since the last time. Places of the references are looked for if they are `wanted`. */
void oracle_match_follow(struct oracle_matcher *l, bool wanted);

/* The event `distance` >= 1 ahead, by the matches. Returns 0, or 1 (unknown). */
int oracle_match_ask(const struct oracle_matcher *l, uint64_t distance, struct oracle_match_answer *answer);
/* The same by what usually follows the last few events: 6 (`which` 0) or 2 (1). */
int oracle_match_frequent(struct oracle_matcher *l, int which, uint64_t distance, struct oracle_match_answer *answer);
/* The typical gap before `terminal`, if that is what comes next. */
struct oracle_gap_answer oracle_match_gap(const struct oracle_matcher *l, uint32_t terminal);
/* The longest match with a place of a reference, of at least `length` events; NULL: none. */
const struct oracle_match *oracle_match_in_reference(const struct oracle_matcher *l, uint64_t length);

/* Audits the invariants. 0 or PYTHIA_EFORMAT. */
int oracle_match_check(const struct oracle_matcher *l, char *why, size_t size);

#endif
