/* SPDX-License-Identifier: MIT */
#include "tasks/model.h"

#include "base/fpu.h"

enum { MEMORY = 32, OUTLIER = 64, FIRST_TRIES = 2, FIRST_BACKOFF = 32, LAST_BACKOFF = 4096 };
static const double hungry = 1, fed = 16, sated = 100; /* times the cost of deferring */
static const double coarse = 50000;                    /* ns a task: deferring it costs less than 1 % anywhere */
static const double hopeless = 1.5;

#define LOAD(field) atomic_load_explicit(field, memory_order_relaxed)
#define STORE(field, x) atomic_store_explicit(field, x, memory_order_relaxed)

void tasks_mean_add(struct tasks_mean *m, double x)
{
    base_fpu_t kept = base_fpu_hold();
    uint32_t n = LOAD(&m->count);
    double value = LOAD(&m->value);
    if (n >= 3 && x > OUTLIER * value)
        x = OUTLIER * value;
    n += n < MEMORY;
    STORE(&m->value, (float)(value + (x - value) / n));
    STORE(&m->count, n);
    base_fpu_give_back(kept);
}

bool tasks_mean_is_settled(const struct tasks_mean *m)
{
    return LOAD(&m->count) >= MEMORY;
}

double tasks_mean_get(const struct tasks_mean *m)
{
    return LOAD(&m->count) ? LOAD(&m->value) : -1;
}

enum tasks_choice tasks_choose(double takes, double cost, int ready, int team)
{
    bool enough = ready >= 4 * team;
    if (team < 2)
        return TASKS_SUBTREE;
    if (takes < 0)
        return enough ? TASKS_AT_ONCE : TASKS_DEFER;
    if (takes < hungry * cost || (ready >= team && takes < fed * cost))
        return TASKS_SUBTREE;
    return enough && takes < sated * cost ? TASKS_AT_ONCE : TASKS_DEFER;
}

double tasks_subtree_time(double takes, double cost)
{
    return 4 * (takes > fed * cost ? takes : fed * cost);
}

uint32_t tasks_pass(uint64_t timed, uint64_t ns, uint32_t *chance)
{
    enum { FIRST = 32, MOST = 64, APART = 16384 /* ns */ };
    uint64_t every = timed < FIRST ? 1 : APART * timed / (ns + 1);
    if (every <= 1)
        return 0;
    *chance = *chance * 1664525 + 1013904223; /* Numerical Recipes' generator: the upper bits are good */
    return (*chance >> 16) % (2 * (uint32_t)(every < MOST ? every : MOST) - 1);
}

static bool tried(const struct tasks_loop *l, int at_once)
{
    return LOAD(&l->time[at_once].count) >= FIRST_TRIES;
}

bool tasks_loop_choose(struct tasks_loop *l, double each, int team)
{
    double deferred = LOAD(&l->time[0].value), at_once = LOAD(&l->time[1].value);
    if (!tried(l, 0))
        return false;
    if (!tried(l, 1))
        return deferred * each * team < coarse;
    bool better = at_once < deferred;
    double best = better ? at_once : deferred, other = better ? deferred : at_once;
    uint32_t since = LOAD(&l->since) + 1, backoff = LOAD(&l->backoff);
    STORE(&l->since, since);
    if (since <= (backoff ? backoff : FIRST_BACKOFF) || other > hopeless * best)
        return better;
    STORE(&l->since, 0);
    STORE(&l->backoff, backoff ? (backoff < LAST_BACKOFF ? 2 * backoff : backoff) : 2 * FIRST_BACKOFF);
    return !better;
}

void tasks_loop_learn(struct tasks_loop *l, bool at_once, double per_iteration)
{
    tasks_mean_add(&l->time[at_once], per_iteration);
}
