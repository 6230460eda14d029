/* SPDX-License-Identifier: MIT */
/* Threads that have no events: of the work in a region the first thread of a team of three does 1 part of 10 in
   tenth(), the second 3 in third(), the last 6 in most(); one beside the team works as long, in beside(). Each turn
   once with nothing else in the region, once with a region of one thread in the first one's share.
   Usage: crew TURNS PARTS [endless]: the last thread goes on for ever, in the last turn */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;
static atomic_bool over;

/* Equally long for each part, whoever calls it: no memory, one chain of additions. */
static inline __attribute__((always_inline)) void work(long parts)
{
    double x = 1;
    for (long i = 0; i < parts * 10000; i++)
        x = x * 0.999 + 1.0;
    sink = x;
}

static __attribute__((noinline)) void tenth(long parts)
{
    work(parts);
}

static __attribute__((noinline)) void third(long parts)
{
    work(3 * parts);
}

static __attribute__((noinline)) void most(long parts)
{
    work(6 * parts);
}

static __attribute__((noinline)) void endless(void)
{
    for (;;)
        work(1);
}

static __attribute__((noinline)) void *beside(void *nothing)
{
    while (!atomic_load(&over))
        work(1);
    return nothing;
}

static __attribute__((noinline)) void alone(long parts)
{
    work(parts);
}

static void region(long parts, bool with_region, bool for_ever)
{
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0) {
        tenth(parts);
        if (with_region) {
#pragma omp parallel num_threads(1)
            alone(1);
        }
    } else if (omp_get_thread_num() == 1) {
        third(parts);
    } else {
        if (for_ever)
            endless();
        most(parts);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int turns = argc > 2 ? atoi(argv[1]) : 0;
    pthread_create(&thread, NULL, beside, NULL);
    for (int turn = 0; turn < turns; turn++) {
        region(atol(argv[2]), false, argc > 3 && turn == turns - 1);
        region(atol(argv[2]), true, false);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    puts("right");
    return 0;
}
