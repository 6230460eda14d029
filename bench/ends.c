/* SPDX-License-Identifier: MIT */
/*
 * What starting and ending take on each rank, for bench/ends.sh: prints "STEP WALL PROCESSOR FAULTS" a line, in ms, of
 * what came before main, of MPI_Init, of fifty calls and of MPI_Finalize.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { STEPS = 5 };
static struct { double wall, processor; long faults; } seen[STEPS];

static double clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void see(int step)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    seen[step].wall = clock_ms(CLOCK_MONOTONIC);
    seen[step].processor = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
    seen[step].faults = use.ru_minflt;
}

int main(int argc, char **argv)
{
    static const char *const name[STEPS] = {"", "load", "init", "calls", "finalize"};
    int one = 1, sum;
    see(1);
    seen[0].wall = seen[1].wall;
    MPI_Init(&argc, &argv);
    see(2);
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    see(3);
    MPI_Finalize();
    see(4);
    for (int i = 1; i < STEPS; i++)
        printf("%s %.2f %.2f %ld\n", name[i], seen[i].wall - seen[i - 1].wall,
               seen[i].processor - seen[i - 1].processor, seen[i].faults - seen[i - 1].faults);
    return 0;
}
