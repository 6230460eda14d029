/* SPDX-License-Identifier: MIT */
#include "omp/context.h"

#include <stddef.h>
#include <string.h>

enum { CONTEXTS = 2048, PROBES = 64, RENEW = 8, SETTLED = 15, ENOUGH = 4 };
static const double clearly = 1.2;           /* the size that is not chosen takes so many times longer */
static const double usual = 2;               /* times the typical one: what takes less is nothing new */
static const double deciding_counts = 20000; /* ns: in what is longer, deciding is nothing */

static struct omp_hook_context contexts[CONTEXTS];
static uint32_t context_count;
static uint64_t history;

static uint32_t hash(uintptr_t a, uint32_t b, uint32_t c)
{
    uint64_t h = (a >> 2) * 0x9e3779b97f4a7c15u ^ ((uint64_t)b << 32 | c) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(h >> 32);
}

uint32_t omp_hook_context_history(void)
{
    return (uint32_t)(history >> 32) ^ (uint32_t)history;
}

void omp_hook_context_passed(void (*fn)(void *))
{
    history = history << 32 | hash((uintptr_t)fn, 0, 0);
}

static bool is(const struct omp_hook_context *c, const struct omp_hook_site *site, uint32_t reference, uint32_t node,
               uint32_t size)
{
    return c->reference == reference && c->node == node && c->size == size && (!site || c->site == site);
}

static struct omp_hook_context *start(struct omp_hook_context *c, struct omp_hook_site *site, uint32_t reference,
                                      uint32_t node, uint32_t size)
{
    c->site = site;
    c->reference = reference;
    c->node = node;
    c->size = size;
    c->learned = RENEW;
    context_count++;
    return c;
}

/* Room is kept for one context a site, for when everything else is full. */
static struct omp_hook_context *look(struct omp_hook_site *site, uint32_t reference, uint32_t node, uint32_t size, bool add)
{
    uint32_t slot = hash(reference == GRAMMAR_NONE ? (uintptr_t)site + size : size, reference, node) % CONTEXTS;
    for (uint32_t i = 0; i < PROBES; i++, slot = (slot + 1) % CONTEXTS) {
        struct omp_hook_context *c = &contexts[slot];
        if (!c->site)
            return add && site ? start(c, site, reference, node, size) : NULL;
        if (is(c, site, reference, node, size))
            return c;
    }
    return NULL;
}

struct omp_hook_context *omp_hook_context_find(struct omp_hook_site *site, uint32_t reference, uint32_t node, uint32_t size,
                                               bool add)
{
    bool room = context_count < CONTEXTS * 3 / 4;
    struct omp_hook_context *c = look(site, reference, node, size, add && room);
    return c || !add ? c : look(site, GRAMMAR_NONE, 0, size, true);
}

static void renew(struct omp_hook_context *c)
{
    double one = omp_hook_model_expect_one(&c->model);
    memset(c->best, 0, sizeof c->best);
    for (uint32_t k = 0; k < c->model.cost->usable; k++) {
        double team = omp_hook_model_expect(&c->model, k, false);
        c->best[k] = team < 0 || (one >= 0 && one < team) ? one : team;
        if (c->best[k] < 0)
            c->best[k] = 0;
    }
    c->learned = 0;
}

void omp_hook_context_best(struct omp_hook_context *c, double best[OMP_HOOK_TEAMS])
{
    memset(best, 0, OMP_HOOK_TEAMS * sizeof *best);
    if (!c || !c->model.cost)
        return;
    if (c->learned >= RENEW)
        renew(c);
    memcpy(best, c->best, OMP_HOOK_TEAMS * sizeof *best);
}

bool omp_hook_context_learn(struct omp_hook_context *c, struct omp_hook_patience *p, uint32_t k,
                            const struct omp_hook_execution *e, uint64_t now, double took)
{
    c->learned += c->learned < RENEW;
    c->settled = 0;
    return omp_hook_model_learn(&c->model, p, k, e, now, took);
}

static const struct omp_hook_mean *chosen(const struct omp_hook_context *c, uint32_t k)
{
    return c->model.lowering ? &c->model.one : &c->model.team[k][OMP_HOOK_HOT];
}

bool omp_hook_context_usual(const struct omp_hook_context *c, double took)
{
    return took < usual * chosen(c, c->k)->typical;
}

/* No other size that the pool could have would be better here: the plan need not know of it. */
static bool best_pool(struct omp_hook_context *c, uint32_t k)
{
    double best[OMP_HOOK_TEAMS];
    omp_hook_context_best(c, best);
    for (uint32_t j = 0; j < c->model.cost->usable; j++)
        if (best[j] < best[k])
            return false;
    return true;
}

void omp_hook_context_settle(struct omp_hook_context *c, uint32_t k, double took, double other, double credit)
{
    const struct omp_hook_mean *mean = chosen(c, k);
    c->k = k;
    if (mean->count < ENOUGH || mean->typical > deciding_counts || other < clearly * mean->typical ||
        !omp_hook_context_usual(c, took) || !best_pool(c, k))
        return;
    c->settled = SETTLED;
    c->credit = credit;
    c->loss = other - mean->typical;
    c->stalled = c->model.cost->stall.last;
}

bool omp_hook_context_settled(struct omp_hook_context *c, uint32_t pool, uint64_t since)
{
    const struct omp_hook_cost *cost = c->model.cost;
    if (c->settled == 0 || c->stalled != cost->stall.last ||
        (!c->model.lowering && (c->k != pool || since > cost->team[c->k].spin)))
        return false;
    c->settled--;
    return true;
}

uint32_t omp_hook_context_count(void)
{
    return context_count;
}
