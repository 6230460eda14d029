/* SPDX-License-Identifier: MIT */
/*
 * With how many threads a region runs: the program's own number N, one, or a size in between.
 *
 * After PYTHIA's adaptive teams (Colin, Trahay, Conan, COMPAS 2022), with what the region costs at each size in its
 * context in place of fixed thresholds.
 *
 *   site      an outlined function: may its team be changed at all (site.h)
 *   context   (site, place in the reference's grammar): the same region has another amount of work elsewhere. Where the
 *             reference knows nothing, and on a first run, the place is told by the two regions before
 *   model     times by size in a context (model.h)
 *   pool      the one size above one that is in use now, for all regions (plan.h): at first the largest that has
 *             processors, however many threads the program wants
 *
 * At a region's begin the smaller of one and the pool's size wins. What is not known is bounded by what is; where even
 * that bound says that one thread is faster, no trial is needed. Trials and controls have to be paid by a budget (budget.h).
 * Where processors are crowded, every team is expected to stall (stall.h, crowd.h). A control in a pool of another size
 * lasts for a few regions, of which the first, which makes the threads, is not counted.
 *
 * Where the choice for a short region is clear, its next executions there are settled: run likewise without deciding, until
 * one takes far longer, a team stalls, or workers fall asleep that it needs (context.h).
 *
 * Regions affect each other, which no model of single ones sees: deciding for each is compared with running all of them alike
 * by the time that whole turns of the program's loop take (referee.h).
 *
 * A region with one thread is called without libgomp where its entry point allows: that saves the 350 ns that a team of one
 * costs. Not where its module makes tasks, which would all run at once there, whatever lock their creator holds and whatever
 * event it is about to fulfil, nor where each level of regions has its own setting (OMP_NUM_THREADS=4,2). What the program
 * can ask then (levels, team sizes) is answered as if the team were there (api.c).
 *
 * Once a region is seen whose module has thread-local data, sizes other than one and the program's would lose that data,
 * whichever region has them: libgomp ends threads. From then on the pool is the program's.
 *
 * A recorded run acts only in PYTHIA_MODE=auto; else sites are watched, for the next run.
 *
 * Only one thread of the process acts, the first one that enters a region.
 * Memory: fixed tables; what does not fit is left alone. Threads: any.  Hook-safe: yes, but for the first region (measures
 * the machine, under 20 ms) and a site's first execution.
 */
#ifndef PYTHIA_OMP_TEAM_H
#define PYTHIA_OMP_TEAM_H

#include "omp/hooks.h"

/* Before the span of an outermost region begins: sets r->site where the region is watched, r->acts where its team may be
   changed, r->verify where it is looked at from inside. */
void omp_hook_team_prepare(struct omp_hook_region *r, unsigned nt, unsigned flags);
/* After its begin, for a region that acts: sets r->context, and r->nt, r->lowered, r->direct where its team changes. */
void omp_hook_team_choose(struct omp_hook_region *r);

/* At the end of a region with a site: takes over its time. `alone`: inside somebody asked for numbers or sizes, apart from
   what loops ask. Returns the estimated gain in ns of having changed it (may be < 0). */
double omp_hook_team_learn(struct omp_hook_region *r, bool alone);

/* Run by each thread of a team that is looked at from inside, instead of fn. */
void omp_hook_team_run(void *region);

/* The size of teams was asked for inside the regions that this thread is in. */
void omp_hook_team_asked(void);

/* What was decided, for tests and debugging. Sums over the process. */
struct omp_hook_team_counts {
    uint64_t considered, lowered, trials, revised, rested; /* executions */
    uint64_t judged; /* tests of the referee's */
    uint32_t sites, kept, contexts;
};
void omp_hook_team_count(struct omp_hook_team_counts *counts);

/* Adds the sites to a job: session_at_finish() calls it. */
void omp_hook_team_store(struct job *job);

#endif
