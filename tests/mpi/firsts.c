/* SPDX-License-Identifier: MIT */
/* Programs with one problem each. `firsts NAME`: work is sleep, so that a busy machine does not add to it. */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MS = 1000000, TURNS = 25 };
static int rank, size, data[100];

static void work(int ms)
{
    struct timespec t = { 0, (long)ms * MS };
    nanosleep(&t, NULL);
}

static void get(int from)
{
    MPI_Recv(data, 100, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(int to)
{
    MPI_Send(data, 100, MPI_INT, to, 0, MPI_COMM_WORLD);
}

static void all(void)
{
    MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void slow(void)
{
    work(rank == 1 ? 8 : 2);
    all();
}

static void late(void)
{
    if (rank == 0) {
        work(6);
        for (int r = 1; r < size; r++)
            put(r);
    } else {
        get(0);
    }
}

static void chain(void)
{
    if (rank)
        get(rank - 1);
    work(5);
    if (rank < size - 1)
        put(rank + 1);
    all();
}

static void ring(void)
{
    if (rank)
        get(rank - 1);
    work(5);
    put((rank + 1) % size);
    if (!rank)
        get(size - 1);
}

static void moving(void)
{
    static unsigned seed;

    seed = seed ? seed : 1u + (unsigned)rank;
    work(rand_r(&seed) % 4 ? 1 : 10);
    all();
}

static void uneven(void)
{
#pragma omp parallel num_threads(2)
    work(omp_get_thread_num() ? 8 : 2);
}

static void serial(void)
{
    work(6);
#pragma omp parallel num_threads(2)
    work(2);
}

static void critical(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 8; i++) {
#pragma omp critical
        work(1);
    }
}

static void dies(void)
{
    static int turn;

    all();
    if (rank == 1 && ++turn == 10) {
        for (int i = 0; i < 4; i++)
            work(250);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void even(void)
{
    work(5);
    all();
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*turn)(void); } of[] = {
        { "slow", slow }, { "late", late }, { "chain", chain }, { "ring", ring }, { "moving", moving },
        { "uneven", uneven }, { "serial", serial }, { "critical", critical }, { "even", even }, { "dies", dies },
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 1 && i < sizeof of / sizeof *of; i++)
        for (int turn = 0; !strcmp(of[i].name, argv[1]) && turn < TURNS; turn++)
            of[i].turn();
    MPI_Finalize();
    return 0;
}
