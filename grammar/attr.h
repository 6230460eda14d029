/* SPDX-License-Identifier: MIT */
/*
 * Attributes: what an event carries that is not its identity (peer, bytes, tag or index, team size).
 *
 * They vary from rank to rank and from turn to turn and would shatter the grammar if they were part of a symbol. Each
 * node of a terminal keeps, per channel, a model of the values that its occurrences had, in the order in which they
 * occurred in the stream:
 *
 *   occurrence i of the node      0    1    2    3    4    5   ...
 *   GRAMMAR_ATTR_RAMP             base + step * (i mod period)      step 0: a constant; period 0: not wrapped yet
 *   GRAMMAR_ATTR_LIST             list[i mod period]                period <= GRAMMAR_ATTR_LENGTH
 *   GRAMMAR_ATTR_VARIES           only minimum, maximum and sum are known; in a job list[0] and list[1] may say where
 *                                 the terminal's values are in the order of the stream (job/course.h)
 *   GRAMMAR_ATTR_KEYED            durations by value (team sizes): up to GRAMMAR_ATTR_KEYS of them
 *
 * RAMP and LIST are exact: occurrence i has exactly that value. Joining two nodes keeps a model exact where one node's
 * occurrences all came before the other's and one formula holds for both, else it becomes VARIES. Constant memory.
 *
 * While all occurrences of a node have the same values, which most nodes' do, a growing grammar keeps these once, as a
 * tuple (internal.h): a comparison an event, a cell a node. The first other value makes models of them.
 *
 * A value in a merged job may further be relative to the rank (see job/job.h).
 * Threads: owner.  Hook-safe: yes.
 */
#ifndef PYTHIA_GRAMMAR_ATTR_H
#define PYTHIA_GRAMMAR_ATTR_H

#include <stdbool.h>
#include <stdint.h>

enum grammar_channel {
    GRAMMAR_PEER,  /* rank in the event's communicator; root of a rooted collective */
    GRAMMAR_BYTES, /* payload of this call on this rank */
    GRAMMAR_INDEX, /* tag of a point-to-point call, or index or number of what a completion completed */
    GRAMMAR_TEAM,  /* team size of a parallel region: KEYED, durations by size */
    GRAMMAR_REPLY, /* after a receive from anyone: 1 where the peer is that one's source, 0 where not */
    GRAMMAR_PLACE, /* what the peer is in its communicator, where that is not as large as the job: see pmpi/comm.h */
    GRAMMAR_SOURCE,     /* the half of a Sendrecv that receives: whom from, as PEER … */
    GRAMMAR_RECEIVED,   /* … bytes that came … */
    GRAMMAR_SOURCE_TAG, /* … and their tag */
    GRAMMAR_STARTS,     /* of a completion: how many events before it in the stream what it completes was started; below
                           0 the name of a list of such distances, or GRAMMAR_CANCELLED; 0: not known */
    GRAMMAR_CHANNELS
};

enum grammar_attr_kind { GRAMMAR_ATTR_RAMP, GRAMMAR_ATTR_LIST, GRAMMAR_ATTR_VARIES, GRAMMAR_ATTR_KEYED };

enum { GRAMMAR_ATTR_LENGTH = 8, GRAMMAR_ATTR_KEYS = 4 };

/* Values of GRAMMAR_PEER that are no rank: the same on every MPI. */
enum { GRAMMAR_PEER_ANY = -1, GRAMMAR_PEER_NULL = -2, GRAMMAR_PEER_NONE = -3 };

/* In a course: an event that has no value of the channel. */
#define GRAMMAR_ABSENT INT64_MIN

/* Value of GRAMMAR_STARTS: a receive that was cancelled; nothing came. */
enum { GRAMMAR_CANCELLED = -1 };

struct grammar_attr_key {
    int64_t value;    /* team size */
    uint64_t count;   /* occurrences at that value */
    uint64_t sum;     /* ns, their durations */
};

struct grammar_attr {
    uint8_t channel; /* enum grammar_channel */
    uint8_t kind;    /* enum grammar_attr_kind */
    uint16_t length; /* LIST: values in list[]; KEYED: keys in use */
    uint32_t period; /* RAMP, LIST: see above; RAMP: 0 until it wrapped */
    uint64_t count;  /* occurrences */
    uint64_t first;  /* index in the stream of the first and of the last occurrence */
    uint64_t last;
    int64_t min, max;
    int64_t sum;
    union {
        struct { int64_t base, step; } ramp;
        int64_t list[GRAMMAR_ATTR_LENGTH];
        struct grammar_attr_key key[GRAMMAR_ATTR_KEYS]; /* the last one takes what does not fit: its value is -1 then */
    };
};

/* Starts a model with one occurrence, at stream index `at`. `duration` in ns counts for GRAMMAR_TEAM only. */
void grammar_attr_start(struct grammar_attr *a, enum grammar_channel c, int64_t value, uint64_t duration, uint64_t at);
/* Appends one occurrence that came after all others. */
void grammar_attr_add(struct grammar_attr *a, int64_t value, uint64_t duration, uint64_t at);
/* The same where all others had this value, too, as most have; false: they had not. */
static inline bool grammar_attr_repeat(struct grammar_attr *a, int64_t value, uint64_t at)
{
    if (a->kind != GRAMMAR_ATTR_RAMP || a->ramp.step != 0 || a->ramp.base != value)
        return false;
    a->count++;
    a->last = at;
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)value);
    return true;
}
/* Joins the occurrences of two nodes of the same terminal and channel. */
void grammar_attr_join(struct grammar_attr *into, const struct grammar_attr *from);
/* Joins two nodes side by side in a rule: in each pass of the rule `left` occurrences of `into`, then `right` of
   `from`. */
void grammar_attr_weave(struct grammar_attr *into, uint64_t left, const struct grammar_attr *from, uint64_t right);
/* The node's exponent `whole` is split: of each pass of `whole` turns the first `part` stay, or go to `out` when
   `front`; the rest goes to the other. `out` is overwritten. */
void grammar_attr_split(struct grammar_attr *a, uint64_t part, uint64_t whole, bool front, struct grammar_attr *out);
/* Value of occurrence `i`; returns false where the model is not exact (or KEYED). */
bool grammar_attr_value(const struct grammar_attr *a, uint64_t i, int64_t *value);
/* Whether all occurrences have one value. */
bool grammar_attr_constant(const struct grammar_attr *a, int64_t *value);

#endif
