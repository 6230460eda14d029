/* SPDX-License-Identifier: MIT */
/*
 * Asks its own oracle: which call comes next, when, how long it takes. Each turn the even ranks work 5 ms and send, the
 * odd ones receive at once. Without Pythia, and recorded, nothing is answered.
 *
 *   mpicc -o asks asks.c $(pkg-config --cflags pythia)
 *   mpirun -n 2 pythia record ./asks 50 own; mpirun -n 2 pythia predict ./asks 50 own
 *
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

int main(int argc, char **argv)
{
    int rank, turns = argc > 1 ? atoi(argv[1]) : 20, ask = argc > 2, spared = 0;
    char buffer[64] = "";

    MPI_Init(&argc, &argv);
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
