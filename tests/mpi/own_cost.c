/* SPDX-License-Identifier: MIT */
/*
 * 512 places that call MPI for the first time, then 200 000 calls from one place: prints what this thread's processor
 * time was for each, ns. Bare and recorded, the difference is what Pythia took. Then what MPI_Init and MPI_Finalize
 * took by the clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double sum, all;

#define PLACE(n) \
    __attribute__((noinline)) static void place##n(void) \
    { \
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); \
        __asm__ volatile(""); \
    }
#define VISIT(n) place##n();
#define EIGHT(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7)
#define SIXTY_FOUR(f, n) \
    EIGHT(f, n##0) EIGHT(f, n##1) EIGHT(f, n##2) EIGHT(f, n##3) EIGHT(f, n##4) EIGHT(f, n##5) EIGHT(f, n##6) \
    EIGHT(f, n##7)
#define ALL(f) \
    SIXTY_FOUR(f, 0) SIXTY_FOUR(f, 1) SIXTY_FOUR(f, 2) SIXTY_FOUR(f, 3) SIXTY_FOUR(f, 4) SIXTY_FOUR(f, 5) \
    SIXTY_FOUR(f, 6) SIXTY_FOUR(f, 7)

ALL(PLACE)

static long read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int main(int argc, char **argv)
{
    long start = read_clock(CLOCK_MONOTONIC);
    MPI_Init(&argc, &argv);
    start = read_clock(CLOCK_MONOTONIC) - start;
    long begin = now();
    ALL(VISIT)
    long middle = now();
    for (int i = 0; i < 200000; i++)
        place000();
    printf("%ld %ld\n", middle - begin, now() - middle);
    long end = read_clock(CLOCK_MONOTONIC);
    MPI_Finalize();
    printf("start %ld end %ld\n", start, read_clock(CLOCK_MONOTONIC) - end);
    return 0;
}
