/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: gives every parallel region of GNU OpenMP another team size, from 1 to what the program would get. A
 * program whose results survive this relies on no team size. With TEAMS=count it changes nothing; either way it tells
 * at the end how many regions there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int omp_get_max_threads(void);
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

static unsigned long regions;

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    static void (*next)(void (*)(void *), void *, unsigned, unsigned);
    static unsigned random = 1;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel");
    random = random * 1664525u + 1013904223u;
    if (!getenv("TEAMS"))
        threads = 1 + (random >> 24) % (unsigned)omp_get_max_threads();
    regions++;
    next(body, data, threads, flags);
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "%lu\n", regions);
}
