/* SPDX-License-Identifier: MIT */
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

START_TEST(reads_before_it_is_initialised)
{
    ck_assert(!base_hot.clock.tsc);
    uint64_t before = base_clock_system(), now = base_clock_now(), after = base_clock_system();
    ck_assert_uint_le(before, now);
    ck_assert_uint_le(now, after);
}
END_TEST

START_TEST(never_runs_backwards)
{
    uint64_t last = base_clock_now();
    base_clock_init();
    for (int i = 0; i < 1000000; i++) {
        uint64_t now = base_clock_now();
        /* the change from one clock to the other may cost what it is exact to */
        ck_assert_uint_le(last, now + (i == 0 ? 1000 : 0));
        last = now;
    }
}
END_TEST

/* How far the clock is from the system's, in ns: the least of many tries, since this may be interrupted. */
static int64_t distance(void)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t before = base_clock_system(), now = base_clock_now(), after = base_clock_system();
        int64_t d = (int64_t)(now - before - (after - before) / 2);
        if ((d < 0 ? -d : d) < (best < 0 ? -best : best))
            best = d;
    }
    return best;
}

/* To a thousandth of the time that passed, however long this slept. */
START_TEST(keeps_the_scale_of_the_system)
{
    base_clock_init();
    uint64_t from = base_clock_system();
    int64_t begin = distance();
    usleep(200000);
    int64_t drift = distance() - begin, passed = (int64_t)(base_clock_system() - from);
    ck_assert_msg(begin > -10000 && begin < 10000, "off by %lld ns at the begin", (long long)begin);
    ck_assert_msg(drift > -passed / 1000 && drift < passed / 1000, "drifts by %lld ns in %lld", (long long)drift,
                  (long long)passed);
}
END_TEST

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

START_TEST(calibration_is_quick_and_done_once)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 10; i++) {
        base_hot.clock.tsc = false;
        uint64_t begin = processor_ns();
        base_clock_init();
        uint64_t took = processor_ns() - begin;
        best = took < best ? took : best;
    }
    ck_assert_msg(best < 200000, /* the millisecond since it was loaded is over */ "%llu ns", (unsigned long long)best);
    struct base_clock was = base_hot.clock;
    base_clock_init();
    ck_assert_uint_eq(was.rate, base_hot.clock.rate);
    ck_assert_uint_eq(was.tsc0, base_hot.clock.tsc0);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(reads_before_it_is_initialised),
        UNIT_TEST(never_runs_backwards),
        UNIT_TEST(keeps_the_scale_of_the_system),
        UNIT_TEST(calibration_is_quick_and_done_once),
    };
    return unit_run("base/clock", tests, UNIT_COUNT(tests));
}
