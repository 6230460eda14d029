/* SPDX-License-Identifier: MIT */
/*
 * `pythia infer`: folds a text stream into a grammar and prints it, or what it cost.
 *
 * With --stats the stream is read in parts of a few thousand events, so that reading does not count and a stream of any
 * length can be measured. Each part is folded twice, into two grammars: once with each append timed by itself (the
 * percentiles; what reading the clock costs is subtracted), once as a whole (the mean, in time that the thread
 * computed).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "findings/units.h"
#include "grammar/grammar.h"
#include "grammar/notation.h"
#include "tools/cost.h"
#include "tools/source.h"
#include "tools/tool.h"

struct request {
    const char *stream;
    bool stats, times;
    uint64_t memory;
};

static const struct tool_option options[] = {
    TOOL_SWITCH(stats, 0, "stats", "size of the grammar and cost of an append, as key and value"),
    TOOL_SWITCH(times, 0, "time", "count, mean gap and mean duration of every node, in its place; with --stats: the mean "
                "includes reading the clock at each event, as the hooks do"),
    TOOL_COUNT(memory, 0, "memory", "MIB", 1, 1 << 20, "cap of the grammar's memory (default 1024)"),
    { 0 },
};

static const struct tool_line usage = {
    .options = options, .arguments = "STREAM", TOOL_ONLY("stream", stream),
    .doc =
        "Prints the grammar of a text stream, a rule a line, R first: R -> A B^2 A."
        "\v"
        "STREAM has one event a line: a word, then optionally a tab and the gap in ns, then optionally a tab and the "
        "duration in ns. Blank lines and lines that begin with # are skipped; - is standard input.\n\n"
        "Example:\n"
        "  printf '%s\\n' a b b c b c a b | pythia infer -\n",
};

/* --- The grammar --- */

/* A grammar_name_fn. */
static const char *name_of(void *words, uint32_t terminal)
{
    return terminal == GRAMMAR_LOST ? "LOST" : job_text(words, terminal);
}

static void print_nodes(const struct grammar_flat *g, struct job *w)
{
    char rule[16], symbol[16];

    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            uint32_t s = g->nodes[n].symbol;
            const struct grammar_stats *t = &g->stats[n];
            grammar_rule_name(r, rule);
            if (grammar_is_rule(s))
                grammar_rule_name(s & ~GRAMMAR_RULE, symbol);
            printf("# %s: %s^%" PRIu64 "  count %" PRIu64 "  gap %s  duration %s\n", rule,
                   grammar_is_rule(s) ? symbol : name_of(w, s), g->nodes[n].exponent, t->count,
                   findings_time(grammar_moments_mean(&t->gap, t->count)),
                   findings_time(grammar_moments_mean(&t->duration, t->count)));
        }
}

static void print_grammar(struct grammar *g, struct job *w, bool times)
{
    struct grammar_flat *flat = grammar_freeze(g);

    grammar_print(flat, name_of, w, stdout);
    if (times)
        print_nodes(flat, w);
    if (grammar_lost(g))
        tool_complain("warning: the memory cap was reached: the order of %" PRIu64 " events was given up",
                      grammar_lost(g));
    grammar_flat_destroy(flat);
}

static int infer(struct source *in, struct job *w, const struct request *r)
{
    struct grammar *g = tool_need(grammar_create((size_t)r->memory << 20));
    struct grammar_event e;
    int more;

    while ((more = source_next(in, &e)) > 0)
        grammar_append(g, &e);
    if (more == 0)
        print_grammar(g, w, r->times);
    grammar_destroy(g);
    return more == 0 ? TOOL_OK : TOOL_INPUT;
}

/* --- The cost --- */

/* A part of the stream, read before it is folded, so that reading does not count. */
enum { PART = 16384 };
struct part_event { uint32_t terminal; uint64_t gap, duration; };

struct measurement {
    struct grammar *each, *whole; /* each append timed by itself; the part timed as a whole */
    struct cost_histogram cost;
    uint64_t events, clock, whole_ns;
    struct part_event event[PART];
    size_t count;
};

/* With the clock as the hooks do: it is read at each event, and gives the gap since the one before. */
static void fold(struct measurement *m, struct grammar *g, bool each, bool clock)
{
    uint64_t last = clock ? base_clock_now() : 0, begin = 0;
    struct grammar_event e;

    for (size_t i = 0; i < m->count; i++) {
        uint64_t now = clock ? base_clock_now() : 0;
        grammar_event_set(&e, m->event[i].terminal, clock ? now - last : m->event[i].gap,
                          clock ? 0 : m->event[i].duration);
        last = now;
        if (each)
            begin = base_clock_system();
        grammar_append(g, &e);
        if (each)
            cost_count_since(&m->cost, begin, m->clock);
    }
}

static void fold_part(struct measurement *m, bool clock)
{
    fold(m, m->each, true, false);
    uint64_t begin = base_clock_processor();
    fold(m, m->whole, false, clock);
    m->whole_ns += base_clock_processor() - begin;
    m->events += m->count;
    m->count = 0;
}

static int fold_parts(struct measurement *m, struct source *in, bool clock)
{
    struct grammar_event e;
    int more;

    while ((more = source_next(in, &e)) > 0) {
        m->event[m->count++] = (struct part_event){ e.terminal, e.gap, e.duration };
        if (m->count == PART)
            fold_part(m, clock);
    }
    if (more == 0)
        fold_part(m, clock);
    return more == 0 ? TOOL_OK : TOOL_INPUT;
}

static void print_stats(struct measurement *m, const struct job *w)
{
    size_t memory = grammar_memory(m->each);
    struct grammar_flat *flat = grammar_freeze(m->each);

    printf("events\t%" PRIu64 "\nterminals\t%u\nrules\t%u\nnodes\t%u\nmemory_bytes\t%zu\nlost\t%" PRIu64 "\n",
           grammar_events(m->each), w->string_count, flat->rule_count, flat->node_count, memory,
           grammar_lost(m->each));
    printf("append_ns_mean\t%.1f\nappend_ns_p50\t%" PRIu64 "\nappend_ns_p99\t%" PRIu64 "\nappend_ns_p999\t%" PRIu64
           "\nappend_ns_max\t%" PRIu64 "\n",
           m->events ? (double)m->whole_ns / (double)m->events : 0, cost_quantile(&m->cost, 0.5),
           cost_quantile(&m->cost, 0.99), cost_quantile(&m->cost, 0.999), m->cost.max);
    grammar_flat_destroy(flat);
}

static int measure(struct source *in, const struct job *w, const struct request *r)
{
    BASE_OWN struct measurement *m = calloc(1, sizeof *m);

    m->each = tool_need(grammar_create((size_t)r->memory << 20));
    m->whole = tool_need(grammar_create((size_t)r->memory << 20));
    base_clock_init();
    m->clock = cost_of_clock();
    int rc = fold_parts(m, in, r->times);
    if (rc == TOOL_OK)
        print_stats(m, w);
    grammar_destroy(m->each);
    grammar_destroy(m->whole);
    return rc;
}

int tool_infer(int argc, char **argv)
{
    struct request r = { .memory = 1024 };

    tool_parse(&usage, argc, argv, &r);
    struct job *w = tool_need(job_create());
    struct source in = { .text = stream_open(r.stream, w) };
    progress_begin(&in.progress, "reading", stream_size(in.text));
    int rc = r.stats ? measure(&in, w, &r) : infer(&in, w, &r);
    progress_end(&in.progress);
    source_close(&in);
    job_destroy(w);
    return rc;
}
