/* SPDX-License-Identifier: MIT */
/* Messages that no mean tells: several peers and sizes in one line, of any source, of derived types, in all the ways
   of sending, one-sided, and in communicators whose ranks are others than the world's. No send waits for a receive that
   is not posted, whoever's messages MPI_ANY_SOURCE takes first. */
#include <mpi.h>
#include <stdlib.h>

enum { ROOM = 1 << 16, TURNS = 10, MOST = 64 };
static char out[ROOM], in[ROOM];
static int rank, ranks;

/* Two peers in one line, the one with much more than the other. */
static void butterfly(void)
{
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 2; k++) {
            int other = rank ^ (1 << k), n = k ? 100 : 10000 + rank * i;
            if (other < ranks)
                MPI_Sendrecv(out, n, MPI_CHAR, other, k, in, ROOM, MPI_CHAR, other, k, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        }
}

/* All ranks know who sends to whom; a receiver takes what comes. */
static void any_source(void)
{
    MPI_Request r[MOST];
    int sends = 0, receives = 0;

    srand(1);
    for (int i = 0; i < MOST; i++) {
        int from = rand() % ranks, to = rand() % ranks, n = rand() % 9000;
        if (rank == from)
            MPI_Isend(out, n, MPI_CHAR, to, 7, MPI_COMM_WORLD, &r[sends++]);
        receives += rank == to;
    }
    for (; receives; receives--)
        if (receives % 2) {
            MPI_Recv(in, ROOM, MPI_CHAR, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Request one;
            MPI_Irecv(in, ROOM, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &one);
            MPI_Wait(&one, MPI_STATUS_IGNORE);
        }
    MPI_Waitall(sends, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* any tag: the next phase's messages are not this one's */
}

/* All to all of a communicator in which ranks run backwards; completed at once, one by one, and by tests. */
static void rows(void)
{
    MPI_Comm row;
    MPI_Request r[MOST];
    int me, size;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &row);
    MPI_Comm_rank(row, &me);
    MPI_Comm_size(row, &size);
    for (int i = 0; i < TURNS; i++) {
        int n = 0, done = 0, which;
        for (int k = 1; k < size; k++) {
            MPI_Irecv(in + 1000 * k, 1000, MPI_CHAR, (me + size - k) % size, 3, row, &r[n++]);
            MPI_Isend(out, 100 * k, MPI_CHAR, (me + k) % size, 3, row, &r[n++]);
        }
        if (i % 3 == 0)
            MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        else if (i % 3 == 1)
            for (int k = 0; k < n; k++)
                MPI_Waitany(n, r, &which, MPI_STATUS_IGNORE);
        else
            while (!done)
                MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&row);
}

/* Around a ring with persistent requests: all together, and one of them alone. */
static void persistent(void)
{
    MPI_Request r[4];
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;

    MPI_Send_init(out, 3000 + rank, MPI_CHAR, next, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, ROOM / 2, MPI_CHAR, last, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(out, 20, MPI_INT, last, 5, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(in + ROOM / 2, ROOM / 2, MPI_CHAR, next, 5, MPI_COMM_WORLD, &r[3]);
    for (int i = 0; i < TURNS; i++) {
        MPI_Startall(i % 2 ? 2 : 4, r);
        MPI_Waitall(i % 2 ? 2 : 4, r, MPI_STATUSES_IGNORE);
        MPI_Start(&r[3]);
        MPI_Start(&r[2]);
        MPI_Waitall(2, &r[2], MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
}

/* Parts of a column of a grid that wraps around in one dimension; beyond the other's edge is nobody. */
static void grid(void)
{
    MPI_Comm cart, column;
    MPI_Datatype strided;
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, remain[2] = { 1, 0 };

    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    MPI_Cart_sub(cart, remain, &column);
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < TURNS; i++) {
        int from, to;
        for (int d = 0; d < 2; d++) {
            MPI_Cart_shift(cart, d, 1, &from, &to);
            MPI_Sendrecv(out, 1 + i, strided, to, 1, in, ROOM / 100, strided, from, 1, cart, MPI_STATUS_IGNORE);
            MPI_Sendrecv_replace(out, 7, MPI_LONG, from, 2, to, 2, cart, MPI_STATUS_IGNORE);
        }
        MPI_Cart_shift(column, 0, 1, &from, &to);
        MPI_Sendrecv(out, 11, MPI_SHORT, to, 1, in, ROOM, MPI_CHAR, from, 1, column, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&strided);
    MPI_Comm_free(&column);
    MPI_Comm_free(&cart);
}

/* From the even ranks to the odd ones, as an intercommunicator has them: synchronous, buffered, matched before. */
static void halves(void)
{
    static char buffer[2 * ROOM];
    int size = sizeof buffer, me, others;
    MPI_Comm half, inter;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &inter);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    MPI_Buffer_attach(buffer, size);
    for (int i = 0; i < TURNS; i++) {
        MPI_Message message;
        if (me >= others)
            continue;
        if (rank % 2 == 0) {
            MPI_Ssend(out, 50 * i, MPI_CHAR, me, 1, inter);
            MPI_Bsend(out, 60 + rank, MPI_CHAR, me, 2, inter);
        } else {
            MPI_Recv(in, ROOM, MPI_CHAR, me, 1, inter, MPI_STATUS_IGNORE);
            MPI_Mprobe(MPI_ANY_SOURCE, 2, inter, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, ROOM, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        }
    }
    MPI_Buffer_detach(&(char *){ 0 }, &size);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Windows of a communicator in which ranks run backwards. */
static void windows(void)
{
    MPI_Comm back;
    MPI_Win win;
    int me;
    long one = 1, was;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
    MPI_Comm_rank(back, &me);
    MPI_Win_create(in, ROOM, 1, MPI_INFO_NULL, back, &win);
    for (int i = 0; i < TURNS; i++) {
        int to = (me + 1) % ranks;
        MPI_Win_fence(0, win);
        MPI_Put(out, 10 + me, MPI_DOUBLE, to, 0, 10 + me, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
        MPI_Get(out, 20 * i, MPI_CHAR, to, 0, 20 * i, MPI_CHAR, win);
        MPI_Win_fence(0, win);
        MPI_Accumulate(out, 3, MPI_INT, i % ranks, 0, 3, MPI_INT, MPI_SUM, win);
        MPI_Win_fence(0, win);
        MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    MPI_Comm_free(&back);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    butterfly();
    any_source();
    rows();
    persistent();
    grid();
    halves();
    windows();
    return MPI_Finalize();
}
