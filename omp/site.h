/* SPDX-License-Identifier: MIT */
/*
 * The outlined functions of this process: may their teams be changed, and what was seen of them.
 *
 * keep: what makes a region keep the program's size, once and for all. Signs can be read before a region runs (a clause,
 * thread-local data, who asked for numbers) or show while it does, at the program's size; so the first execution of a site
 * has that size, unless the reference says that it was seen before and nothing showed. What the reference saw once only, and
 * shortly, has that size, too: there is nothing to gain, and that is how programs prepare what each thread needs later. What the user allows
 * (PYTHIA_OMP_KEEP=-NAME) is not suspected for thread-local data, clauses and numbers.
 *
 * Memory: a fixed table; a region that does not fit is left alone. Threads: the one that acts (team.h).
 * Hook-safe: yes, a site's first execution aside.
 */
#ifndef PYTHIA_OMP_SITE_H
#define PYTHIA_OMP_SITE_H

#include <stdbool.h>

#include "job/regions.h"
#include "omp/hooks.h"
#include "teams/choice.h"

struct omp_hook_site {
    void (*fn)(void *);
    uint32_t entry;      /* of its events in the stream's keys, for session_begin_region() */
    bool allowed;        /* by the user */
    bool tasks;          /* its module makes tasks: they need a team that can put them off */
    bool known;          /* at the program's size nothing showed: here, or in the reference */
    struct teams_site choice; /* its times */
    struct job_region stats;
};

/* The site of a region that begins, made where it is new; NULL: no room. */
struct omp_hook_site *omp_hook_site_find(const struct omp_hook_region *r);
/* Notes why a region is left alone (one bit of enum job_keep). */
void omp_hook_site_keep(struct omp_hook_site *site, uint32_t reason);
/* Whether the function that starts the region asked how large teams are; looked up again only when somebody new did. */
bool omp_hook_site_asked(struct omp_hook_site *site, uintptr_t caller);

/* Sites in use, and of them left alone. */
void omp_hook_site_count(uint32_t *sites, uint32_t *kept);
/* Each site in turn, for the end of the run: NULL after the last; `place` starts at 0. */
const struct omp_hook_site *omp_hook_site_next(uint32_t *place);

#endif
