/* SPDX-License-Identifier: MIT */
/*
 * Programs of which something can be changed:   mpirun -n P whatif NAME TURNS [KEY=VALUE]...
 *
 *   slow=MS     what the slow ranks work a turn                    latency=MS   what each message takes besides
 *   scale=X     all times are so much longer
 *   others=MS   what the others work at the same place             speed=X      how much faster the slow ranks are
 *
 * So a run with equal times is what balancing foretells, one with latency=2 what a latency of 2 ms does. Computation is
 * sleeping. A message has the time at which it was sent: who receives it sleeps until its latency after that, so that
 * what is on its way meanwhile costs nobody time, as in a network.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, turns;
static double slow = 12, others = 4, latency, speed = 1, scale = 1;
static char out[64], in[2][64];

static void work(double ms)
{
    ms *= scale;
    struct timespec t = { (time_t)(ms / 1000), (long)(1e6 * ms) % 1000000000L };
    if (ms > 0)
        nanosleep(&t, NULL);
}

static double own(int slow_one)
{
    return slow_one ? slow / speed : others;
}

static void stamp(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memcpy(out, &now, sizeof now);
}

static void arrive(const char *message)
{
    struct timespec t;
    if (latency <= 0)
        return;
    memcpy(&t, message, sizeof t);
    long long ns = t.tv_nsec + (long long)(1e6 * latency * scale);
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void receive(int from)
{
    MPI_Recv(in[0], sizeof in[0], MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrive(in[0]);
}

static void send(int to)
{
    stamp();
    MPI_Send(out, sizeof out, MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

/* --- The programs: one turn each --- */

static void barrier(void)
{
    work(own(rank == ranks - 1));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double x = rank, y;
    work(own(rank == 0));
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Half of the ranks have more work, before the second of two reductions. */
static void two_places(void)
{
    double x = rank, y;
    work(4);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(own(rank >= ranks / 2));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void halo(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request r[4];
    work(own(rank == 1));
    stamp();
    MPI_Irecv(in[0], sizeof in[0], MPI_BYTE, left, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], sizeof in[1], MPI_BYTE, right, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(out, sizeof out, MPI_BYTE, right, 3, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out, sizeof out, MPI_BYTE, left, 4, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    arrive(in[0]);
    arrive(in[1]);
}

/* The same with requests that are made once. */
static MPI_Request kept[4];

static void make_requests(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    if (kept[0])
        return;
    MPI_Recv_init(in[0], sizeof in[0], MPI_BYTE, left, 3, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(in[1], sizeof in[1], MPI_BYTE, right, 4, MPI_COMM_WORLD, &kept[1]);
    MPI_Send_init(out, sizeof out, MPI_BYTE, right, 3, MPI_COMM_WORLD, &kept[2]);
    MPI_Send_init(out, sizeof out, MPI_BYTE, left, 4, MPI_COMM_WORLD, &kept[3]);
}

static void persistent(void)
{
    make_requests();
    work(own(rank == 1));
    stamp();
    MPI_Startall(4, kept);
    MPI_Waitall(4, kept, MPI_STATUSES_IGNORE);
    arrive(in[0]);
    arrive(in[1]);
}

static void started(void)
{
    make_requests();
    work(own(rank == 1));
    stamp();
    MPI_Start(&kept[0]);
    MPI_Start(&kept[2]);
    MPI_Wait(&kept[0], MPI_STATUS_IGNORE);
    arrive(in[0]);
    MPI_Wait(&kept[2], MPI_STATUS_IGNORE);
}

/* Each rank after the one before it, round and round. */
static void token(void)
{
    if (rank == 0) {
        work(own(0));
        send(1);
        receive(ranks - 1);
    } else {
        receive(rank - 1);
        work(own(rank == 2));
        send((rank + 1) % ranks);
    }
}

static void pipeline(void)
{
    if (rank > 0)
        receive(rank - 1);
    work(own(rank == 1));
    if (rank + 1 < ranks)
        send(rank + 1);
}

static void pingpong(void)
{
    if (rank % 2 == 0) {
        work(own(0));
        send(rank + 1);
        receive(rank + 1);
    } else {
        receive(rank - 1);
        work(own(rank == 1));
        send(rank - 1);
    }
}

static void bcast(void)
{
    double x = rank;
    work(own(rank == 0));
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work(2);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct { const char *name; void (*turn)(void); } programs[] = {
    { "barrier", barrier }, { "allreduce", allreduce }, { "two_places", two_places }, { "halo", halo },
    { "persistent", persistent }, { "started", started },
    { "token", token }, { "pipeline", pipeline }, { "pingpong", pingpong }, { "bcast", bcast },
};

static void set(const char *argument)
{
    const char *value = strchr(argument, '=');
    if (value && !strncmp(argument, "slow", 4))
        slow = atof(value + 1);
    if (value && !strncmp(argument, "others", 6))
        others = atof(value + 1);
    if (value && !strncmp(argument, "latency", 7))
        latency = atof(value + 1);
    if (value && !strncmp(argument, "scale", 5))
        scale = atof(value + 1);
    if (value && !strncmp(argument, "speed", 5))
        speed = atof(value + 1);
}

int main(int argc, char **argv)
{
    void (*turn)(void) = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    turns = argc > 2 ? atoi(argv[2]) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(argv[1], programs[i].name))
            turn = programs[i].turn;
    for (int a = 3; a < argc; a++)
        set(argv[a]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; turn && i < turns; i++)
        turn();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return turn ? 0 : 2;
}
