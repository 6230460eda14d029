/* SPDX-License-Identifier: MIT */
/*
 * A program that says itself what of it is to be recorded.
 *     control LEVEL...        MPI_Pcontrol(LEVEL) before each part: part k makes k + 1 barriers, a bcast, k + 1 regions
 *     and
 *                             sleeps 30 ms; "t" instead of a level makes a part on another thread, "r" in a region
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int value;

static void region(void)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
#endif
    __asm__ volatile("" ::: "memory");
}

static void part(int turns)
{
    for (int i = 0; i <= turns; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i <= turns; i++)
        region();
    usleep(30000);
}

static void *thread_part(void *turns)
{
    part(*(int *)turns);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    for (int k = 1; k < argc; k++) {
        int turns = k - 1;
        pthread_t thread;
        if (!strcmp(argv[k], "t")) {
            pthread_create(&thread, NULL, thread_part, &turns);
            pthread_join(thread, NULL);
        } else if (!strcmp(argv[k], "r")) { /* begins anew while a region is open that has calls inside */
#ifdef _OPENMP
#pragma omp parallel num_threads(1)
#endif
            {
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Pcontrol(2);
                MPI_Barrier(MPI_COMM_WORLD);
            }
        } else {
            MPI_Pcontrol(atoi(argv[k]));
            part(turns);
        }
    }
    MPI_Finalize();
    return 0;
}
