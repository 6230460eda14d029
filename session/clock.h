/* SPDX-License-Identifier: MIT */
/*
 * One clock for a job: how far this node's clock is from the first node's, and when this rank's streams began on it.
 *
 *      node 0   ----ping--tp--pong----          offset = tp - (t0 + t1) / 2, at most (t1 - t0) / 2 wrong;
 *               t0 /            \ t1            of SESSION_CLOCK_ROUNDS round trips the shortest one counts
 *      node r   ----------------------
 *
 * One rank of each node takes part. Node r measures against its parent in a binomial tree (as merge/merge_mpi.h draws
 * it) and adds what the parent knows of itself; the errors add up, too. Measured twice, at the begin and at the end of
 * a run: in between, the offset moves in a straight line (Cristian 1989; the line as in Doleschal et al. 2008). Ranks
 * of one node share CLOCK_MONOTONIC. Each reads its time stamp counter (base/clock.h), whose offset from
 * CLOCK_MONOTONIC is measured at the same two times and taken as a straight line, too.
 *
 * Nothing here knows MPI: messages go through a struct session_clock_line, in a test through a simulated network.
 *
 * Cost: SESSION_CLOCK_ROUNDS round trips for each level of the tree.
 * Threads: the one that begins and ends the session.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

struct job;

enum { SESSION_CLOCK_ROUNDS = 10 };

/* How one rank of each node speaks to those of other nodes; 0, or not 0 on failure. */
struct session_clock_line {
    void *context;
    int rank, ranks;
    int (*send)(void *context, int to, const int64_t value[2]);
    int (*receive)(void *context, int from, int64_t value[2]);
    int64_t (*now)(void *context); /* ns, this node's clock */
};

/* When this node's clock showed `at`, the first node's showed at + offset, give or take `error`; all ns. */
struct session_clock_offset { int64_t at, offset, error; };

/* Collective over the line. 0, or what the line returned; then *o is not to be used. */
int session_clock_measure(const struct session_clock_line *line, struct session_clock_offset *o);

/* What the first node's clock showed at `at` of this node's. Both measurements may be the same one. */
int64_t session_clock_on_first(const struct session_clock_offset *begin, const struct session_clock_offset *end,
                               int64_t at);

/* --- This process's --- */

enum session_clock_moment { SESSION_CLOCK_BEGIN, SESSION_CLOCK_END };

/* Notes what was measured; `offset` NULL: this node is the first one, or the only one. */
void session_clock_note(enum session_clock_moment moment, const struct session_clock_offset *offset);
/* When this process's recording began, ns of the first node's clock; after both notes. */
int64_t session_clock_begin(void);
/* The greatest error of its node's two measurements, ns. */
int64_t session_clock_error(void);
/* All ranks agree: `zero` is the earliest of their begins, `error` the greatest of their errors. From here on
   session_clock_since() is on the job's clock. */
void session_clock_agree(int64_t zero, uint32_t nodes, int64_t error);
/* Forgets all of it: a new session. */
void session_clock_reset(void);
/* From the begin of the job, or of this process's recording where nothing was agreed on, to `ns` of this process's
   clock. */
uint64_t session_clock_since(uint64_t ns);
/* By how much longer that takes on the job's clock, ns. */
int64_t session_clock_drift(uint64_t wall_ns);
/* What was agreed on. */
void session_clock_finish(struct job *job);
