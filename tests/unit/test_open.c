/* SPDX-License-Identifier: MIT */
/* A job that is opened answers as one that is read, and reads little. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "pythia.h"
#include "tests/unit/opened.h"
#include "tests/unit/unit.h"

static void same_attr(const struct opened *a, const struct opened *b, const struct oracle_answer *answer, uint32_t rank)
{
    for (enum grammar_channel k = 0; k < GRAMMAR_CHANNELS; k++) {
        int64_t v = 0, w = 0;
        const struct job_class *c = &a->job->classes[a->class_index], *d = &b->job->classes[b->class_index];
        ck_assert_int_eq(job_attr_value(a->job, c, answer->node, k, rank, 0, JOB_SOMEWHERE, &v),
                         job_attr_value(b->job, d, answer->node, k, rank, 0, JOB_SOMEWHERE, &w));
        ck_assert_int_eq(v, w);
    }
}

static void same_answer(const struct opened *a, const struct opened *b, uint64_t distance, uint32_t rank)
{
    struct oracle_answer x, y;
    int known = oracle_predict(a->oracle, distance, &x);
    ck_assert_int_eq(known, oracle_predict(b->oracle, distance, &y));
    if (known)
        return;
    ck_assert_uint_eq(x.terminal, y.terminal);
    ck_assert_uint_eq(x.node, y.node);
    ck_assert(x.probability == y.probability && x.until == y.until && x.until_deviation == y.until_deviation);
    ck_assert(x.duration == y.duration && x.duration_deviation == y.duration_deviation);
    if (x.reference != GRAMMAR_NONE)
        same_attr(a, b, &x, rank);
}

START_TEST(answers_are_those_of_a_job_that_is_read)
{
    uint32_t rank = (uint32_t)_i % 3 * 2, count;
    size_t learn = _i / 3 ? OPENED_MEMORY : 0;
    opened_write();
    struct opened a = opened_follow(opened_whole(), rank, learn), b = opened_follow(opened_file(), rank, learn);
    uint32_t *list = opened_events(a.job, rank, rank ? 5 : 0, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct oracle_remaining x, y;
        uint64_t gap = opened_below(2000), duration = opened_below(1000);
        same_answer(&a, &b, 1, rank);
        same_answer(&a, &b, 1 + opened_below(500), rank);
        if (i % 50 == 0)
            same_answer(&a, &b, 1 + opened_below(OPENED_EVENTS), rank);
        oracle_remaining(a.oracle, &x);
        oracle_remaining(b.oracle, &y);
        ck_assert(x.events == y.events && x.ns == y.ns && x.loop_ns == y.loop_ns);
        oracle_follow(a.oracle, list[i], gap, duration);
        oracle_follow(b.oracle, list[i], gap, duration);
    }
    ck_assert(memcmp(oracle_score(a.oracle), oracle_score(b.oracle), sizeof(struct oracle_score)) == 0);
    free(list);
    opened_end(&a);
    opened_end(&b);
    unlink(opened_path);
}
END_TEST

/* --- How much is read --- */

/* Of three classes one. */
START_TEST(one_class_is_read_before_the_first_event)
{
    struct stat st;
    struct oracle_answer answer;
    opened_write();
    ck_assert_int_eq(stat(opened_path, &st), 0);
    uint64_t before = opened_bytes_read();
    struct opened f = opened_follow(opened_file(), 2, 8 * OPENED_MEMORY); /* its list of events is put off */
    ck_assert_int_eq(oracle_predict(f.oracle, 1, &answer), 0);
    uint64_t taken = opened_bytes_read() - before;
    ck_assert_msg((double)taken < 0.5 * (double)st.st_size, "%llu of %lld bytes", (unsigned long long)taken,
                  (long long)st.st_size);
    size_t size;
    ck_assert_ptr_nonnull(file_bytes(f.job, &size)); /* all of it, for others */
    ck_assert_uint_eq(size, (uint64_t)st.st_size);
    unsigned char *own = malloc(size);
    int fd = open(opened_path, O_RDONLY);
    ck_assert_int_eq(read(fd, own, size), (ssize_t)size);
    ck_assert_mem_eq(file_bytes(f.job, &size), own, size);
    close(fd);
    struct job *copy = NULL;
    char why[256] = "";
    ck_assert_msg(file_open_bytes(own, size, &copy, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(file_mark(copy), file_mark(f.job));
    job_destroy(copy);
    opened_end(&f);
    unlink(opened_path);
}
END_TEST

/* --- Threads that share an index --- */

struct thread { pthread_t id; struct opened f; const uint32_t *list; uint32_t count, hits; double sum; };

static void *run(void *given)
{
    struct thread *t = given;
    struct oracle_options how = { .learn = OPENED_MEMORY };
    struct oracle *o = oracle_create(&t->f.index, NULL, 1, &how);
    struct oracle_answer a;
    for (uint32_t i = 0; o && i < t->count; i++) {
        if (oracle_predict(o, 1 + i % 300, &a) == 0)
            t->sum += a.until;
        oracle_follow(o, t->list[i], 1000, 100);
    }
    t->hits = (uint32_t)oracle_score(o)->at[0].hits;
    oracle_destroy(o);
    return NULL;
}

START_TEST(threads_share_what_is_read)
{
    enum { THREADS = 4 };
    struct thread t[THREADS];
    uint32_t count;
    opened_write();
    struct job *whole = opened_whole();
    uint32_t *list = opened_events(whole, 1, 3, &count);
    struct opened f = opened_follow(opened_file(), 1, 0);
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .f = f, .list = list, .count = count };
        ck_assert_int_eq(pthread_create(&t[i].id, NULL, run, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i].id, NULL);
    for (int i = 1; i < THREADS; i++) {
        ck_assert(t[i].sum == t[0].sum && t[0].sum > 0);
        ck_assert_uint_eq(t[i].hits, t[0].hits);
    }
    free(list);
    job_destroy(whole);
    opened_end(&f);
    unlink(opened_path);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(answers_are_those_of_a_job_that_is_read, 6),
        UNIT_TEST(one_class_is_read_before_the_first_event),
        UNIT_TEST(threads_share_what_is_read),
    };
    return unit_run("file/open", tests, UNIT_COUNT(tests));
}
