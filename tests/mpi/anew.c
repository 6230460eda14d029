/* SPDX-License-Identifier: MIT */
/*
 * A communicator made anew in each turn, used and freed:   anew TURNS KIND
 *
 *   same      its members are the same ones
 *   changing  by rows, then by columns, of a mesh with rows of two
 *   runs      three turns by rows, three by columns
 *   uneven    0 1 | 2 3, then 0 | 1 | 2 3, then 0 | 1 2 3: ranks change theirs in other turns
 *   fewer     one rank less each turn, up to one
 *   more      one rank, then two, up to all: a part comes before the whole
 *   nested    by rows, then columns; what is used is a duplicate of it
 *   any       by chance; without messages, since one to the rank itself is another event
 *   orders    all ranks, in an order by chance; rank 0 prints how many KiB the last nine tenths of the turns took
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned chance(void)
{
    static unsigned state = 7;
    state = state * 1103515245 + 12345;
    return state >> 16;
}

static int mixed(int of)
{
    unsigned x = (unsigned)of * 2654435761u;
    x = (x ^ x >> 15) * 2246822519u;
    return (int)(x >> 16);
}

static int colour(const char *kind, int turn, int rank, int size)
{
    unsigned drawn = chance();
    if (!strcmp(kind, "changing") || !strcmp(kind, "nested"))
        return turn % 2 ? rank % 2 : rank / 2;
    if (!strcmp(kind, "runs"))
        return turn / 3 % 2 ? rank % 2 : rank / 2;
    if (!strcmp(kind, "uneven"))
        return turn % 3 == 0 ? rank / 2 : turn % 3 == 1 ? (rank < 2 ? rank : 2) : rank > 0;
    if (!strcmp(kind, "fewer"))
        return rank < turn % size ? MPI_UNDEFINED : 0;
    if (!strcmp(kind, "more"))
        return rank > turn % size ? MPI_UNDEFINED : 0;
    if (!strcmp(kind, "any"))
        return (int)(drawn >> rank % 8) & 1;
    return strcmp(kind, "orders") ? rank / 2 : 0;
}

static long resident_kib(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%ld %ld", &all, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void use(MPI_Comm comm, int sends)
{
    int rank, size, in = 0, out, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    out = rank;
    if (sends)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT, (rank + size - 1) % size, 3, comm,
                     MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
}

int main(int argc, char **argv)
{
    int rank, size;
    long early = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0, turns = atoi(argv[1]); turn < turns; turn++) {
        MPI_Comm comm, copy;
        int order = strcmp(argv[2], "orders") ? rank : mixed(turn * size + rank);
        MPI_Comm_split(MPI_COMM_WORLD, colour(argv[2], turn, rank, size), order, &comm);
        if (turn == turns / 10)
            early = resident_kib();
        if (comm == MPI_COMM_NULL)
            continue;
        if (!strcmp(argv[2], "nested")) {
            MPI_Comm_dup(comm, &copy);
            MPI_Comm_free(&comm);
            comm = copy;
        }
        use(comm, strcmp(argv[2], "any") && strcmp(argv[2], "orders"));
        MPI_Comm_free(&comm);
    }
    if (!strcmp(argv[2], "orders") && rank == 0)
        printf("%ld KiB\n", resident_kib() - early);
    MPI_Finalize();
    return 0;
}
