/* SPDX-License-Identifier: MIT */
/*
 * Messages by chance, as codes that track particles send them:   chance TURNS
 *
 * In each turn a rank sends up to three messages to each of its neighbours, tests its sends and its receives at one
 * line each, waits where there is often nothing to wait for, and cancels the receives for which nothing came.
 */
#include <mpi.h>
#include <stdlib.h>

enum { NEIGHBOURS = 2, MOST = 3, TAG = 5 };

static int peer[NEIGHBOURS], in[NEIGHBOURS], out[NEIGHBOURS], left[NEIGHBOURS];
static MPI_Request sends[NEIGHBOURS], receives[NEIGHBOURS];

static int chance(int rank)
{
    static unsigned state = 7;
    state = state * 1103515245 + 12345 + (unsigned)rank;
    return (int)(state >> 16) % (MOST + 1);
}

static void post(int n)
{
    MPI_Irecv(&in[n], 1, MPI_INT, peer[n], TAG, MPI_COMM_WORLD, &receives[n]);
}

/* What this rank has sent less what it has received. */
static int pass(void)
{
    int moved = 0, done;
    for (int n = 0; n < NEIGHBOURS; n++)
        if (left[n]) {
            MPI_Wait(&sends[n], MPI_STATUS_IGNORE);
            MPI_Isend(&out[n], 1, MPI_INT, peer[n], TAG, MPI_COMM_WORLD, &sends[n]);
            left[n]--;
            moved++;
        }
    for (int n = 0; n < NEIGHBOURS; n++)
        MPI_Test(&sends[n], &done, MPI_STATUS_IGNORE);
    for (int n = 0; n < NEIGHBOURS; n++) {
        MPI_Test(&receives[n], &done, MPI_STATUS_IGNORE);
        if (done) {
            post(n);
            moved--;
        }
    }
    return moved;
}

static void turn(int rank)
{
    int under_way = 0, all;
    for (int n = 0; n < NEIGHBOURS; n++) {
        post(n);
        left[n] = chance(rank);
    }
    do {
        under_way += pass();
        int mine = under_way + left[0] + left[1];
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (all);
    for (int n = 0; n < NEIGHBOURS; n++)
        MPI_Wait(&sends[n], MPI_STATUS_IGNORE);
    for (int n = 0; n < NEIGHBOURS; n++) {
        MPI_Cancel(&receives[n]);
        MPI_Wait(&receives[n], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int n = 0; n < NEIGHBOURS; n++) {
        peer[n] = (rank + (n ? 1 : size - 1)) % size;
        sends[n] = MPI_REQUEST_NULL;
    }
    for (int k = 0; k < atoi(argv[1]); k++)
        turn(rank);
    MPI_Finalize();
    return 0;
}
