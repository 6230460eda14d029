/* SPDX-License-Identifier: MIT */
/*
 * A job replayed: fitted to its recording, with the account of its waits; and what it would take if something were
 * otherwise.
 *
 *   replay_analysis_create(job, steps, &a)          0, or why not
 *   a->blame                                        why ranks wait, the critical path
 *   replay_analysis_predict(a, &how, &seconds)      the same job with another network, equal work, other speeds
 *
 * Fitting. Overhead is what the shortest send or receive that cannot wait took, latency what is left of the shortest
 * round of a collective, bandwidth what the best large message shows. A first replay with these says how long ranks
 * wait in each call; what the rank that differs least from that took beyond it, but no more than the shortest call
 * there did, is added to each of the calls there (its `extra`: being woken up, memory, the library), so that no wait
 * counts as transfer. What the recording is longer than that is what replay/moving.h says, and is added as rests of
 * each rank's calls.
 *
 * Cost: two replays, up to eight more where these are not as long as the recording, one for the efficiencies.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/bind.h"
#include "replay/blame.h"
#include "replay/engine.h"
#include "replay/moving.h"

struct replay_analysis {
    const struct job *job;
    struct replay_bind *bind;
    struct replay_blame *blame;
    struct replay_result result;
    struct replay_moving moving;
    double recorded; /* wall time, seconds, from the end of MPI_Init: of the longest first thread of a rank */
    double missed;   /* by how much the replay is longer than that, a share */
    double fill;     /* how much of extras and rests is counted (replay_bind_fill) */
    double drawn;    /* with drawn work the replay is so much longer, a factor; 0: not asked yet */
    uint64_t steps;  /* of one replay, at most; with drawn work ten times as many */
    uint64_t left;   /* of all that are still made */
};

/* `steps`: how many all replays together may take, those with drawn work included; a microsecond has one to seven. With
   REPLAY_ANALYSIS_STEPS all together have no limit, but each has: beyond that moving imbalance is not known. */
enum { REPLAY_ANALYSIS_STEPS = 60000000, REPLAY_ANALYSIS_MS = 2000 };
/* 0; PYTHIA_ELIMIT: too many ranks times calls, or more steps than that until its loops repeat; what
   else replay_run() returns. The caller destroys *analysis, which must not outlive the job. */
int replay_analysis_create(const struct job *j, uint64_t steps, struct replay_analysis **analysis);
void replay_analysis_destroy(struct replay_analysis *a); /* NULL is legal */

/* What the replay has of all ranks in the calls of a site beyond waits with a cause and transfer, ns: moving imbalance,
   and what is not explained. */
double replay_analysis_rests(const struct replay_analysis *a, uint32_t site);
/* As `recorded`, of the replay. */
double replay_analysis_replayed(const struct replay_analysis *a);

/* Of the events: with more operations without a peer than so many, what waits for what is not known. */
#define REPLAY_FEW_UNMATCHED 0.01
double replay_analysis_unmatched(const struct replay_result *r); /* a share of the events */

struct replay_prediction { bool known; double seconds, low, high; uint32_t draws; }; /* known: as below */
/* Both: 0 or PYTHIA_ELIMIT. */
/* Wall time with the change (its `seed` is not used); low and high: of so many draws of what the recording leaves
   open, widened by how far the replay of the recording itself was off. */
int replay_analysis_predict(struct replay_analysis *a, const struct bind_change *change,
                            struct replay_prediction *out);

/* What POP's efficiencies are of the replay: work balance (of the work between calls, as the replay has it; a
   report's load balance is of all time outside of MPI) x serialisation x transfer; serialisation = order x moving x
   explained: the order of dependences with mean work, imbalance that moves (replay/moving.h), and what neither
   explains. Not known: too many operations had no peer in this replay or in that of an ideal network. */
struct replay_efficiency { bool known; double balance, serialisation, transfer, order, moving, explained; };
/* `ideal`: the account of that replay, by replay_blame_create_sums() for the places of a->blame; NULL: not asked. */
int replay_analysis_efficiency(struct replay_analysis *a, struct replay_blame *ideal, struct replay_efficiency *out);

/* --- Between analysis.c, moving.c and whatif.c --- */

static inline uint32_t analysis_ranks(const struct replay_analysis *a)
{
    return a->bind->source.ranks;
}

/* A replay, of what is bound now. 0 or PYTHIA_ELIMIT. */
int analysis_run(struct replay_analysis *a, bool drawn, struct replay_blame *blame, struct replay_result *out);
/* One with a change, its work drawn. Likewise; `blame` may be NULL. */
int analysis_wall(struct replay_analysis *a, const struct bind_change *c, struct replay_blame *blame, double *seconds,
                  bool *known);
/* Whether what a call there takes may be a wait. */
bool analysis_waits(const struct bind_site *s);
