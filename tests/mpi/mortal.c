/* SPDX-License-Identifier: MIT */
/*
 * A program that does not live to see MPI_Finalize:   mpirun -n P mortal HOW [TURNS] [DIRECTORY]
 *
 *   killed    runs until somebody kills it, about a thousand calls a second, in an order that never becomes regular
 *   segv, abort, term, exit, _exit, overflow, mpi    TURNS Barriers, then this
 *   handler   the same, then a SIGTERM that the program handles itself: it ends with code 3
 *   fork      TURNS Barriers; a child that exits with code 0; MPI_Finalize
 *   fine      TURNS Barriers, MPI_Finalize
 *
 * Each rank leaves its process number in DIRECTORY/pid-RANK.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks;

static void leave_pid(const char *directory)
{
    char path[4096], temporary[4096];
    snprintf(temporary, sizeof temporary, "%s/.pid-%d", directory, rank);
    snprintf(path, sizeof path, "%s/pid-%d", directory, rank);
    FILE *f = fopen(temporary, "w");
    if (!f)
        exit(2);
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    rename(temporary, path);
}

/* The same on all ranks, so that their calls match. */
static void irregular(void)
{
    static uint32_t x = 12345;
    int mine = rank, sum, got;
    x = x * 1664525 + 1013904223;
    switch (x >> 29) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    default:
        MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    usleep(200);
}

static volatile int sink;

static int overflow(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + frame[0];
}

static void handled(int sig)
{
    (void)sig;
    _exit(3);
}

static void die(const char *how)
{
    if (!strcmp(how, "segv"))
        *(volatile int *)(uintptr_t)sink = 1;
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "term"))
        raise(SIGTERM);
    else if (!strcmp(how, "exit"))
        exit(7);
    else if (!strcmp(how, "_exit"))
        _exit(7);
    else if (!strcmp(how, "overflow"))
        sink = overflow(0);
    else if (!strcmp(how, "mpi"))
        MPI_Abort(MPI_COMM_WORLD, 9);
    else if (!strcmp(how, "handler"))
        raise(SIGTERM);
}

static int have_child(void)
{
    int status = 1;
    pid_t child = fork();
    if (!child)
        exit(0);
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fine";
    int turns = argc > 2 ? atoi(argv[2]) : 5, bad = 0;
    if (!strcmp(how, "handler"))
        signal(SIGTERM, handled);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    leave_pid(argc > 3 ? argv[3] : ".");
    if (!strcmp(how, "killed"))
        for (;;)
            irregular();
    for (int i = 0; i < turns; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    die(how);
    if (!strcmp(how, "fork"))
        bad = have_child();
    MPI_Finalize();
    return bad;
}
