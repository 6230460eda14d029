/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/helper.h"
#include "base/io.h"
#include "tests/unit/unit.h"

static struct base_helper helper;
static atomic_int turns, ended;
static atomic_bool blocked, guarded, stuck, late, listens;
static sem_t turned;

static void turn(void)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    atomic_store(&blocked, sigismember(&now, SIGTERM) && sigismember(&now, SIGALRM));
    atomic_store(&guarded, base_guard_enter(base_frame_here()) == BASE_GUARD_INSIDE);
    if (atomic_load(&listens) && (!base_io_own_table() || base_helper_listen(&helper) < 0))
        return;
    while (base_helper_sleep(&helper, BASE_HELPER_EVER)) {
        atomic_fetch_add(&turns, 1);
        sem_post(&turned);
        while (atomic_load(&stuck))
            usleep(1000);
    }
    atomic_fetch_add(&ended, 1);
}

static void begin(void)
{
    sem_init(&turned, 0, 0);
    ck_assert(base_helper_start(&helper, turn, 64 * 1024));
}

START_TEST(turns_when_woken_and_ends_when_told)
{
    atomic_store(&listens, _i == 1);
    begin();
    for (int i = 0; i < 100; i++) {
        base_helper_wake(&helper);
        while (sem_wait(&turned))
            ;
    }
    ck_assert_int_ge(atomic_load(&turns), 100); /* one that listens may turn for nothing */
    ck_assert(_i || atomic_load(&turns) == 100);
    ck_assert(base_helper_runs(&helper));
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
    ck_assert_int_eq(atomic_load(&ended), 1);
    ck_assert(!base_helper_runs(&helper));
    ck_assert(base_helper_stop(&helper, 0)); /* nothing more to stop */
}
END_TEST

START_TEST(takes_no_signals_and_is_guarded)
{
    sigset_t now;
    begin();
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
    ck_assert(atomic_load(&blocked));
    ck_assert(atomic_load(&guarded));
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    ck_assert(!sigismember(&now, SIGTERM)); /* nor has its owner lost any */
}
END_TEST

START_TEST(is_started_again)
{
    begin();
    for (int i = 1; i <= 3; i++) {
        ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
        ck_assert_int_eq(atomic_load(&ended), i);
        ck_assert(base_helper_start(&helper, turn, 0));
    }
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
}
END_TEST

START_TEST(is_waited_for_no_longer_than_said)
{
    begin();
    atomic_store(&stuck, true);
    base_helper_wake(&helper);
    while (sem_wait(&turned))
        ;
    uint64_t since = base_clock_system();
    ck_assert(!base_helper_stop(&helper, 20000000));
    ck_assert_uint_ge(base_clock_system() - since, 15000000);
    ck_assert(base_helper_runs(&helper));
    atomic_store(&stuck, false);
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
}
END_TEST

START_TEST(is_none_in_a_forked_child)
{
    begin();
    pid_t child = fork();
    if (child == 0)
        _exit(base_helper_runs(&helper) || !base_helper_stop(&helper, BASE_HELPER_EVER)); /* nor waits for one */
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(base_helper_runs(&helper));
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
}
END_TEST

static void look_once(void)
{
    uint64_t until = base_clock_system() + 20000000;
    bool goes_on = base_helper_sleep(&helper, until);
    atomic_store(&late, goes_on && base_clock_system() >= until);
    atomic_store(&ended, 1);
}

START_TEST(wakes_by_itself_at_the_time)
{
    ck_assert(base_helper_start(&helper, look_once, 0));
    while (!atomic_load(&ended))
        usleep(1000);
    ck_assert(base_helper_stop(&helper, BASE_HELPER_EVER));
    ck_assert(atomic_load(&late));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(turns_when_woken_and_ends_when_told, 2),
        UNIT_TEST(takes_no_signals_and_is_guarded),
        UNIT_TEST(is_started_again),
        UNIT_TEST(is_waited_for_no_longer_than_said),
        UNIT_TEST(is_none_in_a_forked_child),
        UNIT_TEST(wakes_by_itself_at_the_time),
    };
    return unit_run("base/helper", tests, UNIT_COUNT(tests));
}
