/* SPDX-License-Identifier: MIT */
#include "omp/cost.h"

#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "places/cores.h"
#include "omp/real.h"
#include "places/wait.h"

enum { REPEATS = 15 };
static const uint64_t spin_default = 5000000;   /* ns; workers give up between 5 and 12 ms after a region */
static const uint64_t spin_crowded = 10000;     /* ns; libgomp's shorter count, for more threads than processors */
static const uint64_t budget_series = 3000000;  /* ns for one size */
static const uint64_t budget_all = 10000000;    /* ns for all sizes: what is left then is extrapolated */
static const double usual_one = 400, usual_hot = 1500, usual_cold = 60000; /* ns, of one and of two threads */
static const double change_thread = 50000;      /* ns for a thread's end or start, where it was not measured */

static void nothing(void *unused)
{
    (void)unused;
}

static double team_once(unsigned size)
{
    uint64_t begin = base_clock_now();
    omp_hook_real()->GOMP_parallel(nothing, NULL, size, 0);
    return (double)(base_clock_now() - begin);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of up to REPEATS regions one after the other, fewer where they are slow. What takes far longer is a stall. */
static double team_series(unsigned size, struct omp_hook_stall *stall)
{
    double took[REPEATS];
    uint64_t begin = base_clock_now();
    int n = 0;
    while (n < REPEATS && (n < 3 || base_clock_now() - begin < budget_series))
        took[n++] = team_once(size);
    qsort(took, (size_t)n, sizeof *took, ascending);
    for (int i = 0; stall && i < n; i++)
        omp_hook_stall_note(stall, base_clock_now(), took[n / 2], took[i] > 100000 && took[i] > 4 * took[n / 2] ? took[i] - took[n / 2] : 0);
    return took[n / 2];
}

static uint64_t spin_time(unsigned size, unsigned in_mask)
{
    const char *policy = places_wait_policy();
    const char *count = getenv("GOMP_SPINCOUNT");
    if (count && *count >= '0' && *count <= '9')
        return strtoull(count, NULL, 10) > 1000000 ? spin_default : 0;
    if (policy && strcasecmp(policy, "passive") == 0)
        return 0;
    if (policy && strcasecmp(policy, "active") == 0)
        return 1000000000;
    return size > in_mask ? spin_crowded : spin_default;
}

/* Once down by a size and up again: what threads cost. */
static void measure_change(struct omp_hook_cost *cost)
{
    cost->end = cost->make = change_thread;
    if (cost->usable < 2)
        return;
    const struct omp_hook_team_cost *low = &cost->team[cost->usable - 2], *high = &cost->team[cost->usable - 1];
    double threads = high->size - low->size;
    double down = team_once(low->size) - low->hot, up = team_once(high->size) - high->hot;
    cost->end = down > 0 ? down / threads : 0;
    cost->make = up > 0 ? up / threads : 0;
}

static void measure_teams(struct omp_hook_cost *cost)
{
    uint64_t begin = base_clock_now();
    for (uint32_t k = 0; k < cost->usable; k++) {
        struct omp_hook_team_cost *team = &cost->team[k];
        if (k > 0 && base_clock_now() - begin > budget_all) {
            team->hot = cost->team[k - 1].hot * team->size / cost->team[k - 1].size;
        } else {
            (void)team_once(team->size); /* makes the threads */
            team->hot = team_series(team->size, &cost->stall);
        }
        team->cold = team->hot;
    }
}

/* What teams cost where nobody disturbs them, on machines of these years. */
static void guess(struct omp_hook_cost *cost)
{
    cost->one = usual_one;
    cost->end = cost->make = change_thread;
    for (uint32_t k = 0; k < cost->usable; k++) {
        cost->team[k].hot = usual_hot * cost->team[k].size / 2;
        cost->team[k].cold = cost->team[k].spin < spin_default ? cost->team[k].hot : usual_cold * cost->team[k].size / 2;
    }
    cost->cold_known = true;
}

static void look(struct omp_hook_cost *cost)
{
    measure_teams(cost);
    measure_change(cost);
    /* Where workers sleep at once, each of the series was cold. */
    cost->cold_known = cost->usable == 0 || cost->team[cost->usable - 1].spin < spin_default;
    cost->one = team_series(1, NULL);
}

/* Teams of another size than N, and than one, end threads. */
static bool only_own_size(const struct omp_hook_cost *cost)
{
    return cost->usable == 0 || (cost->usable == 1 && cost->team[0].size == cost->size);
}

void omp_hook_cost_measure(struct omp_hook_cost *cost, unsigned size, unsigned limits)
{
    struct places_cores cores;
    if (cost->size == 0) { /* later the sizes stay what they are: models count by them */
        places_cores(&cores);
        omp_hook_cost_sizes(cost, size, cores.processors, cores.cores);
        for (uint32_t k = 0; k < cost->teams; k++)
            cost->team[k].spin = spin_time(cost->team[k].size, cores.in_mask);
    }
    cost->guessed = (limits & OMP_HOOK_COST_CROWDED) || ((limits & OMP_HOOK_COST_NO_END) && !only_own_size(cost));
    if (cost->guessed)
        guess(cost);
    else
        look(cost);
}

void omp_hook_cost_measure_cold(struct omp_hook_cost *cost, uint32_t k)
{
    double more = team_once(cost->team[k].size) - cost->team[k].hot;
    for (uint32_t i = 0; i < cost->usable; i++) {
        double here = more * (cost->team[i].size - 1) / (cost->team[k].size - 1);
        cost->team[i].cold = cost->team[i].hot + (here > 0 ? here : 0);
    }
    cost->cold_known = true;
}
