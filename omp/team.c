/* SPDX-License-Identifier: MIT */
#include "omp/team.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "omp/context.h"
#include "omp/cost.h"
#include "omp/crowd.h"
#include "omp/plan.h"
#include "omp/real.h"
#include "omp/share.h"
#include "omp/site.h"
#include "omp/task.h"

enum { MACHINES = 4, CONTROL_BURST = 4 };
static const double much_stalled = 500000; /* ns a team: not the time to measure what teams cost */
static const double gap_counted = 250000; /* ns, at most: a team that comes back after long does not come alone */

/* The costs and the pool for programs that ask for N threads. */
struct machine {
    struct omp_hook_cost cost;
    struct omp_hook_plan plan;
};

/* Guarded by `owner`: only the thread whose omp_hook_thread it points to comes here. */
static _Atomic(struct omp_hook_thread *) owner;
static struct {
    struct machine machines[MACHINES]; /* cost.size 0: free */
    uint32_t alive;     /* threads in libgomp's pool: the size of the last team above one */
    uint32_t control;   /* regions still to run at the program's size */
    uint64_t last_team; /* ns, end of the last region of several threads */
    uint64_t last_end;  /* ns, end of the last region that was considered */
    struct omp_hook_budget budget;
    struct omp_hook_crowd crowd;
    bool pinned;        /* some region's threads have data of their own: none of them may end */
    double missed;      /* ns lost because the workers slept, since they were last woken */
    struct omp_hook_team_counts counts;
} team;

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

/* What the user asked for (PYTHIA_OMP_SIZES), and whether each level of regions has a setting of its own: then libgomp has
   to know of each region. Known when acts() is. */
static enum { BEST, ONE, TURNS } wanted;
static bool by_level;

static bool is_list(const char *variable)
{
    const char *value = getenv(variable);
    return value && strchr(value, ',');
}

static void look_at_options(void)
{
    struct pythia_options options;
    base_options_load(&options);
    by_level = is_list("OMP_NUM_THREADS") || is_list("OMP_PROC_BIND");
    wanted = !strcmp(options.omp_sizes, "one") ? ONE : !strcmp(options.omp_sizes, "turns") ? TURNS : BEST;
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

/* What the program itself says of this region. 0, or a bit of enum job_keep. */
static uint32_t said(const struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    if (r->traits & OMP_HOOK_LEAGUE)
        return JOB_KEEP_TEAMS;
    if (r->traits & OMP_HOOK_KEEP)
        return JOB_KEEP_SECTIONS;
    if (flags != 0)
        return JOB_KEEP_BIND;
    if (nt != 0 && !r->site->allowed)
        return JOB_KEEP_CLAUSE;
    /* With more than one active level the regions inside would get teams of their own. */
    return omp_hook_real()->omp_get_max_active_levels() != 1 ? JOB_KEEP_LEVELS : 0;
}

/* Whether the region's team may be changed at all, as far as can be told before it runs. */
static bool changeable(struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    uint32_t reason = r->program == 1 ? 0 : said(r, nt, flags);
    if (reason)
        omp_hook_site_keep(r->site, reason);
    return !reason && !r->site->stats.keep && !omp_hook_site_asked(r->site, (uintptr_t)r->caller) && r->program != 0;
}

static struct machine *machine_for(uint32_t size)
{
    for (int i = 0; i < MACHINES; i++)
        if (team.machines[i].cost.size == size || team.machines[i].cost.size == 0)
            return &team.machines[i];
    return NULL;
}

static void measure(struct machine *m, uint32_t size)
{
    bool first = m->cost.size == 0;
    omp_hook_cost_measure(&m->cost, size, (team.crowd.share * team.crowd.wait > much_stalled ? OMP_HOOK_COST_CROWDED : 0) |
                                              (team.pinned ? OMP_HOOK_COST_NO_END : 0));
    team.last_team = team.last_end = base_clock_now();
    if (first) {
        omp_hook_plan_start(&m->plan, &m->cost);
        omp_hook_budget_start(&team.budget, team.last_end);
    }
    if (m->cost.usable && !m->cost.guessed)
        team.alive = m->cost.team[m->cost.usable - 1].size;
}

/* Sets r->cost and r->plan, after measuring what is not known yet. */
static bool find_machine(struct omp_hook_region *r)
{
    struct machine *m = machine_for(r->program);
    if (!m)
        return false;
    if (m->cost.size == 0)
        omp_hook_crowd_look(&team.crowd, base_clock_now());
    if (m->cost.size == 0 || (m->cost.guessed && team.crowd.share == 0 && !team.pinned))
        measure(m, r->program);
    r->cost = &m->cost;
    r->plan = &m->plan;
    return true;
}

/* Whether it may be called without libgomp, with one thread. */
static bool may_be_direct(const struct omp_hook_region *r)
{
    return (r->traits & OMP_HOOK_PLAIN) && !r->site->tasks && !by_level;
}

/* A region whose team is one anyway needs no decision. */
static bool only_one(struct omp_hook_region *r)
{
    r->direct = may_be_direct(r) && r->site->known;
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
    bool may = changeable(r, nt, flags);
    team.pinned = team.pinned || (r->site->stats.keep & JOB_KEEP_TLS);
    if (may && acts())
        r->acts = !only_one(r) && find_machine(r);
    r->verify = !r->direct && due;
}

/* --- Choosing --- */

/* What the reference knows of this region here: its place, and times by team size. */
static struct omp_hook_context *consult(struct omp_hook_region *r)
{
    struct oracle_answer answer;
    bool known = session_expect(r->stream, &r->span, &answer) == 0;
    bool place = known && answer.reference != GRAMMAR_NONE;
    struct omp_hook_context *c = omp_hook_context_find(r->site, place ? answer.reference : GRAMMAR_NONE,
                                                       place ? answer.node : omp_hook_context_history(), r->program, true);
    if (c && !c->model.cost) {
        struct session_recorded recorded = { NULL, NULL };
        if (known)
            recorded = session_recorded_there(r->stream, &answer);
        omp_hook_model_start(&c->model, r->cost, recorded.team, recorded.stats);
    }
    return c;
}

/* Workers' time since the last team, ns. */
static uint64_t since_team(const struct omp_hook_region *r)
{
    return r->span.begin > team.last_team ? r->span.begin - team.last_team : 0;
}

static void note_gap(struct omp_hook_cost *cost, uint64_t since)
{
    cost->gap = since < gap_counted ? (double)since : gap_counted;
}

/* What was clear the last few times is not decided anew, while nothing else has changed. */
static bool settled(struct omp_hook_region *r)
{
    struct omp_hook_context *c = r->context;
    uint64_t since = since_team(r);
    if (!c || team.control || team.pinned || r->cost->share != team.crowd.share ||
        !omp_hook_context_settled(c, r->plan->pool, since))
        return false;
    note_gap(r->cost, since);
    r->k = c->k;
    r->credit = c->credit;
    r->lowered = c->model.lowering;
    return r->settled = true;
}

/* Sets r->k (the pool's size), r->cold and r->idle. */
static void look_at_workers(struct omp_hook_region *r)
{
    struct omp_hook_cost *cost = r->cost;
    uint64_t now = r->span.begin;
    uint32_t k = r->k = team.pinned ? cost->teams - 1 : r->plan->pool;
    bool asleep = now > team.last_team + 2 * cost->team[k].spin;
    if (asleep && !cost->cold_known && cost->team[k].hot >= 0 && team.alive == cost->team[k].size) {
        omp_hook_cost_measure_cold(cost, k);
        session_begin_again(r->stream, &r->span);
        team.last_team = now = r->span.begin;
    }
    uint64_t since = since_team(r);
    r->cold = since > cost->team[k].spin;
    r->idle = now > team.last_end + cost->team[cost->teams - 1].spin;
    omp_hook_stall_fade(&cost->stall, now);
    cost->share = team.crowd.share;
    cost->wait = team.crowd.wait;
    note_gap(cost, since);
}

/* For the plan: what comes after the region that begins now. */
static bool future(void *argument, uint32_t distance, double best[OMP_HOOK_TEAMS])
{
    struct omp_hook_region *r = argument;
    struct oracle_answer answer;
    if (session_predict(r->stream, distance + 1, &answer) || answer.reference == GRAMMAR_NONE)
        return false;
    omp_hook_context_best(omp_hook_context_find(NULL, answer.reference, answer.node, r->program, false), best);
    return true;
}

static void plan(struct omp_hook_region *r)
{
    double best[OMP_HOOK_TEAMS];
    if (team.pinned || !omp_hook_plan_open(r->plan))
        return;
    omp_hook_context_best(r->context, best);
    r->k = omp_hook_plan_next(r->plan, best, future, r);
}

/*
 * Sleeping workers make a team dear, and without a team they go on sleeping: what would pay with workers awake must not
 * wait for ever for somebody else to wake them. So what was missed is summed up, and once it is more than waking costs
 * now, this region does it: at most twice the cost of knowing the future (the ski-rental argument).
 */
static bool worth_waking(const struct omp_hook_region *r, const struct omp_hook_choice *c)
{
    if (!r->cold || r->cost->team[r->k].spin < 1000000 || c->hot > 0.95 * c->one)
        return false;
    team.missed += c->one - c->hot;
    if (team.missed < c->full - c->one)
        return false;
    team.missed = 0;
    return true;
}

/* The program's own size; a few regions in a row where that is another pool. */
static void control(struct omp_hook_region *r)
{
    if (team.control == 0)
        team.control = r->k == r->cost->teams - 1 ? 1 : CONTROL_BURST;
    team.control--;
    r->k = r->cost->teams - 1;
    r->control = r->trial = true;
}

/* Sizes to try a program with: one; or one, the middle, the program's. */
static void force(struct omp_hook_region *r)
{
    uint32_t turn = wanted == ONE ? 0 : (uint32_t)(r->site->stats.executions % 3);
    r->lowered = turn == 0;
    if (turn == 2)
        r->k = r->cost->teams - 1;
    else if (turn == 1 && r->k > 0 && !team.pinned)
        r->k--;
}

static void apply(struct omp_hook_region *r)
{
    struct omp_hook_choice choice;
    if (wanted != BEST) {
        force(r);
        return;
    }
    unsigned workers = (r->cold ? OMP_HOOK_ASLEEP : 0) | (r->idle ? OMP_HOOK_ASLEEP_ANYWAY : 0);
    omp_hook_model_choose(&r->context->model, &r->site->patience, r->k, workers, &team.budget, &choice);
    r->full = choice.full;
    r->credit = choice.credit;
    r->one = choice.one;
    r->hot = choice.hot;
    r->trial = choice.trial;
    if (choice.control || team.control)
        control(r);
    else
        r->lowered = choice.lower && !worth_waking(r, &choice);
}

static void decide(struct omp_hook_region *r)
{
    look_at_workers(r);
    plan(r);
    /* The first time shows how the region asks for its threads; without a context there is nothing to go by. */
    if (r->context && r->site->known)
        apply(r);
    else
        r->k = r->cost->teams - 1;
}

void omp_hook_team_choose(struct omp_hook_region *r)
{
    r->context = consult(r);
    team.counts.considered++;
    if (!settled(r))
        decide(r);
    uint32_t size = r->lowered ? 1 : r->cost->team[r->k].size;
    if (size != r->program)
        r->nt = size;
    r->direct = r->lowered && may_be_direct(r);
    if (size > 1)
        r->changes = team.alive && team.alive != size;
    if (!r->settled)
        r->begin = base_clock_now();
}

/* --- Learning --- */

/* How a region shows that it depends on its team: 0, or a bit of enum job_keep. */
static uint32_t suspicion(const struct omp_hook_region *r, bool alone)
{
    if (r->span.opened)
        return JOB_KEEP_CALLS;
    if (omp_task_created())
        return JOB_KEEP_TASKS;
    if (alone && !r->site->allowed)
        return JOB_KEEP_NUMBERS;
    if (r->verify && r->program && r->nt == r->asked && r->team && r->team != r->program)
        return JOB_KEEP_TEAM;
    return 0;
}

static bool at_own_size(const struct omp_hook_region *r)
{
    return !r->acts || (!r->lowered && r->cost->team[r->k].size == r->program);
}

/* Where the region's time went, and how often it ran how. */
static void count(struct omp_hook_region *r, double took)
{
    struct job_region *stats = &r->site->stats;
    stats->executions++;
    stats->changed += !at_own_size(r);
    stats->trials += r->trial;
    job_region_add_size(stats, r->team, 1, (uint64_t)took);
    if ((r->control || (r->trial && at_own_size(r))) && !r->changes) {
        stats->controls++;
        stats->control_ns += (uint64_t)took;
        stats->chosen_ns += (uint64_t)(r->one >= 0 && r->one < r->full ? r->one : r->full > 0 ? r->full : took);
    }
}

/* Lost by trials, earned by time. */
static void account(const struct omp_hook_region *r, double took, uint64_t end)
{
    double chosen = r->lowered || r->one < 0 || (r->full >= 0 && r->full < r->one && !r->control) ? r->full : r->one;
    if (r->trial && chosen >= 0 && took > chosen)
        *(r->control ? &team.budget.control : r->lowered ? &team.budget.one : &team.budget.team) -= took - chosen;
    omp_hook_budget_earn(&team.budget, end);
    team.last_end = end;
    omp_hook_crowd_look(&team.crowd, end);
}

/* Nothing new. */
static void pass(const struct omp_hook_region *r, double took, uint64_t end)
{
    r->site->patience.since++;
    r->site->patience.control_since++;
    if (!r->lowered)
        omp_hook_stall_expose(&r->cost->stall, r->cost->gap + took);
    team.last_end = end;
}

static double learn(struct omp_hook_region *r, double took, uint64_t end)
{
    struct omp_hook_execution e = { r->lowered, r->cold, r->trial, r->control };
    double gain = !at_own_size(r) && r->credit >= 0 ? r->credit - took : 0;
    team.counts.lowered += r->lowered;
    team.counts.trials += r->trial;
    r->site->stats.gain_ns += (int64_t)gain;
    if (r->settled && omp_hook_context_usual(r->context, took)) {
        pass(r, took, end);
        return gain;
    }
    account(r, took, end);
    if (!r->changes) /* making threads is not the region's time */
        team.counts.revised += omp_hook_context_learn(r->context, &r->site->patience, r->k, &e, end, took);
    if (!r->trial && wanted == BEST && r->lowered == r->context->model.lowering && (r->lowered || !r->cold))
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
    uint32_t reason = suspicion(r, alone);
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
    if (at_own_size(r) && !reason) {
        r->site->stats.verified++;
        r->site->known = true;
    }
    if (r->team > 1) {
        team.last_team = end;
        team.alive = r->team;
    }
    if (r->context)
        gain = learn(r, took, end);
    omp_hook_context_passed(r->fn);
    return gain;
}

void omp_hook_team_asked(void)
{
    for (struct omp_hook_region *r = omp_hook_thread.region; r; r = r->outer)
        if (r->stream && r->site && !r->site->allowed)
            omp_hook_site_keep(r->site, JOB_KEEP_ASKED_INSIDE);
}

void omp_hook_team_count(struct omp_hook_team_counts *counts)
{
    *counts = team.counts;
    counts->contexts = omp_hook_context_count();
    omp_hook_site_count(&counts->sites, &counts->kept);
}

void omp_hook_team_store(struct job *job)
{
    const struct omp_hook_site *site;
    for (uint32_t place = 0; (site = omp_hook_site_next(&place));)
        session_add_region(job, (uint64_t)(uintptr_t)site->fn, &site->stats);
}
