/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it */
#endif

enum { ALIGNED = 64, STEP = 1 << 20, FIRST_AHEAD = 8 << 10, LEAST_AHEAD = 64 << 10, MOST_AHEAD = 2 << 20 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_space(struct base_arena *a, size_t record, size_t capacity, int protection)
{
    *a = (struct base_arena){0};
    size_t page = page_size(), bytes;
    if (!record || !capacity || __builtin_mul_overflow(record, capacity, &bytes) || bytes > PTRDIFF_MAX - page)
        return PYTHIA_EINVAL;
    bytes = (bytes + page - 1) / page * page;
    int kept = errno;
    void *base = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED)
        madvise(base, bytes, MADV_NOHUGEPAGE); /* refused by kernels without huge pages */
    errno = kept;
    if (base == MAP_FAILED)
        return PYTHIA_ENOMEM;
    *a = (struct base_arena){.base = base, .record = record, .capacity = capacity, .reserved = bytes};
    a->open = protection == PROT_NONE ? 0 : bytes;
    return 0;
}

int base_arena_open(struct base_arena *a, size_t record, size_t capacity)
{
    return open_space(a, record, capacity, PROT_READ | PROT_WRITE);
}

int base_arena_reserve(struct base_arena *a, size_t bytes)
{
    return open_space(a, 1, bytes, PROT_NONE);
}

/* As much again while that is little, then at least LEAST_AHEAD. */
static size_t ahead_of(size_t need)
{
    size_t least = need < FIRST_AHEAD ? FIRST_AHEAD : need < LEAST_AHEAD ? need : LEAST_AHEAD, ahead = need / 4;
    return ahead < least ? least : ahead > MOST_AHEAD ? MOST_AHEAD : ahead;
}

/* Where the memory ahead ends: beyond MOST_AHEAD at the border of a huge page. */
static size_t end_ahead(const struct base_arena *a, size_t need, bool huge)
{
    size_t ahead = ahead_of(need);
    uintptr_t border = huge ? MOST_AHEAD : page_size(), end = (uintptr_t)a->base + need + ahead;
    end = (end + border - 1) / border * border;
    return end - (uintptr_t)a->base < a->open ? end - (uintptr_t)a->base : a->open;
}

size_t base_arena_ahead(struct base_arena *a, size_t records)
{
    size_t need = records * a->record;
    if (need > a->ready) {
        bool huge = need > MOST_AHEAD;
        int kept = errno;
        size_t page = page_size(), from = a->ready / page * page, end = end_ahead(a, need, huge);
        if (huge)
            madvise((char *)a->base + from, end - from, MADV_HUGEPAGE);
        madvise((char *)a->base + from, end - from, MADV_POPULATE_WRITE);
        a->ready = end;
        errno = kept;
    }
    size_t there = a->ready / a->record;
    return there < a->capacity ? there : a->capacity;
}

static bool open_to(struct base_arena *a, size_t need)
{
    int kept = errno;
    size_t end = (need + STEP - 1) / STEP * STEP;
    end = end < a->reserved ? end : a->reserved;
    bool good = mprotect((char *)a->base + a->open, end - a->open, PROT_READ | PROT_WRITE) == 0;
    if (good)
        a->open = end;
    errno = kept;
    return good;
}

void *base_arena_take(struct base_arena *a, size_t bytes)
{
    size_t from = (a->taken + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (from > a->reserved || bytes > a->reserved - from)
        return NULL;
    if (from + bytes > a->open && !open_to(a, from + bytes))
        return NULL;
    a->taken = from + bytes;
    return (char *)a->base + from;
}

void base_arena_soon(struct base_arena *a, size_t bytes)
{
    int kept = errno;
    size_t page = page_size(), from = a->taken - bytes > a->ready ? a->taken - bytes : a->ready;
    if (a->taken <= a->ready)
        return;
    from = from / page * page;
    a->ready = a->open - a->taken < LEAST_AHEAD ? a->open : (a->taken + LEAST_AHEAD) / page * page;
    madvise((char *)a->base + from, a->ready - from, MADV_POPULATE_WRITE);
    errno = kept;
}

void *base_arena_whole(struct base_arena *a, size_t bytes)
{
    if (base_arena_open(a, bytes, 1) == 0)
        base_arena_ahead(a, 1);
    return a->base;
}

void base_arena_close(struct base_arena *a)
{
    if (a->base)
        munmap(a->base, a->reserved);
    *a = (struct base_arena){0};
}
