/* SPDX-License-Identifier: MIT */
/* Known shares: of the work before each MPI_Allreduce tenth() does 1, third() 3 and most() 6 parts of 10. Says how many
   descriptors it has. The last rank, if asked, turns for ever then. Usage: inside TURNS PARTS [endless]
   INSIDE_GROWS=N: third() does N times its part. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;
static long grows = 1;

/* Equally long for each part, whoever calls it: no memory, one chain of additions. */
static inline __attribute__((always_inline)) void work(long parts)
{
    double x = sink;
    for (long i = 0; i < parts * 10000; i++)
        x = x * 0.999 + 1.0;
    sink = x;
}

static __attribute__((noinline)) void tenth(long parts)
{
    work(parts);
}

static __attribute__((noinline)) void third(long parts)
{
    work(3 * grows * parts);
}

static __attribute__((noinline)) void most(long parts)
{
    work(6 * parts);
}

static __attribute__((noinline)) void endless(void)
{
    for (;;)
        work(1);
}

static void say_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int count = 0;
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    printf("descriptors %d\n", count);
}

int main(int argc, char **argv)
{
    double mine = 1, sum;
    int rank, ranks;
    const char *more = getenv("INSIDE_GROWS");
    if (more)
        grows = atol(more);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; argc > 2 && turn < atoi(argv[1]); turn++) {
        tenth(atol(argv[2]));
        third(atol(argv[2]));
        most(atol(argv[2]));
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        say_descriptors();
    if (argc > 3 && rank == ranks - 1)
        endless();
    MPI_Finalize();
    return 0;
}
