/* SPDX-License-Identifier: MIT */
#include "omp/plan.h"

#include <string.h>

enum { HORIZON = 64, ASK_AGAIN = 32 };
static const double early = 0.125;      /* share of the price at which the oracle is asked */
static const double reluctant = 2;      /* each change makes the next that much dearer … */
static const double forgiving = 0.998;  /* … and each region cheaper again */

void omp_hook_plan_start(struct omp_hook_plan *p, const struct omp_hook_cost *cost)
{
    memset(p, 0, sizeof *p);
    p->cost = cost;
    p->pool = (cost->usable ? cost->usable : cost->teams) - 1;
    p->reluctance = 1;
    p->since = ASK_AGAIN;
}

bool omp_hook_plan_open(const struct omp_hook_plan *p)
{
    return p->cost->usable > 1;
}

static double price(const struct omp_hook_plan *p, uint32_t to)
{
    uint32_t from = p->cost->team[p->pool].size;
    return p->reluctance * omp_hook_cost_change(p->cost, from, p->cost->team[to].size) + 1000;
}

/* Whether the coming regions pay for size j. -1: the oracle says they do not, 0: it does not know, 1: they do. */
static int pays(const struct omp_hook_plan *p, uint32_t j, double sum, omp_hook_plan_future *future, void *argument)
{
    double best[OMP_HOOK_TEAMS], asked = price(p, j);
    for (uint32_t d = 1; d <= HORIZON && sum < asked; d++) {
        if (!future || !future(argument, d, best))
            return 0;
        sum += best[p->pool] - best[j];
    }
    return sum >= asked ? 1 : sum <= 0 ? -1 : 0;
}

static void change(struct omp_hook_plan *p, uint32_t to)
{
    p->pool = to;
    p->reluctance *= reluctant;
    memset(p->regret, 0, sizeof p->regret);
}

static bool changes(struct omp_hook_plan *p, uint32_t j, double now, omp_hook_plan_future *future, void *argument)
{
    double asked = price(p, j);
    if (p->regret[j] < early * asked)
        return false;
    if (p->since >= ASK_AGAIN) {
        p->since = 0;
        int answer = pays(p, j, now, future, argument);
        if (answer < 0)
            p->regret[j] = 0;
        if (answer)
            return answer > 0;
    }
    return p->regret[j] >= asked;
}

uint32_t omp_hook_plan_next(struct omp_hook_plan *p, const double best[OMP_HOOK_TEAMS], omp_hook_plan_future *future,
                            void *argument)
{
    p->since += p->since < ASK_AGAIN;
    p->reluctance = 1 + (p->reluctance - 1) * forgiving;
    uint32_t choice = p->pool;
    for (uint32_t j = 0; j < p->cost->usable; j++) {
        double gain = best[p->pool] - best[j];
        if (j == p->pool)
            continue;
        p->regret[j] = p->regret[j] + gain > 0 ? p->regret[j] + gain : 0;
        if ((choice == p->pool || p->regret[j] > p->regret[choice]) && changes(p, j, gain, future, argument))
            choice = j;
    }
    if (choice != p->pool)
        change(p, choice);
    return p->pool;
}
