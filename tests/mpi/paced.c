/* SPDX-License-Identifier: MIT */
/* A program with known times:   mpirun -n P paced TURNS MICROSECONDS [EXTRA]
 * TURNS times a Barrier and, from its end to the next one, that time. Rank 0 sends to nobody EXTRA times before;
 * "region" instead of EXTRA: the turns are inside of a parallel region of one thread. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void pause_for(long microseconds)
{
    struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&left, &left))
        ;
}

static void turns(int count, long microseconds)
{
    for (int i = 0; i < count; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        pause_for(microseconds);
    }
}

int main(int argc, char **argv)
{
    int rank, count = argc > 1 ? atoi(argv[1]) : 5;
    long microseconds = argc > 2 ? atol(argv[2]) : 1000;
    int extra = argc > 3 && strcmp(argv[3], "region") ? atoi(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && i < extra; i++)
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (argc > 3 && !strcmp(argv[3], "region")) {
#pragma omp parallel num_threads(1)
        {
            pause_for(microseconds);
            turns(count, microseconds);
        }
    } else {
        turns(count, microseconds);
    }
    MPI_Finalize();
    return 0;
}
