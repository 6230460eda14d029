/* SPDX-License-Identifier: MIT */
/*
 * What the oracle costs: the mean time of the thread for following an event of stream TEST, having learned stream
 * TRAIN, and for asking at four distances; learning off and on.
 *
 *   bench/oracle_cost TRAIN TEST        tab-separated: learn, follow, distances 1, 16, 128, 1000000; ns
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "grammar/grammar.h"
#include "oracle/oracle.h"
#include "tools/stream.h"

enum { DISTANCES = 4, APART = 97, AT_ONCE = 32, LEARN_MEMORY = 4 << 20 };
static const uint64_t distance[DISTANCES] = { 1, 16, 128, 1000000 };

struct seen { uint32_t terminal; uint64_t gap, duration; };
struct list { struct seen *event; size_t count, room; };

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void read_all(struct list *l, const char *path, struct job *words)
{
    struct stream *s = stream_open(path, words);
    struct grammar_event e;
    int more = 0;

    while (s && (more = stream_next(s, &e)) > 0) {
        if (l->count == l->room)
            l->event = realloc(l->event, (l->room = 2 * l->room + 4096) * sizeof *l->event);
        if (!l->event)
            break;
        l->event[l->count++] = (struct seen){ e.terminal, e.gap, e.duration };
    }
    if (!s || !l->event || more < 0) {
        fprintf(stderr, "oracle_cost: %s\n", s && more < 0 ? stream_why(s) : "out of memory");
        exit(3);
    }
    stream_close(s);
}

static struct grammar_flat *learn(const struct list *l)
{
    struct grammar *g = grammar_create((size_t)1 << 30);
    struct grammar_flat *flat;

    if (!g)
        return NULL;
    for (size_t i = 0; i < l->count; i++) {
        struct grammar_event e = { .terminal = l->event[i].terminal, .gap = l->event[i].gap,
                                   .duration = l->event[i].duration };
        grammar_append(g, &e);
    }
    flat = grammar_freeze(g);
    grammar_destroy(g);
    return flat;
}

static void follow(struct oracle *o, const struct seen *e)
{
    oracle_follow(o, e->terminal, e->gap, e->duration);
}

static double cost_of_following(struct oracle *o, const struct list *test)
{
    double begin = cpu_ns();

    for (size_t i = 0; i < test->count; i++)
        follow(o, &test->event[i]);
    return (cpu_ns() - begin) / (double)test->count;
}

/* At every APART'th event, each distance AT_ONCE times: the clock costs as much as a question. */
static void cost_of_asking(struct oracle *o, const struct list *test, double cost[DISTANCES])
{
    struct oracle_answer answer;
    size_t asked = 0;

    for (size_t i = 0; i < test->count; i++) {
        follow(o, &test->event[i]);
        if (i % APART)
            continue;
        asked++;
        for (int d = 0; d < DISTANCES; d++) {
            double begin = cpu_ns();
            for (int n = 0; n < AT_ONCE; n++)
                oracle_predict(o, distance[d], &answer);
            cost[d] += (cpu_ns() - begin) / AT_ONCE;
        }
    }
    for (int d = 0; d < DISTANCES && asked; d++)
        cost[d] /= (double)asked;
}

static struct oracle *open_oracle(const struct oracle_index *x, bool on)
{
    struct oracle_options how = { .learn = on ? LEARN_MEMORY : 0 };
    struct oracle *o = oracle_create(&x, NULL, 1, &how);

    if (!o) {
        fprintf(stderr, "oracle_cost: out of memory\n");
        exit(3);
    }
    return o;
}

static void measure(const struct oracle_index *x, const struct list *test, bool on)
{
    double cost[DISTANCES] = { 0 };
    struct oracle *o = open_oracle(x, on);
    double followed = cost_of_following(o, test);

    oracle_destroy(o);
    o = open_oracle(x, on);
    cost_of_asking(o, test, cost);
    oracle_destroy(o);
    printf("%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", on ? "on" : "off", followed, cost[0], cost[1], cost[2], cost[3]);
}

int main(int argc, char **argv)
{
    struct list train = { 0 }, test = { 0 };
    struct job *words = job_create();

    if (argc != 3 || !words) {
        fprintf(stderr, "usage: oracle_cost TRAIN TEST\n");
        return 2;
    }
    read_all(&train, argv[1], words);
    read_all(&test, argv[2], words);
    struct grammar_flat *g = learn(&train);
    struct oracle_index *x = g ? oracle_index_create(g) : NULL;
    for (int on = 0; on <= 1 && x; on++)
        measure(x, &test, on);
    oracle_index_destroy(x);
    grammar_flat_destroy(g);
    job_destroy(words);
    free(train.event);
    free(test.event);
    return x ? 0 : 3;
}
