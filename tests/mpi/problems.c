/* SPDX-License-Identifier: MIT */
/*
 * Programs with known problems:   mpirun -n P problems NAME MS TURNS [NAME MS TURNS]...
 *
 * Computation is sleeping, so that ranks are concurrent wherever they run. For each problem rank 0 prints what it costs
 * by
 * the source, all ranks together:   kind function seconds ranks     (ranks as the report writes them; "-": none).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, turns;
static double ms;
static char big[1 << 20];

static void work(double milliseconds)
{
    struct timespec t = { (time_t)(milliseconds / 1000), (long)(1e6 * milliseconds) % 1000000000L };
    nanosleep(&t, NULL);
}

static void expect(const char *kind, const char *function, double seconds, const char *set)
{
    if (rank == 0)
        printf("%s %s %.6f %s\n", kind, function, seconds, set);
}

static const char *one(int r)
{
    static char text[32];
    snprintf(text, sizeof text, "rank %d", r);
    return text;
}

/* --- One rank has more work before a collective --- */

static void collective(const char *name)
{
    double x[64] = { 0 }, y[64 * 64];
    if (!strcmp(name, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(x, y, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(x, 4, MPI_DOUBLE, y, 4, MPI_DOUBLE, MPI_COMM_WORLD);
    else if (!strcmp(name, "bcast"))
        MPI_Bcast(x, 8, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    else
        MPI_Reduce(x, y, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void imbalance(const char *name)
{
    for (int i = 0; i < turns; i++) {
        work(rank == ranks - 1 ? 4 * ms : ms);
        collective(name);
    }
    expect("imbalance", "collective", turns * 3 * ms * (ranks - 1) / 1e3, one(ranks - 1));
}

/* All wait for the last rank; what it has more than the others piles up before the root only, who then waits for it. */
static void imbalance_reduce(const char *name)
{
    for (int i = 0; i < turns; i++) {
        work(rank == ranks - 1 ? 4 * ms : ms);
        collective(name);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    expect("imbalance", "-", turns * 3 * ms * (ranks - 1) / 1e3, one(ranks - 1));
}

static void clean(const char *name)
{
    double x = rank, y;
    (void)name;
    for (int i = 0; i < turns; i++) {
        work(ms);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* --- In each half of the ranks the first one has more work --- */
static void split(const char *name)
{
    MPI_Comm half;
    char set[32];
    (void)name;
    MPI_Comm_split(MPI_COMM_WORLD, rank / (ranks / 2), rank, &half);
    for (int i = 0; i < turns; i++) {
        work(rank % (ranks / 2) == 0 ? 3 * ms : ms);
        MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
    snprintf(set, sizeof set, "ranks 0,%d", ranks / 2);
    expect("imbalance", "split", turns * 2 * ms * (ranks - 2) / 1e3, set);
}

/* --- Even ranks send late --- */

static const char *even(void)
{
    static char text[64];
    snprintf(text, sizeof text, ranks == 2 ? "rank 0" : ranks == 4 ? "ranks 0,2" : "ranks 0-%d/2", ranks - 2);
    return text;
}

static void late_sender(const char *name)
{
    (void)name;
    for (int i = 0; i < turns; i++)
        if (rank % 2 == 0) {
            work(4 * ms);
            MPI_Send(big, 64, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(big, 64, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(ms);
        }
    expect("late_sender", "late_sender", (turns * 3 + 1) * ms * ranks / 2 / 1e3, even());
}

static void late_sender_wait(const char *name)
{
    MPI_Request request;
    (void)name;
    for (int i = 0; i < turns; i++)
        if (rank % 2 == 0) {
            work(4 * ms);
            MPI_Isend(big, 64, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(big, 64, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, &request);
            work(ms);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    expect("late_sender", "late_sender_wait", turns * 3 * ms * ranks / 2 / 1e3, even());
}

static void late_sender_any(const char *name)
{
    (void)name;
    for (int i = 0; i < turns; i++)
        if (rank % 2 == 0) {
            work(4 * ms);
            MPI_Send(big, 64, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(big, 64, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(ms);
        }
    expect("late_sender", "late_sender_any", (turns * 3 + 1) * ms * ranks / 2 / 1e3, even());
}

/* --- Long messages whose receivers are late: odd ranks work, the even ones wait in the send --- */
static void late_receiver(const char *name)
{
    char set[64];
    (void)name;
    for (int i = 0; i < turns; i++)
        if (rank % 2 == 0) {
            work(ms);
            MPI_Send(big, sizeof big, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
        } else {
            work(4 * ms);
            MPI_Recv(big, sizeof big, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    snprintf(set, sizeof set, ranks == 2 ? "rank 1" : ranks == 4 ? "ranks 1,3" : "ranks 1-%d/2", ranks - 1);
    expect("late_receiver", "late_receiver", turns * 3 * ms * ranks / 2 / 1e3, set);
}

/* --- Each rank waits for the one before it --- */
static void chain(const char *name)
{
    int token = 0;
    char set[32];
    (void)name;
    for (int i = 0; i < turns; i++) {
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(ms);
        if (rank < ranks - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    snprintf(set, sizeof set, "ranks 0-%d", ranks - 1);
    expect("serial_chain", "chain", turns * ms * ranks * (ranks - 1) / 1e3, set);
}

/* --- A ring of neighbours, one of which is slow: all are as slow after some turns --- */
static void halo(const char *name)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    char in[2][64];
    (void)name;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < turns; i++) {
        MPI_Request r[4];
        work(rank == 1 ? 3 * ms : ms);
        MPI_Irecv(in[0], 64, MPI_BYTE, left, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in[1], 64, MPI_BYTE, right, 4, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(big, 64, MPI_BYTE, right, 3, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(big, 64, MPI_BYTE, left, 4, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect("imbalance", "halo", turns * 2 * ms * (ranks - 1) / 1e3, one(1));
}

/* --- A master that does more for a result than its workers need to make one --- */
static void master(const char *name)
{
    int tasks = turns * (ranks - 1), x = 0;
    (void)name;
    if (rank == 0) {
        for (int i = 0; i < tasks; i++) {
            MPI_Status status;
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
            work(ms);
            MPI_Send(&x, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < turns; i++) {
            work(ms);
            MPI_Send(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    /* The master is never idle: a worker gets one result in ranks - 1 turns of it, and works one of them. */
    expect("starved_workers", "master", turns * (ranks - 2) * ms * (ranks - 1) / 1e3, "rank 0");
}

static const struct { const char *name; void (*run)(const char *name); } problems[] = {
    { "barrier", imbalance }, { "allreduce", imbalance }, { "alltoall", imbalance }, { "allgather", imbalance },
    { "bcast", imbalance }, { "reduce", imbalance_reduce }, { "clean", clean }, { "split", split },
    { "late_sender", late_sender }, { "late_sender_wait", late_sender_wait }, { "late_sender_any", late_sender_any },
    { "late_receiver", late_receiver }, { "chain", chain }, { "halo", halo }, { "master", master },
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int a = 1; a + 2 < argc; a += 3) {
        ms = atof(argv[a + 1]);
        turns = atoi(argv[a + 2]);
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
            if (!strcmp(argv[a], problems[i].name))
                problems[i].run(argv[a]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
