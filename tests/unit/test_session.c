/* SPDX-License-Identifier: MIT */
/* The session driven as hooks drive it, without MPI or OpenMP: spans in, a job out. */
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/file.h"
#include "base/clock.h"
#include "session/internal.h"
#include "tests/unit/forge.h"
#include "tests/unit/unit.h"

static const struct session_world alone = {.rank = 0, .ranks = 1, .mpi = ""};

static struct session_key key_of(const char *function, enum job_kind kind)
{
    struct session_key key;
    memset(&key, 0, sizeof key);
    key.function = function;
    key.kind = (uint8_t)kind;
    key.callsite = key.comm = GRAMMAR_NONE;
    return key;
}

static void span_from(struct base_frame frame, struct session_stream **s, struct session_span *span,
                      const char *function, enum job_kind kind)
{
    struct session_key key = key_of(function, kind);
    *s = session_enter_from(frame);
    ck_assert_ptr_nonnull(*s);
    session_begin(*s, span, &key);
}

/* The span ends with the function that this stands in; there may be others in it. */
static inline __attribute__((always_inline)) void span_in(struct session_stream **s, struct session_span *span,
                                                          const char *function, enum job_kind kind)
{
    span_from(base_frame_at(base_frame_here().at), s, span, function, kind);
}

static void call(const char *function)
{
    struct session_stream *s;
    struct session_span span;
    span_in(&s, &span, function, JOB_CALL);
    session_end(s, &span, &(struct grammar_event){.channels = 0});
}

static struct job *finish_and_check(void)
{
    char why[256] = "";
    struct job *j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
    return j;
}

/* "a b{ c b}": functions of a stream's events in order, with { and } for openings and closings. */
static void expect_events(const struct job *j, uint32_t thread, const char *expected)
{
    static const char *const suffix[] = {"", "{", "}"};
    char text[4096] = "";
    const struct job_stream *stream = job_find_stream(j, 0, thread);
    ck_assert_ptr_nonnull(stream);
    struct grammar_cursor c;
    const struct grammar_flat *g = j->classes[stream->class_index].grammar;
    for (int more = grammar_cursor_open(&c, g); more; more = grammar_cursor_next(&c)) {
        const struct job_terminal *t = &j->terminals[c.terminal];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s%s", n ? " " : "", job_text(j, t->function), suffix[t->phase]);
    }
    grammar_cursor_close(&c);
    ck_assert_str_eq(text, expected);
}

static void expect_times_add_up(const struct job *j, uint32_t thread)
{
    const struct job_stream *stream = job_find_stream(j, 0, thread);
    const struct grammar_flat *g = j->classes[stream->class_index].grammar;
    uint64_t sum = 0;
    for (uint32_t n = 0; n < g->rules[0].length; n++)
        sum += g->stats[n].gap.sum + g->stats[n].duration.sum;
    ck_assert_uint_eq(sum, stream->wall_ns);
}

START_TEST(calls_in_order)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    for (int i = 0; i < 3; i++) {
        call("b");
        call("c");
    }
    struct job *j = finish_and_check();
    expect_events(j, 0, "a b c b c b c");
    expect_times_add_up(j, 0);
    ck_assert_ptr_null(session_enter()); /* off after the end */
    job_destroy(j);
}
END_TEST

/* A region without calls is one event; with calls it is opened and closed around them. */
START_TEST(regions_open_for_what_is_inside)
{
    struct session_stream *s;
    struct session_span outer, inner;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    span_in(&s, &outer, "r", JOB_REGION);
    session_end(s, &outer, &(struct grammar_event){.channels = 0});
    span_in(&s, &outer, "r", JOB_REGION);
    call("a");
    span_in(&s, &inner, "n", JOB_REGION);
    call("b");
    session_end(s, &inner, &(struct grammar_event){.channels = 0});
    session_end(s, &outer, &(struct grammar_event){.channels = 0});
    struct job *j = finish_and_check();
    expect_events(j, 0, "r r{ a n{ b n} r}");
    expect_times_add_up(j, 0);
    const struct job_stream *stream = job_find_stream(j, 0, 0);
    ck_assert_uint_le(stream->mpi_ns + stream->omp_ns, stream->wall_ns);
    job_destroy(j);
}
END_TEST

static __attribute__((noinline)) struct session_stream *enter_below(void)
{
    return session_enter();
}

/* During a call the guard is taken: what MPI itself calls passes through. */
START_TEST(calls_inside_calls_pass_through)
{
    struct session_stream *s;
    struct session_span span;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    span_in(&s, &span, "a", JOB_CALL);
    ck_assert_ptr_null(enter_below());
    session_end(s, &span, &(struct grammar_event){.channels = 0});
    ck_assert_ptr_nonnull(session_enter());
    session_leave();
    struct job *j = finish_and_check();
    expect_events(j, 0, "a");
    job_destroy(j);
}
END_TEST

/* --- What is left without an end --- */

static jmp_buf out;

static __attribute__((noinline)) void leave_call(void)
{
    ck_assert_ptr_nonnull(session_enter());
    longjmp(out, 1);
}

static __attribute__((noinline)) void leave_region(bool calls)
{
    struct session_stream *s;
    struct session_span span;
    span_from(base_frame_here(), &s, &span, "r", JOB_REGION);
    if (calls)
        call("inside");
    longjmp(out, 1);
}

static __attribute__((noinline)) void leave_two_regions(bool calls)
{
    struct session_stream *s;
    struct session_span span;
    span_from(base_frame_here(), &s, &span, "q", JOB_REGION);
    if (calls)
        call("inside");
    leave_region(calls);
}

static __attribute__((noinline)) void below(int depth)
{
    volatile char room[200];
    room[0] = 0;
    if (depth)
        below(depth - 1);
    else
        call("below");
    room[1] = room[0];
}

START_TEST(a_call_that_is_left_is_no_event)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (volatile int i = 0; i < 5; i++) {
        if (!setjmp(out))
            leave_call();
        below(i);
        call("a");
    }
    struct job *j = finish_and_check();
    ck_assert_uint_eq(session_left(), 5);
    expect_events(j, 0, "below a below a below a below a below a");
    expect_times_add_up(j, 0);
    job_destroy(j);
}
END_TEST

START_TEST(regions_that_are_left_end_at_the_next_event)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (volatile int i = 0; i < 3; i++) {
        if (!setjmp(out))
            leave_two_regions(i == 1);
        below(2);
    }
    struct job *j = finish_and_check();
    ck_assert_uint_eq(session_left(), 6);
    expect_events(j, 0, "q{ r q} below q{ inside r{ inside r} q} below q{ r q} below");
    expect_times_add_up(j, 0);
    job_destroy(j);
}
END_TEST

/* Only the inner one is left: the outer one goes on, and ends. */
START_TEST(a_region_around_what_is_left_goes_on)
{
    struct session_stream *s;
    struct session_span outer;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    span_in(&s, &outer, "outer", JOB_REGION);
    if (!setjmp(out))
        leave_region(true);
    session_end(s, &outer, &(struct grammar_event){.channels = 0}); /* nothing happened in between */
    call("a");
    struct job *j = finish_and_check();
    ck_assert_uint_eq(session_left(), 1);
    expect_events(j, 0, "outer{ r{ inside r} outer} a");
    expect_times_add_up(j, 0);
    job_destroy(j);
}
END_TEST

START_TEST(failed_polls_are_no_events)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 1000; i++) {
        ck_assert_ptr_nonnull(session_enter());
        session_leave();
    }
    call("poll");
    struct job *j = finish_and_check();
    expect_events(j, 0, "poll");
    expect_times_add_up(j, 0);
    job_destroy(j);
}
END_TEST

START_TEST(many_callsites_keep_their_numbers)
{
    uint32_t number[600];
    void *frames[2];
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    struct session_stream *s = session_enter();
    for (int pass = 0; pass < 2; pass++)
        for (uintptr_t i = 0; i < 600; i++) {
            frames[0] = (void *)(0x1000 + i / 2);
            frames[1] = (void *)(0x2000 + i);
            uint32_t n = session_callsite(s, frames, 1 + i % 2);
            if (pass == 0)
                number[i] = n;
            ck_assert_uint_eq(n, number[i]);
        }
    session_leave();
    for (int i = 0; i < 600; i++)
        for (int k = 0; k < i; k++)
            ck_assert((number[i] == number[k]) == 0);
    job_destroy(finish_and_check());
}
END_TEST

static pthread_barrier_t all_here;

static void *hammer(void *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        call("x");
        call("y");
    }
    pthread_barrier_wait(&all_here); /* nobody goes on where another one ended */
    return NULL;
}

START_TEST(one_stream_a_thread)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int count = 5000;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    pthread_barrier_init(&all_here, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, hammer, &count);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&all_here);
    struct job *j = finish_and_check();
    ck_assert_uint_eq(j->stream_count, THREADS + 1);
    ck_assert_uint_eq(j->class_count, 2); /* the main thread's, and one that the others share */
    for (uint32_t t = 1; t <= THREADS; t++)
        ck_assert_uint_eq(job_find_stream(j, 0, t)->events, 10000);
    job_destroy(j);
}
END_TEST

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
    span_in(&s, &region, "region", JOB_REGION);
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

static void *hammer_until_off(void *unused);
static void loop_program(void);
static size_t record_loop_program(void **data);

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
    struct session_stream *s;
    struct session_span outer, inner;
    if (place != OUTSIDE)
        span_in(&s, &outer, "outer", JOB_REGION);
    if (place == IN_OPENED || place == IN_BOTH)
        call("inside");
    if (place == IN_BOTH)
        span_in(&s, &inner, "inner", JOB_REGION);
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
    span_in(&s, &region, "region", JOB_REGION);
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

/* The file that was predicted from is another recording by now: it keeps what it says. */
START_TEST(a_score_is_not_stored_in_another_recording)
{
    char path[] = "/tmp/pythia-anew.XXXXXX", why[256];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    setenv("PYTHIA_OUTPUT", path, 1);
    setenv("PYTHIA_INPUT", path, 1);
    void *data;
    size_t size = record_loop_program(&data);
    struct job *written;
    ck_assert_int_eq(file_unpack(data, size, &written, why, sizeof why), 0);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    loop_program();
    written->info.start_time += 1;
    ck_assert_int_eq(file_write(written, path, why, sizeof why), 0);
    struct job *j = session_finish();
    session_publish(j, SESSION_PREDICT);
    job_destroy(j);
    job_destroy(written);
    ck_assert_int_eq(file_read(path, &written, why, sizeof why), 0);
    ck_assert_uint_eq(written->oracle.present, 0);
    job_destroy(written);
    unlink(path);
    free(data);
}
END_TEST

/* A finish while others hammer: no crash, and a job that holds together. */
static void *hammer_until_off(void *unused)
{
    struct session_stream *s;
    (void)unused;
    while ((s = session_enter()) != NULL) {
        struct session_key key = key_of("x", JOB_CALL);
        struct session_span span;
        session_begin(s, &span, &key);
        session_end(s, &span, &(struct grammar_event){.channels = 0});
    }
    return NULL;
}

START_TEST(finish_while_others_run)
{
    pthread_t thread[3];
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, hammer_until_off, NULL);
    for (volatile int i = 0; i < 3000000; i++)
        ;
    struct job *j = finish_and_check();
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    job_destroy(j);
}
END_TEST

static void loop_program(void)
{
    call("init");
    for (int i = 0; i < 200; i++) {
        call("send");
        call("recv");
        if (i % 10 == 9)
            call("reduce");
    }
    call("end");
}

/* As a job file in memory; *data is the caller's. Returns its size. */
static size_t record_loop_program(void **data)
{
    size_t size;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    loop_program();
    struct job *recorded = finish_and_check();
    ck_assert_int_eq(file_pack(recorded, NULL, data, &size), 0);
    job_destroy(recorded);
    return size;
}

/* Recorded once, predicted once: every event at distance 1 and 16. */
START_TEST(a_deterministic_program_is_predicted)
{
    void *data;
    size_t size = record_loop_program(&data);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    loop_program();
    struct job *j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(j->oracle.present, 1);
    ck_assert_uint_eq(j->oracle.score.events, 422);
    ck_assert_uint_eq(j->oracle.score.at[0].hits, j->oracle.score.at[0].predictions);
    ck_assert_uint_gt(j->oracle.score.at[0].predictions, 400);
    ck_assert_uint_eq(j->oracle.score.at[1].hits, j->oracle.score.at[1].predictions);
    job_destroy(j);
    free(data);
}
END_TEST

static void new_program(void)
{
    loop_program();
    for (int i = 0; i < 200; i++) {
        call("pack");
        call("exchange");
        call("unpack");
    }
}

/* The run goes on with calls that were never recorded: they are learned. */
START_TEST(new_code_is_learned)
{
    void *data;
    size_t size = record_loop_program(&data);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    new_program();
    struct job *j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(j->oracle.score.events, 1022);
    ck_assert_uint_eq(j->oracle.score.known, 422);
    ck_assert_uint_gt(j->oracle.score.at[0].hits, 1000);
    job_destroy(j);
    free(data);
}
END_TEST

static void *one_call(void *unused)
{
    call("send");
    return unused;
}

static void thread_program(void)
{
    pthread_t thread;
    loop_program();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, one_call, NULL), 0);
        pthread_join(thread, NULL);
    }
}

/* What the reference says of its classes makes no sense: one line, whatever the number of threads, and the program runs
   on. */
START_TEST(a_class_that_cannot_be_used)
{
    int ends[2];
    char text[4096] = "";
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    thread_program();
    struct job *j = finish_and_check();
    struct forgery f = forge_take_apart(j);
    for (uint64_t n = 0; n < f.count[NODES]; n++)
        forge_put(f.section[NODES].data + 16 * n + 8, 0, 8); /* the exponents */
    struct bytes b = forge_put_together(&f);
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(session_start(&alone, b.data, b.size), SESSION_PREDICT);
    thread_program();
    job_destroy(session_finish());
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    char *line = strstr(text, "cannot be used");
    ck_assert_msg(line && !strstr(line + 1, "cannot be used"), "%s", text);
    free(b.data);
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* Messages to partners that follow a list; each thread goes through its own loops, so that each has a class. */
static void *send_messages(void *number)
{
    int own = *(int *)number;
    for (int i = 0; i < 300; i++) {
        struct session_key key = key_of(i % (own + 2) ? "send" : "reduce", JOB_CALL);
        struct grammar_event event = {.channels = 1u << GRAMMAR_PEER, .value = {[GRAMMAR_PEER] = i % (own + 2)}};
        key.peer_class = i % (own + 2) ? JOB_PEER_RANK : JOB_PEER_NONE;
        struct session_span span;
        struct session_stream *s = session_enter();
        ck_assert_ptr_nonnull(s);
        session_begin(s, &span, &key);
        session_end(s, &span, &event);
    }
    return NULL;
}

static void messages_of_threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int number[THREADS];
    call("init");
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, send_messages, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* Threads that find their classes and their partners at once. */
START_TEST(threads_are_predicted_together)
{
    void *data;
    size_t size;
    setenv("PYTHIA_VERBOSE", "2", 1); /* asks about each partner */
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    messages_of_threads();
    struct job *recorded = finish_and_check();
    ck_assert_int_eq(file_pack(recorded, NULL, &data, &size), 0);
    job_destroy(recorded);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    messages_of_threads();
    struct job *j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(j->oracle.score.events, 1201);
    ck_assert_uint_gt(j->oracle.score.peers.asked, 600);
    ck_assert_uint_gt(j->oracle.score.peers.right, j->oracle.score.peers.asked * 8 / 10);
    job_destroy(j);
    free(data);
}
END_TEST

/* No flag of the program's is raised, from the first event on. */
START_TEST(predicting_leaves_the_floating_point_state_alone)
{
    void *data;
    size_t size = record_loop_program(&data);
    ck_assert_int_eq(session_start(&alone, data, size), SESSION_PREDICT);
    feclearexcept(FE_ALL_EXCEPT);
    new_program();
    ck_assert_int_eq(fetestexcept(FE_ALL_EXCEPT), 0);
    job_destroy(session_finish());
    free(data);
}
END_TEST

static void finish_at_once(int sig)
{
    (void)sig;
    job_destroy(session_finish());
    _exit(0);
}

/* As call(), but nothing of Check: what it reports to its parent takes malloc, which the handler must not interrupt. */
static void call_alone(void)
{
    struct session_key key = key_of("a", JOB_CALL);
    struct session_span span;
    struct session_stream *s = session_enter();
    if (!s)
        _exit(2);
    session_begin(s, &span, &key);
    session_end(s, &span, &(struct grammar_event){.channels = 0});
}

/* A program that calls exit() or MPI_Abort() in a handler, whatever of Pythia's it interrupted. */
static void run_until_signal(int microseconds)
{
    struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
    session_start(&alone, NULL, 0);
    for (int i = 0; i < 1000; i++)
        call_alone();
    signal(SIGALRM, finish_at_once);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (;;)
        call_alone();
}

/* How it ended; what does not end is killed. */
static int end_within_seconds(pid_t child, int seconds)
{
    int status;
    for (int i = 0; i < seconds * 1000; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return status;
}

START_TEST(finish_in_a_handler)
{
    /* The address sanitizer's allocator locks even where there is one thread, and a handler may interrupt it. */
    for (int i = 0; i < 30 && !UNIT_ADDRESS_SANITIZER; i++) {
        pid_t child = fork();
        if (child == 0)
            run_until_signal(1000 + 77 * i);
        int status = end_within_seconds(child, 60);
        ck_assert_msg(status == 0, "run %d: status %#x (9: it hangs)", i, status);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(calls_in_order),
        UNIT_TEST(regions_open_for_what_is_inside),
        UNIT_TEST(calls_inside_calls_pass_through),
        UNIT_TEST(a_call_that_is_left_is_no_event),
        UNIT_TEST(regions_that_are_left_end_at_the_next_event),
        UNIT_TEST(a_region_around_what_is_left_goes_on),
        UNIT_TEST(failed_polls_are_no_events),
        UNIT_TEST(many_callsites_keep_their_numbers),
        UNIT_TEST(one_stream_a_thread),
        UNIT_TEST(threads_one_after_another_are_one_stream),
        UNIT_TEST(what_a_thread_leaves_open_ends_with_it),
        UNIT_TEST(nobodys_time_is_in_no_stream),
        UNIT_TEST(threads_one_after_another_are_predicted),
        UNIT_TEST(controls_by_what_the_stream_is_in),
        UNIT_TEST(a_pause_inside_a_region_is_not_its_time),
        UNIT_TEST(a_stream_that_is_idle_since_a_reset_is_empty),
        UNIT_TEST(snapshots_at_once),
        UNIT_TEST(a_score_is_not_stored_in_another_recording),
        UNIT_TEST(finish_while_others_run),
        UNIT_TEST(a_deterministic_program_is_predicted),
        UNIT_TEST(new_code_is_learned),
        UNIT_TEST(a_class_that_cannot_be_used),
        UNIT_TEST(threads_are_predicted_together),
        UNIT_TEST(predicting_leaves_the_floating_point_state_alone),
        UNIT_TEST(finish_in_a_handler),
    };
    setenv("PYTHIA_MODE", "record", 1);
    return unit_run("session", tests, UNIT_COUNT(tests));
}
