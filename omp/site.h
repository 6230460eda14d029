/* SPDX-License-Identifier: MIT */
/*
 * The outlined functions of this process: may their teams be changed, and what was seen of them.
 *
 * What a region's machine code says (teams/safety.h) comes with the reference, or is found out while the program runs;
 * until then the region is left alone. fixed: what the program says of it, or shows when it runs; it only takes away.
 * What the user allows (PYTHIA_OMP_KEEP=-NAME) needs no proof.
 *
 * Memory: a fixed table; a region that does not fit is left alone. Threads: the one that acts (team.h).
 * Hook-safe: yes, a site's first execution aside.
 */
#pragma once

#include <stdbool.h>

#include "job/regions.h"
#include "omp/hooks.h"
#include "teams/account.h"
#include "teams/choice.h"
#include "teams/safety.h"

/* What an execution like the last one needs is in the middle: two lines of cache. */
struct omp_hook_site {
    struct job_region stats;
    uint32_t entry;      /* of its events in the stream's keys, for session_begin_region() */
    bool asked;          /* what its machine code says */
    bool allowed;        /* by the user */
    bool thread_data;    /* in its module: threads that end lose it */
    struct teams_account account; /* of its threads' times */
    struct teams_proof *proof;
    struct teams_site choice; /* its times */
    uintptr_t fn;        /* the outlined function */
} __attribute__((aligned(64)));

/* The site of a region that begins, made where it is new; NULL: no room. */
struct omp_hook_site *omp_hook_site_find(const struct omp_hook_region *r);
/* Its machine code is read when there is time for that. */
void omp_hook_site_ask(struct omp_hook_site *site);
/* Notes why a region is left alone (one bit of enum job_fixed). */
void omp_hook_site_fix(struct omp_hook_site *site, uint32_t reason);
/* Whether other threads than the program's may run its shares, as far as its code and its runs so far tell. */
bool omp_hook_site_may_change(const struct omp_hook_site *site);

/* Whether they never may, whatever comes. */
static inline bool omp_hook_site_is_kept(const struct omp_hook_site *site)
{
    return site->stats.fixed ||
           (!site->allowed && job_proof_reason(teams_safety_answer(site->proof)) > JOB_PROOF_HARMLESS);
}

/* Sites in use, and of them left alone. */
void omp_hook_site_count(uint32_t *sites, uint32_t *kept);
/* Each site in turn, for the end of the run: NULL after the last; `place` starts at 0. */
struct omp_hook_site *omp_hook_site_next(uint32_t *place);
