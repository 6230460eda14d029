/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "omp/ask.h"
#include "libgomp/safe.h"
#include "tests/unit/unit.h"

/* Functions to be found by their code: an address inside each. */
#define FUNCTION(name)                                                    \
    __attribute__((noinline)) static int name(int x)                      \
    {                                                                     \
        for (int i = 0; i < x; i++)                                       \
            __asm__ volatile("" ::: "memory");                            \
        return x + __LINE__;                                              \
    }
FUNCTION(helper)
FUNCTION(starter)
FUNCTION(other)
FUNCTION(third)

typedef int (*function)(int);
static uintptr_t start_of(function f)
{
    return (uintptr_t)f;
}

static uintptr_t in(function f)
{
    return (uintptr_t)f + 5;
}

START_TEST(functions_are_found_by_any_address)
{
    function all[] = { helper, starter, other, third };
    for (int i = 0; i < 4; i++)
        ck_assert(omp_hook_function(in(all[i])) == start_of(all[i]));
    ck_assert(omp_hook_function(0) == 0);
    ck_assert(omp_hook_function((uintptr_t)&all) == 0);
}
END_TEST

START_TEST(who_asked_is_noted)
{
    uint32_t before = omp_hook_ask_epoch();
    ck_assert(!omp_hook_ask_did(start_of(starter)));
    omp_hook_ask_note(in(starter), in(other));
    ck_assert(omp_hook_ask_epoch() != before);
    ck_assert(omp_hook_ask_did(start_of(starter)));
    ck_assert(!omp_hook_ask_did(start_of(third)));
    before = omp_hook_ask_epoch();
    omp_hook_ask_note(in(starter), in(other));
    ck_assert_msg(omp_hook_ask_epoch() == before, "nothing new, yet the answer is looked up again");
}
END_TEST

START_TEST(a_helper_asks_for_its_callers)
{
    omp_hook_ask_note(in(helper), in(starter));
    omp_hook_ask_note(in(helper), in(other));
    ck_assert(omp_hook_ask_did(start_of(starter)) && omp_hook_ask_did(start_of(other)));
    ck_assert(!omp_hook_ask_did(start_of(third)));
    /* It starts a region after all: the number was for itself. */
    uint32_t before = omp_hook_ask_epoch();
    omp_hook_ask_starts_region(start_of(helper));
    ck_assert(omp_hook_ask_epoch() != before);
    ck_assert(!omp_hook_ask_did(start_of(starter)) && !omp_hook_ask_did(start_of(other)));
    ck_assert(omp_hook_ask_did(start_of(helper)));
}
END_TEST

START_TEST(unknown_code_makes_everybody_suspect)
{
    static char not_code[64];
    omp_hook_ask_note((uintptr_t)not_code + 8, 0);
    ck_assert(omp_hook_ask_did(start_of(third)));
}
END_TEST

START_TEST(a_full_table_makes_everybody_suspect)
{
    for (uintptr_t i = 1; i <= 4096; i++)
        omp_hook_ask_starts_region(i * 64);
    omp_hook_ask_note(in(helper), 0);
    ck_assert(omp_hook_ask_did(start_of(third)));
    omp_hook_ask_reset();
    ck_assert(!omp_hook_ask_did(start_of(third)));
}
END_TEST

/* Against the naive answer, in random order. */
START_TEST(random_histories)
{
    function all[] = { helper, starter, other, third };
    bool asked[4] = { false }, starts[4] = { false }, pair[4][4] = { { false } };
    srand((unsigned)_i);
    omp_hook_ask_reset();
    for (int step = 0; step < 40; step++) {
        int a = rand() % 4, b = rand() % 4;
        if (rand() % 3 == 0) {
            omp_hook_ask_starts_region(start_of(all[a]));
            starts[a] = true;
        } else if (rand() % 4 == 0) {
            omp_hook_ask_note(in(all[a]), in(all[b]));
            asked[a] = true;
            pair[a][b] = pair[a][b] || !starts[a];
        }
        for (int f = 0; f < 4; f++) {
            bool expected = asked[f];
            for (int h = 0; h < 4; h++)
                expected = expected || (pair[h][f] && !starts[h]);
            ck_assert_msg(omp_hook_ask_did(start_of(all[f])) == expected, "seed %d step %d function %d", _i, step, f);
        }
    }
}
END_TEST

static void *ask_often(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        omp_hook_ask_note(in(i & 1 ? helper : other), in(starter));
        omp_hook_ask_did(start_of(third));
    }
    return unused;
}

START_TEST(threads_may_ask_at_once)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, ask_often, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert(omp_hook_ask_did(start_of(starter)) && omp_hook_ask_did(start_of(helper)));
    ck_assert_msg(!omp_hook_ask_did(start_of(third)), "the table overflowed");
}
END_TEST

static __thread int local;
START_TEST(thread_local_data_is_seen)
{
    local = 1;
    ck_assert(libgomp_safe_module_has_tls(start_of(helper)));
    ck_assert(libgomp_safe_module_has_tls(16)); /* in no module */
    ck_assert_int_eq(local, 1);
}
END_TEST

START_TEST(calls_of_a_module_are_seen)
{
    ck_assert(libgomp_safe_module_calls(start_of(helper), "rand"));
    ck_assert(!libgomp_safe_module_calls(start_of(helper), "omp_fulfill_event"));
    ck_assert(!libgomp_safe_module_calls(start_of(helper), ""));
    ck_assert(libgomp_safe_module_calls(16, "anything")); /* in no module */
}
END_TEST

START_TEST(lists_of_names)
{
    uintptr_t f = start_of(helper), c = start_of((function)(void (*)(void))bsearch);
    ck_assert_int_eq(libgomp_safe_named("", f, 0), LIBGOMP_UNLISTED);
    ck_assert_int_eq(libgomp_safe_named(NULL, f, 0), LIBGOMP_UNLISTED);
    ck_assert_int_eq(libgomp_safe_named("all", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("x,,test_omp_ask", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("test_omp,test_omp_ask+,test_omp_ask+0x1,al,allx,-,-x", f, 0),
                     LIBGOMP_UNLISTED);
    /* functions: static ones by the symbol table, and one of the C library, which no sanitizer replaces */
    ck_assert_int_eq(libgomp_safe_named("helper", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("starter", f, start_of(starter)), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("helpe,helperx,other", f, start_of(starter)), LIBGOMP_UNLISTED);
    ck_assert_int_eq(libgomp_safe_named("x,bsearch", f, c), LIBGOMP_DENIED);
    /* the last one that fits decides */
    ck_assert_int_eq(libgomp_safe_named("all,-helper", f, 0), LIBGOMP_ALLOWED);
    ck_assert_int_eq(libgomp_safe_named("-all,helper", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("-all,other", f, 0), LIBGOMP_ALLOWED);
    ck_assert_int_eq(libgomp_safe_named("all", 16, 0), LIBGOMP_DENIED); /* in no module */
    ck_assert_int_eq(libgomp_safe_named("helper", 16, 0), LIBGOMP_UNLISTED);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(functions_are_found_by_any_address), UNIT_TEST(who_asked_is_noted),
        UNIT_TEST(a_helper_asks_for_its_callers),      UNIT_TEST(unknown_code_makes_everybody_suspect),
        UNIT_TEST(a_full_table_makes_everybody_suspect), UNIT_LOOP(random_histories, 50),
        UNIT_TEST(threads_may_ask_at_once),            UNIT_TEST(thread_local_data_is_seen),
        UNIT_TEST(calls_of_a_module_are_seen),
        UNIT_TEST(lists_of_names),
    };
    return unit_run("omp/ask", tests, UNIT_COUNT(tests));
}
