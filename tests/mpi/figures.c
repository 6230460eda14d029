/* SPDX-License-Identifier: MIT */
/*
 * A program whose figures are known, for the tests of the report. TURNS times:
 *
 *   sleep SHORT ms, rank 2 LONG ms;  a parallel region of two threads of REGION ms;  send 8000 bytes to rank + 1
 *   (MPI_Sendrecv);  MPI_Allreduce of 4 doubles
 *
 * Each rank prints what it measured itself, in seconds (a busy machine makes everything longer): in each of the
 * three, then from after MPI_Init to before MPI_Finalize.
 *
 * Rank 0 then sends WORK messages of 100 bytes to each other rank, which answers with nothing.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 20, SHORT = 5, LONG = 25, REGION = 4, WORK = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(int ms)
{
    struct timespec t = { .tv_nsec = ms * 1000000L };
    nanosleep(&t, NULL);
}

static void compute(int rank)
{
    rest(rank == 2 ? LONG : SHORT);
}

static void region(void)
{
#pragma omp parallel num_threads(2)
    rest(REGION);
}

static void exchange(int rank, int ranks)
{
    static double out[1000], in[1000];
    MPI_Sendrecv(out, 1000, MPI_DOUBLE, (rank + 1) % ranks, 0, in, 1000, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
    double own[4] = { 1, 2, 3, 4 }, all[4];
    MPI_Allreduce(own, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double computed = 0, parallel = 0, called = 0, start;
    char work[100] = "";

    MPI_Init(&argc, &argv);
    start = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < TURNS; turn++) {
        double begin = now();
        compute(rank);
        computed += now() - begin;
        begin = now();
        region();
        parallel += now() - begin;
        begin = now();
        exchange(rank, ranks);
        reduce();
        called += now() - begin;
    }
    for (int i = 0; rank == 0 && i < WORK; i++)
        for (int to = 1; to < ranks; to++)
            MPI_Send(work, 100, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    for (int i = 0; rank != 0 && i < WORK; i++)
        MPI_Recv(work, 100, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("measured %d %.6f %.6f %.6f", rank, computed, parallel, called);
    printf(" %.6f\n", now() - start);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
