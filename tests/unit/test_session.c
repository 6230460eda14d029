/* SPDX-License-Identifier: MIT */
/* Spans and calls: what is an event, what is inside what, what is left without an end; finishing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/session_calls.h"

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

/* What the kernel says of this thread in between is not less; a kernel that does not count says nothing. */
START_TEST(waiting_for_a_processor_is_counted)
{
    unsigned long long before = 0, after = 0, ran = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    bool counts = file && fscanf(file, "%llu %llu", &ran, &before) == 2 && ran;
    if (file)
        fclose(file);
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    struct job *j = finish_and_check();
    ck_assert_uint_eq(j->delay.ranks, counts);
    if (counts) {
        file = fopen("/proc/thread-self/schedstat", "r");
        ck_assert_int_eq(fscanf(file, "%*u %llu", &after), 1);
        fclose(file);
        ck_assert_uint_le(j->delay.ready_ns, after - before);
        ck_assert_uint_le(j->delay.ready_ns, j->delay.wall_ns);
    }
    job_destroy(j);
}
END_TEST
/* Of a completion that completes as many lists as it turns none is stored, and few are kept meanwhile. Where a loop has
   two these are, and their course. */
START_TEST(lists_of_starts_are_stored_where_a_value_names_them)
{
    for (int varies = 0; varies < 2; varies++) {
        ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
        for (uint32_t i = 0; i < 20000; i++) {
            struct session_key key = key_of("wait");
            struct session_starts list;
            call("send");
            struct session_stream *s = session_enter();
            session_starts_begin(&list);
            session_starts_add(&list, varies ? i + 1 : i % 2 + 1);
            session_starts_add(&list, varies ? 3 * i + 7 : 5);
            session_starts_add(&list, 2);
            struct grammar_event e = {.channels = 1u << GRAMMAR_STARTS};
            e.value[GRAMMAR_STARTS] = session_starts_value(s, &list);
            if (i > 100)
                ck_assert_uint_le(s->starts_seen.lists.count, 600);
            whole_call(s, &key, &e);
        }
        struct job *j = finish_and_check();
        ck_assert_uint_eq(j->starts.count, varies ? 0 : 3);
        job_destroy(j);
    }
}
END_TEST

/* Duration of all events of a name, ns. */
static uint64_t duration_of(const struct job *j, const char *name)
{
    const struct grammar_flat *g = j->classes[0].grammar;
    uint64_t ns = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < j->terminal_count &&
            !strcmp(job_text(j, j->terminals[g->nodes[n].symbol].function), name))
            ns += g->stats[n].duration.sum;
    return ns;
}

/* A region without calls is one event; with calls it is opened and closed around them. */
START_TEST(regions_open_for_what_is_inside)
{
    struct session_stream *s;
    struct session_span outer, inner;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    region_in(&s, &outer, "r");
    session_end(s, &outer, &(struct grammar_event){.channels = 0});
    region_in(&s, &outer, "r");
    call("a");
    region_in(&s, &inner, "n");
    call("b");
    session_end(s, &inner, &(struct grammar_event){.channels = 0});
    session_end(s, &outer, &(struct grammar_event){.channels = 0});
    struct job *j = finish_and_check();
    expect_events(j, 0, "r r{ a n{ b n} r}");
    expect_times_add_up(j, 0);
    const struct job_stream *stream = job_find_stream(j, 0, 0);
    ck_assert_uint_le(stream->mpi_ns + stream->omp_ns, stream->wall_ns);
    ck_assert_uint_eq(j->sum_count, 2); /* of r and n, once each with events inside */
    uint64_t leaf = duration_of(j, "r");
    for (uint32_t i = 0; i < j->sum_count; i++) {
        ck_assert(job_is_exclusive(j, &j->sums[i]));
        ck_assert_uint_eq(j->sums[i].count.samples, 1);
        leaf += j->sums[i].count.total;
    }
    ck_assert_uint_eq(leaf, stream->omp_ns);
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
    struct session_key key = key_of("a");
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    struct session_stream *s = session_enter();
    ck_assert_ptr_null(enter_below());
    whole_call(s, &key, &(struct grammar_event){.channels = 0});
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
    region_from(base_frame_here(), &s, &span, "r");
    if (calls)
        call("inside");
    longjmp(out, 1);
}

static __attribute__((noinline)) void leave_two_regions(bool calls)
{
    struct session_stream *s;
    struct session_span span;
    region_from(base_frame_here(), &s, &span, "q");
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
    region_in(&s, &outer, "outer");
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

/* Four polls of 100 ns each, 50, 500 and 50 ns between them, then one that finds something. */
START_TEST(failed_polls_are_of_the_one_that_finds)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    struct session_stream *s = session_enter();
    uint64_t earlier = session_see(s).now;
    session_leave();
    call("before");
    s = session_enter();
    uint64_t at[] = { 1000, 1150, 1750, 1900 }, begin = session_see(s).now + 1000000;
    for (int i = 0; i < 4; i++)
        session_polled(s, GRAMMAR_NONE, begin + at[i], begin + at[i] + 100);
    ck_assert_uint_eq(session_polls_begin(s, begin + 3000), begin + 3000 - 4 * 100 - 2 * 50);
    session_polled(s, GRAMMAR_NONE, begin + 4000, begin + 4000000000);
    ck_assert_uint_ge(session_polls_begin(s, begin), earlier); /* not before the last event */
    session_leave();
    call("other");
    s = session_enter();
    ck_assert_uint_eq(session_polls_begin(s, begin + 5000000000), begin + 5000000000);
    session_leave();
    job_destroy(finish_and_check());
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

/* No crash, and a job that holds together. */
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

static void finish_at_once(int sig)
{
    (void)sig;
    job_destroy(session_finish());
    _exit(0);
}

/* As call(), but nothing of Check: what it reports to its parent takes malloc, which the handler must not interrupt. */
static void call_alone(void)
{
    if (!call_is_seen("a"))
        _exit(2);
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
        UNIT_TEST(calls_in_order), UNIT_TEST(lists_of_starts_are_stored_where_a_value_names_them),
        UNIT_TEST(waiting_for_a_processor_is_counted),
        UNIT_TEST(regions_open_for_what_is_inside),
        UNIT_TEST(calls_inside_calls_pass_through),
        UNIT_TEST(a_call_that_is_left_is_no_event),
        UNIT_TEST(regions_that_are_left_end_at_the_next_event),
        UNIT_TEST(a_region_around_what_is_left_goes_on),
        UNIT_TEST(failed_polls_are_no_events),
        UNIT_TEST(failed_polls_are_of_the_one_that_finds),
        UNIT_TEST(many_callsites_keep_their_numbers),
        UNIT_TEST(one_stream_a_thread),
        UNIT_TEST(finish_while_others_run),
        UNIT_TEST(finish_in_a_handler),
    };
    setenv("PYTHIA_MODE", "record", 1);
    return unit_run("session", tests, UNIT_COUNT(tests));
}
