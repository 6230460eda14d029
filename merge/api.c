/* SPDX-License-Identifier: MIT */
/*
 * The public interface for any runtime: words in, grammar and job file behind, answers out. Words become terminals of kind
 * JOB_WORD; a recorder numbers them by the job's own tables, an oracle finds those of its recording by binary search and
 * others by their hash, which allocates nothing but for a new word.
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "grammar/grammar.h"
#include "merge/intern.h"
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

enum { LEARN = 4 << 20, LOOK_AHEAD = 64 };

struct word { const char *text; uint32_t terminal; };

/*
 * Terminals below `count` are the recording's; a word that it does not have gets the next number when it is first seen.
 */
struct pythia_oracle {
    struct job *job;            /* NULL: no recording */
    struct oracle_index *index;
    struct oracle *oracle;
    struct word *words;         /* in the order of their texts, then terminals */
    uint32_t count;
    struct merge_table numbers; /* of the other words */
    char **others;              /* their texts, each its own: they never move */
    uint32_t other_count, other_room;
    uint8_t *set;               /* of terminals, all 0 between questions */
    uint32_t set_room;
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

static bool is_recorded(const struct pythia_oracle *o, uint32_t i, const char *text)
{
    return i < o->count && strcmp(o->words[i].text, text) == 0;
}

static int index_words(struct pythia_oracle *o)
{
    o->count = o->job->terminal_count;
    o->words = calloc((size_t)o->count + 1, sizeof *o->words);
    if (!o->words || merge_room(&o->set, &o->set_room, (uint64_t)o->count + 1, 1))
        return PYTHIA_ENOMEM;
    memset(o->set, 0, o->set_room);
    for (uint32_t t = 0; t < o->count; t++)
        o->words[t] = (struct word){ job_text(o->job, o->job->terminals[t].function), t };
    qsort(o->words, o->count, sizeof *o->words, by_text);
    return 0;
}

/* --- Words that the recording does not have --- */

static struct grammar_hash word_hash(const char *text)
{
    XXH128_hash_t h = XXH3_128bits(text, strlen(text));

    return (struct grammar_hash){ h.low64, h.high64 };
}

/* Everything that can fail comes first. GRAMMAR_NONE when out of memory. */
static uint32_t other_add(struct pythia_oracle *o, const char *text, struct grammar_hash hash)
{
    uint32_t number = o->count + o->other_count, set = o->set_room;

    if (number >= MERGE_LIMIT || merge_table_reserve(&o->numbers, 1) ||
        merge_room(&o->others, &o->other_room, (uint64_t)o->other_count + 1, sizeof *o->others) ||
        merge_room(&o->set, &o->set_room, (uint64_t)number + 1, 1))
        return GRAMMAR_NONE;
    memset(o->set + set, 0, o->set_room - set);
    if (!(o->others[o->other_count] = strdup(text)))
        return GRAMMAR_NONE;
    merge_table_put(&o->numbers, hash, number);
    o->other_count++;
    return number;
}

static uint32_t other_find(const struct pythia_oracle *o, const char *text)
{
    return merge_table_find(&o->numbers, word_hash(text));
}

static uint32_t word_number(struct pythia_oracle *o, const char *text)
{
    uint32_t i = lower_bound(o, text), number;

    if (is_recorded(o, i, text))
        return o->words[i].terminal;
    number = other_find(o, text);
    return number != GRAMMAR_NONE ? number : other_add(o, text, word_hash(text));
}

static const char *word_text(const struct pythia_oracle *o, uint32_t terminal)
{
    if (terminal < o->count)
        return job_text(o->job, o->job->terminals[terminal].function);
    return o->others[terminal - o->count];
}

/* --- Opening --- */

static int start(struct pythia_oracle *o, const struct grammar_flat *grammar)
{
    static const struct oracle_options how = { .learn = LEARN };
    const struct oracle_index *one = NULL;

    if (grammar && !(one = o->index = oracle_index_create(grammar)))
        return PYTHIA_ENOMEM;
    o->oracle = oracle_create(&one, NULL, grammar != NULL, &how);
    return o->oracle ? 0 : PYTHIA_ENOMEM;
}

/* Takes ownership of `job`. Of one that was opened it is here that this stream's rules are read. */
static int open_job(struct job *job, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle)
{
    uint32_t class_index = job_stream_class(job, rank, thread);
    struct pythia_oracle *o = calloc(1, sizeof *o);
    int error = class_index != GRAMMAR_NONE ? 0 : PYTHIA_EINVAL;
    char why[256];

    if (!o) {
        job_destroy(job);
        return PYTHIA_ENOMEM;
    }
    o->job = job;
    error = error ? error : job_open_class(job, class_index, why, sizeof why);
    error = error ? error : index_words(o);
    error = error ? error : start(o, job->classes[class_index].grammar);
    if (error)
        pythia_oracle_close(o);
    else
        *oracle = o;
    return error;
}

int pythia_oracle_open(const char *path, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle)
{
    struct job *job;
    char why[256];

    if (!path || !oracle)
        return PYTHIA_EINVAL;
    int error = job_open(path, &job, why, sizeof why);
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

int pythia_oracle_create(pythia_oracle_t **oracle)
{
    struct pythia_oracle *o = oracle ? calloc(1, sizeof *o) : NULL;

    if (!oracle)
        return PYTHIA_EINVAL;
    if (!o || start(o, NULL)) {
        pythia_oracle_close(o);
        return PYTHIA_ENOMEM;
    }
    *oracle = o;
    return 0;
}

void pythia_oracle_close(pythia_oracle_t *oracle)
{
    if (!oracle)
        return;
    oracle_destroy(oracle->oracle);
    oracle_index_destroy(oracle->index);
    job_destroy(oracle->job);
    for (uint32_t i = 0; i < oracle->other_count; i++)
        free(oracle->others[i]);
    free(oracle->others);
    merge_table_free(&oracle->numbers);
    free(oracle->words);
    free(oracle->set);
    free(oracle);
}

/* --- Following and asking --- */

int pythia_oracle_follow(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    if (!oracle || !word)
        return PYTHIA_EINVAL;
    uint32_t terminal = word_number(oracle, word);
    oracle_follow(oracle->oracle, terminal, gap_ns, duration_ns); /* GRAMMAR_NONE: something unknown */
    return terminal == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}

static void give(const struct pythia_oracle *o, uint64_t distance, const struct oracle_answer *from,
                 struct pythia_answer *to)
{
    *to = (struct pythia_answer){
        .word = word_text(o, from->terminal),
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

/* Marks (or clears) the terminals of a word. Returns their number. */
static uint32_t mark(struct pythia_oracle *o, const char *word, uint8_t value)
{
    uint32_t i = lower_bound(o, word), marked = 0, other = other_find(o, word);

    for (; is_recorded(o, i, word); i++, marked++)
        o->set[o->words[i].terminal] = value;
    if (other != GRAMMAR_NONE) {
        o->set[other] = value;
        marked++;
    }
    return marked;
}

/* The first of the marked terminals among what this run's own past lets expect. */
static int look_ahead(struct pythia_oracle *o, uint64_t *distance, struct oracle_answer *a)
{
    for (*distance = 1; *distance <= LOOK_AHEAD; ++*distance)
        if (oracle_predict(o->oracle, *distance, a))
            return 1;
        else if (o->set[a->terminal])
            return 0;
    return 1;
}

int pythia_oracle_next_of(pythia_oracle_t *oracle, const char *const *words, uint32_t count, struct pythia_answer *answer)
{
    struct oracle_answer a;
    uint64_t distance;
    uint32_t marked = 0;
    int status = 1;

    if (!oracle || !words || !answer)
        return PYTHIA_EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (!words[i])
            return PYTHIA_EINVAL;
    for (uint32_t i = 0; i < count; i++)
        marked += mark(oracle, words[i], 1);
    if (marked && oracle->count)
        status = oracle_next(oracle->oracle, oracle->set, oracle->count, 0, &distance, &a);
    if (marked && status)
        status = look_ahead(oracle, &distance, &a);
    for (uint32_t i = 0; i < count; i++)
        mark(oracle, words[i], 0);
    if (status == 0)
        give(oracle, distance, &a, answer);
    return status;
}

int pythia_oracle_next(pythia_oracle_t *oracle, const char *word, struct pythia_answer *answer)
{
    return pythia_oracle_next_of(oracle, &word, 1, answer);
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

int pythia_oracle_loop(pythia_oracle_t *oracle, double *events, double *ns)
{
    struct oracle_remaining r;

    if (!oracle)
        return PYTHIA_EINVAL;
    oracle_remaining(oracle->oracle, &r);
    if (r.loop_events < 0)
        return 1;
    if (events)
        *events = r.loop_events;
    if (ns)
        *ns = r.loop_ns;
    return 0;
}
