/* SPDX-License-Identifier: MIT */
/*
 * The installed interface, linked as a user would link it.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
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

/* --- Peers --- */

enum { NEIGHBOURS = 6 };

/* A worker that computes and then exchanges with each neighbour: numbers without a rule. */
static const uint32_t neighbour[NEIGHBOURS] = { 3, 41, 7, 7, 1000, 12 };

static pythia_recorder_t *record_messages(bool with)
{
    pythia_recorder_t *r;

    ck_assert_int_eq(pythia_recorder_create(&r), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        ck_assert_int_eq(pythia_recorder_event(r, "solve", 10, 100), 0);
        for (int i = 0; i < NEIGHBOURS; i++)
            if (with)
                ck_assert_int_eq(pythia_recorder_message(r, "send", 10, 20, neighbour[i]), 0);
            else
                ck_assert_int_eq(pythia_recorder_event(r, "send", 10, 20), 0);
        ck_assert_int_eq(pythia_recorder_event(r, "send", 10, 20), 0); /* to nobody: another event */
    }
    return r;
}

/* Follows some turns; `sent` tells with whom. Right answers to "who is next", from turn `from` on. */
static int follow_messages(pythia_oracle_t *o, int turns, int from, bool with)
{
    struct pythia_answer a;
    uint32_t peer;
    int right = 0;

    for (int turn = 0; turn < turns; turn++) {
        if (turn >= from && pythia_oracle_next_peer(o, &peer, &a) == 0 && peer == neighbour[0] && a.distance == 2)
            right++;
        pythia_oracle_follow(o, "solve", 10, 100);
        for (int i = 0; i < NEIGHBOURS; i++) {
            if (turn >= from && pythia_oracle_next_peer(o, &peer, &a) == 0) {
                ck_assert_str_eq(a.word, "send");
                ck_assert(a.probability > 0 && a.probability <= 1);
                right += peer == neighbour[i] && a.distance == 1;
            }
            if (with)
                ck_assert_int_eq(pythia_oracle_follow_message(o, "send", 10, 20, neighbour[i]), 0);
            else
                ck_assert_int_eq(pythia_oracle_follow(o, "send", 10, 20), 0);
        }
        pythia_oracle_follow(o, "send", 10, 20);
    }
    return right;
}

START_TEST(peers_that_were_recorded)
{
    char path[] = "/tmp/pythia-api.XXXXXX";
    pythia_recorder_t *r = record_messages(true);
    pythia_oracle_t *o;
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(pythia_recorder_write(r, path), 0);
    for (int from_file = 0; from_file < 2; from_file++) {
        ck_assert_int_eq(from_file ? pythia_oracle_open(path, 0, 0, &o) : pythia_oracle_open_recorder(r, &o), 0);
        ck_assert_int_eq(follow_messages(o, TURNS, 0, true), TURNS * (NEIGHBOURS + 1));
        pythia_oracle_close(o);
    }
    pythia_recorder_destroy(r);
    unlink(path);
}
END_TEST

/* By this run alone; with a recording that does not know of peers; with one that does in a run that does not
   tell. */
START_TEST(peers_that_are_shown)
{
    pythia_recorder_t *r = record_messages(false);
    pythia_oracle_t *o;
    uint32_t peer;
    struct pythia_answer a;

    ck_assert_int_eq(pythia_oracle_create(&o), 0);
    ck_assert_int_ge(follow_messages(o, 50, 20, true), 30 * (NEIGHBOURS + 1) * 8 / 10);
    pythia_oracle_close(o);
    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    ck_assert_int_eq(pythia_oracle_next_peer(o, &peer, &a), 1);
    pythia_oracle_follow_message(o, "solve", 10, 100, 5);
    ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
    ck_assert_str_eq(a.word, "send"); /* the position is not lost for it */
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
    r = record_messages(true);
    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    ck_assert_int_ge(follow_messages(o, 10, 5, false), 0);
    pythia_oracle_close(o);
    pythia_recorder_destroy(r);
}
END_TEST

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 7;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % n);
}

/* Where so many in a hundred come from whom they should: of the answers given at 0.9, 9 in 10 are right. Chance is
   nobody's peer. */
START_TEST(peers_are_as_sure_as_they_are_said)
{
    static const uint32_t good[] = { 100, 90, 75, 60, 0 };
    enum { EVENTS = 6000 };
    pythia_oracle_t *o;
    struct pythia_answer a;
    uint32_t peer;
    double stated = 0;
    int right = 0, said = 0;
    pythia_recorder_t *r;

    ck_assert_int_eq(pythia_recorder_create(&r), 0);
    for (int n = 0; n < EVENTS; n++)
        pythia_recorder_message(r, n % 3 ? "take" : "steal", 10, 20, neighbour[n % 3]);
    ck_assert_int_eq(pythia_oracle_open_recorder(r, &o), 0);
    pythia_recorder_destroy(r);
    for (int n = 0; n < EVENTS; n++) {
        uint32_t with = random_below(100) < good[_i] ? neighbour[n % 3] : random_below(1u << 30);
        if (n > 300 && pythia_oracle_next_peer(o, &peer, &a) == 0) {
            ck_assert_uint_eq(a.distance, 1);
            said++;
            stated += a.probability;
            right += peer == with;
        }
        pythia_oracle_follow_message(o, n % 3 ? "take" : "steal", 10, 20, with);
    }
    pythia_oracle_close(o);
    ck_assert_msg(fabs(stated - right) <= 0.06 * said + 20, "at %u: %d answers, %.0f right by their word, %d were",
                  good[_i], said, stated, right);
    ck_assert_msg(good[_i] < 75 || said > EVENTS * 8 / 10, "%d answers", said);
    ck_assert_msg(good[_i] > 0 || said < EVENTS / 20, "%d answers", said);
}
END_TEST

START_TEST(what_cannot_be_written_says_why)
{
    pythia_recorder_t *r = record();

    errno = 0;
    ck_assert_int_eq(pythia_recorder_write(r, "/no such directory/x"), PYTHIA_EIO);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(pythia_recorder_write(r, "/"), PYTHIA_EIO);
    ck_assert_int_eq(errno, EISDIR);
    pythia_oracle_t *o;
    errno = 0;
    ck_assert_int_eq(pythia_oracle_open("/no such file", 0, 0, &o), PYTHIA_EIO);
    ck_assert_int_eq(errno, ENOENT);
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
    ck_assert_int_eq(pythia_recorder_stream(r, 0, 0, NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_stream(NULL, 0, 0, &r), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_stream(r, 1 << 20, 0, &r), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_name(NULL, "x", "x"), PYTHIA_EINVAL);
    uint32_t peer;
    ck_assert_int_eq(pythia_recorder_message(r, "send", 0, 0, 1u << 31), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_recorder_message(r, "", 0, 0, 1), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_follow_message(o, "send", 0, 0, 1u << 31), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_follow_message(NULL, "send", 0, 0, 1), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_next_peer(o, NULL, &a), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_next_peer(o, &peer, NULL), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_next_peer(o, &peer, &a), 1);
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
        UNIT_TEST(peers_that_were_recorded),
        UNIT_TEST(peers_that_are_shown),
        UNIT_LOOP(peers_are_as_sure_as_they_are_said, 5),
        UNIT_TEST(what_cannot_be_written_says_why),
        UNIT_TEST(nonsense_is_refused),
    };
    return unit_run("api", tests, UNIT_COUNT(tests));
}
