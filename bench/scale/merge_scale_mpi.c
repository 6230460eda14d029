/* SPDX-License-Identifier: MIT */
/* The same merge over MPI:   mpirun -n P merge_scale_mpi SHAPE FILE: the file must be that of merge_scale, byte for
   byte. */
#include <mpi.h>
#include <stdio.h>

#include "bench/scale/shapes.h"
#include "file/file.h"
#include "merge/merge_mpi.h"

int main(int argc, char **argv)
{
    int rank, ranks, error = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    enum shape shape = argc > 2 ? shape_named(argv[1]) : SHAPES;
    if (shape != SHAPES) {
        struct job *whole, *mine = shape_rank(shape, (uint32_t)rank, (uint32_t)ranks);
        char why[300] = "";
        double begin = MPI_Wtime();
        error = merge_mpi_reduce(mine, MPI_COMM_WORLD, &whole);
        if (!error && !rank) {
            error = file_write(whole, argv[2], why, sizeof why);
            printf("mpi\t%s\t%d\t%.0f\t%s\n", argv[1], ranks, (MPI_Wtime() - begin) * 1e6, why);
            job_destroy(whole);
        }
    }
    MPI_Finalize();
    return error != 0;
}
