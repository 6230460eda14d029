/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

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
        ck_assert(libgomp_safe_function(in(all[i])) == start_of(all[i]));
    ck_assert(libgomp_safe_function(0) == 0);
    ck_assert(libgomp_safe_function((uintptr_t)&all) == 0);
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

START_TEST(lists_of_names)
{
    uintptr_t f = start_of(helper), c = start_of((function)(void (*)(void))bsearch);
    ck_assert_int_eq(libgomp_safe_named("", f, 0), LIBGOMP_UNLISTED);
    ck_assert_int_eq(libgomp_safe_named(NULL, f, 0), LIBGOMP_UNLISTED);
    ck_assert_int_eq(libgomp_safe_named("all", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("x,,test_omp_safe", f, 0), LIBGOMP_DENIED);
    ck_assert_int_eq(libgomp_safe_named("test_omp,test_omp_safe+,test_omp_safe+0x1,al,allx,-,-x", f, 0),
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
        UNIT_TEST(functions_are_found_by_any_address),
        UNIT_TEST(thread_local_data_is_seen),
        UNIT_TEST(lists_of_names),
    };
    return unit_run("omp/safe", tests, UNIT_COUNT(tests));
}
