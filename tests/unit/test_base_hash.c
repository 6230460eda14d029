/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "pythia.h"
#include "tests/unit/unit.h"

enum { KEYS = 5000 };

/* Few different values: many keys of one hash. */
static uint64_t weak(uint32_t key)
{
    return base_hash_mix(key % 700);
}

static uint32_t find(const struct base_hash *t, const uint32_t *keys, uint32_t key)
{
    uint32_t at = base_hash_start(weak(key)), n;
    while ((n = base_hash_next(t, weak(key), &at)) != BASE_HASH_NONE)
        if (keys[n] == key)
            return n;
    return BASE_HASH_NONE;
}

/* Against the array itself: every key that was put in is found under its number, no other one is. */
START_TEST(test_numbers_by_hash)
{
    static uint32_t keys[KEYS];
    struct base_hash t = { 0 };
    ck_assert_uint_eq(find(&t, keys, 1), BASE_HASH_NONE);
    for (uint32_t n = 0; n < KEYS; n++) {
        keys[n] = n * 7 + 3;
        ck_assert_uint_eq(find(&t, keys, keys[n]), BASE_HASH_NONE);
        ck_assert_int_eq(base_hash_reserve(&t, 1), 0);
        base_hash_put(&t, weak(keys[n]), n);
        ck_assert_uint_eq(find(&t, keys, keys[n]), n);
    }
    ck_assert_uint_eq(t.used, KEYS);
    ck_assert_uint_ge(t.mask + 1, 2 * KEYS);
    for (uint32_t n = 0; n < KEYS; n++) {
        ck_assert_uint_eq(find(&t, keys, n * 7 + 3), n);
        ck_assert_uint_eq(find(&t, keys, n * 7 + 4), BASE_HASH_NONE);
    }
    base_hash_clear(&t);
    ck_assert_uint_eq(find(&t, keys, keys[0]), BASE_HASH_NONE);
    base_hash_close(&t);
    base_hash_close(&t);
}
END_TEST

START_TEST(test_too_many)
{
    struct base_hash t = { 0 };
    ck_assert_int_eq(base_hash_reserve(&t, UINT32_MAX), PYTHIA_ELIMIT);
    ck_assert_ptr_null(t.slot);
    uint32_t room = 0, *array = NULL;
    ck_assert_int_eq(base_array_room(&array, &room, UINT32_MAX, sizeof *array), PYTHIA_ELIMIT);
    ck_assert_int_eq(base_array_room(&array, &room, 1, sizeof *array), 0);
    ck_assert_uint_ge(room, 1);
    for (uint32_t n = 0; n < KEYS; n++) {
        ck_assert_int_eq(base_array_room(&array, &room, n + 1, sizeof *array), 0);
        array[n] = n;
    }
    for (uint32_t n = 0; n < KEYS; n++)
        ck_assert_uint_eq(array[n], n);
    free(array);
}
END_TEST

/* --- Records by address, many threads --- */

enum { SLOTS = 256, THREADS = 4, ADDRESSES = 100 };

struct record { _Atomic uintptr_t key; _Atomic uint32_t made, met; };

static struct record records[SLOTS];

static void *meet(void *unused)
{
    (void)unused;
    for (uintptr_t a = 1; a <= ADDRESSES; a++) {
        bool claimed = false;
        struct record *r = base_fixed_find(records, sizeof *records, SLOTS, SLOTS, a * 64, &claimed);
        if (r) {
            atomic_fetch_add(&r->made, claimed);
            atomic_fetch_add(&r->met, 1);
        }
    }
    return NULL;
}

START_TEST(test_records_by_address)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, meet, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (uintptr_t a = 1; a <= ADDRESSES; a++) {
        struct record *r = base_fixed_find(records, sizeof *records, SLOTS, SLOTS, a * 64, NULL);
        ck_assert_ptr_nonnull(r);
        ck_assert_uint_eq(atomic_load(&r->made), 1);
        ck_assert_uint_eq(atomic_load(&r->met), THREADS);
    }
    ck_assert_ptr_null(base_fixed_find(records, sizeof *records, SLOTS, SLOTS, 77 * 64 + 1, NULL));
}
END_TEST

/* No more room than there is: then nobody gets a record of somebody else. */
START_TEST(test_full)
{
    static struct record few[8];
    for (uintptr_t a = 1; a <= 20; a++) {
        bool claimed = false;
        struct record *r = base_fixed_find(few, sizeof *few, 8, 8, a * 64, &claimed);
        ck_assert(a <= 8 ? r != NULL && claimed : r == NULL && !claimed);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(test_numbers_by_hash),
        UNIT_TEST(test_too_many),
        UNIT_TEST(test_records_by_address),
        UNIT_TEST(test_full),
    };
    return unit_run("base/hash", tests, UNIT_COUNT(tests));
}
