/* SPDX-License-Identifier: MIT */
/* Threads that come and go, and what is asked of their streams: pauses, resets, snapshots. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/session_calls.h"

/* --- Threads that come and go --- */

static void *send_and_receive(void *unused)
{
    call("send");
    call("receive");
    return unused;
}

static void *end_in_a_region(void *unused)
{
    struct session_stream *s;
    struct session_span region;
    region_in(&s, &region, "region");
    call("inside");
    pthread_exit(unused);
}

static void one_after_another(void *(*run)(void *), int threads)
{
    pthread_t thread;
    for (int i = 0; i < threads; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
        pthread_join(thread, NULL);
    }
}

START_TEST(threads_one_after_another_are_one_stream)
{
    enum { THREADS = 2000 };
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    one_after_another(send_and_receive, THREADS);
    struct job *j = finish_and_check();
    ck_assert_uint_eq(j->stream_count, 2);
    ck_assert_uint_eq(job_find_stream(j, 0, 1)->events, 2 * THREADS);
    ck_assert_uint_eq(j->classes[job_find_stream(j, 0, 1)->class_index].grammar->rule_count, 2);
    expect_times_add_up(j, 1);
    job_destroy(j);
}
END_TEST

START_TEST(what_a_thread_leaves_open_ends_with_it)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    one_after_another(end_in_a_region, 2);
    struct job *j = finish_and_check();
    expect_events(j, 0, "a");
    expect_events(j, 1, "region{ inside region} region{ inside region}");
    expect_times_add_up(j, 1);
    job_destroy(j);
}
END_TEST

/* Time in which a place is nobody's is no time of its stream. */
START_TEST(nobodys_time_is_in_no_stream)
{
    enum { PAUSE_US = 20000 };
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    one_after_another(send_and_receive, 1);
    uint64_t before = base_clock_now();
    usleep(PAUSE_US);
    uint64_t pause = base_clock_now() - before;
    one_after_another(send_and_receive, 1);
    struct job *j = finish_and_check();
    ck_assert_uint_lt(job_find_stream(j, 0, 1)->wall_ns + pause, j->info.wall_ns);
    expect_times_add_up(j, 1);
    job_destroy(j);
}
END_TEST

static void *program_of_threads(void *unused)
{
    one_after_another(send_and_receive, 500);
    return unused;
}

START_TEST(threads_one_after_another_are_predicted)
{
    void *data = NULL;
    size_t size;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    program_of_threads(NULL);
    struct job *j = finish_and_check();
    ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
    job_destroy(j);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    program_of_threads(NULL);
    j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(j->oracle.score.events, 1000);
    ck_assert_uint_gt(j->oracle.score.at[0].hits, 990);
    job_destroy(j);
    free(data);
}
END_TEST

/* --- What is asked of a stream, by what it is in (the table of session/control.c) --- */

enum place { OUTSIDE, IN_UNOPENED, IN_OPENED, IN_BOTH, PLACES };
enum control { PAUSE, RESET, SNAPSHOT, RESET_AND_SNAPSHOT, RESET_AND_PAUSE, CONTROLS };

static void expect_sane(const struct job *j)
{
    const uint64_t minute = UINT64_C(60000000000);
    for (uint32_t i = 0; i < j->stream_count; i++) {
        const struct job_stream *s = &j->streams[i];
        ck_assert_msg(s->begin_ns < minute && s->wall_ns < minute, "stream %u: from %llu for %llu ns", i,
                      (unsigned long long)s->begin_ns, (unsigned long long)s->wall_ns);
    }
    for (uint32_t c = 0; c < j->class_count; c++)
        for (uint32_t n = 0; n < j->classes[c].grammar->node_count; n++) {
            const struct grammar_stats *s = &j->classes[c].grammar->stats[n];
            ck_assert_msg(s->gap.sum < minute && s->duration.sum < minute, "a gap of %llu ns",
                          (unsigned long long)s->gap.sum);
        }
}

static void expect_snapshot(void)
{
    char why[256] = "";
    struct job *j = session_snapshot();
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
    expect_sane(j);
    job_destroy(j);
}

static void apply(enum control control)
{
    if (control == RESET || control == RESET_AND_SNAPSHOT || control == RESET_AND_PAUSE)
        session_reset();
    if (control == SNAPSHOT || control == RESET_AND_SNAPSHOT)
        expect_snapshot();
    if (control == PAUSE || control == RESET_AND_PAUSE) {
        session_pause(true);
        usleep(2000);
        session_pause(false);
    }
}

static void control_in(enum place place, enum control control)
{
    struct session_stream *s = NULL;
    struct session_span outer, inner;
    if (place != OUTSIDE)
        region_in(&s, &outer, "outer");
    if (place == IN_OPENED || place == IN_BOTH)
        call("inside");
    if (place == IN_BOTH)
        region_in(&s, &inner, "inner");
    apply(control);
    if (place == IN_BOTH)
        session_end(s, &inner, &(struct grammar_event){.channels = 0});
    if (place != OUTSIDE)
        session_end(s, &outer, &(struct grammar_event){.channels = 0});
}

START_TEST(controls_by_what_the_stream_is_in)
{
    for (int again = 0; again < 2; again++)
        for (int place = 0; place < PLACES; place++)
            for (int control = 0; control < CONTROLS; control++) {
                ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
                call("a");
                control_in((enum place)place, (enum control)control);
                if (again)
                    control_in((enum place)place, (enum control)control);
                call("b");
                struct job *j = finish_and_check();
                expect_sane(j);
                expect_times_add_up(j, 0);
                job_destroy(j);
            }
}
END_TEST

/* The pause is in nobody's time, whatever it was in. */
START_TEST(a_pause_inside_a_region_is_not_its_time)
{
    enum { PAUSE_NS = 20000000 };
    struct session_stream *s;
    struct session_span region;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    region_in(&s, &region, "region");
    session_pause(true);
    uint64_t before = base_clock_now();
    usleep(PAUSE_NS / 1000);
    uint64_t pause = base_clock_now() - before;
    session_pause(false);
    call("inside");
    session_end(s, &region, &(struct grammar_event){.channels = 0});
    struct job *j = finish_and_check();
    expect_events(j, 0, "a region{ inside region}");
    expect_sane(j);
    ck_assert_uint_le(job_find_stream(j, 0, 0)->wall_ns + pause, j->info.wall_ns);
    expect_times_add_up(j, 0);
    job_destroy(j);
}
END_TEST

static atomic_bool idle_ends;

static void *calls_and_idles(void *barrier)
{
    call("x");
    pthread_barrier_wait(barrier);
    while (!atomic_load(&idle_ends))
        usleep(1000);
    return NULL;
}

START_TEST(a_stream_that_is_idle_since_a_reset_is_empty)
{
    pthread_t thread;
    pthread_barrier_t here;
    atomic_store(&idle_ends, false);
    pthread_barrier_init(&here, NULL, 2);
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    pthread_create(&thread, NULL, calls_and_idles, &here);
    pthread_barrier_wait(&here);
    session_reset();
    call("b");
    struct job *j = session_snapshot();
    ck_assert_ptr_nonnull(j);
    expect_sane(j);
    ck_assert_uint_eq(job_find_stream(j, 0, 1)->events, 0);
    job_destroy(j);
    atomic_store(&idle_ends, true);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&here);
    job_destroy(finish_and_check());
}
END_TEST

static void *snapshots(void *unused)
{
    for (int i = 0; i < 60; i++)
        expect_snapshot();
    return unused;
}

START_TEST(snapshots_at_once)
{
    pthread_t taker[2], hammerer;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 3000; i++) /* what a freeze has to settle */
        call(i % 7 % 3 ? "x" : i % 5 ? "y" : "z");
    pthread_create(&hammerer, NULL, hammer_until_off, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&taker[i], NULL, snapshots, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(taker[i], NULL);
    job_destroy(finish_and_check());
    pthread_join(hammerer, NULL);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(threads_one_after_another_are_one_stream),
        UNIT_TEST(what_a_thread_leaves_open_ends_with_it),
        UNIT_TEST(nobodys_time_is_in_no_stream),
        UNIT_TEST(threads_one_after_another_are_predicted),
        UNIT_TEST(controls_by_what_the_stream_is_in),
        UNIT_TEST(a_pause_inside_a_region_is_not_its_time),
        UNIT_TEST(a_stream_that_is_idle_since_a_reset_is_empty),
        UNIT_TEST(snapshots_at_once),
    };
    setenv("PYTHIA_MODE", "record", 1);
    return unit_run("session_threads", tests, UNIT_COUNT(tests));
}
