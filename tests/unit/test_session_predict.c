/* SPDX-License-Identifier: MIT */
/* A run that is predicted from what was recorded. */
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/unit/forge.h"
#include "tests/unit/session_calls.h"

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

/* Messages to peers that follow a list; each thread goes through its own loops, so that each has a class. */
static void *send_messages(void *number)
{
    int own = *(int *)number;
    for (int i = 0; i < 300; i++) {
        struct session_key key = key_of(i % (own + 2) ? "send" : "reduce");
        struct grammar_event event = {.channels = 1u << GRAMMAR_PEER, .value = {[GRAMMAR_PEER] = i % (own + 2)}};
        key.peer_class = i % (own + 2) ? JOB_PEER_RANK : JOB_PEER_NONE;
        struct session_stream *s = session_enter();
        ck_assert_ptr_nonnull(s);
        whole_call(s, &key, &event);
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

/* Threads that find their classes and their peers at once. */
START_TEST(threads_are_predicted_together)
{
    void *data;
    size_t size;
    setenv("PYTHIA_VERBOSE", "2", 1); /* asks about each peer */
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

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_score_is_not_stored_in_another_recording),
        UNIT_TEST(a_deterministic_program_is_predicted),
        UNIT_TEST(new_code_is_learned),
        UNIT_TEST(a_class_that_cannot_be_used),
        UNIT_TEST(threads_are_predicted_together),
        UNIT_TEST(predicting_leaves_the_floating_point_state_alone),
    };
    setenv("PYTHIA_MODE", "record", 1);
    return unit_run("session_predict", tests, UNIT_COUNT(tests));
}
