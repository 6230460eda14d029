/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: counts the calls of MPI that a LULESH step makes. Rank 0 prints a line per rank when the program
 * finalizes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { IRECV, ISEND, WAIT, WAITALL, ALLREDUCE, BARRIER, REDUCE, KINDS };
static int count[KINDS];

int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    count[IRECV]++;
    return PMPI_Irecv(b, n, t, from, tag, c, r);
}

int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
    count[ISEND]++;
    return PMPI_Isend(b, n, t, to, tag, c, r);
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
    count[WAIT]++;
    return PMPI_Wait(r, s);
}

int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
    count[WAITALL] += n == 26;
    return PMPI_Waitall(n, r, s);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    count[ALLREDUCE] += n == 1 && op == MPI_MIN;
    return PMPI_Allreduce(in, out, n, t, op, c);
}

int MPI_Barrier(MPI_Comm c)
{
    count[BARRIER]++;
    return PMPI_Barrier(c);
}

int MPI_Reduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
    count[REDUCE] += op == MPI_MAX;
    return PMPI_Reduce(in, out, n, t, op, root, c);
}

int MPI_Finalize(void)
{
    int rank, ranks;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *all = calloc((size_t)ranks, sizeof count);
    if (!all)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Gather(count, KINDS, MPI_INT, all, KINDS, MPI_INT, 0, MPI_COMM_WORLD);
    /* In one write: what others print through mpirun comes between pieces. */
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && rank == 0 && i < ranks * KINDS; i++)
        fprintf(out, "%d%c", all[i], (i + 1) % KINDS ? ' ' : '\n');
    if (!out || fclose(out) != 0 || write(STDERR_FILENO, text, size) != (ssize_t)size)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    free(text);
    free(all);
    return PMPI_Finalize();
}
