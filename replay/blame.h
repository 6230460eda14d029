/* SPDX-License-Identifier: MIT */
/*
 * The account of a replay: what each rank's time is, who waits for whom, and why.
 *
 * Each rank has a *path*: of the time until now, how much was spent at which place, by the ranks that its present time
 * depends on. While a rank works its own time is added. When it waits for another one, who is late, it depends on that
 * one's past from now on, and takes its path over: the wait is in nobody's path. At the end the path of the last rank
 * is the critical path, and adds up to the job's wall time.
 *
 * Why a rank waits follows from the two paths at that moment: both began at 0, one has come to the present, the other
 * lacks the length of the wait. The places where the late one's path has more time than the waiting one's are the
 * causes, in proportion to how much more (Boehme, Geimer, Wolf, Arnold, ICPP 2010; TOPC 2016: the delay is the excess
 * computation between the last common synchronisation and the wait; what was the same before that cancels out). As a
 * path has no waits, a chain of them is followed to where it began. The culprits are the ranks on the late one's path
 * whose visits to that place took longer than the waiting one's own, or that it has more of.
 *
 *   late rank's path:      |  A 5 ms          |  B 3 ms   |
 *   waiting rank's path:   |  A 5 ms          |   wait 3 ms, caused by B
 *
 * Invariants:
 *   1. a rank's path adds up to its clock
 *   2. of each rank work + call + wait + between looks = its clock; the waits by cause add up to both of all ranks
 *
 * A path has a cell for each place and each block of ranks; in large jobs a block has several ranks.
 * Cost: a wait costs O(cells) of the places where the two paths have been apart, of at most 4096 cells where there are
 * not more places. Memory: a path for each rank.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/program.h"

enum { REPLAY_BLAME_SLOTS = 16 };

/* Waits: rank `waiter` at `where`, `ns` altogether, because of `cause` on `culprit`. */
struct replay_cause {
    uint32_t where, cause, culprit, waiter;
    uint8_t sender;     /* the waiting rank sends: its receiver is late */
    uint8_t between;    /* it waits between looks */
    double ns;
};

/* Of a rank's time, ns. Between looks (MPI_Test) it waits, too, but longer than looks took: the recording
   has that as work. */
struct replay_account { int64_t work, call, wait, between; };

/* Why an operation goes on without its message. */
enum replay_reason {
    REPLAY_NO_PEER,    /* whom it is with is not known */
    REPLAY_NO_MESSAGE, /* it receives, and no message is left for it */
    REPLAY_NO_RECEIVE, /* it sends, and no receive is left for it */
    REPLAY_REASONS
};

struct replay_blame;

struct replay_blame *replay_blame_create(uint32_t ranks, uint32_t places); /* NULL: out of memory */
/* Of each rank's time only what it is (replay_blame_account, replay_blame_spent, replay_blame_waits): no paths, and so
   no causes. */
struct replay_blame *replay_blame_create_sums(uint32_t ranks, uint32_t places);
void replay_blame_destroy(struct replay_blame *b);

/* --- The engine tells --- */
/* The rank's time until `until` went to its operation `op`. */
void replay_blame_spend(struct replay_blame *b, uint32_t rank, int64_t until, const struct replay_op *op);
/* The rank `waits` at `op` for what `late` does only at `until`; from `looked` on it does between looks. */
void replay_blame_late(struct replay_blame *b, uint32_t waits, uint32_t late, int64_t until, int64_t looked,
                       const struct replay_op *op, bool receives);
/* An operation of the place goes on without its message. */
void replay_blame_unmatched(struct replay_blame *b, uint32_t place, enum replay_reason why);
/* From here on a period is measured; it is repeated n times. */
void replay_blame_arm(struct replay_blame *b, uint32_t slot);
size_t replay_blame_armed_bytes(const struct replay_blame *b); /* that a slot takes then */
void replay_blame_skip(struct replay_blame *b, uint32_t slot, uint64_t n);

/* --- What came of it --- */
struct replay_account replay_blame_account(const struct replay_blame *b, uint32_t rank);
/* All causes, in no order; the blame's until it is destroyed. */
const struct replay_cause *replay_blame_causes(const struct replay_blame *b, uint32_t *count);
/* What the path of a rank has at a place, ns; `last` gets a rank that was there most. */
int64_t replay_blame_path(const struct replay_blame *b, uint32_t rank, uint32_t place, uint32_t *last);
/* What it has of another rank's time, in blocks of *block ranks: ns of block i. */
int64_t replay_blame_path_of(const struct replay_blame *b, uint32_t rank, uint32_t i, uint32_t *block);
/* Of all ranks, what they waited at a place, ns. */
double replay_blame_waits(const struct replay_blame *b, uint32_t place);
/* Of all ranks, operations of a place that went on without their message. */
uint64_t replay_blame_unmatched_at(const struct replay_blame *b, uint32_t place, enum replay_reason why);
/* Of a rank, all that it spent at a place: work, or call and wait, ns. */
int64_t replay_blame_spent(const struct replay_blame *b, uint32_t rank, uint32_t place);
