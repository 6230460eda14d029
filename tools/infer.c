/* SPDX-License-Identifier: MIT */
/*
 * `pythia infer`: folds a text stream into a grammar and prints it, or what it cost.
 *
 * With --stats the stream is read into memory first, so that reading does not count, and folded twice: once with each
 * append timed by itself (the percentiles; what reading the clock costs is subtracted), once as a whole (the mean).
 */
#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grammar/grammar.h"
#include "grammar/notation.h"
#include "report/units.h"
#include "tools/stream.h"
#include "tools/tool.h"

enum { KEY_STATS = 256, KEY_TIME, KEY_MEMORY };

struct request {
    const char *stream;
    bool stats, times;
    uint64_t memory;
};

static const struct argp_option options[] = {
    { "stats", KEY_STATS, NULL, 0, "size of the grammar and cost of an append, as key and value", 0 },
    { "time", KEY_TIME, NULL, 0, "count, mean gap and mean duration of every node, in its place", 0 },
    { "memory", KEY_MEMORY, "MIB", 0, "cap of the grammar's memory (default 1024)", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case KEY_STATS:
        r->stats = true;
        return 0;
    case KEY_TIME:
        r->times = true;
        return 0;
    case KEY_MEMORY:
        if (tool_number(arg, 1 << 20, &r->memory) != 0 || r->memory == 0)
            argp_error(state, "MIB must be a number from 1 to 1048576, not '%s'", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (r->stream)
            argp_error(state, "one stream only");
        r->stream = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no stream (- is standard input)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "STREAM",
    .doc = "Prints the grammar of a text stream, a rule a line, R first: R -> A B^2 A."
           "\v"
           "STREAM has one event a line: a word, then optionally a tab and the gap in ns, then optionally a tab and the "
           "duration in ns. Blank lines and lines that begin with # are skipped; - is standard input.\n\n"
           "Example:\n"
           "  printf '%s\\n' a b b c b c a b | pythia infer -\n",
};

/* --- The stream --- */

/* The next event. Returns 1, 0 at the end, -1 after it complained. */
static int next_event(struct stream *s, struct grammar_event *e)
{
    struct stream_event line;
    int rc = stream_next(s, &line);

    if (rc < 0)
        tool_complain("%s", stream_why(s));
    if (rc > 0)
        *e = (struct grammar_event){ .terminal = line.word, .gap = line.gap, .duration = line.duration };
    return rc < 0 ? -1 : rc;
}

/* A grammar_name_fn. */
static const char *name_of(void *words, uint32_t terminal)
{
    return terminal == GRAMMAR_LOST ? "LOST" : stream_words_text(words, terminal);
}

/* --- The grammar --- */

static void print_nodes(const struct grammar_flat *g, struct stream_words *w)
{
    char rule[16], symbol[16], gap[32], duration[32];

    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            uint32_t s = g->nodes[n].symbol;
            const struct grammar_stats *t = &g->stats[n];
            grammar_rule_name(r, rule);
            if (grammar_is_rule(s))
                grammar_rule_name(s & ~GRAMMAR_RULE, symbol);
            printf("# %s: %s^%" PRIu64 "  count %" PRIu64 "  gap %s  duration %s\n", rule,
                   grammar_is_rule(s) ? symbol : name_of(w, s), g->nodes[n].exponent, t->count,
                   report_time(grammar_moments_mean(&t->gap, t->count), gap),
                   report_time(grammar_moments_mean(&t->duration, t->count), duration));
        }
}

static int print_grammar(struct grammar *g, struct stream_words *w, bool times)
{
    struct grammar_flat *flat = grammar_freeze(g);

    if (!flat) {
        tool_complain("out of memory");
        return TOOL_MEMORY;
    }
    grammar_print(flat, name_of, w, stdout);
    if (times)
        print_nodes(flat, w);
    if (grammar_lost(g))
        tool_complain("warning: the memory cap was reached: the order of %" PRIu64 " events was given up", grammar_lost(g));
    grammar_flat_destroy(flat);
    return TOOL_OK;
}

static int infer(struct stream *s, struct stream_words *w, const struct request *r)
{
    struct grammar *g = grammar_create((size_t)r->memory << 20);
    struct grammar_event e;
    int more = 1, rc = TOOL_INPUT;

    if (!g) {
        tool_complain("out of memory");
        return TOOL_MEMORY;
    }
    while ((more = next_event(s, &e)) > 0)
        grammar_append(g, &e);
    if (more == 0)
        rc = print_grammar(g, w, r->times);
    grammar_destroy(g);
    return rc;
}

/* --- The cost --- */

struct events {
    struct grammar_event *event;
    size_t count, room;
};

static int read_all(struct stream *s, struct events *all)
{
    struct grammar_event e;
    int more;

    while ((more = next_event(s, &e)) > 0) {
        if (all->count == all->room) {
            size_t room = all->room ? 2 * all->room : 4096;
            struct grammar_event *grown = realloc(all->event, room * sizeof *grown);
            if (!grown) {
                tool_complain("out of memory");
                return TOOL_MEMORY;
            }
            all->event = grown;
            all->room = room;
        }
        all->event[all->count++] = e;
    }
    return more == 0 ? TOOL_OK : TOOL_INPUT;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What two readings of the clock cost between them: the median. */
static uint64_t clock_cost(void)
{
    enum { READINGS = 1001 };
    static uint64_t cost[READINGS];

    for (int i = 0; i < READINGS; i++) {
        uint64_t begin = now();
        cost[i] = now() - begin;
    }
    qsort(cost, READINGS, sizeof *cost, by_value);
    return cost[READINGS / 2];
}

/* Folds all events, each append timed into cost[]. */
static struct grammar *fold_each(const struct events *all, size_t memory, uint64_t *cost)
{
    struct grammar *g = grammar_create(memory);
    uint64_t clock = clock_cost();

    for (size_t i = 0; g && i < all->count; i++) {
        uint64_t begin = now();
        grammar_append(g, &all->event[i]);
        uint64_t took = now() - begin;
        cost[i] = took > clock ? took - clock : 0;
    }
    return g;
}

/* ns of an append when nothing is measured in between, -1 when out of memory. */
static double fold_all(const struct events *all, size_t memory)
{
    struct grammar *g = grammar_create(memory);

    if (!g)
        return -1;
    uint64_t begin = now();
    for (size_t i = 0; i < all->count; i++)
        grammar_append(g, &all->event[i]);
    uint64_t took = now() - begin;
    grammar_destroy(g);
    return all->count ? (double)took / (double)all->count : 0;
}

static uint64_t quantile(const uint64_t *sorted, size_t count, double q)
{
    if (!count)
        return 0;
    size_t i = (size_t)(q * (double)count);
    return sorted[i < count ? i : count - 1];
}

static int print_stats(const struct events *all, const struct stream_words *w, size_t memory)
{
    uint64_t *cost = calloc(all->count + 1, sizeof *cost);
    struct grammar *g = cost ? fold_each(all, memory, cost) : NULL;
    double mean = g ? fold_all(all, memory) : -1;
    struct grammar_flat *flat = g ? grammar_freeze(g) : NULL;
    int rc = TOOL_MEMORY;

    if (flat && mean >= 0) {
        qsort(cost, all->count, sizeof *cost, by_value);
        printf("events\t%" PRIu64 "\nterminals\t%u\nrules\t%u\nnodes\t%u\nmemory_bytes\t%zu\nlost\t%" PRIu64 "\n",
               grammar_events(g), stream_words_count(w), flat->rule_count, flat->node_count, grammar_memory(g), grammar_lost(g));
        printf("append_ns_mean\t%.1f\nappend_ns_p50\t%" PRIu64 "\nappend_ns_p99\t%" PRIu64 "\nappend_ns_p999\t%" PRIu64
               "\nappend_ns_max\t%" PRIu64 "\n",
               mean, quantile(cost, all->count, 0.5), quantile(cost, all->count, 0.99), quantile(cost, all->count, 0.999),
               quantile(cost, all->count, 1));
        rc = TOOL_OK;
    } else {
        tool_complain("out of memory");
    }
    grammar_flat_destroy(flat);
    grammar_destroy(g);
    free(cost);
    return rc;
}

static int measure(struct stream *s, const struct stream_words *w, const struct request *r)
{
    struct events all = { 0 };
    int rc = read_all(s, &all);

    if (rc == TOOL_OK)
        rc = print_stats(&all, w, (size_t)r->memory << 20);
    free(all.event);
    return rc;
}

int tool_infer(int argc, char **argv)
{
    struct request r = { .memory = 1024 };
    int rc = TOOL_MEMORY;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    struct stream_words *w = stream_words_create();
    struct stream *s = w ? stream_open(r.stream, w) : NULL;
    if (s)
        rc = r.stats ? measure(s, w, &r) : infer(s, w, &r);
    else
        tool_complain("out of memory");
    stream_close(s);
    stream_words_destroy(w);
    return rc;
}
