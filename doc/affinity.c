/* SPDX-License-Identifier: MIT */
/*
 * Where tasks and teams run: on a thread's processor, on a node of memory, or near data; bound there, or as a hint.
 *
 *     cc -O2 -fopenmp -o affinity affinity.c $(pkg-config --cflags pythia) && pythia record ./affinity
 *
 * Says how many processors the tasks of each wish ran on. Without Pythia no wishes are made, they run anywhere.
 */
#define _GNU_SOURCE
#define PYTHIA_OPTIONAL
#include <omp.h>
#include <pythia.h>
#include <sched.h>
#include <stdio.h>

enum { BLOCKS = 4, TASKS = 50 /* of each block */, SIZE = 1 << 18 };

static double block[BLOCKS][SIZE];
static int ran[BLOCKS][CPU_SETSIZE]; /* tasks of a block on each processor */

static void wish(int kind, uintptr_t value, int strict)
{
    if (pythia_affinity_next_task) /* NULL without Pythia */
        pythia_affinity_next_task(kind, value, strict);
}

static void work(int i)
{
    for (int k = 0; k < SIZE; k++)
        block[i][k] = block[i][k] * 0.5 + k;
#pragma omp atomic
    ran[i][sched_getcpu()]++;
}

/* Each block's tasks with one wish. */
static void run(const char *what, int kind, int strict)
{
    for (int i = 0; i < BLOCKS; i++)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            ran[i][cpu] = 0;
#pragma omp parallel
#pragma omp single
    for (int n = 0; n < BLOCKS * TASKS; n++) {
        int i = n % BLOCKS;
        wish(kind, kind == PYTHIA_AFFINITY_DATA ? (uintptr_t)block[i] : (uintptr_t)i, strict);
#pragma omp task firstprivate(i)
        work(i);
    }
    printf("%-22s", what);
    for (int i = 0; i < BLOCKS; i++) {
        int processors = 0;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            processors += ran[i][cpu] > 0;
        printf("  block %d: %d", i, processors);
    }
    puts(" processors");
}

int main(void)
{
    puts(pythia_affinity_next_task ? "with Pythia" : "without Pythia");
    for (int i = 0; i < BLOCKS; i++) /* the pages live where they are touched first */
        for (int k = 0; k < SIZE; k++)
            block[i][k] = k;
    run("anywhere", PYTHIA_AFFINITY_NONE, 0);
    run("thread i, strict", PYTHIA_AFFINITY_THREAD, 1);
    run("thread i, a hint", PYTHIA_AFFINITY_THREAD, 0);
    run("node i, strict", PYTHIA_AFFINITY_NODE, 1);
    run("near the block, a hint", PYTHIA_AFFINITY_DATA, 0);
    if (pythia_affinity_next_team) /* thread k of the team goes to processor 0 + k while it runs */
        pythia_affinity_next_team(PYTHIA_AFFINITY_THREAD, 0, 1);
    int bound = 0, threads = 0;
#pragma omp parallel reduction(+ : bound, threads)
    {
        cpu_set_t mask;
        sched_getaffinity(0, sizeof mask, &mask);
        bound += CPU_COUNT(&mask) == 1;
        threads++;
    }
    printf("a team, strict          %d of its %d threads bound to one processor\n", bound, threads);
    return 0;
}
