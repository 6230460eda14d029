/* SPDX-License-Identifier: MIT */
/*
 * Ways to wait for another thread, each a region that is read as compilers make it (read.test) and never run: shares of
 * it must not be run by fewer threads. `p` is what others write.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

double omp_get_wtime(void);

#define V volatile
#define WAIT(name)                               \
    void region_no_##name(int *p, int n, int k); \
    void region_no_##name(int *p, int n, int k)
struct big {
    long v[40];
};
struct mid {
    long v[4];
};
struct node {
    struct node *V next;
    V int ready;
};
