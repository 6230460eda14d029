/* SPDX-License-Identifier: MIT */
/*
 * Threads that live for one message each, AT_ONCE at a time. Two ranks, argv[1] rounds. Prints how much memory rank 0
 * took at most, KiB.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { AT_ONCE = 4 };

static int rank;

static void *exchange(void *number)
{
    int tag = *(int *)number, got = -1;
    MPI_Sendrecv(&tag, 1, MPI_INT, 1 - rank, tag, &got, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != tag)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[AT_ONCE];
    int provided, number[AT_ONCE], rounds = argc > 1 ? atoi(argv[1]) : 100;
    struct rusage usage;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int r = 0; r < rounds; r++) {
        for (int t = 0; t < AT_ONCE; t++) {
            number[t] = t;
            pthread_create(&thread[t], NULL, exchange, &number[t]);
        }
        for (int t = 0; t < AT_ONCE; t++)
            pthread_join(thread[t], NULL);
    }
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0)
        printf("peak %ld\n", usage.ru_maxrss);
    return MPI_Finalize();
}
