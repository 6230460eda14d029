/* SPDX-License-Identifier: MIT */
/*
 * What a program made of a job must do again: messages by rule and by rank, requests, persistent ones, communicators,
 * sizes that differ, windows. Four ranks; no call depends on timing. "ring": what other ranks can do, too; "orders":
 * communicators whose ranks come in another order; "lost": rank 1 sends what is not recorded.
 */
#include <mpi.h>
#include <string.h>

enum { TURNS = 12, MOST = 4096 };

static int me, ranks;
static char out[MOST], in[8][MOST];

static void halo(int turn)
{
    MPI_Request request[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };

    if (me > 0)
        MPI_Irecv(in[0], 100 + me, MPI_BYTE, me - 1, 1, MPI_COMM_WORLD, &request[0]);
    if (me < ranks - 1)
        MPI_Irecv(in[1], 64 * turn, MPI_BYTE, me + 1, 2, MPI_COMM_WORLD, &request[1]);
    if (me < ranks - 1)
        MPI_Isend(out, 101 + me, MPI_BYTE, me + 1, 1, MPI_COMM_WORLD, &request[2]);
    if (me > 0)
        MPI_Isend(out, 64 * turn, MPI_BYTE, me - 1, 2, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Wait(&request[3], MPI_STATUS_IGNORE);
    MPI_Wait(&request[2], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request request[2];

    MPI_Recv_init(in[0], 80, MPI_BYTE, (me + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Send_init(out, 80, MPI_BYTE, (me + 1) % ranks, 5, MPI_COMM_WORLD, &request[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&request[1]);
    MPI_Start(&request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void communicators(void)
{
    int extents[2] = { 2, ranks / 2 }, periods[2] = { 0, 0 }, stays[2] = { 0, 1 }, first[2] = { 0, 1 };
    MPI_Comm leaders, turned, grid, row, pair;
    MPI_Group all, two;

    MPI_Comm_split(MPI_COMM_WORLD, me % 2 ? MPI_UNDEFINED : 3, 0, &leaders);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &turned);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
    MPI_Cart_sub(grid, stays, &row);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, first, &two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &pair);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Bcast(in[0], 10 * turn, MPI_BYTE, turn % 2, row);
        MPI_Gather(out, 8, MPI_BYTE, in[0], 8, MPI_BYTE, 1, turned);
        if (leaders != MPI_COMM_NULL)
            MPI_Allreduce(MPI_IN_PLACE, in[0], 4, MPI_INT, MPI_SUM, leaders);
        if (pair != MPI_COMM_NULL)
            MPI_Sendrecv(out, 7, MPI_BYTE, 1 - me, 1, in[0], 7, MPI_BYTE, 1 - me, 1, pair, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&turned);
}

/* The same number, in another order. */
static void orders(void)
{
    MPI_Comm one;
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &one);
    MPI_Gather(out, 8, MPI_BYTE, in[0], 8, MPI_BYTE, 1, one);
    MPI_Comm_free(&one);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &one);
    MPI_Gather(out, 8, MPI_BYTE, in[0], 8, MPI_BYTE, 1, one);
    MPI_Comm_free(&one);
}

static void sizes(void)
{
    int counts[64], places[64], comes[64];
    MPI_Win window;
    void *base;

    for (int i = 0; i < ranks; i++) {
        counts[i] = 4 * (i + 1);
        places[i] = 64 * i;
        comes[i] = 4 * (me + 1);
    }
    MPI_Allgatherv(out, 4 * (me + 1), MPI_BYTE, in[0], counts, places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Scatterv(in[1], counts, places, MPI_BYTE, in[0], 4 * (me + 1), MPI_BYTE, 2, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in[0], comes, places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Win_allocate(256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Win_fence(0, window);
        MPI_Put(out, 16, MPI_BYTE, (me + 1) % ranks, 0, 16, MPI_BYTE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

static void ring(void)
{
    for (int turn = 0; turn < TURNS; turn++)
        MPI_Sendrecv(out, 8, MPI_BYTE, (me + 1) % ranks, 0, in[0], 8, MPI_BYTE, (me + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void lost(void)
{
    if (me == 1) {
        MPI_Pcontrol(0);
        MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Pcontrol(1);
    }
    if (me == 0)
        MPI_Recv(in[0], 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && !strcmp(argv[1], "ring")) {
        ring();
    } else if (argc > 1 && !strcmp(argv[1], "lost")) {
        lost();
    } else if (argc > 1 && !strcmp(argv[1], "orders")) {
        orders();
    } else {
        for (int turn = 0; turn < TURNS; turn++) {
            halo(turn);
            MPI_Allreduce(MPI_IN_PLACE, in[0], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
        persistent();
        communicators();
        sizes();
    }
    MPI_Finalize();
    return 0;
}
