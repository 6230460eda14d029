/* SPDX-License-Identifier: MIT */
/* One rank has twice the work of the others. It sleeps instead of computing, so that a laptop has processors enough. */
#include <mpi.h>
#include <unistd.h>

static void relax(int rank)
{
    usleep(rank == 2 ? 20000 : 10000);
}

static void exchange(int rank, int ranks)
{
    double mine = rank, theirs;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &theirs, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < 100; turn++) {
        double change = 1, most;
        relax(rank);
        exchange(rank, ranks);
        MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
