/* SPDX-License-Identifier: MIT */
/* Runs a region and ends. Each time the first thread comes to the C library's heap after main, a line on fd 3 says who
   did; libzstd has no other heap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);

static __thread int counts;

static void count(void *caller)
{
    Dl_info at;
    if (!counts)
        return;
    counts = 0;
    if (!dladdr(caller, &at) || !strstr(at.dli_fname, "zstd"))
        dprintf(3, "%s+%#lx\n", at.dli_fname, (unsigned long)((char *)caller - (char *)at.dli_fbase));
    counts = 1;
}

void *malloc(size_t size)
{
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

void free(void *p)
{
    if (p)
        count(__builtin_return_address(0));
    __libc_free(p);
}

int main(void)
{
    static int sum;
#pragma omp parallel reduction(+ : sum)
    sum++;
    counts = 1;
    return sum == 0;
}
