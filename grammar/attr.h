/* SPDX-License-Identifier: MIT */
/*
 * Attributes: what an event carries that is not its identity (peer, bytes, tag or index, team size).
 *
 * They vary from rank to rank and from turn to turn and would shatter the grammar if they were part of a symbol. Each
 * node of a terminal keeps, per channel, what its occurrences had in common:
 *
 *   GRAMMAR_ATTR_CONSTANT   all had this value
 *   GRAMMAR_ATTR_VARIES     least, greatest and sum; which of them had which stands in the terminal's course
 *                           (course.h), whose name a job puts here (job/course.h)
 *   GRAMMAR_ATTR_KEYED      durations by value (team sizes): up to GRAMMAR_ATTR_KEYS of them
 *
 * So nothing here depends on the order of the occurrences. Constant memory; joining is commutative.
 *
 * While all channels of a node are constant, which most nodes' are, a growing grammar keeps them as one tuple
 * (internal.h): a comparison an event, a cell a node.
 *
 * A value in a merged job may further be relative to the rank (see job/job.h).
 * Threads: owner.  Hook-safe: yes.
 */
#pragma once

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

enum grammar_attr_kind { GRAMMAR_ATTR_CONSTANT, GRAMMAR_ATTR_VARIES, GRAMMAR_ATTR_KEYED };

enum { GRAMMAR_ATTR_KEYS = 4 };

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
    uint16_t length; /* KEYED: keys in use */
    uint32_t unused; /* 0: models are compared as bytes */
    uint64_t count;  /* occurrences */
    int64_t min, max; /* CONSTANT: both are the value */
    int64_t sum;     /* modulo 2^64 */
    union {
        int64_t course; /* VARIES, in a job: the name of the course, below 0; else it is not kept */
        struct grammar_attr_key key[GRAMMAR_ATTR_KEYS]; /* the last one takes what does not fit: its value is -1 then */
    };
};

/* Starts a model with one occurrence. `duration` in ns counts for GRAMMAR_TEAM only. */
void grammar_attr_start(struct grammar_attr *a, enum grammar_channel c, int64_t value, uint64_t duration);
/* Adds one occurrence. */
void grammar_attr_add(struct grammar_attr *a, int64_t value, uint64_t duration);
/* Joins the occurrences of two nodes of the same terminal and channel. */
void grammar_attr_join(struct grammar_attr *into, const struct grammar_attr *from);
/* Of the occurrences, `count` go to `out`, which is overwritten: it is not known which, so that extremes stay bounds
   and what is no constant is shared in proportion. */
void grammar_attr_split(struct grammar_attr *a, uint64_t count, struct grammar_attr *out);
/* It is not known any more which occurrence had which value. */
static inline void grammar_attr_vary(struct grammar_attr *a)
{
    a->kind = GRAMMAR_ATTR_VARIES;
    a->course = 0;
}
/* Whether all occurrences have one value. */
bool grammar_attr_constant(const struct grammar_attr *a, int64_t *value);
