/* SPDX-License-Identifier: MIT */
/*
 * Between the hooks of regions and what decides on them: which regions are watched, which size each gets
 * (teams/choice.h), and what the job file keeps of them.
 *
 * A region with one thread is called without libgomp where its entry point allows: that saves the 350 ns that a team
 * of one costs. Not where each level of regions has its own setting (OMP_NUM_THREADS=4,2). What the program can ask
 * then (levels, team sizes) is answered as if the team were there (api.c); that such a region makes no tasks is
 * proven.
 *
 * Once a region is seen whose module has thread-local data, no size between one and the program's is used any more,
 * whichever region would have it: libgomp ends threads, and the data with them. Nor is a team changed then that is
 * smaller than the one before: what it ends would live on.
 *
 * A recorded run acts only in PYTHIA_MODE=auto; else regions are watched, for the next run.
 *
 * Only one thread of the process acts at a time: the first one that enters a region, until it ends. Memory: fixed
 * tables; what does not fit is left alone. Threads: any.  Hook-safe: yes, but for a site's first execution.
 */
#pragma once

#include "omp/hooks.h"

/* A session begins. Where this run will read code, the thread that does is made: later, a signal that comes meanwhile
   would go to another thread, as all signals of this one wait then. */
void omp_hook_team_begin(void);
/* This thread ends: another one may act. */
void omp_hook_team_leave(void);

/* Before the span of a region begins that is outermost, or only inside of such with one thread: sets r->site where it
   is watched, r->acts where its size is decided on, r->may where it may be changed, r->verify where it is looked at
   from inside. */
void omp_hook_team_prepare(struct omp_hook_region *r);
/* Whether an outermost region of a site that was prepared before, which gets so many threads, runs as it is and unseen
   from inside: then it begins. */
bool omp_hook_team_again(struct omp_hook_site *site, uint32_t team);
/* Likewise where others are decided on: it is one of their turn. `now`: see teams_choice_begin(). */
bool omp_hook_team_passes(uint32_t team);
void omp_hook_team_pass(struct omp_hook_site *site, uint32_t team, uint64_t now);
/* It has ended; `contains`: calls or regions. */
void omp_hook_team_ran(struct omp_hook_site *site, bool contains);
/* After its begin, for a region that acts: sets r->nt, r->lowered, r->direct where its team changes. */
void omp_hook_team_choose(struct omp_hook_region *r);

/* At the end of a region with a site: takes over its time. Returns the estimated gain in ns of having changed it (may
   be < 0). */
double omp_hook_team_learn(struct omp_hook_region *r);

/* Run by each thread of a team that is looked at from inside, or runs the shares of a larger one, instead of fn. */
void omp_hook_team_run(void *region);

/* What was decided, for tests and debugging. Sums over the process. */
struct omp_hook_team_counts {
    uint64_t considered, changed, trials, comparisons;
    const char *best; /* setting */
    uint64_t turn;    /* regions of the main loop's turn, 0: none is known */
    uint32_t sites, kept;
};
void omp_hook_team_count(struct omp_hook_team_counts *counts);

/* Adds the sites to a job: the session asks for it when it finishes. */
void omp_hook_team_store(struct job *job);
/* Adds how the threads of a region spent their time, by the address that it is known by, 0: of none; what stands for
   nothing else is the rank's, too. */
void omp_hook_team_threads(struct job *job, struct teams_account *a, uintptr_t fn);
/* The same for all regions on libomp (ompt.c). */
void omp_hook_ompt_store(struct job *job);
