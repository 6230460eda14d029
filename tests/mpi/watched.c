/* SPDX-License-Identifier: MIT */
/*
 * For watch.test: a healthy program in which one thing goes wrong, so that it never ends.
 *
 *     watched FAULT [TURNS]        turns before it, 200
 *
 * Each fault stands in a function of its name: the place that pythia watch is to find. Who waits naps, unless
 * WATCHED_SPINS is set: so do some MPIs, and so dozens of ranks that wait leave a few cores to others. Rank 1 starts
 * WATCHED_LATE seconds late.
 */
#define PYTHIA_OPTIONAL
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pythia.h"

enum { CULPRIT = 3, TURN_US = 2000, TELLS = 1000 /* after so many */ };

static int rank, ranks;
static MPI_Comm rows, columns, copy;

static void nap(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* --- MPI's waits, as Pythia calls them --- */

/* `status`: of the first `told`. */
static int complete(int count, MPI_Request *r, int told, MPI_Status *status)
{
    MPI_Status all[4];
    int done = 0, error = MPI_SUCCESS;
    for (unsigned tries = 0; !done && error == MPI_SUCCESS; tries++) {
        error = PMPI_Testall(count, r, &done, all);
        if (!done && !getenv("WATCHED_SPINS"))
            nap(tries < 10 ? 100 : 2000);
    }
    for (int i = 0; i < told && status != MPI_STATUS_IGNORE && status != MPI_STATUSES_IGNORE; i++)
        status[i] = all[i];
    return error;
}

#pragma GCC visibility push(default)
int PMPI_Waitall(int count, MPI_Request *r, MPI_Status *status)
{
    return complete(count, r, count, status);
}

int PMPI_Recv(void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request r;
    int error = PMPI_Irecv(data, n, type, source, tag, comm, &r);
    return error ? error : complete(1, &r, 1, status);
}

int PMPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request r;
    int error = PMPI_Iallreduce(from, to, n, type, op, comm, &r);
    return error ? error : complete(1, &r, 0, NULL);
}

int PMPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    MPI_Request r;
    int error = PMPI_Ireduce(from, to, n, type, op, root, comm, &r);
    return error ? error : complete(1, &r, 0, NULL);
}

int PMPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request r;
    int error = PMPI_Ibcast(data, n, type, root, comm, &r);
    return error ? error : complete(1, &r, 0, NULL);
}

int PMPI_Barrier(MPI_Comm comm)
{
    MPI_Request r;
    int error = PMPI_Ibarrier(comm, &r);
    return error ? error : complete(1, &r, 0, NULL);
}

int PMPI_Sendrecv(const void *from, int n, MPI_Datatype type, int dest, int tag, void *to, int room,
                  MPI_Datatype their_type, int source, int their_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request r[2];
    int error = PMPI_Irecv(to, room, their_type, source, their_tag, comm, &r[0]);
    error = error ? error : PMPI_Isend(from, n, type, dest, tag, comm, &r[1]);
    return error ? error : complete(2, r, 1, status);
}

#pragma GCC visibility pop

/* --- What goes well again and again --- */

static __attribute__((noinline)) void sum(MPI_Comm comm)
{
    double mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static void shift(void)
{
    int mine = rank, other;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, &other, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void halo(MPI_Comm comm, int tag)
{
    int mine = rank, other[2];
    MPI_Request r[4];
    for (int i = 0; i < 2; i++) {
        int peer = (rank + (i ? 1 : ranks - 1)) % ranks;
        MPI_Irecv(&other[i], 1, MPI_INT, peer, tag, comm, &r[i]);
        MPI_Isend(&mine, 1, MPI_INT, peer, 0, comm, &r[2 + i]);
    }
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void turn(long us)
{
    nap(us);
    sum(MPI_COMM_WORLD);
    shift();
    halo(MPI_COMM_WORLD, 0);
    sum(rows);
}

/* --- What goes wrong --- */

/* What one rank does amid what it has done again and again, on its way to where all others have waited so often. */
static __attribute__((noinline)) void amid(void (*fault)(void))
{
    for (int i = 0; i < 200; i++) {
        if (rank == CULPRIT && i == 150)
            fault();
        sum(MPI_COMM_WORLD);
    }
}

static void forever(void)
{
    for (volatile int i = 0;; i++)
        ;
}

static void loop(void)
{
    amid(forever);
}

static void skip(void)
{
    for (int i = 0; i < 200; i++)
        if (rank != CULPRIT || i != 100)
            sum(MPI_COMM_WORLD);
}

static void nap_60(void)
{
    nap(60000000);
}

static void wait_io(void)
{
    amid(nap_60);
}

static void stop(void)
{
    if (rank == CULPRIT)
        raise(SIGSTOP);
    sum(MPI_COMM_WORLD);
}

static void die(void)
{
    if (rank == CULPRIT)
        raise(SIGKILL);
    sum(MPI_COMM_WORLD);
}

static void receive_first(void)
{
    int other;
    if (rank < 2)
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nobody has been in here before. */
static __attribute__((noinline)) void await(int tag)
{
    int other;
    MPI_Recv(&other, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wrong_tag(void)
{
    int other = 0;
    if (rank == 1)
        MPI_Send(&other, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    if (rank == 0)
        await(5);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 3 expects its neighbours' messages under another tag. */
static void wrong_halo(void)
{
    halo(MPI_COMM_WORLD, rank == CULPRIT ? 7 : 0);
    sum(MPI_COMM_WORLD);
}

/* Rows and columns of a grid two wide: ranks 0 and 1 are a row, 0, 2 and 4 a column. */
static void other_order(void)
{
    int first = rank == 0 || rank == 3;
    sum(first ? columns : rows);
    sum(first ? rows : columns);
}

static void poll(void)
{
    int flag = 0;
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Its naps, from the middle on, are six times as long. */
static void slow(void)
{
    for (double begin = MPI_Wtime(); MPI_Wtime() < begin + 200;) {
        nap(rank == CULPRIT && MPI_Wtime() > begin + 3 ? 120000 : 20000);
        halo(MPI_COMM_WORLD, 0);
        sum(copy);
    }
}

/* --- What goes well, though irregularly --- */

static void work(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        ;
}

/* Imbalance of ten, a long computation now and then, a serial part. */
static void healthy(void)
{
    double end = MPI_Wtime() + 5;
    for (int on = 1; on;) {
        nap(1000L * (rank == 0 ? 100 : 10));
        halo(copy, 0);
        if (rank == 1)
            work(.2);
        sum(rows);
        sum(columns);
        for (int i = 0; i < ranks; i++) {
            if (i == rank)
                nap(20000);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        on = MPI_Wtime() < end;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* The first long pause of a run, until it was seen: only what comes after it is new. */
static void first(void)
{
    int sum;
    for (int i = 0; rank == CULPRIT && i < 1500 && access("seen", F_OK); i++)
        work(.1);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* From the middle on all take three times as long; and in a new part one does. */
static void phase(void)
{
    int seconds = 0;
    for (double begin = MPI_Wtime(); seconds < 9;) {
        bool later = seconds > 3;
        nap(later ? 30000 : 10000);
        halo(MPI_COMM_WORLD, 0);
        if (later)
            nap(rank == CULPRIT ? 90000 : 10000);
        if (later)
            MPI_Barrier(MPI_COMM_WORLD);
        seconds = (int)(MPI_Wtime() - begin);
        MPI_Bcast(&seconds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* As long as it takes, it is known from a recording. */
static void nap_8(void)
{
    nap(8000000);
}

static void known(void)
{
    amid(nap_8);
}

/* --- What a thread that monitors is told --- */

static void *monitor(void *unused)
{
    uint32_t of[8] = {99};
    double parallel = -1, balance = -1, seconds = -1, progress = -1;
    (void)unused;
    if (!pythia_job_waiting_for)
        return NULL;
    int count = 99;
    for (int i = 0; i < 19 && count != 1; i++) { /* until all others wait, too */
        nap(100000);
        count = pythia_job_waiting_for(of, 8);
    }
    int known = pythia_job_efficiency(&parallel, &balance);
    int ends = pythia_job_remaining(&seconds, NULL, NULL, &progress);
    printf("%d %u %d %d %d %d\n", count, of[0], known, parallel > 0 && parallel < 1, balance > parallel && balance <= 1,
           ends);
    return NULL;
}

/* Rank 3 is late by two seconds; rank 0 asks for whom it waits. */
static void ask(void)
{
    pthread_t thread;
    if (rank == 0)
        pthread_create(&thread, NULL, monitor, NULL);
    if (rank == CULPRIT)
        nap(2000000);
    sum(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_join(thread, NULL);
}

/* What is left of a run, and whether its bounds are around that. */
static void tell(void)
{
    double seconds = -1, low = -1, high = -1, progress = -1;
    if (!pythia_job_remaining)
        return;
    int result = pythia_job_remaining(&seconds, &low, &high, &progress);
    bool within = seconds < 60 && 0 <= low && low <= seconds && seconds <= high;
    printf("left %d %d %d\n", result, within, 0 < progress && progress < 1);
}

static const struct fault {
    const char *name;
    void (*function)(void);
} faults[] = {{"loop", loop},           {"skip", skip},           {"wait_io", wait_io},
              {"stop", stop},           {"die", die},             {"receive_first", receive_first},
              {"wrong_tag", wrong_tag}, {"wrong_halo", wrong_halo}, {"other_order", other_order},
              {"poll", poll},           {"healthy", healthy},     {"first", first},
              {"slow", slow},           {"phase", phase},
              {"ask", ask},             {"known", known},         {"none", NULL}};

static void start_late(void)
{
    const char *late = getenv("WATCHED_LATE"), *own = getenv("OMPI_COMM_WORLD_RANK");
    own = own ? own : getenv("PMI_RANK");
    if (late && own && !strcmp(own, "1"))
        nap(atol(late) * 1000000);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "none";
    int turns = argc > 2 ? atoi(argv[2]) : 200;
    start_late();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &columns);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; i < turns; i++) {
        turn(TURN_US);
        if (rank == 0 && i == TELLS)
            tell();
    }
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!strcmp(name, faults[i].name) && faults[i].function)
            faults[i].function();
    MPI_Finalize();
    return 0;
}
