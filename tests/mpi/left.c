/* SPDX-License-Identifier: MIT */
/*
 * Calls and regions that are left without returning, TURNS times each, with events after each:
 *
 *   left handler     an error handler jumps out of a call
 *   left below       the same; all later calls come from deeper in the stack than the one that was left
 *   left region      the one thread of a region jumps out of it, with and without calls inside
 *   left signal      a handler of SIGALRM jumps out of a region that would not end
 */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 20 };

static jmp_buf out;
static sigjmp_buf signal_out;
static volatile double work; /* without an end, so that the signal finds it */

static void barriers(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(out, 1);
}

static void refused(void)
{
    int nothing = 0;
    MPI_Send(&nothing, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    puts("the handler has returned");
}

static __attribute__((noinline)) void deeper(int depth)
{
    volatile char room[100];
    room[0] = 0;
    if (depth)
        deeper(depth - 1);
    else
        barriers(3);
    room[1] = room[0];
}

static void out_of_calls(int depth)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < TURNS; i++) {
        if (!setjmp(out))
            refused();
        deeper(depth ? depth + i : 0);
    }
}

static void out_of_regions(void)
{
    for (volatile int i = 0; i < TURNS; i++) {
        if (!setjmp(out)) {
#pragma omp parallel num_threads(1)
            {
                if (i % 2)
                    barriers(1);
                longjmp(out, 1);
            }
        }
        barriers(2);
    }
}

static void on_alarm(int number)
{
    (void)number;
    siglongjmp(signal_out, 1);
}

static void out_of_work(void)
{
    signal(SIGALRM, on_alarm);
    for (volatile int i = 0; i < TURNS; i++) {
        if (!sigsetjmp(signal_out, 1)) {
#pragma omp parallel num_threads(1)
            {
                ualarm(3000, 0);
                for (;;)
                    work += 1;
            }
        }
        barriers(2);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    if (!strcmp(how, "handler"))
        out_of_calls(0);
    else if (!strcmp(how, "below"))
        out_of_calls(5);
    else if (!strcmp(how, "region"))
        out_of_regions();
    else if (!strcmp(how, "signal"))
        out_of_work();
    barriers(10);
    MPI_Finalize();
    printf("%s: the end\n", how);
    return 0;
}
