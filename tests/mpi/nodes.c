/* SPDX-License-Identifier: MIT */
/*
 * Four ranks, two a node: rounds of a message around the ring, a word of rank 0's to the last rank, and a reduction, to
 * which rank 3 comes 49 ms late. nodes ROUNDS [SECONDS]: then each rank naps so long, or until it is killed.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void nap(long us)
{
    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

int main(int argc, char **argv)
{
    int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 40;
    char give[1000] = "", take[1000];
    double one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(give, 100 * (rank + 1), MPI_CHAR, (rank + 1) % ranks, 7, take, sizeof take, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Send(give, 10, MPI_CHAR, ranks - 1, 8, MPI_COMM_WORLD);
        if (rank == ranks - 1)
            MPI_Recv(take, 10, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        nap(rank == ranks - 1 ? 50000 : 1000);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (argc > 2)
        nap(1000000L * atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
