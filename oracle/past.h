/* SPDX-License-Identifier: MIT */
/*
 * What happened before in places like this one. It knows some of the references' events and the last ones of this run
 * (history.h), and has two kinds of voters on the event that is any distance ahead.
 *
 * A match is an earlier place whose past equals the present's: it says what followed there, and, once it reaches the
 * present, the same again (a loop). It is kept while what follows it is what happens, and grows: after one turn of an
 * outer loop it holds the whole turn, inner trip counts included, where a context of fixed length forgets them.
 *
 *     history  … x a b c d y a b c e a b c      now
 *                      ^       ^
 *                      match   match            length 3: "d y a" or "e a b c a b c" comes
 *     context  "b c": places 3 8 12 …           what followed most of them
 *
 * A context is the last 1 to 32 events, by their hash; in one cache line it has a sample of the places where it
 * occurred, which vote by what followed each of them. The sample is a reservoir (Vitter, "Random Sampling with a
 * Reservoir", 1985): place number n is taken with probability PLACES / n, so that all are as likely to be in it (the
 * last few are of one phase of the program, and do not know yet what is far ahead); never with less than 1 / 8, so that
 * it follows a program that changes. Matches are found among the places of the longer contexts. The time until the next
 * event is known by the last few events, too (gap_context.h).
 *
 * Invariants, when looked at: 1. a match's place can be read and is before the present;  2. the last min(length, 32)
 * events up to it are the last events of the run: when found events are compared, not hashes.
 *
 * An event costs a store. What came since is looked at when it is asked for: matches go on or end, some events enter
 * their contexts, a bounded number at a time.
 * Cost: O(orders + matches) of a look; a vote reads at most ORACLE_CONTEXT_PLACES places, whatever the distance.
 * Memory: as given.
 * Threads: owner.  Hook-safe: all.
 */
#pragma once

#include "oracle/gap_context.h"
#include "oracle/history.h"

enum { ORACLE_MATCHES = 8,
       ORACLE_ORDERS = 7,         /* of contexts: the last 1, 2, 4, 6, 8, 16, 32 events */
       ORACLE_CONTEXT_PLACES = 14,
       ORACLE_PAST_VOTERS = 1 + 5, /* the matches; contexts of the first orders: the others find matches */
       ORACLE_PAST_STATES = 64,
       ORACLE_SHARES = 4,
       ORACLE_PAST_MEMORY_MIN = 64 << 10 };

struct oracle_match { uint64_t at; uint64_t length; };

/* Hashes of the last events up to a place, by order; `next`: the place after it, seen from `since` on. */
struct oracle_rolling { uint64_t next, since, hash[ORACLE_ORDERS]; };

struct oracle_context {
    uint32_t tag;                       /* upper half of the context's hash */
    uint32_t seen;                      /* times that it occurred, less what rarer ones took, saturated */
    uint32_t at[ORACLE_CONTEXT_PLACES]; /* oracle_history_name() of some of its places, the first `seen` of them */
};

struct oracle_past {
    struct oracle_history history;
    struct oracle_context *context; uint64_t mask; /* direct-mapped, of all orders; slots - 1 */
    uint64_t power[ORACLE_ORDERS];
    struct oracle_rolling planned; /* up to where the references' places are */
    struct oracle_rolling index;   /* up to where places are entered */
    struct oracle_rolling here;    /* of the present, when it was last asked for */
    struct oracle_gap_contexts gap[ORACLE_GAP_ORDERS];
    uint32_t matches;
    struct oracle_match match[ORACLE_MATCHES];
    uint64_t random;
};

static inline uint32_t oracle_random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * n >> 32);
}

/* Classes by which votes are told apart: of a share, ORACLE_SHARES of them; 0, 1, 2-3, 4-7, … */
static inline uint32_t oracle_share_class(double share)
{
    return share < 0.4 ? 0 : share < 0.7 ? 1 : share < 0.95 ? 2 : 3;
}

static inline uint32_t oracle_log_class(uint64_t n, uint32_t classes)
{
    uint32_t log = n ? 64 - (uint32_t)__builtin_clzll(n) : 0;
    return log < classes ? log : classes - 1;
}

/* What a voter says, and how sure it can be by what it has seen. */
struct oracle_vote { uint32_t terminal; /* GRAMMAR_NONE: nothing */ uint32_t state; /* < ORACLE_PAST_STATES */ };
/* ns, as it was where that followed; there: in a reference. */
struct oracle_past_time { double until, duration; bool fixed; };

/* Out of `room`, oracle_past_room() of which are enough: about `memory` bytes, at least ORACLE_PAST_MEMORY_MIN, of
   which some for `fixed` events of references. NULL: it is too small. */
struct oracle_past *oracle_past_create(struct base_arena *room, size_t memory, uint64_t fixed);
size_t oracle_past_room(size_t memory);

/* The run begins; pieces of references were planned before (oracle_history_plan). */
void oracle_past_start(struct oracle_past *l);
/* The next of the planned events; there is one. */
void oracle_past_preload(struct oracle_past *l, uint32_t terminal, uint64_t gap, uint64_t duration);

/* The next event happened. */
static inline void oracle_past_store(struct oracle_past *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    oracle_history_store(&l->history, terminal, gap, duration);
}

/* Looks at what came since the last time. */
void oracle_past_follow(struct oracle_past *l);

/* What voter number `voter` says of the event `distance` >= 1 ahead, after a look at the present. */
struct oracle_vote oracle_past_vote(const struct oracle_past *l, int voter, uint64_t distance);
/* The prior of such a vote: how likely one in this state is right. */
double oracle_past_prior(int voter, uint32_t state);
/* When that is, where it said `terminal`. */
struct oracle_past_time oracle_past_time(const struct oracle_past *l, int voter, uint64_t distance, uint32_t terminal);
/* The typical gap before `terminal`, if that is what comes next. */
struct oracle_gap_answer oracle_past_gap(const struct oracle_past *l, uint32_t terminal);
/* The longest match with a place of a reference, of at least `length` events; NULL: none. */
const struct oracle_match *oracle_past_in_reference(const struct oracle_past *l, uint64_t length);
