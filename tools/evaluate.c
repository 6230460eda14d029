/* SPDX-License-Identifier: MIT */
/*
 * `pythia evaluate`: how well one stream or job predicts another.
 *
 * A is folded into a grammar (or taken from a job file), B is followed event by event, and before each event the oracle
 * is asked for the event at each distance from there. An answer is right when that event is what comes; no answer
 * counts as wrong. Costs are those of single calls, less what reading the clock costs.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "oracle/oracle.h"
#include "tools/evaluation.h"
#include "tools/source.h"
#include "tools/tool.h"

enum { KEY_TRAIN = 256, KEY_TEST, KEY_DISTANCES, KEY_FORMAT, KEY_HYPOTHESES, KEY_RANK, KEY_THREAD, KEY_EVERY,
       KEY_LEARN };
enum { DISTANCES = 16 };

struct request {
    const char *train, *test;
    uint64_t distance[DISTANCES];
    uint32_t distances;
    bool tsv, ranked, learn;
    uint64_t hypotheses, rank, thread, every;
};

static const struct argp_option options[] = {
    { "train", KEY_TRAIN, "A", 0, "what the oracle knows: a text stream (- is standard input), a job file, or none",
      0 },
    { "learn", KEY_LEARN, "on|off", 0, "whether the oracle also learns from B as it goes (default on)", 0 },
    { "test", KEY_TEST, "B", 0, "what it is to predict: the same", 0 },
    { "distances", KEY_DISTANCES, "D,…", 0, "events ahead to ask for (default 1,16,64,128)", 0 },
    { "format", KEY_FORMAT, "text|tsv", 0, "a table to read (default), or tab separated", 0 },
    { "hypotheses", KEY_HYPOTHESES, "K", 0, "positions kept at once, 1 to 64 (default 16)", 0 },
    { "every", KEY_EVERY, "N", 0, "ask before every Nth event only (default 1)", 0 },
    { "rank", KEY_RANK, "R", 0, "of job files: the stream of this rank", 0 },
    { "thread", KEY_THREAD, "T", 0, "and of this thread (default 0)", 0 },
    { 0 },
};

static void parse_distances(struct request *r, const char *list, struct argp_state *state)
{
    char *copy = strdup(list), *rest = copy, *field;

    r->distances = 0;
    while ((field = strsep(&rest, ","))) {
        if (r->distances == DISTANCES)
            argp_error(state, "at most %d distances", DISTANCES);
        r->distance[r->distances++] = tool_number(field, "a distance", 1, 1 << 20, state);
    }
    free(copy);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = { "text", "tsv", NULL }, *const learns[] = { "off", "on", NULL };
    struct request *r = state->input;

    switch (key) {
    case KEY_TRAIN:
        r->train = arg;
        return 0;
    case KEY_TEST:
        r->test = arg;
        return 0;
    case KEY_DISTANCES:
        parse_distances(r, arg, state);
        return 0;
    case KEY_FORMAT:
        r->tsv = tool_choice(arg, "the format", formats, state);
        return 0;
    case KEY_LEARN:
        r->learn = tool_choice(arg, "--learn", learns, state);
        return 0;
    case KEY_HYPOTHESES:
        r->hypotheses = tool_number(arg, "K", 1, 64, state);
        return 0;
    case KEY_EVERY:
        r->every = tool_number(arg, "N", 1, UINT32_MAX, state);
        return 0;
    case KEY_RANK:
        r->rank = tool_number(arg, "R", 0, UINT32_MAX, state);
        r->ranked = true;
        return 0;
    case KEY_THREAD:
        r->thread = tool_number(arg, "T", 0, UINT32_MAX, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        if (!r->train || !r->test)
            argp_error(state, "both --train and --test are needed");
        if (!strcmp(r->train, "-") && !strcmp(r->test, "-"))
            argp_error(state, "only one of A and B can be standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options, .parser = parse,
    .doc = "Measures how well the oracle that knows A predicts B: accuracy, calibration (Brier score), times, cost."
           "\v"
           "A and B are text streams, one event a line (a word, then optionally a tab and the gap in ns, then optionally a "
           "tab and the duration in ns), or job files with --rank.\n\n"
           "A row a distance: of the predictions the share that was right, the share without an answer, the mean squared "
           "error of the stated probability, the median relative error of the time until that event, and the cost of a "
           "question; the share of the times inside the interval that was given for them (8 of 10 are promised), how wide it and "
           "mean +- deviation are (medians, ns), the share inside the latter, and of the durations inside theirs. The last row "
           "has the cost of following an event.\n\n"
           "Example:\n"
           "  pythia evaluate --train mon.txt --test tue.txt --distances 1,16\n",
};

enum { LEARN_MEMORY = 4 << 20 }; /* as much as a stream of a predicted run has */

/* `g` NULL: without a reference. */
static int evaluate(const struct grammar_flat *g, struct source *test, struct evaluation *v, const struct request *r)
{
    struct oracle_options how = { .hypotheses = (uint32_t)r->hypotheses, .learn = r->learn ? LEARN_MEMORY : 0 };
    struct oracle_index *index = g ? oracle_index_create(g) : NULL;
    const struct oracle_index *one = index;
    struct oracle *o = tool_need(oracle_create(&one, NULL, g != NULL, &how));

    evaluation_create(v, r->distance, r->distances, r->every);
    int rc = evaluation_follow(v, o, test);
    oracle_destroy(o);
    oracle_index_destroy(index);
    return rc;
}

int tool_evaluate(int argc, char **argv)
{
    struct request r = { .distance = { 1, 16, 64, 128 }, .distances = 4, .every = 1, .learn = true };
    struct source train = { 0 }, test = { 0 };
    struct grammar_flat *g = NULL;
    struct evaluation *v = calloc(1, sizeof *v);
    struct stream_words *words = stream_words_create();
    int rc = TOOL_OK;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    const uint32_t rank = (uint32_t)r.rank;
    const struct source_stream stream = { .rank = r.ranked ? &rank : NULL, .thread = (uint32_t)r.thread };
    if (strcmp(r.train, "none")) {
        rc = source_open(&train, r.train, "learning", words, NULL, &stream);
        rc = rc == TOOL_OK ? source_learn(&train, &g) : rc;
    }
    rc = rc == TOOL_OK ? source_open(&test, r.test, "predicting", words, &train, &stream) : rc;
    rc = rc == TOOL_OK ? evaluate(g, &test, v, &r) : rc;
    if (rc == TOOL_OK)
        evaluation_print(v, r.tsv);
    source_close(&test);
    source_close(&train);
    evaluation_clear(v);
    free(v);
    grammar_flat_destroy(g);
    stream_words_destroy(words);
    return rc;
}
