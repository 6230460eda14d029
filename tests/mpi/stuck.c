/* SPDX-License-Identifier: MIT */
/* Programs that do not go on, for who looks at stacks. Usage: stuck loop RANK | worker RANK
     loop     RANK turns for ever in a function that is inlined, two levels below main; the others wait for it
     worker   the last thread of RANK's team does */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static volatile int never;
static volatile double sink;

static inline __attribute__((always_inline)) void spin(void)
{
    while (!never) /* here it is */
        sink = sink * 0.5 + 1.0;
}

static __attribute__((noinline)) void solve(int stuck)
{
    if (stuck)
        spin();
    MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) void step(int stuck)
{
    solve(stuck);
    sink += 1;
}

static __attribute__((noinline)) void team(int stuck)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(3)
    if (stuck && omp_get_thread_num() == 2)
        spin();
#endif
    sink += stuck;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 3 && !strcmp(argv[1], "worker"))
        team(rank == atoi(argv[2]));
    step(argc == 3 && !strcmp(argv[1], "loop") && rank == atoi(argv[2]));
    MPI_Finalize();
    return 0;
}
