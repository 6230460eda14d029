/* SPDX-License-Identifier: MIT */
/* The part of cost.h that needs no machine: which sizes there are, and what follows from their costs. */
#include "places/cores.h"
#include "omp/cost.h"

static void add_size(struct omp_hook_cost *cost, unsigned size)
{
    uint32_t at = 0;
    while (at < cost->teams && cost->team[at].size < size)
        at++;
    if (size < 2 || cost->teams == OMP_HOOK_TEAMS || (at < cost->teams && cost->team[at].size == size))
        return;
    for (uint32_t k = cost->teams++; k > at; k--)
        cost->team[k] = cost->team[k - 1];
    cost->team[at] = (struct omp_hook_team_cost){ .size = size, .hot = -1, .cold = -1 };
}

void omp_hook_cost_sizes(struct omp_hook_cost *cost, unsigned size, double processors, double cores)
{
    unsigned most = processors < size ? (unsigned)processors : size;
    cost->size = size;
    cost->processors = processors;
    cost->cores = cores;
    cost->teams = cost->usable = 0;
    add_size(cost, size);
    add_size(cost, most);
    if (cores < most)
        add_size(cost, (unsigned)cores);
    for (unsigned half = most / 2; half >= 2 && cost->teams < OMP_HOOK_TEAMS; half /= 2)
        add_size(cost, half);
    while (cost->usable < cost->teams && cost->team[cost->usable].size <= processors)
        cost->usable++;
}

double omp_hook_cost_worth(const struct omp_hook_cost *cost, double size)
{
    return places_cores_worth(cost->processors, cost->cores, size);
}

double omp_hook_cost_change(const struct omp_hook_cost *cost, uint32_t from, uint32_t to)
{
    return from > to ? cost->end * (from - to) : cost->make * (to - from);
}

/* Met, or foreseen, whichever is more (stall.h, crowd.h). */
double omp_hook_cost_stall(const struct omp_hook_cost *cost, double time)
{
    double exposed = time + cost->gap, met = cost->stall.share * exposed;
    double foreseen = cost->share * cost->wait, lost = cost->share < 1 ? cost->share / (1 - cost->share) * exposed : foreseen;
    bool spins = cost->teams > 0 && cost->team[cost->teams - 1].spin > 1000000;
    if (spins && lost < foreseen)
        foreseen = lost;
    return met > foreseen ? met : foreseen;
}
