/* SPDX-License-Identifier: MIT */
/*
 * Work that is planted as naps, and the efficiencies that follow from it: planted MODE TURNS. Rank 0 prints load
 * balance, serialisation and transfer, made of how long each rank's naps really took: an ideal network is the
 * recurrence over turns of who has to wait for whom.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNIT = 1500000, BIG = 16 << 20 };

static int rank, size;
static double *work; /* of this rank in each turn, s */
static unsigned state;

static double uniform(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

/* What the rank has to do in a turn, in units. */
static double plan(const char *mode, int turn)
{
    unsigned drawn = (unsigned)turn * 2654435761u;

    if (!strcmp(mode, "turns") || !strcmp(mode, "bcast"))
        return turn % size == rank ? 3 : 1;
    if (!strcmp(mode, "several"))
        return (turn / 3 + turn % 3) % size == rank ? 3 : 1;
    if (!strcmp(mode, "alternate"))
        return turn % 2 == rank ? 3 : 1;
    if (!strcmp(mode, "noise") || !strcmp(mode, "neighbours"))
        return 0.5 + 2 * uniform();
    if (!strcmp(mode, "data")) /* a front that wanders over the ranks */
        return 1 + (turn / 3 + rank) % size;
    if (!strcmp(mode, "rare"))
        return turn % 10 == 3 && (int)(drawn >> 16) % size == rank ? 12 : 1;
    if (!strcmp(mode, "together"))
        return turn % 5 == 4 ? 5 : 1;
    if (!strcmp(mode, "slow"))
        return rank == size - 1 ? 3 : 1;
    if (!strcmp(mode, "both"))
        return (rank == size - 1 ? 2 : 1) * (turn % size == rank ? 2 : 1);
    return 1; /* balanced, chain, large */
}

static double nap(double units)
{
    struct timespec t = { 0, (long)(units * UNIT) };
    double begin = MPI_Wtime();

    nanosleep(&t, NULL);
    return MPI_Wtime() - begin;
}

static void talk(const char *mode, int turn)
{
    static char *out, *in;
    static int gathered[1024];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, one = 1, sum;

    if (!strcmp(mode, "neighbours")) {
        MPI_Sendrecv(&one, 1, MPI_INT, next, 0, &sum, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&one, 1, MPI_INT, before, 1, &sum, 1, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(mode, "large")) {
        out = out ? out : calloc(2, BIG);
        in = out + BIG;
        MPI_Sendrecv(out, BIG, MPI_CHAR, next, 0, in, BIG, MPI_CHAR, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(mode, "bcast")) {
        MPI_Bcast(&one, 1, MPI_INT, turn % size, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "several") && turn % 3 == 1) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "several") && turn % 3 == 2) {
        MPI_Allgather(&one, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void turn_of(const char *mode, int turn)
{
    int token = 0;

    if (!strcmp(mode, "chain")) {
        if (rank)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work[turn] = nap(1);
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    work[turn] = nap(plan(mode, turn));
    talk(mode, turn);
}

/* --- What is so --- */

static double most(const double *of, int from, int to)
{
    double m = 0;

    for (int r = from; r <= to; r++)
        m = of[(r + size) % size] > m ? of[(r + size) % size] : m;
    return m;
}

/* With an ideal network: `now` is when each rank ends a turn. */
static double ideal(const char *mode, const double *all, int turns)
{
    double *now = calloc(size, sizeof *now), *done = calloc(size, sizeof *done), end;

    for (int t = 0; t < turns; t++) {
        for (int r = 0; r < size; r++) {
            double begins = !strcmp(mode, "chain") && r && done[r - 1] > now[r] ? done[r - 1] : now[r];
            done[r] = begins + all[r * turns + t];
        }
        for (int r = 0; r < size; r++)
            now[r] = !strcmp(mode, "neighbours") ? most(done, r - 1, r + 1)
                     : !strcmp(mode, "large")    ? most(done, r - 1, r)
                                                 : most(done, 0, size - 1);
    }
    end = most(now, 0, size - 1);
    free(now);
    free(done);
    return end;
}

static void tell(const char *mode, const double *all, int turns, double wall)
{
    double sum = 0, longest = 0, best = ideal(mode, all, turns);

    for (int r = 0; r < size; r++) {
        double own = 0;
        for (int t = 0; t < turns; t++)
            own += all[r * turns + t];
        sum += own;
        longest = own > longest ? own : longest;
    }
    printf("planted %.3f %.3f %.3f\n", sum / size / longest, longest / best, best / wall);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "turns";
    int turns = argc > 2 ? atoi(argv[2]) : 100;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = (unsigned)rank * 7919u + 1;
    work = calloc(turns, sizeof *work);
    double *all = calloc((size_t)turns * size, sizeof *all);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int t = 0; t < turns; t++)
        turn_of(mode, t);
    double wall = MPI_Wtime() - begin;
    MPI_Gather(work, turns, MPI_DOUBLE, all, turns, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tell(mode, all, turns, wall);
    MPI_Finalize();
    return 0;
}
