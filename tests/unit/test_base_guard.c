/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "base/guard.h"
#include "tests/unit/unit.h"

START_TEST(tells_inside_from_outside)
{
    ck_assert(base_guard_enter());
    ck_assert(!base_guard_enter());
    ck_assert(!base_guard_enter());
    base_guard_leave();
    ck_assert(base_guard_enter());
    base_guard_leave();
}
END_TEST

static void *enter(void *entered)
{
    *(bool *)entered = base_guard_enter();
    return NULL;
}

START_TEST(is_each_threads_own)
{
    pthread_t thread;
    bool entered = false;
    ck_assert(base_guard_enter());
    ck_assert_int_eq(pthread_create(&thread, NULL, enter, &entered), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(entered);
    ck_assert(!base_guard_enter());
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(tells_inside_from_outside),
        UNIT_TEST(is_each_threads_own),
    };
    return unit_run("base/guard", tests, UNIT_COUNT(tests));
}
