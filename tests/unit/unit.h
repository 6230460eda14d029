/* SPDX-License-Identifier: MIT */
/*
 * Unit tests with Check, reported as TAP.
 *
 *     START_TEST(test_what_is_promised) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     static const struct unit_test tests[] = {UNIT_TEST(test_what_is_promised)};
 *     int main(void) { return unit_run("base/clock", tests, UNIT_COUNT(tests)); }
 *
 * Each test runs in a process of its own, for at most 30 s (environment CK_DEFAULT_TIMEOUT changes that; CK_FORK=no
 * under a debugger; CK_RUN_CASE=test_… runs one).
 */
#pragma once

#include <check.h>
#include <stddef.h>

/* Check writes the place of each assertion that holds to a file, so that it can say where a test was that crashed: up to
   half of a test's time. Each place's first time will do. */
#define _mark_point(file, line)          \
    __extension__({                      \
        static _Atomic _Bool unit_seen;  \
        if (!unit_seen) {                \
            unit_seen = 1;               \
            (_mark_point)(file, line);   \
        }                                \
    })

struct unit_test {
    const char *name;
    const TTest **test;
    int turns; /* a loop test is run with _i = 0 … turns - 1 */
};

#define UNIT_TEST(f) {#f, &f, 1}
#define UNIT_LOOP(f, turns) {#f, &f, turns}
#define UNIT_COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Runs the tests, TAP on standard output. Returns 0 once all results were reported, also failures: the TAP driver
   takes another status for one more failure. */
int unit_run(const char *suite, const struct unit_test *tests, size_t count);

/* Reports that the whole program is skipped, and returns what main is to return. */
int unit_skip(const char *reason);

/* Whether this is built with the address or the thread sanitizer: gcc says so, clang is asked. */
#if defined(__SANITIZE_ADDRESS__)
#define UNIT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNIT_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef UNIT_ADDRESS_SANITIZER
#define UNIT_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#define UNIT_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNIT_THREAD_SANITIZER 1
#endif
#endif
#ifndef UNIT_THREAD_SANITIZER
#define UNIT_THREAD_SANITIZER 0
#endif
