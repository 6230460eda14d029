/* SPDX-License-Identifier: MIT */
/* Clocks of nodes brought together, over a network that is simulated: each node a thread with a time of its own. */
#include <pthread.h>
#include <string.h>

#include "session/clock.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

enum { NODES = 64, OVERHEAD = 300, LATENCY = 1000 }; /* ns */

struct mail { int64_t value[2], arrives; bool full; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static struct mail box[NODES][NODES]; /* from, to */

struct node {
    int rank, ranks;
    int64_t time, shift; /* true time, ns */
    double drift;
    uint64_t random;
    int error;
    struct session_clock_offset offset[2];
};
static struct node nodes[NODES];

static int64_t shows(const struct node *n, int64_t time)
{
    return time + n->shift + (int64_t)(n->drift * (double)time);
}

/* Some messages are late, each way takes its own time. */
static int64_t travel(struct node *n)
{
    uint64_t r = simulate_random(&n->random);
    return LATENCY + (int64_t)(r % 1000) + (r >> 32 & 7 ? 0 : (int64_t)(r >> 40 & 0xffff));
}

static int64_t now(void *context)
{
    struct node *n = context;
    return shows(n, n->time += 30);
}

static int send(void *context, int to, const int64_t value[2])
{
    struct node *n = context;
    struct mail *m = &box[n->rank][to];
    n->time += OVERHEAD;
    pthread_mutex_lock(&lock);
    while (m->full)
        pthread_cond_wait(&change, &lock);
    *m = (struct mail){{value[0], value[1]}, n->time + travel(n), true};
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return 0;
}

static int receive(void *context, int from, int64_t value[2])
{
    struct node *n = context;
    struct mail *m = &box[from][n->rank];
    pthread_mutex_lock(&lock);
    while (!m->full)
        pthread_cond_wait(&change, &lock);
    memcpy(value, m->value, sizeof m->value);
    n->time = (m->arrives > n->time ? m->arrives : n->time) + OVERHEAD;
    m->full = false;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *measure(void *context)
{
    struct node *n = context;
    struct session_clock_line line = {n, n->rank, n->ranks, send, receive, now};
    n->error = session_clock_measure(&line, &n->offset[n->time > 1000000000]);
    return NULL;
}

/* From true time `at`; how long it takes until the last one is through, ns. */
static int64_t measure_all(int count, int64_t at)
{
    pthread_t thread[NODES];
    int64_t last = 0;
    for (int i = 0; i < count; i++) {
        nodes[i].time = at;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, measure, &nodes[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_int_eq(nodes[i].error, 0);
        last = nodes[i].time - at > last ? nodes[i].time - at : last;
    }
    return last;
}

static void make(int count, int64_t shift, double drift, uint64_t seed)
{
    memset(box, 0, sizeof box);
    for (int i = 0; i < count; i++)
        nodes[i] = (struct node){.rank = i, .ranks = count, .shift = i * shift, .drift = (i % 3 - 1) * drift,
                                 .random = seed * 1000 + (uint64_t)i};
}

static int64_t on_first(const struct node *n, int64_t time)
{
    return session_clock_on_first(&n->offset[0], &n->offset[1], shows(n, time));
}

/* What is said to be the greatest error is one, at the ends of a run and in between, and 64 nodes take 2 ms at most. */
START_TEST(no_clock_is_further_off_than_is_said)
{
    static const int sizes[] = {1, 2, 3, 7, 8, 33, NODES};
    int count = sizes[_i % 7];
    make(count, INT64_C(3000000000), 20e-6, (uint64_t)_i);
    int64_t begin = measure_all(count, 0), end = measure_all(count, INT64_C(100000000000));
    ck_assert_int_le(begin, 2000000);
    ck_assert_int_le(end, 2000000);
    for (int i = 0; i < count; i++) {
        int64_t most = nodes[i].offset[0].error > nodes[i].offset[1].error ? nodes[i].offset[0].error
                                                                           : nodes[i].offset[1].error;
        ck_assert_int_le(most, 6 * 4 * LATENCY);
        for (int64_t t = 0; t <= INT64_C(100000000000); t += INT64_C(500000000)) {
            int64_t wrong = on_first(&nodes[i], t) - shows(&nodes[0], t);
            ck_assert_int_le(wrong < 0 ? -wrong : wrong, most + 2);
        }
    }
}
END_TEST

/* Two nodes, 3 s and 20 ppm apart: no message arrives before it was sent, no rank leaves a barrier before the other has
   come. */
START_TEST(matched_events_are_in_order)
{
    make(2, INT64_C(3000000000), 0, (uint64_t)_i);
    nodes[1].drift = _i % 2 ? 20e-6 : -20e-6;
    measure_all(2, 0);
    measure_all(2, INT64_C(60000000000));
    uint64_t random = 77 + (uint64_t)_i;
    for (int64_t t = 0; t < INT64_C(60000000000); t += 400000 + (int64_t)(simulate_random(&random) % 200000)) {
        struct node *from = &nodes[simulate_random(&random) % 2], *to = &nodes[1 - from->rank];
        int64_t arrives = t + OVERHEAD + travel(from) + OVERHEAD;
        ck_assert_int_lt(on_first(from, t), on_first(to, arrives));
    }
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(no_clock_is_further_off_than_is_said, 14),
    UNIT_LOOP(matched_events_are_in_order, 6),
};

int main(void)
{
    return unit_run("session/clock", tests, UNIT_COUNT(tests));
}
