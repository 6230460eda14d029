/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <sys/mman.h>

#include "pythia.h"

int base_arena_open(struct base_arena *a, size_t record, size_t count)
{
    size_t bytes;
    a->base = NULL;
    a->bytes = 0;
    if (__builtin_mul_overflow(record, count, &bytes) || bytes == 0)
        return PYTHIA_ENOMEM;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return PYTHIA_ENOMEM;
    a->base = p;
    a->bytes = bytes;
    return 0;
}

void base_arena_close(struct base_arena *a)
{
    if (a->base)
        munmap(a->base, a->bytes);
    a->base = NULL;
    a->bytes = 0;
}
