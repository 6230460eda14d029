/* SPDX-License-Identifier: MIT */
/*
 * The public interface for any runtime: words in, grammar and job file behind, answers out. Words become terminals of kind
 * JOB_WORD; a recorder numbers them by the job's own tables, an oracle finds them by binary search, which allocates nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "merge/job.h"
#include "oracle/oracle.h"
#include "pythia.h"

/* --- Recording --- */

enum { MEMORY = 64 << 20 };

struct pythia_recorder {
    struct grammar *grammar;
    struct job *words; /* terminals only, numbered as in the grammar */
    uint64_t wall_ns;
};

static uint32_t word_terminal(struct job *j, const char *word)
{
    uint32_t text = job_string(j, word);
    struct job_terminal t = { .kind = JOB_WORD, .phase = JOB_LEAF, .function = text, .callsite = GRAMMAR_NONE,
                              .comm = GRAMMAR_NONE };

    return text == GRAMMAR_NONE ? GRAMMAR_NONE : job_terminal(j, &t);
}

int pythia_recorder_create(pythia_recorder_t **recorder)
{
    struct pythia_recorder *r = recorder ? calloc(1, sizeof *r) : NULL;

    if (!recorder)
        return PYTHIA_EINVAL;
    if (!r)
        return PYTHIA_ENOMEM;
    r->grammar = grammar_create(MEMORY);
    r->words = job_create();
    if (!r->grammar || !r->words) {
        pythia_recorder_destroy(r);
        return PYTHIA_ENOMEM;
    }
    *recorder = r;
    return 0;
}

void pythia_recorder_destroy(pythia_recorder_t *recorder)
{
    if (!recorder)
        return;
    grammar_destroy(recorder->grammar);
    job_destroy(recorder->words);
    free(recorder);
}

int pythia_recorder_event(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    struct grammar_event e = { .gap = gap_ns, .duration = duration_ns };

    if (!recorder || !word || !*word)
        return PYTHIA_EINVAL;
    e.terminal = word_terminal(recorder->words, word);
    if (e.terminal == GRAMMAR_NONE)
        return PYTHIA_ENOMEM;
    grammar_append(recorder->grammar, &e);
    recorder->wall_ns += gap_ns + duration_ns;
    return 0;
}

/* A job of its own: the recorder's must not get a stream, since it goes on. */
static int make_job(pythia_recorder_t *r, struct job **job)
{
    struct job_stream stream = { .events = grammar_events(r->grammar), .lost = grammar_lost(r->grammar),
                                 .wall_ns = r->wall_ns };
    struct job *j = job_create();
    struct grammar_flat *g = grammar_freeze(r->grammar);
    int error = PYTHIA_ENOMEM;

    if (!j || !g)
        goto destroy;
    for (uint32_t t = 0; t < r->words->terminal_count; t++)
        if (word_terminal(j, job_text(r->words, r->words->terminals[t].function)) != t)
            goto destroy;
    j->info.program = j->info.program_id = j->info.arguments = j->info.mpi = job_string(j, "");
    j->info.ranks = j->info.threads = 1;
    j->info.wall_ns = r->wall_ns;
    error = job_add_stream(j, &stream, g);
    g = NULL;
    if (error)
        goto destroy;
    *job = j;
    return 0;
destroy:
    grammar_flat_destroy(g);
    job_destroy(j);
    return error;
}

int pythia_recorder_write(pythia_recorder_t *recorder, const char *path)
{
    struct job *j;
    char why[256];

    if (!recorder || !path)
        return PYTHIA_EINVAL;
    int error = make_job(recorder, &j);
    if (error)
        return error;
    error = job_write(j, path, why, sizeof why);
    job_destroy(j);
    return error;
}

/* --- Predicting --- */

struct word { const char *text; uint32_t terminal; };

struct pythia_oracle {
    struct job *job;
    struct oracle_index *index;
    struct oracle *oracle;
    struct word *words; /* in the order of their texts, then terminals */
    uint32_t count;
    uint8_t *set;       /* of terminals, all 0 between questions */
};

static int by_text(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    return order ? order : (x->terminal > y->terminal) - (x->terminal < y->terminal);
}

/* Index of the first word that is not before `text`. */
static uint32_t lower_bound(const struct pythia_oracle *o, const char *text)
{
    uint32_t low = 0, high = o->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(o->words[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int index_words(struct pythia_oracle *o)
{
    o->count = o->job->terminal_count;
    o->words = calloc((size_t)o->count + 1, sizeof *o->words);
    o->set = calloc((size_t)o->count + 1, 1);
    if (!o->words || !o->set)
        return PYTHIA_ENOMEM;
    for (uint32_t t = 0; t < o->count; t++)
        o->words[t] = (struct word){ job_text(o->job, o->job->terminals[t].function), t };
    qsort(o->words, o->count, sizeof *o->words, by_text);
    return 0;
}

/* Takes ownership of `job`. */
static int open_job(struct job *job, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle)
{
    const struct job_stream *stream = job_find_stream(job, rank, thread);
    struct pythia_oracle *o = calloc(1, sizeof *o);
    const struct oracle_index *one;
    int error = PYTHIA_ENOMEM;

    if (!o) {
        job_destroy(job);
        return PYTHIA_ENOMEM;
    }
    o->job = job;
    if (!stream) {
        error = PYTHIA_EINVAL;
        goto close;
    }
    if (index_words(o))
        goto close;
    one = o->index = oracle_index_create(job->classes[stream->class_index].grammar);
    o->oracle = one ? oracle_create(&one, NULL, 1, NULL) : NULL;
    if (!o->oracle)
        goto close;
    *oracle = o;
    return 0;
close:
    pythia_oracle_close(o);
    return error;
}

int pythia_oracle_open(const char *path, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle)
{
    struct job *job;
    char why[256];

    if (!path || !oracle)
        return PYTHIA_EINVAL;
    int error = job_read(path, &job, why, sizeof why);
    return error ? error : open_job(job, rank, thread, oracle);
}

int pythia_oracle_open_recorder(pythia_recorder_t *recorder, pythia_oracle_t **oracle)
{
    struct job *job;

    if (!recorder || !oracle)
        return PYTHIA_EINVAL;
    int error = make_job(recorder, &job);
    return error ? error : open_job(job, 0, 0, oracle);
}

void pythia_oracle_close(pythia_oracle_t *oracle)
{
    if (!oracle)
        return;
    oracle_destroy(oracle->oracle);
    oracle_index_destroy(oracle->index);
    job_destroy(oracle->job);
    free(oracle->words);
    free(oracle->set);
    free(oracle);
}

int pythia_oracle_follow(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    if (!oracle || !word)
        return PYTHIA_EINVAL;
    uint32_t i = lower_bound(oracle, word);
    bool known = i < oracle->count && strcmp(oracle->words[i].text, word) == 0;
    oracle_follow(oracle->oracle, known ? oracle->words[i].terminal : GRAMMAR_NONE, gap_ns, duration_ns);
    return 0;
}

static void give(const struct pythia_oracle *o, uint64_t distance, const struct oracle_answer *from,
                 struct pythia_answer *to)
{
    *to = (struct pythia_answer){
        .word = job_text(o->job, o->job->terminals[from->terminal].function),
        .distance = distance,
        .probability = from->probability,
        .until_ns = from->until,
        .until_deviation_ns = from->until_deviation,
        .duration_ns = from->duration,
        .duration_deviation_ns = from->duration_deviation,
    };
}

int pythia_oracle_predict(pythia_oracle_t *oracle, uint64_t distance, struct pythia_answer *answer)
{
    struct oracle_answer a;

    if (!oracle || !answer || distance == 0)
        return PYTHIA_EINVAL;
    if (oracle_predict(oracle->oracle, distance, &a))
        return 1;
    give(oracle, distance, &a, answer);
    return 0;
}

int pythia_oracle_next(pythia_oracle_t *oracle, const char *word, struct pythia_answer *answer)
{
    struct oracle_answer a;
    uint64_t distance;
    int status = 1;

    if (!oracle || !word || !answer)
        return PYTHIA_EINVAL;
    uint32_t first = lower_bound(oracle, word), end = first;
    for (; end < oracle->count && strcmp(oracle->words[end].text, word) == 0; end++)
        oracle->set[oracle->words[end].terminal] = 1;
    if (end > first)
        status = oracle_next(oracle->oracle, oracle->set, oracle->count, 0, &distance, &a);
    for (uint32_t i = first; i < end; i++)
        oracle->set[oracle->words[i].terminal] = 0;
    if (status == 0)
        give(oracle, distance, &a, answer);
    return status;
}

int pythia_oracle_remaining(pythia_oracle_t *oracle, double *events, double *ns, double *progress)
{
    struct oracle_remaining r;

    if (!oracle)
        return PYTHIA_EINVAL;
    oracle_remaining(oracle->oracle, &r);
    if (r.events < 0)
        return 1;
    if (events)
        *events = r.events;
    if (ns)
        *ns = r.ns;
    if (progress)
        *progress = r.progress;
    return 0;
}
