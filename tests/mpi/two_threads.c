/* SPDX-License-Identifier: MIT */
/* Two threads of each rank call MPI, on communicators of their own. `two_threads first`: the rank's first one is one of
   them; else it waits for both, and rank 1 ends later than the others. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static MPI_Comm own[2];

static void spin(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

static void *run(void *at)
{
    long thread = (long)at;
    int data[64] = { 0 };

    for (int i = 0; i < 100; i++) {
        spin(1e-4 * (1 + (rank + i) % 2));
        MPI_Sendrecv(data, 64, MPI_INT, (rank + 1) % size, (int)thread, data, 64, MPI_INT, (rank + size - 1) % size,
                     (int)thread, own[thread], MPI_STATUS_IGNORE);
        if (i % 10 == 0)
            MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, own[thread]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, first = argc > 1 && !strcmp(argv[1], "first");
    pthread_t thread[2];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    if (given < MPI_THREAD_MULTIPLE) {
        puts("no threads");
        return MPI_Finalize();
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (long i = first; i < 2; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    if (first)
        run(NULL);
    for (int i = first; i < 2; i++)
        pthread_join(thread[i], NULL);
    if (!first && rank == 1)
        spin(0.1);
    MPI_Finalize();
    return 0;
}
