/* SPDX-License-Identifier: MIT */
/* After some turns one rank waits for a message that nobody sends. */
#include <mpi.h>

static void step(int rank, int turn)
{
    int order;
    if (rank == 1 && turn == 200)
        MPI_Recv(&order, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 300; turn++) {
        step(rank, turn);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
