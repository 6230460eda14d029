/* SPDX-License-Identifier: MIT */
/*
 * Neighbourhood collectives whose truth is planted by naps, on 6 ranks.
 *
 * Writes what each rank worked in each turn, then how long all turns took, seconds, to work.RANK: the truth on a busy
 * machine, too.
 *
 *     near cart     2 x 3, borders on all sides; rank 2 works 8 ms a turn, the others 4
 *     near graph    a distributed graph: ring to the right only; the rank that works 8 ms changes each turn;
 *                   begun with MPI_Ineighbor_alltoallv, 1 + receiver integers each
 *     near relay    rank by rank naps 20 ms, in turn; a line to the right: only the order makes them wait
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TURNS = 40, MOST = 16 };

static double begin, turn_end, worked[2 * TURNS];
static int turn_count;

/* From the end of the turn before. */
static void nap(double ms)
{
    struct timespec t = {0, (long)(ms * 1e6)};
    if (ms > 0)
        nanosleep(&t, NULL);
    worked[turn_count++] = MPI_Wtime() - turn_end;
}

static void turn_ends(void)
{
    turn_end = MPI_Wtime();
    if (turn_count == 0)
        begin = turn_end;
}

static void write_work(int rank)
{
    char name[32];
    snprintf(name, sizeof name, "work.%d", rank);
    FILE *f = fopen(name, "w");
    for (int i = 0; f && i < turn_count; i++)
        fprintf(f, "%.9f\n", worked[i]);
    if (f)
        fprintf(f, "%.9f\n", turn_end - begin);
    if (f)
        fclose(f);
}

static void cart(void)
{
    MPI_Comm grid;
    int size[2] = {2, 3}, periods[2] = {0, 0}, rank, out[MOST] = {0}, in[MOST] = {0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, size, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    turn_ends();
    for (int i = 0; i < TURNS; i++) {
        nap(rank == 2 ? 8 : 4);
        MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, grid);
        turn_ends();
    }
    MPI_Comm_free(&grid);
}

static void ring(int rank, int ranks)
{
    MPI_Comm graph;
    MPI_Request request;
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, zero = 0, sends = 1 + to, receives = 1 + rank;
    int out[MOST] = {0}, in[MOST] = {0};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    turn_ends();
    for (int i = 0; i < TURNS; i++) {
        nap(i % ranks == rank ? 8 : 4);
        MPI_Ineighbor_alltoallv(out, &sends, &zero, MPI_INT, in, &receives, &zero, MPI_INT, graph, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        turn_ends();
    }
    MPI_Comm_free(&graph);
}

/* One way, one after the other: nobody's work differs. */
static void relay(int rank, int ranks)
{
    MPI_Comm line;
    int from = rank - 1, to = rank + 1, in = 0, out = 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, &from, MPI_UNWEIGHTED, rank < ranks - 1, &to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &line);
    turn_ends();
    for (int i = 0; i < TURNS / 4; i++) {
        for (int turn = 0; turn < ranks; turn++) {
            nap(turn == rank ? 20 : 0);
            MPI_Neighbor_allgather(&out, 1, MPI_INT, &in, 1, MPI_INT, line);
            turn_ends();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        turn_ends();
    }
    MPI_Comm_free(&line);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "cart"))
        cart();
    else if (argc > 1 && !strcmp(argv[1], "graph"))
        ring(rank, ranks);
    else
        relay(rank, ranks);
    MPI_Finalize();
    write_work(rank);
    return 0;
}
