/* SPDX-License-Identifier: MIT */
/*
 * Planted threads: each function has one region whose threads nap as if they computed, and prints how long they did, in
 * ns over all threads and ranks. With -DALONE there is no MPI.
 */
#ifdef ALONE
#define RANK 0
#else
#include <mpi.h>
static int rank;
#define RANK rank
#endif
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 12 };
static _Atomic long useful;

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(int ms)
{
    long begin = now();
    nanosleep(&(struct timespec){ 0, ms * 1000000L }, NULL);
    useful += now() - begin;
}

static void phases(int turn)
{
    (void)turn;
#pragma omp parallel
    {
        work(omp_get_thread_num() ? 1 : 5);
#pragma omp barrier
        work(omp_get_thread_num() ? 5 : 1);
    }
}

static void uneven(int turn)
{
    (void)turn;
#pragma omp parallel
    work(omp_get_thread_num() ? 2 : 6);
}

static void later(int turn)
{
#pragma omp parallel
    work(turn >= TURNS / 4 && omp_get_thread_num() ? 1 : 4);
}

static void eighth(int turn)
{
    for (int i = 0; i < 8; i++) {
#pragma omp parallel
        if (i == 7)
            work(omp_get_thread_num() || turn < 0 ? 1 : 8);
    }
}

static void exclusive(int turn)
{
    (void)turn;
#pragma omp parallel
#pragma omp critical
    work(4);
}

static void named(int turn)
{
    (void)turn;
#pragma omp parallel
    {
#pragma omp critical(name)
        work(4);
    }
}

static void locks(int turn)
{
    static omp_lock_t lock;
    if (turn == 0)
        omp_init_lock(&lock);
#pragma omp parallel
    {
        omp_set_lock(&lock);
        work(4);
        omp_unset_lock(&lock);
    }
}

static void in_order(int turn)
{
    (void)turn;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 4; i++) {
        work(1);
#pragma omp ordered
        work(2);
    }
}

static void parts(int turn)
{
    (void)turn;
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            work(5);
#pragma omp section
            work(1);
        }
        work(1);
    }
}

static void one(int turn)
{
    (void)turn;
#pragma omp parallel
    {
#pragma omp single
        work(4);
        work(2);
    }
}

static void at_the_end(int turn)
{
    (void)turn;
#pragma omp parallel
#pragma omp single nowait
    for (int i = 0; i < 4; i++) {
#pragma omp task
        work(2);
    }
}

static void waited_for(int turn)
{
    (void)turn;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 3; i++) {
#pragma omp task
            work(3);
        }
#pragma omp taskwait
        work(2);
    }
}

static void loop_of_tasks(int turn)
{
    (void)turn;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(3)
        for (int i = 0; i < 3; i++)
            work(3);
        work(1);
    }
}

static void nested(int turn)
{
    (void)turn;
#pragma omp parallel num_threads(2)
    {
        work(1);
#pragma omp parallel num_threads(2)
        work(omp_get_thread_num() ? 2 : 5);
    }
}

static void alone(int turn)
{
    (void)turn;
#pragma omp parallel if (0)
    work(2);
}

static void calls(int turn)
{
    (void)turn;
#pragma omp parallel
    {
        if (omp_get_thread_num() || RANK == 0)
            work(5);
#ifndef ALONE
        if (omp_get_thread_num() == 0)
            MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
}

static const struct { const char *name; void (*run)(int turn); } programs[] = {
#define PROGRAM(name) { #name, name }
    PROGRAM(phases), PROGRAM(uneven), PROGRAM(later), PROGRAM(eighth), PROGRAM(exclusive), PROGRAM(named),
    PROGRAM(locks), PROGRAM(in_order), PROGRAM(parts), PROGRAM(one), PROGRAM(at_the_end), PROGRAM(waited_for),
    PROGRAM(loop_of_tasks), PROGRAM(nested), PROGRAM(alone), PROGRAM(calls)
};

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
#ifndef ALONE
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    omp_set_max_active_levels(2);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        useful = 0;
        for (int turn = 0; turn < TURNS; turn++)
            programs[i].run(turn);
        long own = useful, all = own;
#ifndef ALONE
        MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
#endif
        if (RANK == 0)
            printf("%s %ld\n", programs[i].name, all);
    }
#ifndef ALONE
    MPI_Finalize();
#endif
    return 0;
}
