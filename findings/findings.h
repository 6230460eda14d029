/* SPDX-License-Identifier: MIT */
/*
 * What costs most and why: findings, made of the waits of the replay (replay/blame.h) and of what is known of regions,
 * and of what these do not have a line for each other way to lose time, in one list.
 *
 *   waits: where x cause x culprit    ──those that belong together──>  a finding: kind, where, cause, ranks, seconds
 *   regions: fork, work, wait, join   ──────────────────────────────>  uneven threads, small regions, serial part
 *
 *   a call's time = waits with a cause
 *                 + transfer             the shortest of its executions times how many there were, and what the replay
 *                                        has it wait for other ranks' calls: latency. At the end: idle ranks
 *                 + no processor         what is left, up to what ranks were ready without one: an upper bound
 *                 + not explained        what is left then
 *   a region's time = work + uneven threads + waiting for each other + fork and join   job/threads.h
 *
 * Calls of MPI I/O, those that make communicators, and MPI_Finalize are a line each, whatever their time is; MPI_Init
 * is no part of the run.
 *
 * Seconds are those of all ranks together; the share is of their wall time. Of a region they are what its rank loses: a
 * team of two, one of which waits half of the region for the other, loses a quarter of its time; of calls inside it
 * what all its threads lose. So findings are disjoint, and what they cost and `minor` add up to `lost`. Times of calls
 * are those of the ranks' first threads, which the replay follows: what other threads lose in MPI is a line of its own.
 * Where other threads than those of regions call MPI (efficiency.elsewhere) there are waits alone, and the share is of
 * what all threads have.
 *
 * Two waits belong together when a good part of each place's waits has the same cause, or a good part of a cause's
 * waits is at the same place: a serialised phase makes ranks wait at a receive and then at a barrier, and is one
 * finding.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "findings/report.h"
#include "replay/analysis.h"

enum finding_kind {
    FINDINGS_LATE_SENDER,
    FINDINGS_LATE_RECEIVER,
    FINDINGS_IMBALANCE,
    FINDINGS_MOVING_IMBALANCE,
    FINDINGS_SERIAL_CHAIN,
    FINDINGS_STARVED_WORKERS,
    FINDINGS_WAITING_MASTER,
    FINDINGS_SMALL_REGIONS,
    FINDINGS_UNEVEN_THREADS,
    FINDINGS_SERIAL_PART,
    FINDINGS_MANY_SMALL_MESSAGES,
    /* What none of these has: */
    FINDINGS_IO,
    FINDINGS_COMMUNICATORS,
    FINDINGS_START_AND_END,
    FINDINGS_ENDED_EARLY,
    FINDINGS_IDLE_RANKS,
    FINDINGS_TRANSFER,
    FINDINGS_NO_PROCESSOR,
    FINDINGS_THREADS_WAIT,
    FINDINGS_FORK_AND_JOIN,
    FINDINGS_OTHER_THREADS,
    FINDINGS_UNFINISHED,
    FINDINGS_NOT_EXPLAINED,
    FINDING_KINDS
};

struct finding {
    enum finding_kind kind;
    char where[256], cause[256]; /* function@file:line */
    char ranks[128];             /* whose work it is: "ranks 0,2" */
    uint32_t call;               /* terminal of the call or region that waits */
    uint32_t by;                 /* terminal of the cause, … */
    bool some;                   /* … to which not all of `ranks` come: it is that of some */
    uint32_t more;               /* other places that have a tenth of its seconds or more; `where` has most */
    double seconds, share;
};

struct findings_list {
    struct finding *finding;
    uint32_t count;
    double minor; /* the share of those that cost less than 1 % each and are left out, together */
    bool known;   /* the job could be replayed */
    double base;  /* s that shares are of: the wall time of all ranks, whose threads wait with the first one; of all
                     threads with streams where these wait by themselves */
    double lost;  /* 1 - the parallel efficiency; NAN: not known, and there are no lines but of waits */
};

/* Most expensive first; the report's until it is destroyed. */
const struct findings_list *findings_list(struct report *r);
void findings_list_destroy(struct findings_list *f); /* NULL is legal */

/* The share of their time that ranks had something to compute and no processor; 0 where that is not known, too. Who
   polls inside MPI is ready, but has no work: of the time that ranks were ready it is at most what they were
   outside. */
double findings_delay_share(const struct report *r);

/* The replay that they are made of; NULL where the job cannot be replayed. The report's. */
struct replay_analysis *findings_analysis(struct report *r);
/* Of the events of the replay those that went on without their message. */
double findings_unmatched(struct report *r);
/* Why no schedule of its ranks can be shown: there is no replay, or one in which a greater share than `most` of the
   events went on without their message. NULL: it can. */
const char *findings_cannot_replay(struct report *r, double most);

const char *finding_name(enum finding_kind k);                 /* "late_sender" */
const char *finding_words(enum finding_kind k);                /* "late sender" */
/* Some words; "" where a finding is too short to be worth any (a millisecond). */
const char *finding_advice(struct report *r, const struct finding *one);
/* "ranks 0,2-5", of flags; shortened by "…". */
void findings_ranks_set(const bool *in, uint32_t ranks, char *text, size_t size);

/* "function@file:line" of a call or region. */
void findings_site_place(struct report *r, uint32_t terminal, char *text, size_t size);
