/* SPDX-License-Identifier: MIT */
/*
 * Who talks to whom, in ways that need matching: `matching PHASE...`, each for some turns, in which rank 1 naps longer
 * than the others. In all of them every message has its receive.
 *
 *   sends … spans      ranks in a row: beyond its ends is MPI_PROC_NULL
 *   fresh … chosen     ranks in a ring: tags that follow no rule
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

enum { TURNS = 12, MOST = 8 };

static MPI_Comm world;
static int rank, size, up, down, next, last, turn;
static double out[MOST], in[MOST];
static MPI_Request q[MOST];
static MPI_Status status;
static unsigned chance = 7;

static void nap(void)
{
    struct timespec t = { 0, rank == 1 ? 15000000 : 500000 };
    nanosleep(&t, NULL);
}

static int any_tag(void)
{
    return (int)(chance >> 8 & 0x3fff);
}

#define OUT out, 1, MPI_DOUBLE
#define IN in, 1, MPI_DOUBLE

/* --- In a row --- */

static void sends(void)
{
    MPI_Recv(IN, down, 0, world, &status);
    MPI_Send(OUT, up, 0, world);
    MPI_Recv(IN, up, 1, world, MPI_STATUS_IGNORE);
    MPI_Ssend(OUT, down, 1, world);
}

static void both(void)
{
    MPI_Sendrecv(OUT, up, 0, IN, down, 0, world, &status);
    MPI_Sendrecv_replace(OUT, down, 0, up, 0, world, &status);
}

static void start(void)
{
    MPI_Irecv(IN, down, 0, world, &q[0]);
    MPI_Irecv(IN, up, 1, world, &q[1]);
    MPI_Isend(OUT, up, 0, world, &q[2]);
    MPI_Isend(OUT, down, 1, world, &q[3]);
}

static void waits(void)
{
    start();
    for (int i = 0; i < 4; i++)
        MPI_Wait(&q[i], &status);
    start();
    for (int i = 0, done; i < 4; i++)
        MPI_Waitany(4, q, &done, &status);
    start();
    for (int done, which[4], left = 4; left; left -= done)
        MPI_Waitsome(4, q, &done, which, MPI_STATUSES_IGNORE);
    start();
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

static void probes(void)
{
    MPI_Message m;
    MPI_Send(OUT, up, 0, world);
    MPI_Probe(down, 0, world, &status);
    MPI_Recv(IN, down, 0, world, &status);
    MPI_Send(OUT, down, 5 + turn, world);
    MPI_Mprobe(up, 5 + turn, world, &m, &status);
    MPI_Mrecv(IN, &m, &status);
}

static void again(void)
{
    static MPI_Request p[4];
    if (turn == 0) {
        MPI_Recv_init(IN, down, 0, world, &p[0]);
        MPI_Recv_init(IN, up, 1, world, &p[1]);
        MPI_Send_init(OUT, up, 0, world, &p[2]);
        MPI_Send_init(OUT, down, 1, world, &p[3]);
    }
    MPI_Startall(4, p);
    MPI_Waitall(4, p, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Start(&p[i]);
    MPI_Waitall(4, p, MPI_STATUSES_IGNORE);
    for (int i = 0; turn == TURNS - 1 && i < 4; i++)
        MPI_Request_free(&p[i]);
}

static void puts_to(void)
{
    MPI_Win win;
    MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    MPI_Put(OUT, up, 0, 1, MPI_DOUBLE, win);
    MPI_Get(out + 1, 1, MPI_DOUBLE, down, 2, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* --- In a ring --- */

/* The sender's tags are like no other's, the receiver's are told by a probe. */
static void fresh(void)
{
    MPI_Isend(OUT, next, any_tag(), world, q);
    MPI_Probe(last, MPI_ANY_TAG, world, &status);
    MPI_Recv(IN, status.MPI_SOURCE, status.MPI_TAG, world, &status);
    MPI_Wait(q, &status);
}

/* Of two messages one has a tag that is known; they are received the other way round. */
static void crossed(void)
{
    MPI_Irecv(IN, last, 20000, world, &q[0]);
    MPI_Irecv(IN, last, any_tag(), world, &q[1]);
    MPI_Isend(OUT, next, any_tag(), world, &q[2]);
    MPI_Isend(OUT, next, 20000, world, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

/* Who sends does it at two places by chance, so that only the receiver's tags are a ramp. */
static void branches(void)
{
    if (rank == 0) {
        if (chance & 1u << 20)
            MPI_Send(OUT, 1, turn, world);
        else
            MPI_Send(OUT, 1, turn, world);
    } else if (rank == 1) {
        MPI_Recv(IN, 0, turn, world, &status);
    }
}

/* Several messages a turn at one place, how many by chance; received in another order. */
static void several(void)
{
    int n = 1 + (int)(chance >> 16) % 3;
    for (int i = 0; i < n; i++) {
        MPI_Irecv(IN, last, 100 * turn + n - i, world, &q[2 * i]);
        MPI_Isend(OUT, next, 100 * turn + i + 1, world, &q[2 * i + 1]);
    }
    MPI_Waitall(2 * n, q, MPI_STATUSES_IGNORE);
}

/* A master takes what comes, and answers with its tag. */
static void masters(void)
{
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(IN, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        MPI_Send(OUT, status.MPI_SOURCE, status.MPI_TAG, world);
    }
    if (rank) {
        MPI_Send(OUT, 0, rank * 1000 + turn, world);
        MPI_Recv(IN, 0, rank * 1000 + turn, world, &status);
    }
}

static const struct { const char *name; void (*turn)(void); } phases[] = {
    { "sends", sends },       { "both", both },         { "waits", waits },     { "probes", probes },
    { "again", again },       { "puts", puts_to },      { "fresh", fresh },     { "crossed", crossed },
    { "branches", branches }, { "several", several },   { "masters", masters },
};

static void run(const char *name)
{
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        for (turn = 0; strcmp(name, phases[i].name) == 0 && turn < TURNS; turn++) {
            chance = chance * 1103515245u + 12345u;
            nap();
            phases[i].turn();
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    down = rank ? rank - 1 : MPI_PROC_NULL;
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    MPI_Finalize();
    return 0;
}
