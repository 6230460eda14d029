/* SPDX-License-Identifier: MIT */
/* What the region that ended shows. */
#include <stddef.h>

#include "base/clock.h"
#include "omp/keep.h"
#include "omp/share.h"
#include "omp/team_state.h"

enum { CREDITS = 16 }; /* what a site's typical credit is taken from */

/* Where the region's time went, and how often it ran how. */
static void count(struct omp_hook_region *r, double took)
{
    struct job_region *stats = &r->site->stats;
    stats->executions++;
    stats->changed += !omp_hook_team_is_own(r);
    stats->trials += r->trial;
    job_region_add_size(stats, r->team, 1, (uint64_t)took);
    if ((r->control || (r->trial && omp_hook_team_is_own(r))) && !r->changes) {
        stats->controls++;
        stats->control_ns += (uint64_t)took;
        stats->chosen_ns += (uint64_t)(r->one >= 0 && r->one < r->full ? r->one : r->full > 0 ? r->full : took);
    }
}

/* Lost by trials, of what was lent or earned. */
static void account(const struct omp_hook_region *r, double took)
{
    struct omp_hook_budget *b = &omp_hook_team.budget;
    double chosen = r->lowered || r->one < 0 || (r->full >= 0 && r->full < r->one && !r->control) ? r->full : r->one;
    if (r->trial && chosen >= 0 && took > chosen)
        *(r->control ? &b->control : r->lowered ? &b->one : &b->team) -= took - chosen;
}

static void pass_time(uint64_t end)
{
    omp_hook_budget_earn(&omp_hook_team.budget, end);
    omp_hook_team.last_end = end;
    omp_hook_crowd_look(&omp_hook_team.crowd, end);
}

/* What the other ways of running all regions would have lost here. */
static void foresee(const struct omp_hook_region *r)
{
    if (r->trial || (!r->settled && (r->one < 0 || r->full < 0)))
        return;
    double longer = r->settled ? r->context->loss : r->lowered ? r->full - r->one : r->one - r->full;
    omp_hook_referee_foresee(&omp_hook_team.referee, r->lowered ? OMP_HOOK_POOL : OMP_HOOK_ONE, longer);
}

/* Nothing new. */
static void pass(const struct omp_hook_region *r, double took, uint64_t end)
{
    r->site->patience.since++;
    r->site->patience.control_since++;
    if (!r->lowered)
        omp_hook_stall_expose(&r->cost->stall, r->cost->gap + took);
    omp_hook_team.last_end = end;
}

/* Against the program's own size, as far as that is known. */
static double gained(const struct omp_hook_region *r, double took)
{
    double gain = !omp_hook_team_is_own(r) && r->credit >= 0 ? r->credit - took : 0;
    omp_hook_team.counts.lowered += r->lowered;
    r->site->stats.gain_ns += (int64_t)gain;
    return gain;
}

static double learn(struct omp_hook_region *r, double took, uint64_t end)
{
    struct omp_hook_execution e = { r->lowered, r->cold, r->trial, r->control };
    double gain = gained(r, took);
    omp_hook_team.counts.trials += r->trial;
    foresee(r);
    if (r->credit >= 0)
        r->site->credit += (r->credit - r->site->credit) / (r->site->credit < 0 ? 1 : CREDITS);
    if (r->settled && omp_hook_context_usual(r->context, took)) {
        pass(r, took, end);
        return gain;
    }
    account(r, took);
    pass_time(end);
    if (!r->changes) /* making threads is not the region's time */
        omp_hook_team.counts.revised += omp_hook_context_learn(r->context, &r->site->patience, r->k, &e, end, took);
    bool as_chosen = !r->trial && omp_hook_team.wanted == OMP_HOOK_BEST && r->lowered == r->context->model.lowering;
    if (as_chosen && (r->lowered || !r->cold))
        omp_hook_context_settle(r->context, r->k, took, r->lowered ? r->hot : r->one, r->credit);
    return gain;
}

/* Nothing was decided and nothing timed: one thread anyway, or only recorded. The stream has its times. */
static bool only_counted(struct omp_hook_region *r, uint32_t reason)
{
    if (r->acts || r->verify)
        return false;
    r->site->stats.executions++;
    r->site->stats.verified += reason == 0;
    return true;
}

double omp_hook_team_learn(struct omp_hook_region *r, bool alone)
{
    uint32_t reason = omp_hook_keep_shown(r, alone);
    if (reason)
        omp_hook_site_keep(r->site, reason);
    if (only_counted(r, reason))
        return 0;
    uint64_t end = r->end = base_clock_now();
    uint64_t begin = r->begin ? r->begin : r->span.begin;
    double took = (double)(end - begin), gain = 0;
    if (r->shares)
        omp_hook_share_end(r, begin, end, &r->site->stats);
    count(r, took);
    if (omp_hook_team_is_own(r) && !reason) {
        r->site->stats.verified++;
        r->site->known = true;
    }
    if (r->team > 1) {
        omp_hook_team.last_team = end;
        omp_hook_team.alive = r->team;
    }
    if (r->context) {
        gain = learn(r, took, end);
    } else if (r->settled) {
        gain = gained(r, took);
        pass_time(end);
    }
    omp_hook_context_passed(r->fn);
    return gain;
}
