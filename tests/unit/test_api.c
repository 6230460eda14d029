/* SPDX-License-Identifier: MIT */
/*
 * The installed interface, linked as a user would link it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pythia.h"
#include "tests/unit/unit.h"

static const char *const words[] = { "begin", "load", "solve", "solve", "send", "end" };
enum { WORDS = 6, TURNS = 20 };

static pythia_recorder_t *record(void)
{
    pythia_recorder_t *r;

    ck_assert_int_eq(pythia_recorder_create(&r), 0);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < WORDS; i++)
            ck_assert_int_eq(pythia_recorder_event(r, words[i], 10, 100), 0);
    return r;
}

static void predict_all(pythia_oracle_t *o)
{
    struct pythia_answer a;
    double events, ns, progress;

    for (int n = 0; n < TURNS * WORDS; n++) {
        ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
        ck_assert_str_eq(a.word, words[n % WORDS]);
        ck_assert_double_eq_tol(a.until_ns, 10, 0.5);
        ck_assert_double_eq_tol(a.duration_ns, 100, 0.5);
        ck_assert(a.probability > 0.5 && a.probability <= 1);
        ck_assert_int_eq(pythia_oracle_next(o, "send", &a), n <= TURNS * WORDS - 2 ? 0 : 1);
        if (n <= TURNS * WORDS - 2) {
            ck_assert_str_eq(a.word, "send");
            ck_assert_uint_eq(a.distance, (uint64_t)((WORDS + 4 - n % WORDS) % WORDS) + 1);
        }
        ck_assert_int_eq(pythia_oracle_next(o, "nothing", &a), 1);
        ck_assert_int_eq(pythia_oracle_remaining(o, &events, &ns, &progress), 0);
        ck_assert_double_eq_tol(events, TURNS * WORDS - n, 1e-9);
        ck_assert_double_eq_tol(ns, 110 * events, 1 + events);
        ck_assert_int_eq(pythia_oracle_follow(o, words[n % WORDS], 10, 100), 0);
    }
    ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 1);
    ck_assert_int_eq(pythia_oracle_remaining(o, NULL, NULL, &progress), 0);
    ck_assert_double_eq_tol(progress, 1, 1e-9);
}

START_TEST(what_was_recorded_is_predicted)
{
    pythia_recorder_t *r = record();
    pythia_oracle_t *o;

    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    pythia_recorder_destroy(r);
    predict_all(o);
    pythia_oracle_close(o);
}
END_TEST

START_TEST(a_job_file_carries_it)
{
    char path[] = "/tmp/pythia-api.XXXXXX";
    pythia_recorder_t *r = record();
    pythia_oracle_t *o = NULL;
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(pythia_recorder_write(r, path), 0);
    ck_assert_int_eq(pythia_recorder_event(r, "after the file", 0, 0), 0); /* it may go on */
    pythia_recorder_destroy(r);
    ck_assert_int_eq(pythia_oracle_open(path, 1, 0, &o), PYTHIA_EINVAL);
    ck_assert_ptr_null(o);
    ck_assert_int_eq(pythia_oracle_open(path, 0, 0, &o), 0);
    predict_all(o);
    pythia_oracle_close(o);
    ck_assert_int_eq(truncate(path, 40), 0);
    ck_assert_int_lt(pythia_oracle_open(path, 0, 0, &o), 0);
    unlink(path);
    ck_assert_int_eq(pythia_oracle_open(path, 0, 0, &o), PYTHIA_EIO);
}
END_TEST

START_TEST(unknown_words_are_survived)
{
    pythia_recorder_t *r = record();
    pythia_oracle_t *o;
    struct pythia_answer a;

    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    for (int n = 0; n < 5 * WORDS; n++) {
        ck_assert_int_eq(pythia_oracle_follow(o, words[n % WORDS], 10, 100), 0);
        if (n == 8)
            ck_assert_int_eq(pythia_oracle_follow(o, "never seen", 1, 1), 0);
    }
    ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
    ck_assert_str_eq(a.word, words[0]);
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
}
END_TEST

/* Without a recording, and beyond it: what this run has shown is predicted, new words too. */
START_TEST(this_run_is_learned)
{
    pythia_oracle_t *o;
    pythia_recorder_t *r = record();
    struct pythia_answer a;

    for (int recorded = 0; recorded < 2; recorded++) {
        ck_assert_int_eq(recorded ? pythia_oracle_open_recorder(r, &o) : pythia_oracle_create(&o), 0);
        ck_assert_int_eq(pythia_oracle_next(o, "wait", &a), 1);
        for (int turn = 0; turn < 50; turn++) {
            pythia_oracle_follow(o, "wait", 10, 20);
            pythia_oracle_follow(o, "steal", 30, 40);
            pythia_oracle_follow(o, "solve", 50, 60);
        }
        ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
        ck_assert_str_eq(a.word, "wait");
        ck_assert(a.probability > 0.5);
        ck_assert_int_eq(pythia_oracle_predict(o, 1000, &a), 0);
        ck_assert_str_eq(a.word, "wait");
        ck_assert_int_eq(pythia_oracle_next(o, "steal", &a), 0);
        ck_assert_str_eq(a.word, "steal");
        ck_assert_uint_eq(a.distance, 2);
        ck_assert_int_eq(pythia_oracle_next(o, "never", &a), 1);
        pythia_oracle_close(o);
    }
    pythia_recorder_destroy(r);
}
END_TEST

START_TEST(any_of_a_class_of_words)
{
    static const char *const messages[] = { "send", "receive", "load" };
    pythia_recorder_t *r = record();
    pythia_oracle_t *o;
    struct pythia_answer a;

    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    for (int n = 0; n < (TURNS - 1) * WORDS; n++) {
        int at = n % WORDS; /* begin load solve solve send end: load is 1, send 4 */
        ck_assert_int_eq(pythia_oracle_next_of(o, messages, 3, &a), 0);
        ck_assert_str_eq(a.word, at == 1 || at == 0 || at == 5 ? "load" : "send");
        ck_assert_uint_eq(a.distance, at == 5 ? 3 : at <= 1 ? 2 - at : 5 - at);
        ck_assert_int_eq(pythia_oracle_next_of(o, messages + 1, 1, &a), 1);
        ck_assert_int_eq(pythia_oracle_next_of(o, messages, 0, &a), 1);
        ck_assert_int_eq(pythia_oracle_follow(o, words[at], 10, 100), 0);
    }
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
}
END_TEST

START_TEST(the_loop_around_it_ends)
{
    pythia_recorder_t *r = record();
    pythia_oracle_t *o;
    double events, ns;

    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    for (int n = 0; n < TURNS * WORDS; n++) {
        if (n > 0) {
            int at = n % WORDS; /* within solve^2, two and three events after the begin of a turn, that is the loop */
            ck_assert_int_eq(pythia_oracle_loop(o, &events, &ns), 0);
            ck_assert_double_eq_tol(events, at == 3 || at == 4 ? 4 - at : TURNS * WORDS - n, 1e-9);
            ck_assert_double_eq_tol(ns, 110 * events, 1 + events);
        }
        ck_assert_int_eq(pythia_oracle_follow(o, words[n % WORDS], 10, 100), 0);
    }
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
}
END_TEST

/* A loop whose first turn waits longer than the later ones: each has its own time, once this run has shown them. */
static uint64_t gap_of_turn(int turn)
{
    return turn == 0 ? 5000 : 10;
}

START_TEST(the_first_turn_of_a_loop_is_told_from_the_others)
{
    pythia_recorder_t *r;
    pythia_oracle_t *o;
    struct pythia_answer a;

    ck_assert_int_eq(pythia_recorder_create(&r), 0);
    for (int n = 0; n < 40; n++) {
        pythia_recorder_event(r, "begin", 100, 10);
        for (int turn = 0; turn < 8; turn++)
            pythia_recorder_event(r, "work", gap_of_turn(turn), 10);
    }
    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    for (int n = 0; n < 30; n++) {
        pythia_oracle_follow(o, "begin", 100, 10);
        for (int turn = 0; turn < 8; turn++) {
            ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
            ck_assert_str_eq(a.word, "work");
            if (n >= 10)
                ck_assert_double_eq_tol(a.until_ns, (double)gap_of_turn(turn), 0.1 * (double)gap_of_turn(turn));
            pythia_oracle_follow(o, "work", gap_of_turn(turn), 10);
        }
    }
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    pythia_recorder_t *r = record();
    pythia_oracle_t *o;
    struct pythia_answer a;

    ck_assert_int_eq(pythia_recorder_create(NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_event(NULL, "x", 0, 0), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_event(r, NULL, 0, 0), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_event(r, "", 0, 0), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_write(r, "/no such directory/x"), PYTHIA_EIO);
    ck_assert_int_eq(pythia_oracle_open(NULL, 0, 0, &o), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_open_recorder(r, NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    ck_assert_int_eq(pythia_oracle_predict(o, 0, &a), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_predict(NULL, 1, &a), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_follow(o, NULL, 0, 0), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_next(o, NULL, &a), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_create(NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_next_of(o, NULL, 1, &a), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_loop(NULL, NULL, NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_remaining(NULL, NULL, NULL, NULL), PYTHIA_EINVAL);
    pythia_oracle_close(o);
    pythia_oracle_close(NULL);
    pythia_recorder_destroy(r);
    pythia_recorder_destroy(NULL);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(what_was_recorded_is_predicted),
        UNIT_TEST(a_job_file_carries_it),
        UNIT_TEST(unknown_words_are_survived),
        UNIT_TEST(this_run_is_learned),
        UNIT_TEST(any_of_a_class_of_words),
        UNIT_TEST(the_loop_around_it_ends),
        UNIT_TEST(the_first_turn_of_a_loop_is_told_from_the_others),
        UNIT_TEST(nonsense_is_refused),
    };
    return unit_run("api", tests, UNIT_COUNT(tests));
}
