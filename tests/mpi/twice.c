/* SPDX-License-Identifier: MIT */
/* Communicators that Pythia did not see made, each first used by four threads at once. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
enum { TURNS = 200, THREADS = 4 };
static pthread_barrier_t all;
static MPI_Comm comm[TURNS];
static void *work(void *number)
{
    int me = (int)(long)number, in;
    for (int i = 0; i < TURNS; i++) {
        pthread_barrier_wait(&all);
        MPI_Sendrecv(&me, 1, MPI_INT, 0, me, &in, 1, MPI_INT, 0, me, comm[i], MPI_STATUS_IGNORE);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Pcontrol(0);
    for (int i = 0; i < TURNS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
    MPI_Pcontrol(1);
    pthread_barrier_init(&all, NULL, THREADS);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    MPI_Finalize();
    return level != MPI_THREAD_MULTIPLE;
}
