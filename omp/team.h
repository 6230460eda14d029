/* SPDX-License-Identifier: MIT */
/*
 * With how many threads a region runs: the program's own number N, or one.
 *
 * After PYTHIA's adaptive teams (Colin, Trahay, Conan, COMPAS 2022), with what the region costs at each size in its
 * context in place of fixed thresholds. Only {1, N}: the pool of libgomp keeps its threads then; any size between ends
 * threads and makes new ones.
 *
 *   site      an outlined function: may it be lowered at all, and N
 *   context   (site, place in the reference's grammar): the same region has another amount of work elsewhere
 *                 one    mean time with one thread             of this run, starting from
 *                 hot    mean time with N, workers spinning    what the reference recorded
 *                 cold   mean time with N, workers asleep      at that size
 *
 * (One thread: without rare long ones. N: with them, for a team waits for whichever of its threads is delayed.)
 *
 * At a region's begin the smaller of `one` and `hot` or `cold` (by the time since the last team) wins, with a margin that
 * favours what ran last. What is not known is bounded: a region that took T with M threads is at most
 * W = min(M, processors) x (T - overhead) of work; where even that bound says that one thread is faster, no trial is
 * needed. Otherwise a size is tried when its worst loss fits into a budget that grows by 1 % of the run's time, and
 * again, ever more rarely, to notice what changed. A choice that turned out slower is taken back.
 *
 * The first execution of a site in a run has the program's size, always: it shows how the region asks for its threads.
 *
 * Left alone for good (`site->keep`): see keep_reasons in team.c. Only one thread of the process acts, the first one that
 * enters a region that may be lowered.
 *
 * Memory: two fixed tables; a region that does not fit is left alone. Threads: any.  Hook-safe: yes, but for the first
 * region (measures the machine, under 20 ms) and a site's first execution.
 */
#ifndef PYTHIA_OMP_TEAM_H
#define PYTHIA_OMP_TEAM_H

#include "omp/hooks.h"

/* Before the span of an outermost region begins, in predict mode: sets r->site where the region is considered. */
void omp_hook_team_prepare(struct omp_hook_region *r, unsigned nt, unsigned flags);
/* After its begin, for a region with a site: sets r->context, and r->nt and r->lowered where it is lowered. */
void omp_hook_team_choose(struct omp_hook_region *r);

/* At the end of a region with a site: takes over its time. `numbers` and `sizes` are how often the thread asked for its
   number and for the size of the team inside. Returns the estimated gain in ns of having lowered it (may be < 0). */
double omp_hook_team_learn(struct omp_hook_region *r, uint32_t numbers, uint32_t sizes);

/* The size of teams was asked for inside the regions that this thread is in. */
void omp_hook_team_asked(void);

/* What was decided, for tests and debugging. Sums over the process. */
struct omp_hook_team_counts {
    uint64_t considered, lowered, trials, revised; /* executions */
    uint32_t sites, kept, contexts;
};
void omp_hook_team_count(struct omp_hook_team_counts *counts);

#endif
