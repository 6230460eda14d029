/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <setjmp.h>

#include "base/guard.h"
#include "base/lock.h"
#include "tests/unit/unit.h"

static __attribute__((noinline)) int enter_below(void)
{
    return base_guard_enter(base_frame_here());
}

static jmp_buf out;

static __attribute__((noinline)) void enter_and_jump(void)
{
    base_guard_enter(base_frame_here());
    longjmp(out, 1);
}

START_TEST(is_free_again_when_its_holder_was_left)
{
    base_frame_prepare();
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(out))
            enter_and_jump();
    ck_assert_int_eq(enter_below(), BASE_GUARD_LEFT);
    base_guard_leave();
    ck_assert_int_eq(enter_below(), BASE_GUARD_TAKEN);
    base_guard_leave();
}
END_TEST

START_TEST(never_leaves_a_thread_of_its_own)
{
    base_guard_stay();
    ck_assert_int_eq(enter_below(), BASE_GUARD_INSIDE);
    base_guard_leave();
}
END_TEST

START_TEST(tells_inside_from_outside)
{
    ck_assert_int_eq(base_guard_enter(base_frame_here()), BASE_GUARD_TAKEN);
    ck_assert_int_eq(enter_below(), BASE_GUARD_INSIDE);
    ck_assert_int_eq(enter_below(), BASE_GUARD_INSIDE);
    base_guard_leave();
    ck_assert_int_eq(base_guard_enter(base_frame_here()), BASE_GUARD_TAKEN);
    base_guard_leave();
}
END_TEST

static void *enter(void *entered)
{
    *(bool *)entered = base_guard_enter(base_frame_here()) == BASE_GUARD_TAKEN;
    return NULL;
}

START_TEST(is_each_threads_own)
{
    pthread_t thread;
    bool entered = false;
    ck_assert_int_eq(base_guard_enter(base_frame_here()), BASE_GUARD_TAKEN);
    ck_assert_int_eq(pthread_create(&thread, NULL, enter, &entered), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(entered);
    ck_assert_int_eq(enter_below(), BASE_GUARD_INSIDE);
}
END_TEST

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void lock_and_jump(void)
{
    base_lock_take(&lock, BASE_LOCK_COMM);
    longjmp(out, 1);
}

static void *try_lock(void *got)
{
    *(bool *)got = pthread_mutex_trylock(&lock) == 0;
    return NULL;
}

START_TEST(a_lock_that_was_jumped_out_of_is_its_threads)
{
    pthread_t thread;
    bool got = true;
    if (!setjmp(out))
        lock_and_jump();
    ck_assert_int_eq(pthread_create(&thread, NULL, try_lock, &got), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(!got);
    base_lock_take(&lock, BASE_LOCK_COMM);
    base_lock_release(&lock, BASE_LOCK_COMM);
    ck_assert_int_eq(pthread_create(&thread, NULL, try_lock, &got), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(got);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(is_free_again_when_its_holder_was_left),
        UNIT_TEST(never_leaves_a_thread_of_its_own),
        UNIT_TEST(tells_inside_from_outside),
        UNIT_TEST(is_each_threads_own),
        UNIT_TEST(a_lock_that_was_jumped_out_of_is_its_threads),
    };
    return unit_run("base/guard", tests, UNIT_COUNT(tests));
}
