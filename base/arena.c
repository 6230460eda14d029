/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia.h"

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int base_arena_open(struct base_arena *a, size_t record, size_t capacity)
{
    *a = (struct base_arena){0};
    size_t page = page_size(), bytes;
    if (!record || !capacity || __builtin_mul_overflow(record, capacity, &bytes) || bytes > PTRDIFF_MAX - page)
        return PYTHIA_EINVAL;
    bytes = (bytes + page - 1) / page * page;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return PYTHIA_ENOMEM;
    madvise(base, bytes, MADV_NOHUGEPAGE); /* refused by kernels without huge pages */
    *a = (struct base_arena){.base = base, .record = record, .capacity = capacity, .reserved = bytes};
    return 0;
}

void base_arena_close(struct base_arena *a)
{
    if (a->base)
        munmap(a->base, a->reserved);
    *a = (struct base_arena){0};
}

size_t base_arena_used(const struct base_arena *a)
{
    unsigned char resident[1024];
    size_t page = page_size(), pages = a->reserved / page, used = 0;
    for (size_t first = 0; first < pages; first += sizeof resident) {
        size_t count = pages - first < sizeof resident ? pages - first : sizeof resident;
        if (mincore((char *)a->base + first * page, count * page, resident))
            return used;
        for (size_t i = 0; i < count; i++)
            used += (resident[i] & 1) * page;
    }
    return used;
}
