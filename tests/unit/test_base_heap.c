/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/heap.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 300, STEPS = 60000 };

struct block {
    unsigned char *at;
    size_t size;
    unsigned char mark;
};

static bool holds(const struct block *b, unsigned char mark)
{
    for (size_t i = 0; i < b->size; i++)
        if (b->at[i] != mark)
            return false;
    return true;
}

/* Random sizes, mostly small; each block keeps what is written to all of it until it is freed. */
static void churn(uint64_t seed)
{
    struct block all[BLOCKS] = {{0}};
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct block *b = &all[(seed >> 33) % BLOCKS];
        if (b->at) {
            ck_assert_msg(holds(b, b->mark), "a block of %zu bytes was written by somebody else", b->size);
            base_heap_free(b->at);
        }
        unsigned bits = (seed >> 20) % 64 ? (seed >> 12) % 11 : (seed >> 12) % 20;
        *b = (struct block){.size = (seed >> 40) & (((size_t)1 << bits) - 1), .mark = (unsigned char)step};
        bool zeroed = seed >> 63;
        b->at = zeroed ? base_heap_take_zeroed(b->size) : base_heap_take(b->size);
        ck_assert_ptr_nonnull(b->at);
        ck_assert_uint_eq((uintptr_t)b->at % 16, 0);
        ck_assert(base_heap_owns(b->at));
        ck_assert_uint_ge(base_heap_size(b->at), b->size);
        ck_assert_msg(!zeroed || holds(b, 0), "%zu zeros are not", b->size);
        b->size = base_heap_size(b->at);
        memset(b->at, b->mark, b->size);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (all[i].at)
            base_heap_free(all[i].at);
}

/* Bytes of a block that are in memory. */
static size_t resident(void *block, size_t size)
{
    enum { MOST = 4096 };
    static unsigned char in[MOST];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)block / page * page;
    size_t pages = ((uintptr_t)block + size - from + page - 1) / page, count = 0;
    ck_assert_uint_le(pages, MOST);
    ck_assert_int_eq(mincore((void *)from, pages * page, in), 0);
    for (size_t i = 0; i < pages; i++)
        count += in[i] & 1;
    return count * page;
}

/* Large blocks that are free: 2 MiB are kept, the rest goes back, and zeroes are zeroes in both. */
START_TEST(free_pages_go_back)
{
    enum { COUNT = 16, SIZE = 512 << 10, KEPT = 2 << 20 };
    void *block[COUNT];
    size_t in = 0;
    for (int i = 0; i < COUNT; i++) {
        block[i] = base_heap_take(SIZE);
        ck_assert_ptr_nonnull(block[i]);
        memset(block[i], 1, SIZE);
    }
    for (int i = 0; i < COUNT; i++)
        base_heap_free(block[i]);
    for (int i = 0; i < COUNT; i++)
        in += resident(block[i], SIZE);
    ck_assert_uint_ge(in, KEPT / 2);
    ck_assert_uint_le(in, KEPT + COUNT * 8192);
    for (int i = 0; i < COUNT; i++) {
        struct block b = {.at = base_heap_take_zeroed(SIZE), .size = SIZE};
        ck_assert_ptr_nonnull(b.at);
        ck_assert(holds(&b, 0));
        block[i] = b.at;
    }
    for (int i = 0; i < COUNT; i++)
        base_heap_free(block[i]);
}
END_TEST

/* Pages that are locked in memory cannot be given back. */
START_TEST(zeros_are_zeros_where_memory_is_locked)
{
    enum { SIZE = 60000 };
    void *filler = base_heap_take((2 << 20) - 16); /* all that is kept */
    unsigned char *block = base_heap_take(SIZE);
    ck_assert_ptr_nonnull(filler);
    ck_assert_ptr_nonnull(block);
    if (mlock(block, SIZE))
        return; /* none may be locked here */
    memset(block, 1, SIZE);
    base_heap_free(filler);
    base_heap_free(block);
    struct block again = {.at = base_heap_take_zeroed(SIZE), .size = SIZE};
    ck_assert_ptr_eq(again.at, block);
    ck_assert(holds(&again, 0));
    ck_assert_int_eq(munlock(block, SIZE), 0);
    base_heap_free(block);
}
END_TEST

START_TEST(blocks_keep_what_is_in_them)
{
    churn(1);
    churn(2);
}
END_TEST

static void *churner(void *seed)
{
    churn(*(uint64_t *)seed);
    return NULL;
}

START_TEST(threads_share_it)
{
    pthread_t thread[4];
    uint64_t seed[4] = {3, 4, 5, 6};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, churner, &seed[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}
END_TEST

/* What is freed is used again: memory does not grow. */
START_TEST(it_does_not_grow)
{
    char *first = base_heap_take(1000);
    uintptr_t most = (uintptr_t)first;
    base_heap_free(first);
    for (int i = 0; i < 100000; i++) {
        char *block = base_heap_take(500 + (size_t)i % 500);
        most = (uintptr_t)block > most ? (uintptr_t)block : most;
        base_heap_free(block);
    }
    ck_assert_uint_le(most - (uintptr_t)first, 10 * 1024);
}
END_TEST

START_TEST(what_is_not_its_own)
{
    int local;
    char *block = base_heap_take(10), *other = malloc(10);
    ck_assert(!base_heap_owns(&local));
    ck_assert(!base_heap_owns(NULL));
    ck_assert(!base_heap_owns(other));
    ck_assert_ptr_null(base_heap_take(SIZE_MAX));
    ck_assert_ptr_null(base_heap_take((size_t)1 << 24));
    free(other);
    base_heap_free(block);
}
END_TEST

START_TEST(a_child_takes_nothing)
{
    char *block = base_heap_take(100);
    strcpy(block, "parent");
    pid_t child = fork();
    if (!child) {
        int bad = strcmp(block, "parent") || base_heap_take(100) || !base_heap_owns(block);
        base_heap_free(block);
        _exit(bad);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    base_heap_free(block);
}
END_TEST

/* Whether this kernel brings memory when it is asked to (Linux 5.14). */
static bool populates(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *one = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool good = madvise(one, page, 23 /* MADV_POPULATE_WRITE */) == 0;
    munmap(one, page);
    return good;
}

/* Blocks that are not large have their memory before they are touched, and what is large between them has not. */
START_TEST(small_blocks_come_with_their_memory)
{
    enum { SMALL = 64, SIZE = 12000, BIG = 1 << 20 };
    for (int i = 0; i < SMALL; i++) {
        char *big = i % 16 ? NULL : base_heap_take(BIG), *small = base_heap_take(SIZE);
        ck_assert(!populates() || resident(small, SIZE) >= SIZE);
        ck_assert(!big || resident(big + BIG / 2, BIG / 4) == 0);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(blocks_keep_what_is_in_them),
        UNIT_TEST(small_blocks_come_with_their_memory),
        UNIT_TEST(free_pages_go_back),
        UNIT_TEST(zeros_are_zeros_where_memory_is_locked),
        UNIT_TEST(threads_share_it),
        UNIT_TEST(it_does_not_grow),
        UNIT_TEST(what_is_not_its_own),
        UNIT_TEST(a_child_takes_nothing),
    };
    return unit_run("base/heap", tests, UNIT_COUNT(tests));
}
