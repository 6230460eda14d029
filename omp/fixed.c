/* SPDX-License-Identifier: MIT */
#include "omp/fixed.h"

#include "libgomp/real.h"
#include "omp/site.h"
#include "tasks/task.h"

/* What the program itself says of this region. 0, or a bit of enum job_fixed. */
static uint32_t said(const struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    if (r->traits & OMP_HOOK_LEAGUE || omp_hook_thread.kept)
        return JOB_FIXED_TEAMS;
    if (flags != 0)
        return JOB_FIXED_BIND;
    if (nt != 0 && !r->site->allowed)
        return JOB_FIXED_CLAUSE;
    /* With more than one active level the regions inside would get teams of their own. */
    return libgomp_real()->omp_get_max_active_levels() != 1 ? JOB_FIXED_LEVELS : 0;
}

bool omp_hook_fixed_may_change(struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    uint32_t reason = r->program == 1 ? 0 : said(r, nt, flags);
    if (reason)
        omp_hook_site_fix(r->site, reason);
    return !reason && r->program && omp_hook_site_may_change(r->site);
}

uint32_t omp_hook_fixed_shown(const struct omp_hook_region *r)
{
    if (session_contains(r->stream, &r->span))
        return JOB_FIXED_CALLS;
    if (tasks_created())
        return JOB_FIXED_TASKS;
    if (r->verify && r->program && r->nt == r->asked && r->team && r->team != r->program)
        return JOB_FIXED_TEAM;
    return 0;
}
