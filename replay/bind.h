/* SPDX-License-Identifier: MIT */
/*
 * A job's ranks as programs for the replay: the grammar of the class that a rank's first thread belongs to, and for
 * each node the operations that its call is made of.
 *
 *   terminal: MPI_Sendrecv at a callsite          operations: compute (the gap), irecv, isend, wait
 *   rank's own times at the node  ------------->  ns of the gap; of calls that never wait also how long they take
 *   peer, bytes, tag, members of groups ---->  whom a message goes to
 *
 * A *site* is a function at a callsite: place 2 * site is the computation before it, 2 * site + 1 the call, or the
 * region's work.
 *
 * What the model cannot know of a call that waits (entering the library, being woken up) is its `extra`, fitted from
 * the recording. Changes ("what if") are applied here: other speeds, equal work, another network, no extras.
 *
 * Overhead is part of what calls take, and of a message's way: the engine's model has none of its own (o, g and O are
 * 0). So no message takes time from a rank that works on something else, a rank's clock is a maximum of sums of other
 * clocks and times (max-plus), and loops become periodic soon (Heidergott, Olsder, van der Woude 2006); with contention
 * for the receiver's processor 32 ranks repeat after thousands of turns only.
 *
 * Ownership: the job outlives it.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "job/job.h"
#include "replay/program.h"

enum bind_what {
    BIND_NOTHING, /* the end of a span, what is not known */
    BIND_LOCAL,   /* a call that does not wait, or of which nothing is known: takes as long as it took */
    BIND_REGION,
    BIND_SEND, BIND_RECV, BIND_ISEND, BIND_IRECV, BIND_SENDRECV,
    BIND_START, BIND_STARTALL, /* of persistent requests: which way, and whom for, is in the sums by peer */
    BIND_WAIT_ONE, BIND_WAIT_ALL,
    BIND_COLLECTIVE, BIND_FINALIZE,
    BIND_ICOLLECTIVE, /* begins one, which a wait completes */
    BIND_WINDOW,      /* a collective of whoever has the window: which ranks that are is not recorded */
    BIND_INIT,        /* the time before it is that of starting the process, and the call's: nobody can give it away */
    BIND_PROBE,       /* what it waits for the receive after it waits for */
};

struct bind_site {
    uint32_t terminal; /* one that stands for it */
    uint8_t what;      /* enum bind_what */
    uint8_t shape;     /* enum replay_shape */
    uint8_t any;       /* receives from anyone */
    uint8_t answers;   /* sends to whom it last received from */
    uint8_t call_kind; /* enum job_call_kind; JOB_NO_CALL_KIND: a region */
    double count, gap_ns, call_ns; /* recorded, of all ranks' first threads */
    double bytes;
};

/* What messages take: ns from the end of sending to the beginning of receiving, ns for each of these, ns a byte. */
struct bind_network { double latency, overhead, byte; };

/* Which turns of a rank have how much of its work: all the same, by chance, or no two ranks' longest ones together
   (bind_draw.c). */
enum bind_draw { BIND_MEANS, BIND_INDEPENDENT, BIND_APART };

struct bind_change {
    const struct bind_network *network; /* NULL: as it is */
    double *speed;      /* of each rank, 1: as it was; NULL: all */
    bool balance_all;
    uint32_t balance;   /* site whose work is made equal on all ranks, GRAMMAR_NONE: none */
    bool no_extra;      /* calls take what the model says, and rests */
    enum bind_draw draw; /* which turn has what: by `seed`, too */
    uint64_t seed;      /* not 0: each rank's means are drawn anew, from how sure they are */
};

/* Others than bind*.c read `source` (the programs, with the changes and extras that hold at that time), what is of
   sites, and `network`; and set the last, `extra` and `rest`. */
struct replay_bind {
    const struct job *job;
    struct replay_source source;
    struct bind_network network;
    const struct bind_change *change;
    uint32_t *site_of;          /* of each terminal */
    struct bind_comms *comms;
    struct bind_site *site;
    double *extra;              /* of each site: what each call takes beyond the model, ns */
    double *mean;               /* of each place: work, over the ranks that have it */
    double *least;              /* of each site: what a call takes without a wait, ns: the least that any rank saw at
                                   that size, over its calls */
    uint32_t site_count;
    struct bind_role *role;
    uint32_t role_count, role_room;
    struct bind_times **others; /* of each class by node, once asked for: members without times of their own there */
    struct bind_rank *rank;
    struct bind_shape *shape;
    uint32_t shape_count;
    double *count, *call;       /* ranks x sites */
    float *alone;               /* the same: how many of the calls are with nobody (MPI_PROC_NULL) */
    float *rest;                /* the same: what a rank's calls take beyond `extra`, ns … */
    double extra_share, rest_share; /* how much of both is counted */
};

/* NULL: out of memory, or a job without ranks. */
struct replay_bind *replay_bind_create(const struct job *j);
void replay_bind_destroy(struct replay_bind *b); /* NULL is legal */

void replay_bind_set(struct replay_bind *b, const struct bind_change *c); /* `c` stays the caller's, while the source is
                                                                             used */

/* Recorded time of a rank in the calls of a site, ns, and how many there are. */
double replay_bind_calls(const struct replay_bind *b, uint32_t rank, uint32_t site, double *count);
/* How many of these have somebody to wait for. */
double replay_bind_meetings(const struct replay_bind *b, uint32_t rank, uint32_t site);
/* By how much one execution of a place differs from the next on a rank: the deviation within its nodes, ns. */
double replay_bind_scatter(const struct replay_bind *b, uint32_t rank, uint32_t place);
/* How much of `extra` and `rest` is counted: 0: nothing; 1, as at first: the extras; up to 2: a part of the rests. */
void replay_bind_fill(struct replay_bind *b, double fill);
/* For the engine, of the network that holds at that time. */
struct replay_model replay_bind_model(const struct replay_bind *b);
