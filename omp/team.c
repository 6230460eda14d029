/* SPDX-License-Identifier: MIT */
#include "omp/team.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/modules.h"
#include "base/options.h"
#include "omp/ask.h"
#include "omp/cost.h"
#include "omp/model.h"
#include "omp/real.h"
#include "omp/safe.h"

enum { SITES = 512, CONTEXTS = 2048, COSTS = 4 }; /* the tables: powers of two */

/*
 * keep_reasons: what makes a region keep the program's size, once and for all.
 *   its module has thread-local storage          threadprivate data belongs to threads
 *   PYTHIA_OMP_KEEP names it
 *   it asks for thread numbers and team sizes    a static loop asks for both alike; who asks for its number alone has
 *   a different number of times                  split its work or indexed an array by itself
 *   an MPI call or another region inside         what other ranks or nested teams see must stay
 *   max_threads, … asked inside                  as for functions that ask (ask.h)
 *   the team was not what was asked for          thread limits that are not understood
 */
struct omp_hook_site {
    void (*fn)(void *);
    uintptr_t caller;    /* return address of the last begin … */
    uintptr_t starter;   /* … and the function that it is in */
    uint32_t epoch;      /* of the last look at who asked */
    uint32_t executions; /* at full size */
    struct omp_hook_patience patience;
    bool asked;          /* the starter asked, as of `epoch` */
    bool keep;
};

struct omp_hook_context {
    struct omp_hook_site *site; /* NULL: free */
    uint32_t reference, node; /* GRAMMAR_NONE: a place that the reference does not know */
    uint32_t size;            /* the program's */
    struct omp_hook_model model;
};

static struct omp_hook_site sites[SITES];
static struct omp_hook_context contexts[CONTEXTS];

/* Guarded by `owner`: only the thread whose omp_hook_thread it points to comes here. */
static _Atomic(struct omp_hook_thread *) owner;
static struct {
    struct omp_hook_cost costs[COSTS]; /* by size; 0: free */
    uint64_t last_team; /* ns, end of the last region of several threads */
    uint64_t last_end;  /* ns, end of the last region that was considered */
    double budget;      /* ns that may be lost in trials */
    double missed;      /* ns lost because the workers slept, since they were last woken */
    struct omp_hook_team_counts counts;
} team;

static bool is_owner(void)
{
    struct omp_hook_thread *me = &omp_hook_thread, *nobody = NULL;
    struct omp_hook_thread *now = atomic_load_explicit(&owner, memory_order_relaxed);
    return now == me || (!now && atomic_compare_exchange_strong(&owner, &nobody, me));
}

/* Whether acting is on at all: asked once, when the mode is known. */
static bool acts(void)
{
    static atomic_int known; /* 0: not asked, 1: no, 2: yes */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
        bool yes = session_acts("team") && !omp_hook_real()->omp_get_cancellation();
        now = yes ? 2 : 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == 2;
}

static uint32_t hash(uintptr_t a, uint32_t b, uint32_t c)
{
    uint64_t h = (a >> 2) * 0x9e3779b97f4a7c15u ^ ((uint64_t)b << 32 | c) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(h >> 32);
}

static void site_keep(struct omp_hook_site *site, const char *reason)
{
    uint64_t offset;
    if (site->keep)
        return;
    site->keep = true;
    team.counts.kept++;
    uint32_t module = base_modules_find((void *)(uintptr_t)site->fn, &offset);
    base_log_debug("omp: region at offset 0x%llx of module %u keeps its team: %s", (unsigned long long)offset, module,
                   reason);
}

/* What holds for a site before it ever ran. */
static void site_start(struct omp_hook_site *site, const struct omp_hook_region *r)
{
    struct pythia_options options;
    base_options_load(&options);
    site->fn = r->fn;
    site->epoch = omp_hook_ask_epoch() - 1;
    team.counts.sites++;
    if (omp_hook_safe_module_has_tls((uintptr_t)r->fn))
        site_keep(site, "its module has thread-local data");
    if (omp_hook_safe_named(options.omp_keep, (uintptr_t)r->fn, omp_hook_function((uintptr_t)r->caller - 1)))
        site_keep(site, "PYTHIA_OMP_KEEP names it");
}

static struct omp_hook_site *site_find(const struct omp_hook_region *r)
{
    uint32_t slot = hash((uintptr_t)r->fn, 0, 0) % SITES;
    for (uint32_t i = 0; i < SITES / 2; i++, slot = (slot + 1) % SITES) {
        if (sites[slot].fn == r->fn)
            return &sites[slot];
        if (!sites[slot].fn) {
            site_start(&sites[slot], r);
            return &sites[slot];
        }
    }
    return NULL;
}

static struct omp_hook_context *context_find(struct omp_hook_site *site, uint32_t reference, uint32_t node, uint32_t size)
{
    uint32_t slot = hash((uintptr_t)site + size, reference, node) % CONTEXTS;
    for (uint32_t i = 0; i < 64; i++, slot = (slot + 1) % CONTEXTS) {
        struct omp_hook_context *c = &contexts[slot];
        if (c->site == site && c->reference == reference && c->node == node && c->size == size)
            return c;
        if (!c->site) {
            c->site = site;
            c->reference = reference;
            c->node = node;
            c->size = size;
            team.counts.contexts++;
            return c;
        }
    }
    return NULL;
}

/* Whether the function that starts the region asked how large teams are; looked up again only when somebody new did. */
static bool starter_asked(struct omp_hook_site *site, uintptr_t caller)
{
    uint32_t epoch = omp_hook_ask_epoch();
    if (site->caller == caller && site->epoch == epoch)
        return site->asked;
    if (site->caller != caller) {
        site->caller = caller;
        site->starter = omp_hook_function(caller - 1);
        if (site->starter)
            omp_hook_ask_starts_region(site->starter);
        epoch = omp_hook_ask_epoch();
    }
    site->epoch = epoch;
    site->asked = !site->starter || omp_hook_ask_did(site->starter) || omp_hook_ask_did((uintptr_t)site->fn);
    return site->asked;
}

/* What the reference knows of this region here: its place, and times by team size. */
static struct omp_hook_context *consult(struct omp_hook_region *r)
{
    struct oracle_answer answer;
    const struct grammar_attr *by_size = NULL;
    struct omp_hook_context *c;
    bool known = session_expect(r->stream, &r->span, &answer, &by_size) == 0;
    c = context_find(r->site, known ? answer.reference : GRAMMAR_NONE, known ? answer.node : GRAMMAR_NONE, r->program);
    if (c && c->model.size == 0)
        omp_hook_model_start(&c->model, r->program, r->cost, known ? by_size : NULL, known ? answer.duration : -1);
    return c;
}

static bool considered(struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    if (nt != 0 || flags != 0 || (r->traits & (OMP_HOOK_KEEP | OMP_HOOK_LEAGUE)) || !acts() || !is_owner())
        return false;
    /* With more than one active level the regions inside would get teams of their own. */
    if (r->program < 2 || omp_hook_real()->omp_get_max_active_levels() != 1)
        return false;
    r->site = site_find(r);
    if (!r->site || r->site->keep || starter_asked(r->site, (uintptr_t)r->caller)) {
        r->site = NULL;
        return false;
    }
    return true;
}

/* The costs of teams of that size, the place for them where they are not known yet, NULL where there are too many. */
static struct omp_hook_cost *cost_of(uint32_t size)
{
    for (int i = 0; i < COSTS; i++)
        if (team.costs[i].size == size || team.costs[i].size == 0)
            return &team.costs[i];
    return NULL;
}

/* Sets r->cost and r->cold, after measuring what is not known yet. */
static bool look_at_machine(struct omp_hook_region *r)
{
    struct omp_hook_cost *cost = cost_of(r->program);
    uint64_t now = base_clock_now();
    if (!cost)
        return false;
    if (cost->size == 0) {
        omp_hook_cost_measure(cost, r->program);
        team.budget += 20 * (cost->hot + cost->one);
        team.last_team = team.last_end = now = base_clock_now();
    } else if (!cost->cold_known && now - team.last_team > 2 * cost->spin) {
        omp_hook_cost_measure_cold(cost);
        team.last_team = now = base_clock_now();
    }
    r->cold = now - team.last_team > cost->spin;
    r->idle = now - team.last_end > cost->spin;
    r->cost = cost;
    return true;
}

/*
 * Sleeping workers make a team dear, and without a team they go on sleeping: what would pay with workers awake must not
 * wait for ever for somebody else to wake them. So what was missed is summed up, and once it is more than waking costs
 * now, this region does it: at most twice the cost of knowing the future (the ski-rental argument).
 */
static bool worth_waking(const struct omp_hook_region *r, const struct omp_hook_choice *c)
{
    if (!r->cold || r->cost->spin < 1000000 || c->hot > 0.95 * c->one)
        return false;
    team.missed += c->one - c->hot;
    if (team.missed < c->full - c->one)
        return false;
    team.missed = 0;
    return true;
}

static void apply(struct omp_hook_region *r)
{
    struct omp_hook_choice choice;
    unsigned workers = (r->cold ? OMP_HOOK_ASLEEP : 0) | (r->idle ? OMP_HOOK_ASLEEP_ANYWAY : 0);
    omp_hook_model_choose(&r->context->model, &r->site->patience, workers, team.budget, &choice);
    r->trial = choice.trial;
    r->full = choice.full;
    r->credit = choice.credit;
    r->one = choice.one;
    r->lowered = choice.lower && !worth_waking(r, &choice);
    if (r->lowered)
        r->nt = 1;
}

void omp_hook_team_prepare(struct omp_hook_region *r, unsigned nt, unsigned flags)
{
    if (considered(r, nt, flags) && !look_at_machine(r))
        r->site = NULL;
    r->verify = r->site && r->site->executions == 0;
}

void omp_hook_team_choose(struct omp_hook_region *r)
{
    r->context = consult(r);
    team.counts.considered++;
    /* The first time shows how the region asks for its threads; without a context there is nothing to go by. */
    if (r->context && r->site->executions > 0)
        apply(r);
    r->begin = base_clock_now();
}

/* How a region shows that it depends on its team, NULL when it does not. */
static const char *suspicion(const struct omp_hook_region *r, uint32_t numbers, uint32_t sizes)
{
    if (numbers != sizes)
        return "it asks for thread numbers on its own";
    if (r->span.opened)
        return "calls or regions inside";
    if (!r->lowered && r->team && r->team != r->program)
        return "its team is not what was to be expected";
    return NULL;
}

double omp_hook_team_learn(struct omp_hook_region *r, uint32_t numbers, uint32_t sizes)
{
    uint64_t end = base_clock_now();
    double took = (double)(end - r->begin), gain = 0;
    struct omp_hook_site *site = r->site;
    if (!r->lowered) {
        team.last_team = end;
        site->executions += site->executions < UINT32_MAX;
    }
    const char *reason = suspicion(r, numbers, sizes);
    if (reason)
        site_keep(site, reason);
    if (!r->context)
        return 0;
    if (r->lowered && r->credit >= 0)
        gain = r->credit - took;
    double chosen_before = r->lowered ? r->full : r->one;
    if (r->trial && chosen_before >= 0 && took > chosen_before)
        team.budget -= took - chosen_before;
    team.budget += 0.01 * (double)(end - team.last_end);
    team.last_end = end;
    team.counts.lowered += r->lowered;
    team.counts.trials += r->trial;
    team.counts.revised += omp_hook_model_learn(&r->context->model, &site->patience, r->lowered, r->cold, took);
    return gain;
}

void omp_hook_team_asked(void)
{
    for (struct omp_hook_region *r = omp_hook_thread.region; r; r = r->outer)
        if (r->stream && r->site)
            site_keep(r->site, "the size of teams is asked for inside");
}

void omp_hook_team_count(struct omp_hook_team_counts *counts)
{
    *counts = team.counts;
}
