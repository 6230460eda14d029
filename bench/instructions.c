/* SPDX-License-Identifier: MIT */
/*
 * What is done again and again while bench/instructions.sh counts: one rank, messages to itself.
 *
 *   instructions PART TURNS [cold]     PART: allreduce, halo, single, random, region, timed, task, named
 *
 * cold: between two turns so much memory is read that no first-level cache has anything of the one before.
 * WARM turns come before, so that everything has been seen and a predicted run samples itself as seldom as it will;
 * measured() is what is counted. Prints how many calls, regions or tasks that is.
 */
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia_region.h"

enum { WARM = 6000, COLD = 300 };

static void allreduce(int turn)
{
    int sum;
    MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void halo(int turn)
{
    int in;
    MPI_Request r[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&turn, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void single(int turn)
{
    int in, all;
    MPI_Request r[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&turn, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(&turn, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allgather(&turn, 1, MPI_INT, &all, 1, MPI_INT, MPI_COMM_WORLD);
}

static void any_collective(int turn)
{
    static uint32_t state = 1;
    int value = turn, sum;
    state = state * 1664525u + 1013904223u;
    switch (state >> 30) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); break;
    default: MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    }
}

/* With OMP_THREAD_LIMIT=1 it gets one thread, which nothing times, however long the machine keeps it. */
static void region(int turn)
{
#pragma omp parallel num_threads(2)
    __asm__ volatile("" : : "r"(turn));
}

/* So long that each is timed in its threads. */
static void timed(int turn)
{
#pragma omp parallel num_threads(2)
    for (double until = omp_get_wtime() + 70e-6; omp_get_wtime() < until;)
        __asm__ volatile("" : : "r"(turn));
}

/* One within another, as programs have them. */
static void named(int turn)
{
    pythia_region_begin("time step");
    pythia_region_begin("assemble the matrix");
    __asm__ volatile("" : : "r"(turn));
    pythia_region_end("assemble the matrix");
    pythia_region_end("time step");
}

/* As programs of tasks are written: each waits for its own, leaves too. */
static void tree(int depth)
{
    for (int i = 0; depth && i < 2; i++) {
#pragma omp task
        tree(depth - 1);
    }
#pragma omp taskwait
}

enum { DEPTH = 3, TASKS = (2 << DEPTH) - 2 };
static void task(int turn)
{
    (void)turn;
#pragma omp parallel num_threads(2)
#pragma omp single
    tree(DEPTH);
}

static const struct part { const char *name; void (*turn)(int); int calls; } parts[] = {
    { "allreduce", allreduce, 1 }, { "halo", halo, 3 }, { "single", single, 6 },
    { "random", any_collective, 1 }, { "region", region, 1 },
    { "timed", timed, 1 }, { "task", task, TASKS }, { "named", named, 4 }, { NULL, NULL, 0 } };

static volatile char much[1 << 18];

static void forget(void)
{
    for (size_t i = 0; i < sizeof much; i += 64)
        (void)much[i];
}

__attribute__((noinline)) void measured(const struct part *part, int turns, bool cold);
void measured(const struct part *part, int turns, bool cold)
{
    for (int i = 0; i < turns; i++) {
        if (cold)
            forget();
        part->turn(i);
    }
}

int main(int argc, char **argv)
{
    const struct part *part = parts;
    int turns = argc > 2 ? atoi(argv[2]) : 0;
    while (part->name && (argc < 2 || strcmp(part->name, argv[1])))
        part++;
    if (!part->name || turns < 1) {
        fputs("usage: instructions PART TURNS [cold]\n", stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    for (int i = 0; i < WARM; i++)
        part->turn(i);
    if (argc > 3) /* turns take longer then: that, too, has been seen */
        for (int i = 0; i < COLD; i++) {
            forget();
            part->turn(i);
        }
    measured(part, turns, argc > 3);
    MPI_Finalize();
    printf("%d\n", turns * part->calls);
    return 0;
}
