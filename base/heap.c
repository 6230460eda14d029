/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/lock.h"

enum { LEAST_BITS = 6, MOST_BITS = 24, CLASSES = 4 * (MOST_BITS - LEAST_BITS + 1), HEAD = 16 };
enum { SPACE = 256 << 20, LARGE = 32 << 10, KEPT = 2 << 20 };

/* Before each block; the arena aligns it to 64 bytes. */
struct head {
    struct head *next; /* free: another one */
    uint32_t class;
    uint32_t clean;    /* free: the system has its pages, and gives them back zeroed */
};

static struct {
    pthread_mutex_t lock; /* of all but `freed`, `kept` and `state` */
    _Atomic enum { UNOPENED, OPEN, CLOSED } state;
    struct base_arena arena;
    struct head *class[CLASSES]; /* free ones */
    _Atomic(struct head *) freed;
    atomic_size_t kept; /* bytes of large free blocks that are not clean */
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Quarters of a doubling: 64, 80, 96, 112, 128, 160, … bytes with the head. */
static size_t bytes_of(uint32_t class)
{
    return (size_t)(4 + class % 4) << (LEAST_BITS - 2 + class / 4);
}

static uint32_t class_of(size_t bytes)
{
    if (bytes <= (size_t)1 << LEAST_BITS)
        return 0;
    uint32_t bits = 63 - (uint32_t)__builtin_clzl(bytes - 1); /* 2^bits < bytes <= 2^(bits + 1) */
    return 4 * (bits - LEAST_BITS) + (uint32_t)((bytes - 1) >> (bits - 2)) - 3;
}

static void heap_in_child(void)
{
    heap.state = CLOSED;
}

static void open_heap(void)
{
    struct rlimit space;
    bool good = !getrlimit(RLIMIT_AS, &space) && space.rlim_cur == RLIM_INFINITY && /* else it is the program's */
                !base_arena_reserve(&heap.arena, SPACE) && !pthread_atfork(NULL, NULL, heap_in_child);
    heap.state = good ? OPEN : CLOSED;
}

static void sort_freed(void)
{
    struct head *next;
    for (struct head *h = atomic_exchange(&heap.freed, NULL); h; h = next) {
        next = h->next;
        h->next = heap.class[h->class];
        heap.class[h->class] = h;
    }
}

/* What is in a block that was taken: of a clean one, zeroes but for the ends that share a page with others. */
enum was { FRESH, CLEAN, USED };

static struct head *heap_take(uint32_t class, enum was *was)
{
    if (!heap.class[class])
        sort_freed();
    struct head *h = heap.class[class];
    *was = !h ? FRESH : h->clean ? CLEAN : USED;
    if (h) {
        heap.class[class] = h->next;
        if (*was == USED && bytes_of(class) >= LARGE)
            atomic_fetch_sub(&heap.kept, bytes_of(class));
    } else if ((h = base_arena_take(&heap.arena, bytes_of(class)))) {
        if (bytes_of(class) < LARGE) /* tables of what is met first: 64 KiB at once take what three page faults do */
            base_arena_soon(&heap.arena, bytes_of(class));
        h->class = class;
    }
    return h;
}

static void *block_of(size_t size, enum was *was)
{
    struct head *h = NULL;
    if (size > ((size_t)1 << MOST_BITS) - HEAD || heap.state == CLOSED)
        return NULL;
    base_lock_take(&heap.lock, BASE_LOCK_HEAP);
    if (heap.state == UNOPENED)
        open_heap();
    if (heap.state == OPEN)
        h = heap_take(class_of(size + HEAD), was);
    base_lock_release(&heap.lock, BASE_LOCK_HEAP);
    return h ? (char *)h + HEAD : NULL;
}

/* The whole pages of a block. */
static void pages_of(const void *block, char **from, char **to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)block, end = start + base_heap_size(block);
    *from = (char *)((start + page - 1) / page * page);
    *to = (char *)(end / page * page);
}

void *base_heap_take(size_t size)
{
    enum was was;
    return block_of(size, &was);
}

void *base_heap_take_zeroed(size_t size)
{
    enum was was;
    char *from, *to, *block = block_of(size, &was);
    if (!block || was == FRESH)
        return block;
    if (was == USED)
        return memset(block, 0, size);
    pages_of(block, &from, &to);
    memset(block, 0, (size_t)(from - block));
    memset(to, 0, (size_t)(block + base_heap_size(block) - to));
    return block;
}

bool base_heap_owns(const void *block)
{
    return (uintptr_t)block - (uintptr_t)heap.arena.base < heap.arena.reserved;
}

size_t base_heap_size(const void *block)
{
    return bytes_of(((const struct head *)block - 1)->class) - HEAD;
}

/* The system gets the pages of large blocks, but for KEPT bytes: a merge takes and frees the same sizes in turn. */
static bool gives_back(void *block, size_t bytes)
{
    char *from, *to;
    if (bytes < LARGE)
        return false;
    if (atomic_fetch_add(&heap.kept, bytes) + bytes <= KEPT)
        return false;
    atomic_fetch_sub(&heap.kept, bytes);
    pages_of(block, &from, &to);
    if (madvise(from, (size_t)(to - from), MADV_DONTNEED))
        memset(from, 0, (size_t)(to - from)); /* locked in memory */
    return true;
}

void base_heap_free(void *block)
{
    int kept = errno;
    struct head *h = (struct head *)block - 1;
    h->clean = gives_back(block, bytes_of(h->class));
    h->next = atomic_load(&heap.freed);
    while (!atomic_compare_exchange_weak(&heap.freed, &h->next, h))
        ;
    errno = kept;
}
