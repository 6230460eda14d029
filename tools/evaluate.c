/* SPDX-License-Identifier: MIT */
/*
 * `pythia evaluate`: how well one stream or job predicts another.
 *
 * A is folded into a grammar (or taken from a job file), B is followed event by event, and before each event the oracle
 * is asked for the event at each distance from there. An answer is right when that event is what comes; no answer
 * counts as wrong. Costs are those of single calls, less what reading the clock costs.
 */
#include <stdlib.h>
#include <string.h>

#include "job/follow.h"
#include "oracle/oracle.h"
#include "tools/evaluation.h"
#include "tools/source.h"
#include "tools/tool.h"

enum { DISTANCES = 16 };

struct request {
    const char *train, *test;
    uint64_t distance[DISTANCES];
    uint32_t distances;
    int tsv, learn;
    uint64_t hypotheses, rank /* UINT64_MAX: none */, thread, every;
};

static void take_distances(void *request, char *list, struct argp_state *state)
{
    struct request *r = request;
    char *copy = strdup(list), *rest = copy, *field;

    r->distances = 0;
    while ((field = strsep(&rest, ","))) {
        if (r->distances == DISTANCES)
            argp_error(state, "at most %d distances", DISTANCES);
        r->distance[r->distances++] = tool_number(field, "a distance", 1, 1 << 20, state);
    }
    free(copy);
}

static const char *const formats[] = { "text", "tsv", NULL }, *const learns[] = { "off", "on", NULL };
static const struct tool_option options[] = {
    TOOL_TEXT(train, 0, "train", "A",
              "what the oracle knows: a text stream (- is standard input), a job file, or none"),
    TOOL_CHOICE(learn, 0, "learn", "on|off", learns, "whether the oracle also learns from B as it goes (default on)"),
    TOOL_TEXT(test, 0, "test", "B", "what it is to predict: the same"),
    TOOL_TAKEN(take_distances, 0, "distances", "D,…", "events ahead to ask for (default 1,16,64,128)"),
    TOOL_CHOICE(tsv, 0, "format", "text|tsv", formats, "a table to read (default), or tab separated"),
    TOOL_COUNT(hypotheses, 0, "hypotheses", "K", 1, 64, "positions kept at once, 1 to 64 (default 16)"),
    TOOL_COUNT(every, 0, "every", "N", 1, UINT32_MAX, "ask before every Nth event only (default 1)"),
    TOOL_COUNT(rank, 0, "rank", "R", 0, UINT32_MAX, "of job files: the stream of this rank"),
    TOOL_COUNT(thread, 0, "thread", "T", 0, UINT32_MAX, "and of this thread (default 0)"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;

    if (!r->train || !r->test)
        argp_error(state, "both --train and --test are needed");
    if (!strcmp(r->train, "-") && !strcmp(r->test, "-"))
        argp_error(state, "only one of A and B can be standard input");
}

static const struct tool_line usage = {
    .options = options, .check = check,
    .doc = "Measures how well the oracle that knows A predicts B: accuracy, calibration (Brier score), times, cost."
           "\v"
           "A and B are text streams, one event a line (a word, then optionally a tab and the gap in ns, then optionally a "
           "tab and the duration in ns), or job files with --rank.\n\n"
           "A row a distance: of the predictions the share that was right, the share without an answer, the mean squared "
           "error of the stated probability, the median relative error of the time until that event, and the cost of a "
           "question; the share of the times inside the interval that was given for them (8 of 10 are promised), how wide it and "
           "time +- deviation are (medians, ns), the share inside the latter, and of the durations inside theirs; the "
           "root mean square of the errors of times over that of the deviations given with them (1 is promised); of job "
           "files, of the events that have a peer, bytes, or a tag, the share that was foretold with it. "
           "The last row has the cost of following an event.\n\n"
           "Example:\n"
           "  pythia evaluate --train mon.txt --test tue.txt --distances 1,16\n",
};

enum { LEARN_MEMORY = 4 << 20 }; /* as much as a stream of a predicted run has */

/* `g` NULL: without a reference. */
static int evaluate(const struct grammar_flat *g, const struct source *train, struct source *test, struct evaluation *v,
                    const struct request *r)
{
    struct oracle_options how = { .hypotheses = (uint32_t)r->hypotheses, .learn = r->learn ? LEARN_MEMORY : 0 };
    struct oracle_index *index = g ? oracle_index_create(g) : NULL;
    const struct oracle_index *one = index;
    struct oracle *o = tool_need(oracle_create(&one, NULL, g != NULL, &how));

    evaluation_create(v, r->distance, r->distances, r->every);
    v->reference = train->stream;
    if (train->job)
        v->reference.follow = tool_need(job_follow_create(train->job, train->stream.rank));
    int rc = evaluation_follow(v, o, test);
    job_follow_destroy(v->reference.follow);
    oracle_destroy(o);
    oracle_index_destroy(index);
    return rc;
}

int tool_evaluate(int argc, char **argv)
{
    struct request r = { .distance = { 1, 16, 64, 128 }, .distances = 4, .every = 1, .learn = 1, .rank = UINT64_MAX };
    struct source train = { 0 }, test = { 0 };
    struct grammar_flat *g = NULL;
    BASE_OWN struct evaluation *v = calloc(1, sizeof *v);
    struct job *words = tool_need(job_create());
    int rc = TOOL_OK;

    tool_parse(&usage, argc, argv, &r);
    const uint32_t rank = (uint32_t)r.rank;
    const struct source_stream stream = { .rank = r.rank != UINT64_MAX ? &rank : NULL, .thread = (uint32_t)r.thread };
    if (strcmp(r.train, "none")) {
        rc = source_open(&train, r.train, "learning", words, NULL, &stream);
        rc = rc == TOOL_OK ? source_learn(&train, &g) : rc;
    }
    rc = rc == TOOL_OK ? source_open(&test, r.test, "predicting", words, &train, &stream) : rc;
    rc = rc == TOOL_OK ? evaluate(g, &train, &test, v, &r) : rc;
    if (rc == TOOL_OK)
        evaluation_print(v, r.tsv);
    source_close(&test);
    source_close(&train);
    evaluation_clear(v);
    grammar_flat_destroy(g);
    job_destroy(words);
    return rc;
}
