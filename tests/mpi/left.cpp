// SPDX-License-Identifier: MIT
// An error handler that throws: 20 times, with ten events after each.
#include <mpi.h>
#include <cstdio>
#include <stdexcept>

static void refuse(MPI_Comm *, int *, ...)
{
    throw std::runtime_error("MPI");
}

int main(int argc, char **argv)
{
    int caught = 0, nothing = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(refuse, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 20; i++) {
        try {
            MPI_Send(&nothing, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
        } catch (std::exception &) {
            caught++;
        }
        for (int k = 0; k < 10; k++)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    std::printf("caught %d\n", caught);
}
