/* SPDX-License-Identifier: MIT */
/* Loops of which the turns are known. `loops`: 15 steps; in each a solver of 23 to 61 turns, 630 in all, with a halo
   exchange of 3 directions; one more exchange after it; in every 5th step a checkpoint; what ends functions is a call.
   `loops N`: a ring, N turns. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef CYCLE
#define CYCLE 39 /* another one: another number of turns */
#endif

static int rank, size;
static double x[512];

__attribute__((noinline)) static void halo(double *v)
{
    for (int d = 0; d < 3; d++)
        MPI_Sendrecv(v + d, 1, MPI_DOUBLE, (rank + 1) % size, d, v + 500 + d, 1, MPI_DOUBLE,
                     (rank + size - 1) % size, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static double solve(int turns)
{
    double all = 0, mine;
    for (int k = 0; k < turns; k++) {
        halo(x);
        mine = 0;
        for (int i = 0; i < 512; i++)
            mine += x[i] * x[i] + k;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return all;
}

__attribute__((noinline)) static void checkpoint(double v)
{
    double all[64];
    MPI_Gather(&v, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void steps(void)
{
    double v = 0;
    for (int step = 1; step <= 15; step++) {
        MPI_Bcast(&v, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        v = solve(23 + (step * 17) % CYCLE);
        halo(x);
        if (step % 5 == 0)
            checkpoint(v);
    }
}

__attribute__((noinline)) static void ring(int turns)
{
    static double a[100], b[100];
    for (int k = 0; k < turns; k++) {
        MPI_Request q[2];
        MPI_Irecv(b, 100, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(a, 100, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        a[k % 100] = b[k % 100] + 1;
    }
}

/* The run: a loop that never turns, around one in which nothing is called but in a third one, which takes most time. */
static void again(int outer, int inner)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int runs = 1; runs > 0; runs--) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < outer; i++)
            for (int k = 0; k < inner; k++) {
                double x = i + k, sum;
                usleep(10000);
                if (rank == 0)
                    MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
                else if (rank == 1)
                    MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2)
        again(atoi(argv[1]), atoi(argv[2]));
    else if (argc > 1)
        ring(atoi(argv[1]));
    else
        steps();
    MPI_Finalize();
    return 0;
}
