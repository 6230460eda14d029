/* SPDX-License-Identifier: MIT */
/*
 * What each rank of a job does, as the replay sees it: a grammar whose terminals are events, and for each event the
 * operations that it is made of.
 *
 *   grammar      R: a A^1000 z      A: b c^2         shared by all ranks that have the same rules
 *   event        b                                   a call with the computation before it, a parallel region
 *   operations   compute 2 ms, isend, recv, wait     what source->event() says for this rank and this occurrence
 *   primitives   the same, collectives written out as messages (replay/collective.h)
 *
 * A collective is its dependence structure: prefix ones and n-to-n ones of few ranks are a dissemination, all
 * others binomial trees.
 * The same primitives are written by `pythia export --to goal`, so that a simulator of its own runs what the engine
 * runs.
 *
 * Invariants:
 *   1. event() is a function of its arguments: asked again it gives the same operations
 *   2. occurrences of a node after one terminal whose number is equal modulo cycle(), and whose terminal's is by
 *      course(), have equal operations
 *   3. a send or receive names ranks of the job; REPLAY_ANY is allowed for the source of a receive, REPLAY_LATER for
 *      that of an IRECV
 *
 * Ownership: the source is the caller's and outlives what reads it. Units: ns, bytes.
 * Threads: any (read-only).  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "grammar/flat.h"

#define REPLAY_ANY UINT32_MAX  /* source of a receive: whoever comes first */
#define REPLAY_SOURCE (UINT32_MAX - 1) /* target of a send: the source of the last receive from anyone */
#define REPLAY_NOWHERE (UINT32_MAX - 2) /* peer that nothing is known of: the operation takes no part */
#define REPLAY_LATER (UINT32_MAX - 3) /* source of an IRECV: whom the wait for it names */

enum replay_kind {
    REPLAY_COMPUTE, /* `ns` on the rank's own */
    REPLAY_SEND,    /* done when the message is out, with the receiver's consent where it is longer than the eager
                       limit */
    REPLAY_RECV,
    REPLAY_ISEND,   /* begins a request */
    REPLAY_IRECV,
    REPLAY_WAIT,    /* for the requests that `back` says */
    REPLAY_COLLECTIVE,
};

/* What a rank has of a collective call. */
enum replay_shape {
    REPLAY_ALL,    /* everyone's data to everyone: bytes of each round */
    REPLAY_GROW,   /* the same, doubling each round: allgather */
    REPLAY_FROM,   /* root to all: broadcast */
    REPLAY_TO,     /* all to root: reduce, gather */
    REPLAY_PREFIX, /* from the lower ranks: scan */
    REPLAY_NEAR,   /* a message to and from each neighbour: neighbour() has them */
};

/* What a message is matched by beside the ranks: its communicator, which is below 2^31, and its tag there. Messages of
   collectives are apart. A receive of any tag matches all of the communicator's; a tag that is not known is one of its
   own, and what it leaves unmatched is matched in its order. */
#define REPLAY_TAG_ANY UINT32_MAX
#define REPLAY_TAG_UNKNOWN (UINT32_MAX - 1)
#define REPLAY_TAG_COLLECTIVE (UINT64_C(1) << 63)
static inline uint64_t replay_tag(uint32_t comm, uint32_t tag)
{
    return (uint64_t)(comm & INT32_MAX) << 32 | tag;
}

/* Requests that a wait is for. */
enum replay_back {
    REPLAY_BACK_ALL = -1,    /* all that are open */
    REPLAY_BACK_OLDEST = -2, /* the one that is open longest */
    REPLAY_BACK_OWN = -3,    /* those of this operation's own event */
};

/* A run of request distances: begun `distance` events ago, then `distance` + `step`, … `count` of them. */
struct replay_run { int64_t distance; int32_t step; uint32_t count; };

struct replay_op {
    uint8_t kind;     /* enum replay_kind */
    uint8_t shape;    /* enum replay_shape */
    uint8_t computes; /* of COMPUTE: the program's own work, not time in a call */
    uint8_t starts;   /* of COLLECTIVE: only begun, with requests of this event */
    uint8_t cancelled; /* of WAIT: no message came for the receive */
    uint8_t polls;    /* of WAIT: it looks now and then, for `ns` in all; of COMPUTE: work between such looks */
    uint8_t anyone;   /* of a receive: what REPLAY_SOURCE means from then on */
    uint32_t place;   /* whose time this is: a number of the source's */
    int64_t ns;
    uint64_t bytes;
    uint32_t peer;    /* rank of the job; root: rank within the group; of WAIT: rank within its request's group, or
                         REPLAY_ANY: not known */
    uint64_t tag;     /* replay_tag() */
    uint32_t group;   /* of a collective, and of IRECV: for source->member() */
    uint32_t size;    /* of the group */
    uint32_t me;      /* own rank in it; of REPLAY_NEAR the event's terminal */
    int32_t back;     /* number of runs, or enum replay_back */
    const struct replay_run *runs; /* the source's */
};

enum { REPLAY_OPS = 16 }; /* operations of one event, at most */

/* What repeats after `period` occurrences, 0: never, from occurrence `from` on. */
struct replay_cycle { uint64_t from; uint32_t period; };

/* Two occurrences with the same number here are followed by the same ones. */
static inline uint64_t replay_cycle_phase(const struct replay_cycle *c, uint64_t i)
{
    return c->period && i >= c->from ? c->from + (i - c->from) % c->period : i;
}

/* After how many occurrences both begin anew; 0: never, or too late to matter. */
static inline uint32_t replay_cycle_both(uint32_t x, uint32_t y)
{
    enum { MOST = 1 << 20 };
    uint32_t a = x, b = y;

    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return x && y && (uint64_t)x / a * y <= MOST ? x / a * y : 0;
}

/* Which occurrence of a node, and of its terminal, and the terminal before it: GRAMMAR_NONE: it is the first event. */
struct replay_moment { uint64_t i, nth; uint32_t before; };

struct replay_source {
    uint32_t ranks, places;
    void *context;
    /* The grammar of a rank; GRAMMAR only: rules, nodes. */
    const struct grammar_flat *(*grammar)(void *context, uint32_t rank);
    /* Fills ops[] with what an occurrence of `node` is; how many, at most REPLAY_OPS. */
    uint32_t (*event)(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *ops);
    /* After how many occurrences a node's operations begin anew: 1: always the same; 0: never. */
    uint32_t (*cycle)(void *context, uint32_t rank, uint32_t node);
    /* The same for occurrences of its terminal, where they matter. NULL: they never do. */
    bool (*course)(void *context, uint32_t rank, uint32_t node, struct replay_cycle *cycle);
    /* Rank of the job of member `i` of a group. */
    uint32_t (*member)(void *context, uint32_t group, uint32_t rank, uint32_t i);
    /* The next primitive of a collective with neighbours, from step *step (0 at first), which advances; out->peer is a
       rank of the job. False: there is none any more. NULL: there are no such collectives. */
    bool (*neighbour)(void *context, uint32_t rank, const struct replay_op *op, uint32_t *step, struct replay_op *out);
};

/* LogGP, with the names and the meaning of LogGOPSim. */
struct replay_model {
    int64_t L, o, g, O; /* ns: latency, overhead, gap between messages, overhead a byte */
    int64_t G;          /* ps a byte */
    uint64_t S;         /* bytes: longer messages wait for their receiver */
};
/* ns. The numbers of a file may say anything: no operation takes longer than a year, and beyond 36 years it is no
   replay any more (PYTHIA_ELIMIT). So clocks do not wrap. */
#define REPLAY_LONGEST ((int64_t)1 << 55)
#define REPLAY_LATEST ((int64_t)1 << 60)
/* Of what may be below 0, infinite or no number, which takes no time. */
static inline int64_t replay_ns(double ns)
{
    return ns > 0 ? ns < (double)REPLAY_LONGEST ? (int64_t)ns : REPLAY_LONGEST : 0;
}

static inline int64_t replay_wire(const struct replay_model *m, uint64_t bytes)
{
    return bytes > 1 ? replay_ns((double)(bytes - 1) * (double)m->G / 1000) : 0;
}
