/* SPDX-License-Identifier: MIT */
#include "omp/cost.h"

#include <sched.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "omp/real.h"

enum { REPEATS = 15 };
static const uint64_t spin_default = 5000000;   /* ns; workers give up between 5 and 12 ms after a region */
static const uint64_t spin_crowded = 10000;     /* ns; libgomp's shorter count, for more threads than processors */
static const uint64_t budget = 4000000;         /* ns for one series */

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

/* Median of up to REPEATS regions one after the other, fewer where they are slow. */
static double team_series(unsigned size)
{
    double took[REPEATS];
    uint64_t begin = base_clock_now();
    int n = 0;
    while (n < REPEATS && (n < 3 || base_clock_now() - begin < budget))
        took[n++] = team_once(size);
    qsort(took, (size_t)n, sizeof *took, ascending);
    return took[n / 2];
}

/* Ranks that this node runs, by what the usual launchers say; 1 when they say nothing. */
static long ranks_here(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                         "SLURM_TASKS_PER_NODE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        long n = text ? strtol(text, NULL, 10) : 0;
        if (n > 0)
            return n;
    }
    return 1;
}

/* A mask that leaves out processors was chosen for this rank; one that has them all is shared by the node's ranks. */
static double processors(unsigned *in_mask)
{
    cpu_set_t mask;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long mine = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : online;
    *in_mask = mine > 0 ? (unsigned)mine : 1;
    double share = mine >= online ? (double)mine / (double)ranks_here() : (double)mine;
    return share < 1 ? 1 : share;
}

static uint64_t spin_time(unsigned size, unsigned in_mask)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    const char *count = getenv("GOMP_SPINCOUNT");
    if (count && *count >= '0' && *count <= '9')
        return strtoull(count, NULL, 10) > 1000000 ? spin_default : 0;
    if (policy && strcasecmp(policy, "passive") == 0)
        return 0;
    if (policy && strcasecmp(policy, "active") == 0)
        return 1000000000;
    return size > in_mask ? spin_crowded : spin_default;
}

void omp_hook_cost_measure(struct omp_hook_cost *cost, unsigned size)
{
    unsigned in_mask;
    cost->size = size;
    cost->processors = processors(&in_mask);
    cost->spin = spin_time(size, in_mask);
    (void)team_once(size); /* makes the threads */
    cost->hot = team_series(size);
    cost->cold = cost->hot;
    /* Where workers sleep at once, each of the series was cold. */
    cost->cold_known = cost->spin < spin_default;
    cost->one = team_series(1);
}

void omp_hook_cost_measure_cold(struct omp_hook_cost *cost)
{
    double woken = team_once(cost->size);
    cost->cold = woken > cost->hot ? woken : cost->hot;
    cost->cold_known = 1;
}
