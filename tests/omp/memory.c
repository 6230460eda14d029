/* SPDX-License-Identifier: MIT */
/*
 * Regions by chance, which no grammar folds: argv[1] of them on each of argv[2] threads. Prints what they counted; to
 * file 3, where that is open, the most memory taken (KiB) and how many pages were touched first.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MOST_THREADS = 64 };

static _Atomic long sum;
static long turns;

#define REGION(n)                                             \
    static __attribute__((noinline)) void region_##n(void)    \
    {                                                         \
        _Pragma("omp parallel num_threads(1)") sum += n;      \
    }
REGION(0)
REGION(1)
REGION(2)
REGION(3)
REGION(4)
REGION(5)
REGION(6)
REGION(7)

static void *work(void *seed)
{
    static void (*const region[])(void) = { region_0, region_1, region_2, region_3,
                                            region_4, region_5, region_6, region_7 };
    uint64_t random = (uint64_t)(uintptr_t)seed;
    for (long i = 0; i < turns; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        region[random >> 61]();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t thread[MOST_THREADS];
    struct rusage usage;
    turns = argc > 1 ? atol(argv[1]) : 1000;
    for (intptr_t t = 1; t < threads; t++)
        if (pthread_create(&thread[t], NULL, work, (void *)t))
            return 77;
    work(NULL);
    for (int t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    printf("%ld\n", sum);
    getrusage(RUSAGE_SELF, &usage);
    dprintf(3, "%ld %ld\n", usage.ru_maxrss, usage.ru_minflt);
    return 0;
}
