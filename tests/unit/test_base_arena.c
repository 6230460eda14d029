/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "pythia.h"
#include "tests/unit/unit.h"

START_TEST(fresh_memory_is_zero_and_does_not_move)
{
    struct base_arena a;
    ck_assert_int_eq(base_arena_open(&a, 24, 1000000), 0);
    unsigned char *base = a.base;
    ck_assert_uint_ge(a.reserved, 24000000);
    for (size_t i = 0; i < 1000000; i += 997) {
        ck_assert_uint_eq(base[i * 24], 0);
        base[i * 24] = 1;
        ck_assert_ptr_eq(a.base, base);
    }
    base_arena_close(&a);
    ck_assert_ptr_null(a.base);
}
END_TEST

/* Bytes of memory that are in use, in whole pages. */
static size_t used_of(const struct base_arena *a)
{
    unsigned char resident[1024];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = a->reserved / page, used = 0;
    for (size_t first = 0; first < pages; first += sizeof resident) {
        size_t count = pages - first < sizeof resident ? pages - first : sizeof resident;
        if (mincore((char *)a->base + first * page, count * page, resident))
            return used;
        for (size_t i = 0; i < count; i++)
            used += (resident[i] & 1) * page;
    }
    return used;
}

START_TEST(only_what_is_touched_uses_memory)
{
    struct base_arena a;
    ck_assert_int_eq(base_arena_open(&a, 1, (size_t)1 << 32), 0);
    ck_assert_uint_eq(used_of(&a), 0);
    for (size_t i = 0; i < 100; i++)
        ((char *)a.base)[i * 16 * 4096] = 1;
    ck_assert_uint_ge(used_of(&a), 100 * 4096);
    ck_assert_uint_le(used_of(&a), 100 * 65536);
    base_arena_close(&a);
    ck_assert_uint_eq(used_of(&a), 0);
}
END_TEST

/* Memory ahead is there for what was asked, grows with what is in use, and never leaves the arena. */
START_TEST(memory_comes_ahead)
{
    struct base_arena a;
    ck_assert_int_eq(base_arena_open(&a, 128, 100000), 0);
    for (size_t records = 1; records <= 100000;) {
        size_t there = base_arena_ahead(&a, records);
        ck_assert_uint_ge(there, records);
        ck_assert_uint_le(there, 100000);
        ck_assert_uint_le((there - records) * 128, 4 << 20);
        ck_assert_uint_le(a.ready, a.reserved);
        ck_assert_uint_eq(base_arena_ahead(&a, records), there);
        ((char *)a.base)[there * 128 - 1] = 1;
        records = there + 1;
    }
    base_arena_close(&a);
}
END_TEST

/* Pieces are zero, aligned, apart, and end with the arena. */
START_TEST(pieces_are_taken)
{
    enum { ROOM = 100 << 10, PIECES = 16 };
    struct base_arena a;
    ck_assert_int_eq(base_arena_open(&a, 1, ROOM), 0);
    char *end = a.base;
    for (size_t i = 1; i < PIECES; i++) {
        char *piece = base_arena_take(&a, i * 100);
        ck_assert_ptr_nonnull(piece);
        ck_assert_uint_eq((uintptr_t)piece % _Alignof(max_align_t), 0);
        ck_assert(piece >= end);
        ck_assert_int_eq(piece[i * 100 - 1], 0);
        end = piece + i * 100;
        memset(piece, 1, i * 100);
    }
    ck_assert_ptr_null(base_arena_take(&a, a.reserved));
    ck_assert_ptr_null(base_arena_take(&a, SIZE_MAX));
    ck_assert_ptr_nonnull(base_arena_take(&a, 1));
    base_arena_close(&a);
    ck_assert_ptr_null(base_arena_take(&a, 1));
}
END_TEST

/* Private memory that the process may write, in KiB: what the system has to promise. */
static long writable(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(f);
    while (kib < 0 && fgets(line, sizeof line, f))
        (void)sscanf(line, "VmData: %ld", &kib);
    fclose(f);
    return kib;
}

START_TEST(what_is_reserved_is_no_memory)
{
    enum { SPACE = 64 << 20, PIECE = 100000, OTHERS = 4096 /* KiB; a sanitizer's own */ };
    struct base_arena a;
    long before = writable();
    ck_assert_int_ge(before, 0);
    ck_assert_int_eq(base_arena_reserve(&a, SPACE), 0);
    ck_assert_int_le(writable(), before + OTHERS);
    for (size_t taken = PIECE; taken < SPACE / 2; taken += PIECE) {
        char *piece = base_arena_take(&a, PIECE);
        ck_assert_ptr_nonnull(piece);
        ck_assert_int_eq(piece[PIECE - 1], 0);
        memset(piece, 1, PIECE);
        ck_assert_int_le(writable(), before + (long)(a.taken >> 10) + 1024 + OTHERS);
    }
    ck_assert_ptr_null(base_arena_take(&a, SPACE));
    base_arena_close(&a);
}
END_TEST

START_TEST(a_structure_is_there_as_a_whole)
{
    enum { BYTES = 100000 };
    struct base_arena a;
    char *whole = base_arena_whole(&a, BYTES);
    ck_assert_ptr_nonnull(whole);
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(whole[i], 0);
    ck_assert_uint_ge(a.ready, BYTES);
    base_arena_close(&a);
    ck_assert_ptr_null(base_arena_whole(&a, 0));
    ck_assert_ptr_null(base_arena_whole(&a, SIZE_MAX));
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
    struct base_arena a;
    ck_assert_int_eq(base_arena_open(&a, 0, 1), PYTHIA_EINVAL);
    ck_assert_int_eq(base_arena_open(&a, 1, 0), PYTHIA_EINVAL);
    ck_assert_int_eq(base_arena_open(&a, SIZE_MAX / 2, 3), PYTHIA_EINVAL);
    ck_assert_int_eq(base_arena_open(&a, 1, SIZE_MAX), PYTHIA_EINVAL);
    ck_assert_int_eq(base_arena_open(&a, 1, (size_t)1 << 62), PYTHIA_ENOMEM);
    ck_assert_ptr_null(a.base);
    base_arena_close(&a);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need the address space themselves */
START_TEST(limited_address_space_is_an_error)
{
    struct rlimit limit = {64 << 20, 64 << 20};
    struct base_arena a;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(base_arena_open(&a, 1, 1 << 30), PYTHIA_ENOMEM);
    ck_assert_int_eq(base_arena_open(&a, 1, 1 << 20), 0);
}
END_TEST
#endif

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(fresh_memory_is_zero_and_does_not_move),
        UNIT_TEST(only_what_is_touched_uses_memory),
        UNIT_TEST(memory_comes_ahead),
        UNIT_TEST(pieces_are_taken),
        UNIT_TEST(what_is_reserved_is_no_memory),
        UNIT_TEST(a_structure_is_there_as_a_whole),
        UNIT_TEST(impossible_sizes_are_refused),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        UNIT_TEST(limited_address_space_is_an_error),
#endif
    };
    return unit_run("base/arena", tests, UNIT_COUNT(tests));
}
