/* SPDX-License-Identifier: MIT */
/*
 * Threads that live for a team or two each, whose sizes vary; argv[2] threads at a time, argv[1] in all. Prints what
 * they counted; to file 3, where that is open, the most memory taken (KiB) and how many pages were touched first.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MOST_AT_ONCE = 64, LENGTH = 100 };

static _Atomic long turns, members;

static void *work(void *number)
{
    int threads = 1 + *(int *)number % 4;
#pragma omp parallel num_threads(threads)
    {
        members++;
#pragma omp for
        for (int i = 0; i < LENGTH; i++)
            turns++;
    }
    if (threads == 3) {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < LENGTH; i++)
            turns++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int all = argc > 1 ? atoi(argv[1]) : 100, at_once = argc > 2 ? atoi(argv[2]) : 1, number[MOST_AT_ONCE];
    pthread_t thread[MOST_AT_ONCE];
    struct rusage usage;
    for (int done = 0; done < all; done += at_once) {
        for (int t = 0; t < at_once; t++) {
            number[t] = done + t;
            if (pthread_create(&thread[t], NULL, work, &number[t]))
                return 77;
        }
        for (int t = 0; t < at_once; t++)
            pthread_join(thread[t], NULL);
    }
    printf("%ld turns, %ld members\n", turns, members);
    getrusage(RUSAGE_SELF, &usage);
    dprintf(3, "%ld %ld\n", usage.ru_maxrss, usage.ru_minflt);
    return 0;
}
