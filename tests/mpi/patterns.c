/* SPDX-License-Identifier: MIT */
/*
 * Small programs with known sequences of calls:   mpirun -n P patterns NAME [TURNS]
 *
 * Each checks its own results, so that a wrapper that changes what the program sees is noticed: exit code 1 then.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, turns = 5, failures;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    failures++;
}

/* Sendrecv to the right, TURNS times, then a Barrier. */
static void ring(void)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, got;
    for (int i = 0; i < turns; i++) {
        int value = rank + i;
        MPI_Sendrecv(&value, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(got == left + i, "ring");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Send and Recv with rank xor 1, 2, 4, ...; the lower rank sends first. */
static void butterfly(void)
{
    for (int i = 0; i < turns; i++) {
        for (int bit = 1; bit < ranks; bit <<= 1) {
            int peer = rank ^ bit;
            double mine[4] = {rank, i, bit, 0}, other[4];
            if (rank < peer)
                MPI_Send(mine, 4, MPI_DOUBLE, peer, bit, MPI_COMM_WORLD);
            MPI_Recv(other, 4, MPI_DOUBLE, peer, bit, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank > peer)
                MPI_Send(mine, 4, MPI_DOUBLE, peer, bit, MPI_COMM_WORLD);
            expect(other[0] == peer && other[1] == i, "butterfly");
        }
    }
}

/* Sendrecv with rank xor 1, 2, 4, ...: all ranks do the same. */
static void hypercube(void)
{
    for (int i = 0; i < turns; i++) {
        for (int bit = 1; bit < ranks; bit <<= 1) {
            int got;
            MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ bit, bit, &got, 1, MPI_INT, rank ^ bit, bit, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            expect(got == (rank ^ bit), "hypercube");
        }
    }
}

/* Irecv and Isend with both neighbours in a line (MPI_PROC_NULL at the ends), one Waitall. */
static void halo(void)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < turns; i++) {
        int out[2] = {rank * 100 + i, rank * 100 + i}, in[2] = {-1, -1};
        MPI_Request r[4];
        MPI_Irecv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(&out[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&out[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        expect(rank == 0 || in[0] == (rank - 1) * 100 + i, "halo left");
        expect(rank == ranks - 1 || in[1] == (rank + 1) * 100 + i, "halo right");
    }
}

/* Isends to all others, each with its own Wait: MPI may hand out one handle for all of them. */
static void isends(void)
{
    for (int i = 0; i < turns; i++) {
        MPI_Request r[64];
        int value = rank, got;
        for (int k = 1; k < ranks; k++)
            MPI_Isend(&value, 1, MPI_INT, (rank + k) % ranks, 1, MPI_COMM_WORLD, &r[k]);
        for (int k = 1; k < ranks; k++)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        for (int k = 1; k < ranks; k++) {
            MPI_Status s;
            MPI_Recv(&got, 1, MPI_INT, (rank + k) % ranks, 1, MPI_COMM_WORLD, &s);
            expect(got == s.MPI_SOURCE, "isends");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 hands out turns * (ranks - 1) tasks to whoever asks. */
static void master(void)
{
    int tasks = turns * (ranks - 1), done = 0, task, stopped = 0;
    MPI_Status s;
    if (rank == 0) {
        while (stopped < ranks - 1) {
            MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            expect(s.MPI_SOURCE == task, "source of a request");
            int next = done < tasks ? done++ : -1;
            stopped += next < 0;
            MPI_Send(&next, 1, MPI_INT, s.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
        expect(done == tasks, "all tasks are handed out");
        return;
    }
    do {
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } while (task >= 0);
}

/* Rank 0 receives from all others and completes in the order of arrival, which each turn permutes. */
static void waitany(void)
{
    for (int i = 0; i < turns; i++) {
        MPI_Request r[64];
        int value[64], index, number = ranks - 1, sum = 0;
        MPI_Status s;
        if (rank == 0) {
            for (int k = 0; k < number; k++)
                MPI_Irecv(&value[k], 1, MPI_INT, k + 1, i, MPI_COMM_WORLD, &r[k]);
            for (int k = 0; k < number; k++) {
                MPI_Waitany(number, r, &index, &s);
                expect(r[index] == MPI_REQUEST_NULL && s.MPI_SOURCE == index + 1 && value[index] == index + 1,
                       "Waitany");
                sum += value[index];
            }
            expect(sum == ranks * number / 2, "sum");
        } else {
            for (volatile int spin = 0; spin < (rank * 7919 + i * 104729) % 20000; spin++)
                ;
            MPI_Send(&rank, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Polls with Test, Iprobe, Testall, Testany and Testsome until something is there. */
static void polling(void)
{
    int peer = rank ^ 1, value = rank, got, flag, index, number, indices[1];
    if (peer >= ranks)
        peer = rank;
    for (int i = 0; i < turns; i++) {
        MPI_Request r, receive;
        MPI_Status s;
        MPI_Isend(&value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &r);
        for (flag = 0; !flag;)
            MPI_Iprobe(peer, 0, MPI_COMM_WORLD, &flag, &s);
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &receive);
        for (flag = 0; !flag;)
            MPI_Test(&receive, &flag, &s);
        expect(got == peer && s.MPI_SOURCE == peer, "Test");
        MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
        expect(flag, "Test of a null request");
        for (flag = 0; !flag;)
            MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(&got, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &receive);
        MPI_Send(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        for (flag = 0; !flag;)
            MPI_Testany(1, &receive, &index, &flag, MPI_STATUS_IGNORE);
        MPI_Irecv(&got, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &receive);
        MPI_Send(&value, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
        for (number = 0; number == 0;)
            MPI_Testsome(1, &receive, &number, indices, MPI_STATUSES_IGNORE);
        expect(number == 1, "Testsome");
    }
}

/* One of each kind of collective. */
static void collectives(void)
{
    enum { MOST = 64 };
    int one = rank, all[MOST], out[MOST], counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    int bytes[MOST];
    for (int k = 0; k < ranks; k++) {
        counts[k] = 1;
        places[k] = k;
        bytes[k] = k * (int)sizeof(int);
        types[k] = MPI_INT;
        out[k] = rank;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&one, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    expect(one == ranks - 1, "Bcast");
    one = rank;
    MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(&one, 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(one == rank, "Scatter");
    MPI_Scatterv(all, counts, places, MPI_INT, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    expect(all[ranks - 1] == ranks - 1, "Allgather");
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(out, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD);
    expect(all[ranks - 1] == ranks - 1, "Alltoallw");
    MPI_Reduce(&rank, &one, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    one = rank;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(one == ranks * (ranks - 1) / 2, "Allreduce");
    MPI_Reduce_scatter(out, &one, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(&rank, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&rank, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request r[2];
    MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
    one = rank;
    MPI_Iallreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    expect(one == ranks - 1, "Iallreduce");
}

/* Persistent receive and send around the ring. */
static void persistent(void)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, value, got;
    MPI_Request r[2];
    MPI_Recv_init(&got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(&value, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < turns; i++) {
        value = rank * 1000 + i;
        MPI_Start(&r[0]);
        MPI_Start(&r[1]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        expect(got == left * 1000 + i, "persistent");
    }
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* Put to the right between fences, then a locked Get of it. */
static void onesided(void)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, window = -1, got = -1;
    MPI_Win win;
    MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < turns; i++) {
        int value = rank + i;
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        expect(window == left + i, "Put");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    expect(got == rank + turns - 1, "Get");
    MPI_Win_free(&win);
}

/* A shared file: everyone writes its place, all read it back. */
static void files(const char *path)
{
    MPI_File f;
    int value = rank, got = -1;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, rank * (int)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, ((rank + 1) % ranks) * (int)sizeof(int), &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect(got == (rank + 1) % ranks, "file");
    MPI_File_close(&f);
}

/* Communicators of each kind, a Barrier on each; one made and freed in a loop. */
static void communicators(void)
{
    MPI_Comm half, copy, grid, column, later;
    MPI_Request r;
    int dims[1] = {ranks}, periodic[1] = {1}, keep[1] = {1};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Barrier(half);
    MPI_Comm_dup(half, &copy);
    MPI_Barrier(copy);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &grid);
    MPI_Barrier(grid);
    MPI_Cart_sub(grid, keep, &column);
    MPI_Barrier(column);
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(later);
    for (int i = 0; i < turns; i++) {
        MPI_Comm turn;
        MPI_Comm_dup(MPI_COMM_WORLD, &turn);
        MPI_Barrier(turn);
        MPI_Comm_free(&turn);
    }
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Comm_free(&later);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&half);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
}

/* A 2-D Cartesian halo, wrapping in the first dimension only; 4 Sendrecv a turn. */
static void cart(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, down, up, got;
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    for (int i = 0; i < turns; i++) {
        for (int d = 0; d < 2; d++) {
            MPI_Cart_shift(grid, d, 1, &down, &up);
            got = down;
            MPI_Sendrecv(&rank, 1, MPI_INT, up, 0, &got, 1, MPI_INT, down, 0, grid, MPI_STATUS_IGNORE);
            expect(got == down, "cart");
            got = up;
            MPI_Sendrecv(&rank, 1, MPI_INT, down, 1, &got, 1, MPI_INT, up, 1, grid, MPI_STATUS_IGNORE);
            expect(got == up, "cart");
        }
    }
    MPI_Comm_free(&grid);
}

/* Messages with all 26 others of a cube, in turn, from one callsite each: some of them each turn, and every tenth turn
   all, twice. */
static void cube(void)
{
    enum { MOST = 52 };
    MPI_Request request[2 * MOST];
    int in[MOST];
    for (int i = 0; i < turns; i++) {
        int n = 0, count = i % 10 == 9 ? 2 * (ranks - 1) : 9;
        for (int k = 0; k < count && k < MOST; k++) {
            int step = 1 + k * 5 % (ranks - 1);
            MPI_Irecv(&in[k], 1, MPI_INT, (rank - step + ranks) % ranks, 0, MPI_COMM_WORLD, &request[n++]);
            MPI_Isend(&rank, 1, MPI_INT, (rank + step) % ranks, 0, MPI_COMM_WORLD, &request[n++]);
        }
        for (int k = 0; k < n; k++)
            MPI_Wait(&request[k], MPI_STATUS_IGNORE);
        for (int k = 0; k < n / 2; k++)
            expect(in[k] == (rank - 1 - k * 5 % (ranks - 1) + ranks) % ranks, "cube");
    }
}

/* A loop over a list of neighbours: own +1, -1, +2, -2, +3; receives posted in one loop, sends in another. */
static void list(void)
{
    static const int step[5] = {1, -1, 2, -2, 3};
    int out = rank, in[5];
    MPI_Request r[10];
    for (int i = 0; i < turns; i++) {
        for (int k = 0; k < 5; k++)
            MPI_Irecv(&in[k], 1, MPI_INT, (rank - step[k] + ranks) % ranks, k, MPI_COMM_WORLD, &r[k]);
        for (int k = 0; k < 5; k++)
            MPI_Isend(&out, 1, MPI_INT, (rank + step[k] + ranks) % ranks, k, MPI_COMM_WORLD, &r[5 + k]);
        MPI_Waitall(10, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 5; k++)
            expect(in[k] == (rank - step[k] + ranks) % ranks, "list");
    }
}

/* A ring in each of two halves: its peers are ranks of the half. */
static void halves(void)
{
    int own, size, got;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &size);
    for (int i = 0; i < turns; i++) {
        MPI_Sendrecv(&own, 1, MPI_INT, (own + 1) % size, 0, &got, 1, MPI_INT, (own + size - 1) % size, 0, half,
                     MPI_STATUS_IGNORE);
        expect(got == (own + size - 1) % size, "halves");
    }
    MPI_Comm_free(&half);
}

/* Derived communicators of the other kinds, made and freed twice: a group, an intercommunicator, a graph, a distributed
   graph. */
static void derived(void)
{
    int first[1] = {0}, to[1] = {(rank + 1) % ranks}, from[1] = {(rank + ranks - 1) % ranks};
    for (int i = 0; i < 2; i++) {
        MPI_Group world, others;
        MPI_Comm most, half, inter, all, graph, distributed;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_excl(world, 1, first, &others);
        if (rank > 0) {
            MPI_Comm_create_group(MPI_COMM_WORLD, others, 5, &most);
            MPI_Barrier(most);
            MPI_Comm_free(&most);
        }
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 6, &inter);
        MPI_Barrier(inter);
        MPI_Intercomm_merge(inter, rank % 2, &all);
        MPI_Barrier(all);
        int index[64], edges[64];
        for (int k = 0; k < ranks; k++) {
            index[k] = k + 1;
            edges[k] = (k + 1) % ranks;
        }
        MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &graph);
        MPI_Barrier(graph);
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, first, 1, to, first, MPI_INFO_NULL, 0, &distributed);
        MPI_Barrier(distributed);
        MPI_Comm_free(&distributed);
        MPI_Comm_free(&graph);
        MPI_Comm_free(&all);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
        MPI_Group_free(&others);
        MPI_Group_free(&world);
    }
}

/* What is left of a matrix gets smaller from turn to turn: sizes, tags and roots vary. */
static void shrinking(void)
{
    static int all[10000], got[10000];
    for (int i = 0; i < turns; i++) {
        int left = turns - i, right = (rank + 1) % ranks;
        MPI_Bcast(all, 2 * left, MPI_INT, i % ranks, MPI_COMM_WORLD);
        for (int k = 0; k < 2; k++)
            MPI_Sendrecv(all, left + 100 * (i % 3 == 0 && rank % 2 == k), MPI_INT, right, i, got, 10000, MPI_INT,
                         (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Return codes come through. */
static void errors(void)
{
    int value = 0;
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Send(&value, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a rank that is not there");
    expect(MPI_Wait(&null, MPI_STATUS_IGNORE) == MPI_SUCCESS, "Wait of a null request");
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Half of the calls are not recorded. */
static void paused(void)
{
    for (int i = 0; i < turns; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    for (int i = 0; i < turns; i++)
        MPI_Allreduce(MPI_IN_PLACE, (int[]){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Bcast((int[]){1}, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static int run(const char *name, const char *argument)
{
    static const struct { const char *name; void (*run)(void); } all[] = {
        {"ring", ring}, {"butterfly", butterfly}, {"halo", halo}, {"isends", isends}, {"master", master},
        {"waitany", waitany}, {"polling", polling}, {"collectives", collectives}, {"persistent", persistent},
        {"onesided", onesided}, {"communicators", communicators}, {"cart", cart}, {"list", list}, {"halves", halves},
        {"cube", cube}, {"shrinking", shrinking},
        {"derived", derived}, {"hypercube", hypercube}, {"errors", errors}, {"paused", paused}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) {
            all[i].run();
            return 1;
        }
    }
    if (strcmp(name, "files") == 0) {
        files(argument);
        return 1;
    }
    return strcmp(name, "nothing") == 0 || strcmp(name, "vanish") == 0 || strcmp(name, "abort") == 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "nothing";
    if (argc > 2 && atoi(argv[2]) > 0)
        turns = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!run(name, argc > 2 ? argv[2] : "file"))
        return 2;
    if (strcmp(name, "vanish") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        exit(7);
    }
    if (strcmp(name, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Finalize();
    return failures ? 1 : argc > 3 ? atoi(argv[3]) : 0;
}
