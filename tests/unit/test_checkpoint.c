/* SPDX-License-Identifier: MIT */
/* Snapshots of a session while its threads go on: consistent, a prefix of what comes after, and without a trace. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/internal.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

static const struct session_world alone = {.rank = 0, .ranks = 1, .mpi = ""};

static void call(const char *function)
{
    struct session_span span;
    struct session_key key;
    memset(&key, 0, sizeof key);
    key.function = function;
    key.kind = JOB_CALL;
    key.callsite = key.comm = GRAMMAR_NONE;
    struct session_stream *s = session_enter_from(base_frame_here());
    if (!s)
        return;
    session_begin(s, &span, &key, GRAMMAR_NONE);
    session_end_at(s, &span, &(struct grammar_event){.channels = 0}, session_now(s), 0);
}

/* A stream of calls that is neither regular nor random; new functions turn up now and then. */
static void anything(uint64_t *random, int i)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint64_t x = simulate_random(random);
    call(names[x % 5 ? x % 3 : x / 5 % (1 + (uint64_t)(i / 500 < 7 ? i / 500 : 7))]);
}

static void check(const struct job *j)
{
    char why[256] = "";
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
}

static const struct grammar_flat *grammar_of(const struct job *j, uint32_t thread)
{
    const struct job_stream *s = job_find_stream(j, 0, thread);
    return s ? j->classes[s->class_index].grammar : NULL;
}

/* Whether the events of `then` are the first ones of `now`. */
static void check_prefix(const struct job *then, const struct job *now, uint32_t thread)
{
    const struct grammar_flat *x = grammar_of(then, thread), *y = grammar_of(now, thread);
    struct grammar_cursor a, b;
    if (!x)
        return;
    ck_assert_ptr_nonnull(y);
    int more = grammar_cursor_open(&a, x), there = grammar_cursor_open(&b, y);
    for (; more; more = grammar_cursor_next(&a), there = grammar_cursor_next(&b)) {
        ck_assert(there);
        ck_assert_str_eq(job_text(then, then->terminals[a.terminal].function),
                         job_text(now, now->terminals[b.terminal].function));
    }
    grammar_cursor_close(&a);
    grammar_cursor_close(&b);
}

static struct job *record(int events, int every, uint64_t seed)
{
    uint64_t random = seed;
    struct job *before = NULL;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < events; i++) {
        anything(&random, i);
        if (!every || i % every)
            continue;
        struct job *now = session_snapshot();
        check(now);
        ck_assert_uint_eq(now->streams[0].events, (uint64_t)i + 1);
        if (before)
            check_prefix(before, now, 0);
        job_destroy(before);
        before = now;
    }
    struct job *j = session_finish();
    check(j);
    if (before)
        check_prefix(before, j, 0);
    job_destroy(before);
    return j;
}

START_TEST(a_snapshot_leaves_no_trace)
{
    struct job *with = record(4000, 7 + _i * 13, (uint64_t)_i), *without = record(4000, 0, (uint64_t)_i);
    ck_assert(!memcmp(&with->classes[0].hash, &without->classes[0].hash, sizeof with->classes[0].hash));
    ck_assert_uint_eq(with->terminal_count, without->terminal_count);
    job_destroy(with);
    job_destroy(without);
}
END_TEST

static _Atomic int stop;

static void *hammer(void *seed)
{
    uint64_t random = (uint64_t)(uintptr_t)seed;
    for (int i = 0; !stop; i++)
        if (i < 20000) /* less than what the memory of a thread can keep in order */
            anything(&random, i);
        else
            usleep(1000);
    return NULL;
}

START_TEST(threads_go_on)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    struct job *before = NULL, *now;
    stop = 0;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("main");
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, hammer, (void *)(i + 1));
    for (int i = 0; i < 30; i++) {
        now = session_snapshot();
        check(now);
        for (uint32_t t = 0; before && t <= THREADS; t++)
            check_prefix(before, now, t);
        job_destroy(before);
        before = now;
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    now = session_finish();
    check(now);
    for (uint32_t t = 0; t <= THREADS; t++)
        check_prefix(before, now, t);
    job_destroy(before);
    job_destroy(now);
}
END_TEST

/* --- A file system that stops --- */

static _Atomic int stopped, entered;

/* In place of libc's. */
int fsync(int fd)
{
    (void)fd;
    while (stopped) {
        entered = 1;
        usleep(10000);
    }
    return 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The program goes on and ends while its part is being written, and what comes too late goes away again. */
START_TEST(a_file_system_that_stops_holds_up_nobody)
{
    enum { WAITED = 15 }; /* s: what it takes at most on a busy machine; the file system stops for ever */
    char directory[] = "/tmp/checkpoint-XXXXXX", path[80];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/job.pythia", directory);
    setenv("PYTHIA_OUTPUT", path, 1);
    setenv("PYTHIA_CHECKPOINT", "1", 1);
    stopped = 1;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 3000 && !entered; i++) {
        call("a");
        usleep(10000);
    }
    ck_assert(entered);
    double begin = seconds();
    for (int i = 0; i < 10000; i++)
        call("b");
    struct job *j = session_finish();
    ck_assert_msg(seconds() - begin < WAITED, "%.1f s", seconds() - begin);
    check(j);
    ck_assert_uint_ge(j->streams[0].events, 10001);
    stopped = 0;
    strcat(path, ".parts");
    for (int i = 0; i < 3000 && access(path, F_OK) == 0; i++)
        usleep(10000);
    ck_assert_int_ne(access(path, F_OK), 0);
    rmdir(directory);
    job_destroy(j);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        UNIT_TEST(a_file_system_that_stops_holds_up_nobody),
        UNIT_LOOP(a_snapshot_leaves_no_trace, 6),
        UNIT_TEST(threads_go_on),
    };
    setenv("PYTHIA_MODE", "record", 1);
    setenv("PYTHIA_CHECKPOINT", "0", 1); /* the test takes the snapshots */
    return unit_run("checkpoint", tests, UNIT_COUNT(tests));
}
