/* SPDX-License-Identifier: MIT */
/*
 * `pythia evaluate`: how well one stream or job predicts another.
 *
 * A is folded into a grammar (or taken from a job file), B is followed event by event, and before each event the oracle is
 * asked for the event at each distance from there. An answer is right when that event is what comes; no answer counts as
 * wrong. Costs are those of single calls, less what reading the clock costs.
 */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "oracle/oracle.h"
#include "tools/cost.h"
#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/tool.h"

enum { KEY_TRAIN = 256, KEY_TEST, KEY_DISTANCES, KEY_FORMAT, KEY_HYPOTHESES, KEY_RANK, KEY_THREAD, KEY_EVERY, KEY_LEARN };
enum { DISTANCES = 16 };

struct request {
    const char *train, *test;
    uint64_t distance[DISTANCES];
    uint32_t distances;
    bool tsv, ranked, learn;
    uint64_t hypotheses, rank, thread, every;
};

static const struct argp_option options[] = {
    { "train", KEY_TRAIN, "A", 0, "what the oracle knows: a text stream (- is standard input), a job file, or none", 0 },
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
    while (copy && (field = strsep(&rest, ","))) {
        if (r->distances == DISTANCES)
            argp_error(state, "at most %d distances", DISTANCES);
        uint64_t *d = &r->distance[r->distances++];
        if (tool_number(field, 1 << 20, d) != 0 || *d == 0)
            argp_error(state, "a distance must be a number from 1 to %d, not '%s'", 1 << 20, field);
    }
    free(copy);
}

static void parse_number(const char *arg, const char *what, uint64_t min, uint64_t max, uint64_t *value,
                         struct argp_state *state)
{
    if (tool_number(arg, max, value) != 0 || *value < min)
        argp_error(state, "%s must be a number from %" PRIu64 " to %" PRIu64 ", not '%s'", what, min, max, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
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
        if (strcmp(arg, "text") && strcmp(arg, "tsv"))
            argp_error(state, "the format is text or tsv, not '%s'", arg);
        r->tsv = strcmp(arg, "tsv") == 0;
        return 0;
    case KEY_LEARN:
        if (strcmp(arg, "on") && strcmp(arg, "off"))
            argp_error(state, "--learn is on or off, not '%s'", arg);
        r->learn = strcmp(arg, "on") == 0;
        return 0;
    case KEY_HYPOTHESES:
        parse_number(arg, "K", 1, 64, &r->hypotheses, state);
        return 0;
    case KEY_EVERY:
        parse_number(arg, "N", 1, UINT32_MAX, &r->every, state);
        return 0;
    case KEY_RANK:
        parse_number(arg, "R", 0, UINT32_MAX, &r->rank, state);
        r->ranked = true;
        return 0;
    case KEY_THREAD:
        parse_number(arg, "T", 0, UINT32_MAX, &r->thread, state);
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
           "question; the last row has the cost of following an event.\n\n"
           "Example:\n"
           "  pythia evaluate --train mon.txt --test tue.txt --distances 1,16\n",
};

/* --- What is read: a stream of either kind, one event at a time --- */

struct source {
    const char *path;
    struct stream_words *words;           /* shared, so that equal words have equal numbers */
    struct stream *text;
    struct job *job;
    const struct grammar_flat *grammar; /* of the job's stream */
    struct grammar_cursor cursor;
    int more;
    struct progress progress;
    uint32_t *number;              /* of the job's terminals, as in the other source */
};

static bool is_job(const char *path)
{
    char head[16] = "";
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : NULL;

    if (!f)
        return false;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n >= 7 && memcmp(head, "PYTHIA\x1a", 7) == 0;
}

static int open_job(struct source *s, const struct request *r)
{
    int rc = tool_read_job(s->path, &s->job);

    if (rc != TOOL_OK)
        return rc;
    if (!r->ranked) {
        tool_complain("%s is a job file: --rank says which stream is meant", s->path);
        return TOOL_USAGE;
    }
    uint32_t class = job_stream_class(s->job, (uint32_t)r->rank, (uint32_t)r->thread);
    if (class == GRAMMAR_NONE) {
        tool_complain("%s: no stream of rank %" PRIu64 ", thread %" PRIu64, s->path, r->rank, r->thread);
        return TOOL_INPUT;
    }
    s->grammar = s->job->classes[class].grammar;
    return TOOL_OK;
}

/* A job's terminal in the common numbering: words by their text, everything else by its content; what is only moved or
   rebuilt is the terminal of `like`, when that is a job too, as in a predicted run. */
static int number_terminals(struct source *s, const struct source *like)
{
    s->number = calloc((size_t)s->job->terminal_count + 1, sizeof *s->number);
    if (!s->number)
        return TOOL_MEMORY;
    for (uint32_t t = 0; t < s->job->terminal_count; t++) {
        char name[64];
        uint32_t same = like && like->job ? job_match_terminal(like->job, s->job, t) : GRAMMAR_NONE;
        if (same != GRAMMAR_NONE) {
            s->number[t] = like->number[same];
            continue;
        }
        const struct job_terminal *term = &s->job->terminals[t];
        const struct grammar_hash *h = &s->job->terminal_hash[t];
        snprintf(name, sizeof name, "\x01%016" PRIx64 "%016" PRIx64, h->high, h->low); /* no word begins so */
        const char *text = term->kind == JOB_WORD ? job_text(s->job, term->function) : name;
        s->number[t] = stream_words_number(s->words, text, strlen(text));
        if (s->number[t] == GRAMMAR_NONE)
            return TOOL_MEMORY;
    }
    return TOOL_OK;
}

/* `what` is done with its events, for people who wait. */
static int source_open(struct source *s, const char *path, const char *what, struct stream_words *words,
                       const struct source *like, const struct request *r)
{
    s->path = path;
    s->words = words;
    if (!is_job(path)) {
        s->text = stream_open(path, words);
        if (s->text)
            progress_begin(&s->progress, what, stream_size(s->text));
        return s->text ? TOOL_OK : TOOL_MEMORY;
    }
    int rc = open_job(s, r);
    if (rc == TOOL_OK)
        rc = number_terminals(s, like);
    if (rc == TOOL_OK) {
        s->more = grammar_cursor_open(&s->cursor, s->grammar);
        progress_begin(&s->progress, what, s->grammar->events);
    }
    return rc;
}

static void source_close(struct source *s)
{
    stream_close(s->text);
    if (s->grammar)
        grammar_cursor_close(&s->cursor);
    job_destroy(s->job);
    free(s->number);
}

static int read_text(struct source *s, struct grammar_event *e)
{
    struct stream_event line;
    int more = stream_next(s->text, &line);

    progress_at(&s->progress, stream_bytes(s->text));
    if (more <= 0)
        progress_end(&s->progress);
    if (more < 0)
        tool_complain("%s", stream_why(s->text));
    if (more > 0)
        *e = (struct grammar_event){ .terminal = line.word, .gap = line.gap, .duration = line.duration };
    return more;
}

static void read_cursor(struct source *s, struct grammar_event *e)
{
    const struct grammar_stats *t = &s->grammar->stats[s->cursor.node];

    memset(e, 0, sizeof *e);
    e->terminal = s->cursor.terminal == GRAMMAR_LOST ? GRAMMAR_NONE : s->number[s->cursor.terminal];
    e->gap = (uint64_t)grammar_moments_mean(&t->gap, t->count);
    e->duration = (uint64_t)grammar_moments_mean(&t->duration, t->count);
    progress_at(&s->progress, s->cursor.index);
    s->more = grammar_cursor_next(&s->cursor);
    if (!s->more)
        progress_end(&s->progress);
}

/* 1 with an event (GRAMMAR_NONE: its order was given up), 0 at the end, -1 after a complaint. */
static int source_next(struct source *s, struct grammar_event *e)
{
    if (s->text)
        return read_text(s, e);
    if (!s->more)
        return 0;
    read_cursor(s, e);
    return 1;
}

/* --- Training --- */

static int learn(struct source *s, struct grammar_flat **g)
{
    struct grammar *grammar;
    struct grammar_event e;
    int more;

    if (s->grammar) {
        *g = grammar_flat_copy(s->grammar);
        if (*g)
            grammar_flat_renumber(*g, s->number, stream_words_count(s->words));
        return *g ? TOOL_OK : TOOL_MEMORY;
    }
    grammar = grammar_create((size_t)1 << 30);
    if (!grammar)
        return TOOL_MEMORY;
    while ((more = read_text(s, &e)) > 0)
        grammar_append(grammar, &e);
    if (more == 0)
        *g = grammar_freeze(grammar);
    grammar_destroy(grammar);
    return more < 0 ? TOOL_INPUT : *g ? TOOL_OK : TOOL_MEMORY;
}

/* --- Errors, in a histogram as costs are: constant memory for streams of any length --- */

/* Relative errors, 64 buckets an octave from 2^-20 to 2^20, below them 0. */
enum { ERROR_BUCKETS = 40 * 64 };
struct errors { uint64_t bucket[ERROR_BUCKETS + 1], count; };

static void count_error(struct errors *e, double relative)
{
    double at = relative > 0 ? 64 * (log2(relative) + 20) + 1 : 0;
    e->bucket[at < 0 ? 0 : at > ERROR_BUCKETS ? ERROR_BUCKETS : (uint32_t)at]++;
    e->count++;
}

static double median_error(const struct errors *e)
{
    uint64_t below = 0;

    for (uint32_t i = 0; i <= ERROR_BUCKETS; i++) {
        below += e->bucket[i];
        if (2 * below >= e->count)
            return i ? exp2((i - 0.5) / 64 - 20) : 0;
    }
    return 0;
}

/* --- Following --- */

/* An answer that waits for its event. */
struct answer {
    uint32_t terminal;
    float probability;
    double until;
    uint64_t elapsed;
    bool asked;
};

struct column {
    uint64_t distance, predictions, hits, unknown;
    double brier;
    struct answer *waiting; /* a ring of `distance` */
    struct cost_histogram cost;
    struct errors error;
};

struct evaluation {
    struct column *column;
    uint32_t columns;
    struct cost_histogram follow;
    uint64_t events, clock, every;
    uint64_t elapsed; /* ns from the begin of the stream to the end of the last event */
    bool timed;
};

/* Event number `events` (from 0) came, `elapsed + gap` into the stream. */
static void judge(struct column *c, const struct evaluation *v, const struct grammar_event *e)
{
    const struct answer *a = &c->waiting[v->events % c->distance];

    if (!a->asked)
        return;
    bool hit = a->terminal == e->terminal && a->terminal != GRAMMAR_NONE;
    double wrong = (double)a->probability - hit, actual = (double)(v->elapsed + e->gap - a->elapsed);
    c->predictions++;
    c->hits += hit;
    c->unknown += a->terminal == GRAMMAR_NONE;
    c->brier += wrong * wrong;
    if (a->terminal != GRAMMAR_NONE && a->until >= 0 && actual > 0)
        count_error(&c->error, fabs(a->until - actual) / actual);
}

/* After `events` events, for number events + distance - 1: its slot is free, as the one before it there was judged. */
static void ask(struct column *c, const struct evaluation *v, struct oracle *o)
{
    struct answer *a = &c->waiting[(v->events + c->distance - 1) % c->distance];
    struct oracle_answer answer;

    a->asked = v->events % v->every == 0;
    if (!a->asked)
        return;
    uint64_t begin = cost_now();
    oracle_predict(o, c->distance, &answer);
    cost_count_since(&c->cost, begin, v->clock);
    a->terminal = answer.terminal;
    a->probability = answer.terminal == GRAMMAR_NONE ? 0 : (float)answer.probability;
    a->until = answer.until;
    a->elapsed = v->elapsed;
}

static int follow_all(struct evaluation *v, struct oracle *o, struct source *test)
{
    struct grammar_event e;
    int more;

    for (;; v->events++) {
        for (uint32_t i = 0; i < v->columns; i++)
            ask(&v->column[i], v, o);
        if ((more = source_next(test, &e)) <= 0)
            return more;
        for (uint32_t i = 0; i < v->columns; i++)
            judge(&v->column[i], v, &e);
        uint64_t begin = cost_now();
        oracle_follow(o, e.terminal, e.gap, e.duration);
        cost_count_since(&v->follow, begin, v->clock);
        v->elapsed += e.gap + e.duration;
        v->timed |= e.gap || e.duration;
    }
}

/* --- Printing --- */

static void print_costs(const struct cost_histogram *h, bool tsv)
{
    printf(tsv ? "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n" : " %8" PRIu64 " %8" PRIu64 " %10" PRIu64 "\n",
           cost_quantile(h, 0.5), cost_quantile(h, 0.99), h->max);
}

static void print_column(const struct column *c, bool timed, bool tsv)
{
    double n = c->predictions ? (double)c->predictions : 1;

    printf(tsv ? "%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\t%.6f" : "%8" PRIu64 " %12" PRIu64 " %9.4f %9.4f %9.4f",
           c->distance, c->predictions, (double)c->hits / n, (double)c->unknown / n, c->brier / n);
    if (timed && c->error.count)
        printf(tsv ? "\t%.4f" : " %11.4f", median_error(&c->error));
    else
        printf(tsv ? "\t-" : " %11s", "-");
    print_costs(&c->cost, tsv);
}

static void print(const struct evaluation *v, bool tsv)
{
    if (tsv)
        puts("distance\tpredictions\taccuracy\tunknown\tbrier\ttime_error_median\tp50_ns\tp99_ns\tmax_ns");
    else
        printf("%8s %12s %9s %9s %9s %11s %8s %8s %10s\n", "distance", "predictions", "accuracy", "unknown", "brier",
               "time error", "p50 ns", "p99 ns", "max ns");
    for (uint32_t i = 0; i < v->columns; i++)
        print_column(&v->column[i], v->timed, tsv);
    if (tsv)
        printf("follow\t%" PRIu64 "\t-\t-\t-\t-", v->events);
    else
        printf("%8s %12" PRIu64 " %9s %9s %9s %11s", "follow", v->events, "-", "-", "-", "-");
    print_costs(&v->follow, tsv);
}

/* --- The whole --- */

enum { LEARN_MEMORY = 4 << 20 }; /* as much as a stream of a predicted run has */

static int evaluation_create(struct evaluation *v, const struct request *r)
{
    v->column = calloc(r->distances, sizeof *v->column);
    v->columns = v->column ? r->distances : 0;
    v->clock = cost_of_clock();
    v->every = r->every;
    for (uint32_t i = 0; i < v->columns; i++) {
        v->column[i].distance = r->distance[i];
        v->column[i].waiting = calloc(r->distance[i], sizeof *v->column[i].waiting);
        if (!v->column[i].waiting)
            return TOOL_MEMORY;
    }
    return v->column ? TOOL_OK : TOOL_MEMORY;
}

static void evaluation_clear(struct evaluation *v)
{
    for (uint32_t i = 0; i < v->columns; i++)
        free(v->column[i].waiting);
    free(v->column);
}

/* `g` NULL: without a reference. */
static int evaluate(const struct grammar_flat *g, struct source *test, struct evaluation *v, const struct request *r)
{
    struct oracle_options how = { .hypotheses = (uint32_t)r->hypotheses, .learn = r->learn ? LEARN_MEMORY : 0 };
    struct oracle_index *index = g ? oracle_index_create(g) : NULL;
    const struct oracle_index *one = index;
    struct oracle *o = index || !g ? oracle_create(&one, NULL, g != NULL, &how) : NULL;
    int rc = o ? evaluation_create(v, r) : TOOL_MEMORY;

    if (rc == TOOL_OK && follow_all(v, o, test) < 0)
        rc = TOOL_INPUT;
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
    int rc = v && words ? TOOL_OK : TOOL_MEMORY;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    if (rc == TOOL_OK && strcmp(r.train, "none")) {
        rc = source_open(&train, r.train, "learning", words, NULL, &r);
        rc = rc == TOOL_OK ? learn(&train, &g) : rc;
    }
    rc = rc == TOOL_OK ? source_open(&test, r.test, "predicting", words, &train, &r) : rc;
    rc = rc == TOOL_OK ? evaluate(g, &test, v, &r) : rc;
    if (rc == TOOL_OK)
        print(v, r.tsv);
    source_close(&test);
    source_close(&train);
    if (v)
        evaluation_clear(v);
    free(v);
    grammar_flat_destroy(g);
    stream_words_destroy(words);
    return rc;
}
