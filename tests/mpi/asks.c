/* SPDX-License-Identifier: MIT */
/*
 * Asks its own oracle: which call comes next, when, how long it takes. Each turn the even ranks work 5 ms and send, the
 * odd ones receive at once. Without Pythia, and recorded, nothing is answered.
 *
 *   mpicc -o asks asks.c $(pkg-config --cflags pythia)
 *   mpirun -n 2 pythia record ./asks 50 own; mpirun -n 2 pythia predict ./asks 50 own
 *
 *   asks TURNS values    messages whose peers, sizes and tags vary, each asked for when it comes next and five turns
 *                        before
 *   asks TURNS [own]     own: optional work is done while the message is waited for, where the oracle says that there
 *                        is time;
 *                        without it always before the message is asked for. Prints what was asked, and how long it all
 *                        took.
 */
#define PYTHIA_OPTIONAL
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia.h"

static int asked, known, right, inside, bounded;

static void work(double ms)
{
    struct timespec t = { 0, (long)(ms * 1e6) };
    nanosleep(&t, NULL);
}

/* What is expected now; whether it takes so long until the next message is there. */
static int waits(double ns)
{
    pythia_oracle_t *self = pythia_oracle_self ? pythia_oracle_self() : NULL;
    struct pythia_answer a;
    int status = self ? pythia_oracle_next(self, "MPI_Recv", &a) : 1;

    asked++;
    if (status != 0)
        return 0;
    known++;
    right += a.distance == 1 && strcmp(a.word, "MPI_Recv") == 0 && a.callsite != UINT32_MAX;
    bounded += a.duration_low_ns >= 0 && a.duration_low_ns <= a.duration_ns && a.duration_ns <= a.duration_high_ns;
    inside += a.duration_low_ns <= 6e6 && a.duration_high_ns >= 4e6;
    return a.until_ns + a.duration_low_ns > ns; /* when the message is there, whatever is done until then */
}

/* --- Values --- */

struct message { int64_t value[3]; }; /* as in enum pythia_value */

static struct message message_of(int rank, int ranks, int turn)
{
    static const int sizes[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5 };
    return (struct message){ { (rank + 1 + turn % 5 % 2) % ranks, 8 * sizes[turn % 11], turn % 7 % 3 } };
}

/* How many of the three are answered right, of the message that comes so many turns of three events later. */
static int foretold(int rank, int ranks, int turn, int later)
{
    pythia_oracle_t *self = pythia_oracle_self ? pythia_oracle_self() : NULL;
    struct message m = message_of(rank, ranks, turn + later);
    struct pythia_answer a;
    int64_t value;
    int count = 0;

    for (int k = 0; self && k < 3; k++)
        count += pythia_oracle_value(self, 1 + 3 * (uint64_t)later, (enum pythia_value)k, &value, &a) == 0 &&
                 value == m.value[k] && a.probability > 0.5 && strcmp(a.word, "MPI_Isend") == 0;
    return count;
}

static void exchange(int turns)
{
    int rank, ranks, next = 0, later = 0, peers = 0;
    char out[128] = "", in[128];
    MPI_Request request;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < turns; i++) {
        struct message m = message_of(rank, ranks, i);
        int from = (rank + ranks - 1 - i % 5 % 2) % ranks;
        pythia_oracle_t *self = pythia_oracle_self ? pythia_oracle_self() : NULL;
        struct pythia_answer a;
        uint32_t peer;
        peers += self && pythia_oracle_next_peer(self, &peer, &a) == 0 && peer == m.value[0];
        next += foretold(rank, ranks, i, 0);
        later += i + 5 < turns ? foretold(rank, ranks, i, 5) : 3;
        MPI_Isend(out, (int)m.value[1], MPI_CHAR, (int)m.value[0], (int)m.value[2], MPI_COMM_WORLD, &request);
        MPI_Recv(in, sizeof in, MPI_CHAR, from, (int)m.value[2], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        printf("values %d next %d later %d peers %d .\n", 3 * turns, next, later, peers);
}

int main(int argc, char **argv)
{
    int rank, turns = argc > 1 ? atoi(argv[1]) : 20, ask = argc > 2, spared = 0;
    char buffer[64] = "";

    MPI_Init(&argc, &argv);
    if (argc > 2 && strcmp(argv[2], "values") == 0) {
        exchange(turns);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i++) {
        if (rank % 2 == 0) {
            work(5);
            MPI_Send(buffer, sizeof buffer, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        } else {
            int time = ask && waits(3e6); /* there are 3 ms until the message is there */
            if (time)
                work(3);                  /* the optional work: it costs nothing now */
            MPI_Recv(buffer, sizeof buffer, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (!time)
                work(3);
            spared += time;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double seconds = MPI_Wtime() - begin;
    pythia_oracle_t *self = pythia_oracle_self ? pythia_oracle_self() : NULL;
    int refused = self ? pythia_oracle_follow(self, "MPI_Recv", 0, 0) == PYTHIA_EINVAL : -1;
    if (self)
        pythia_oracle_close(self); /* it is lent: nothing happens */
    double progress = -1;
    if (self && pythia_oracle_remaining(self, NULL, NULL, &progress) != 0)
        progress = -1;
    if (rank == 1)
        printf("asked %d known %d right %d bounded %d inside %d spared %d refused %d progress %.2f seconds %.3f\n",
               asked, known, right, bounded, inside, spared, refused, progress, seconds);
    MPI_Finalize();
    if (pythia_oracle_self && pythia_oracle_self())
        return 1;
    return 0;
}
