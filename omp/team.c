/* SPDX-License-Identifier: MIT */
#include "omp/team.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "omp/keep.h"
#include "omp/real.h"
#include "omp/share.h"
#include "omp/team_state.h"

static const double much_stalled = 500000; /* ns a team: not the time to measure what teams cost */

/* Only the thread whose omp_hook_thread it points to comes here. */
static _Atomic(struct omp_hook_thread *) owner;
struct omp_hook_team_state omp_hook_team;

static bool is_owner(void)
{
    struct omp_hook_thread *me = &omp_hook_thread, *nobody = NULL;
    struct omp_hook_thread *now = atomic_load_explicit(&owner, memory_order_relaxed);
    if (now == me)
        return true;
    if (now || !atomic_compare_exchange_strong(&owner, &nobody, me))
        return false;
    session_store_regions = omp_hook_team_store;
    return true;
}

static bool is_list(const char *variable)
{
    const char *value = getenv(variable);
    return value && strchr(value, ',');
}

static void look_at_options(void)
{
    struct pythia_options options;
    base_options_load(&options);
    omp_hook_team.by_level = is_list("OMP_NUM_THREADS") || is_list("OMP_PROC_BIND");
    omp_hook_team.wanted = !strcmp(options.omp_sizes, "one")     ? OMP_HOOK_ALWAYS_ONE
                           : !strcmp(options.omp_sizes, "turns") ? OMP_HOOK_IN_TURNS
                                                                 : OMP_HOOK_BEST;
}

/* Whether acting is on at all: asked once, when the mode is known. */
static atomic_int acting; /* 0: not asked, 1: no, 2: yes */

static __attribute__((noinline)) bool ask_acts(void)
{
    bool yes = session_acts("team") && !omp_hook_real()->omp_get_cancellation();
    look_at_options();
    atomic_store_explicit(&acting, yes ? 2 : 1, memory_order_relaxed);
    return yes;
}

static inline bool acts(void)
{
    int now = atomic_load_explicit(&acting, memory_order_relaxed);
    return now == 2 || (now == 0 && ask_acts());
}

/* --- Preparing --- */

static struct omp_hook_machine *machine_for(uint32_t size)
{
    for (int i = 0; i < OMP_HOOK_MACHINES; i++)
        if (omp_hook_team.machines[i].cost.size == size || omp_hook_team.machines[i].cost.size == 0)
            return &omp_hook_team.machines[i];
    return NULL;
}

static void measure(struct omp_hook_machine *m, uint32_t size)
{
    bool first = m->cost.size == 0;
    unsigned limits = omp_hook_team.pinned ? OMP_HOOK_COST_NO_END : 0;
    if (omp_hook_team.crowd.share * omp_hook_team.crowd.wait > much_stalled)
        limits |= OMP_HOOK_COST_CROWDED;
    omp_hook_cost_measure(&m->cost, size, limits);
    omp_hook_team.last_team = omp_hook_team.last_end = base_clock_now();
    if (first) {
        omp_hook_plan_start(&m->plan, &m->cost);
        omp_hook_budget_start(&omp_hook_team.budget, omp_hook_team.last_end);
    }
    if (m->cost.usable && !m->cost.guessed)
        omp_hook_team.alive = m->cost.team[m->cost.usable - 1].size;
}

/* Sets r->cost and r->plan, after measuring what is not known yet. */
static bool find_machine(struct omp_hook_region *r)
{
    struct omp_hook_machine *m = machine_for(r->program);
    if (!m)
        return false;
    if (m->cost.size == 0)
        omp_hook_crowd_look(&omp_hook_team.crowd, base_clock_now());
    if (m->cost.size == 0 || (m->cost.guessed && omp_hook_team.crowd.share == 0 && !omp_hook_team.pinned))
        measure(m, r->program);
    r->cost = &m->cost;
    r->plan = &m->plan;
    return true;
}

/* A region whose team is one anyway needs no decision. */
static bool only_one(struct omp_hook_region *r)
{
    r->direct = omp_hook_team_may_be_direct(r) && r->site->known;
    return r->program == 1;
}

void omp_hook_team_prepare(struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    if (!is_owner())
        return;
    r->site = omp_hook_site_find(r);
    if (!r->site)
        return;
    bool due = !r->site->known || omp_hook_share_due(r->site->stats.executions);
    if (!due && !acts())
        return; /* only counted */
    r->site->stats.team = r->program ? r->program : r->site->stats.team;
    bool may = omp_hook_keep_may_change(r, nt, flags);
    omp_hook_team.pinned = omp_hook_team.pinned || (r->site->stats.keep & JOB_KEEP_TLS);
    if (may && acts())
        r->acts = !only_one(r) && find_machine(r);
    r->verify = !r->direct && due;
}

void omp_hook_team_asked(void)
{
    for (struct omp_hook_region *r = omp_hook_thread.region; r; r = r->outer)
        if (r->stream && r->site && !r->site->allowed)
            omp_hook_site_keep(r->site, JOB_KEEP_ASKED_INSIDE);
}

void omp_hook_team_count(struct omp_hook_team_counts *counts)
{
    *counts = omp_hook_team.counts;
    counts->contexts = omp_hook_context_count();
    omp_hook_site_count(&counts->sites, &counts->kept);
}

void omp_hook_team_store(struct job *job)
{
    const struct omp_hook_site *site;
    for (uint32_t place = 0; (site = omp_hook_site_next(&place));)
        session_add_region(job, (uint64_t)(uintptr_t)site->fn, &site->stats);
}
