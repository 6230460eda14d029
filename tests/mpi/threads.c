/* SPDX-License-Identifier: MIT */
/*
 * Threads that call MPI at the same time, each on its own communicator; communicators come and go meanwhile.
 *     mpirun -n P threads [THREADS [TURNS]]        exit code 0: every message was right; 77: no MPI_THREAD_MULTIPLE
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, BATCH = 12 };

static int rank, ranks, turns = 200;
static MPI_Comm comm[MOST];
static atomic_int wrong;

static void *work(void *argument)
{
    int t = *(int *)argument, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < turns; i++) {
        int out[BATCH], in[BATCH];
        MPI_Request r[2 * BATCH];
        for (int k = 0; k < BATCH; k++) {
            out[k] = rank * 1000000 + t * 10000 + i * 10 + k;
            MPI_Irecv(&in[k], 1, MPI_INT, left, k, comm[t], &r[k]);
            MPI_Isend(&out[k], 1, MPI_INT, right, k, comm[t], &r[BATCH + k]);
        }
        for (int k = 0; k < BATCH; k += 2)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        MPI_Waitall(2 * BATCH, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < BATCH; k++)
            wrong += in[k] != left * 1000000 + t * 10000 + i * 10 + k;
        if (i % 50 == 0) {
            MPI_Comm copy;
            MPI_Comm_dup(comm[t], &copy);
            MPI_Barrier(copy);
            MPI_Comm_free(&copy);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, threads = argc > 1 ? atoi(argv[1]) : 4, number[MOST];
    pthread_t thread[MOST];
    if (argc > 2)
        turns = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided < MPI_THREAD_MULTIPLE || threads > MOST) {
        MPI_Finalize();
        return 77;
    }
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    for (int t = 0; t < threads; t++) {
        number[t] = t;
        pthread_create(&thread[t], NULL, work, &number[t]);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comm[t]);
    MPI_Finalize();
    if (wrong)
        fprintf(stderr, "rank %d: %d messages were wrong\n", rank, wrong);
    return wrong != 0;
}
