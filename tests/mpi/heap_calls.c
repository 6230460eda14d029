/* SPDX-License-Identifier: MIT */
/* Prints how often this thread comes to the C library's heap in its first region: a handler may jump out of that. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);

static __thread int counts, calls;

void *malloc(size_t size)
{
    calls += counts;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    calls += counts;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    calls += counts;
    return __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    calls += counts;
    return __libc_memalign(alignment, size);
}

void free(void *p)
{
    calls += counts && p;
    __libc_free(p);
}

int main(int argc, char **argv)
{
    static int sum;
    MPI_Init(&argc, &argv);
    counts = 1;
#pragma omp parallel reduction(+ : sum)
    sum++;
    counts = 0;
    printf("%d\n", calls);
    MPI_Finalize();
    return sum == 0;
}
