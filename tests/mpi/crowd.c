/* SPDX-License-Identifier: MIT */
/*
 * Ranks with a great many threads, and ranks with nothing at all.
 *     mpirun -n P crowd threads THREADS TURNS   all alive at once, each calls MPI; 77: no MPI_THREAD_MULTIPLE
 *     mpirun -n P crowd regions THREADS TURNS   parallel regions of so many threads, each calls MPI
 *     mpirun -n P crowd quiet TURNS             collectives on the even ranks only, each for itself
 *     mpirun -n P crowd nothing                 no call but Init and Finalize
 * Threads make their first call one after the other, so that they have the same numbers in each run.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int rank, turns;
static pthread_barrier_t all;

/* A third of the threads also does something else. */
static void call(int thread)
{
    int one = thread, other = -1;
    for (int i = 0; i < turns; i++) {
        MPI_Sendrecv(&one, 1, MPI_INT, 0, thread, &other, 1, MPI_INT, 0, thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (thread % 3 == 0 && i % 5 == 4)
            MPI_Sendrecv_replace(&one, 1, MPI_INT, 0, thread, 0, thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    if (other != thread)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void first(int thread)
{
    int in, out = thread;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, thread, &in, 1, MPI_INT, 0, thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

struct member { pthread_t id; int number; pthread_barrier_t begun; };

static void *work(void *argument)
{
    struct member *m = argument;
    first(m->number);
    pthread_barrier_wait(&m->begun);
    pthread_barrier_wait(&all);
    call(m->number);
    return NULL;
}

static int with_threads(int threads)
{
    struct member *m = calloc((size_t)threads, sizeof *m);
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        m[t].number = t;
        pthread_barrier_init(&m[t].begun, NULL, 2);
        if (pthread_create(&m[t].id, NULL, work, &m[t]))
            return 77;
        pthread_barrier_wait(&m[t].begun);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(m[t].id, NULL);
    free(m);
    return 0;
}

static int with_regions(int threads)
{
    for (int i = 0; i < turns; i++) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; t++) {
#pragma omp ordered
            first(t);
        }
    }
    return 0;
}

static int quiet(void)
{
    for (int i = 0; i < turns && rank % 2 == 0; i++)
        MPI_Barrier(MPI_COMM_SELF);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    int provided, number = argc > 2 ? atoi(argv[2]) : 1, status = 0;
    turns = argc > 3 ? atoi(argv[3]) : number;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "quiet") == 0)
        status = quiet();
    else if (strcmp(what, "nothing") != 0)
        status = provided < MPI_THREAD_MULTIPLE ? 77
                 : strcmp(what, "threads") == 0 ? with_threads(number)
                                                : with_regions(number);
    MPI_Finalize();
    return status;
}
