/* SPDX-License-Identifier: MIT */
/*
 * The public interface for any runtime: an oracle that follows words and answers with words. A job file is opened as a
 * predicted run does: what the stream needs is read, when it is needed.
 */
#include "api/api.h"
#include "file/ahead.h"
#include "file/file.h"

#include <stdlib.h>

#include "pythia.h"

enum { LEARN = 4 << 20, LOOK_AHEAD = 64 };

struct pythia_oracle {
    struct api_lender lender; /* all NULL: nobody's but the caller's */
    struct job *job; /* NULL: no recording */
    struct oracle_index *index;
    struct oracle *oracle;
    struct api_words words;
    struct api_peers peers;
};

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
    const struct grammar_flat *grammar = NULL;
    char why[256];

    if (!o) {
        job_destroy(job);
        return PYTHIA_ENOMEM;
    }
    o->job = job;
    error = error ? error : file_open_member(job, class_index, rank, thread, &grammar, why, sizeof why);
    error = error ? error : start(o, grammar);
    error = error ? error : api_words_open(&o->words, job);
    error = error ? error : api_peers_open(&o->peers, job, class_index, rank, thread, true);
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
    int error = file_open(path, &job, why, sizeof why);
    return error ? error : open_job(job, rank, thread, oracle);
}

int pythia_oracle_open_recorder(pythia_recorder_t *recorder, pythia_oracle_t **oracle)
{
    struct job *job;

    if (!recorder || !oracle)
        return PYTHIA_EINVAL;
    int error = api_recorder_job(recorder, &job);
    return error ? error : open_job(job, 0, 0, oracle);
}

int pythia_oracle_create(pythia_oracle_t **oracle)
{
    struct pythia_oracle *o = oracle ? calloc(1, sizeof *o) : NULL;

    if (!oracle)
        return PYTHIA_EINVAL;
    if (!o || start(o, NULL) || api_words_open(&o->words, NULL) || api_peers_open(&o->peers, NULL, 0, 0, 0, true)) {
        pythia_oracle_close(o);
        return PYTHIA_ENOMEM;
    }
    *oracle = o;
    return 0;
}

void pythia_oracle_close(pythia_oracle_t *oracle)
{
    if (!oracle || oracle->lender.enter)
        return;
    oracle_destroy(oracle->oracle);
    oracle_index_destroy(oracle->index);
    job_destroy(oracle->job);
    api_words_close(&oracle->words);
    api_peers_close(&oracle->peers);
    free(oracle);
}

/* --- Lending --- */

int api_lend(const struct api_loan *loan, pythia_oracle_t **oracle)
{
    struct pythia_oracle *o = calloc(1, sizeof *o);

    if (!o)
        return PYTHIA_ENOMEM;
    o->lender = loan->lender;
    o->oracle = loan->oracle;
    int error = api_words_open(&o->words, loan->job);
    error = error ? error : api_peers_open(&o->peers, loan->job, loan->class_index, loan->rank, loan->thread,
                                            false);
    o->peers.lent = loan->courses;
    if (error)
        api_lent_destroy(o);
    else
        *oracle = o;
    return error;
}

void api_lent_destroy(pythia_oracle_t *o)
{
    if (!o)
        return;
    api_words_close(&o->words);
    api_peers_close(&o->peers);
    free(o);
}

/* Around each question: whoever lent it may be at it. False: nothing can be asked now. */
static bool api_enter(const struct pythia_oracle *o)
{
    return !o->lender.enter || o->lender.enter(o->lender.context);
}

static void api_leave(const struct pythia_oracle *o)
{
    if (o->lender.leave)
        o->lender.leave(o->lender.context);
}

/* --- Following and asking --- */

/* `peer` -1: none. */
static int api_follow(pythia_oracle_t *o, const char *word, uint64_t gap, uint64_t duration, int64_t peer)
{
    if (!o || !word || o->lender.enter)
        return PYTHIA_EINVAL;
    uint32_t terminal = api_words_number(&o->words, word, peer >= 0);
    oracle_follow(o->oracle, terminal, gap, duration); /* GRAMMAR_NONE: something unknown */
    api_peers_follow(&o->peers, o->oracle, terminal, peer);
    return terminal == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}

int pythia_oracle_follow(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    return api_follow(oracle, word, gap_ns, duration_ns, -1);
}

int pythia_oracle_follow_message(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns, uint64_t duration_ns,
                                 uint32_t peer)
{
    return peer <= INT32_MAX ? api_follow(oracle, word, gap_ns, duration_ns, peer) : PYTHIA_EINVAL;
}

static void api_give(const struct pythia_oracle *o, uint64_t distance, struct oracle_answer *from,
                     struct pythia_answer *to)
{
    oracle_bound(o->oracle, distance, from);
    *to = (struct pythia_answer){
        .word = api_words_text(&o->words, from->terminal),
        .callsite = api_words_callsite(&o->words, from->terminal),
        .distance = distance,
        .probability = from->probability,
        .until_ns = from->until,
        .until_deviation_ns = from->until_deviation,
        .duration_ns = from->duration,
        .duration_deviation_ns = from->duration_deviation,
        .until_low_ns = from->until_low,
        .until_high_ns = from->until_high,
        .duration_low_ns = from->duration_low,
        .duration_high_ns = from->duration_high,
    };
}

int pythia_oracle_predict(pythia_oracle_t *oracle, uint64_t distance, struct pythia_answer *answer)
{
    struct oracle_answer a;

    if (!oracle || !answer || distance == 0)
        return PYTHIA_EINVAL;
    int status = !api_enter(oracle) || oracle_predict(oracle->oracle, distance, &a);
    if (status == 0)
        api_give(oracle, distance, &a, answer);
    api_leave(oracle);
    return status;
}

/* The first terminal of a set among what this run's own past lets expect. */
static int look_ahead(struct pythia_oracle *o, const uint8_t *set, uint64_t *distance, struct oracle_answer *a)
{
    for (*distance = 1; *distance <= LOOK_AHEAD; ++*distance)
        if (oracle_predict(o->oracle, *distance, a))
            return 1;
        else if (set[a->terminal])
            return 0;
    return 1;
}

static int next_in(struct pythia_oracle *o, const uint8_t *set, uint64_t *distance, struct oracle_answer *a)
{
    if (o->words.count && oracle_next(o->oracle, set, o->words.count, 0, distance, a) == 0)
        return 0;
    return look_ahead(o, set, distance, a);
}

int pythia_oracle_next_of(pythia_oracle_t *oracle, const char *const *words, uint32_t count,
                          struct pythia_answer *answer)
{
    struct oracle_answer a;
    uint64_t distance;
    uint32_t marked = 0;

    if (!oracle || !words || !answer)
        return PYTHIA_EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (!words[i])
            return PYTHIA_EINVAL;
    bool may = api_enter(oracle); /* else not even the words are there: a lender's job may be gone */
    for (uint32_t i = 0; i < count && may; i++)
        marked += api_words_mark(&oracle->words, words[i], 1);
    int status = marked ? next_in(oracle, oracle->words.set, &distance, &a) : 1;
    for (uint32_t i = 0; i < count && may; i++)
        api_words_mark(&oracle->words, words[i], 0);
    if (status == 0)
        api_give(oracle, distance, &a, answer);
    api_leave(oracle);
    return status;
}

int pythia_oracle_next(pythia_oracle_t *oracle, const char *word, struct pythia_answer *answer)
{
    return pythia_oracle_next_of(oracle, &word, 1, answer);
}

int pythia_oracle_next_peer(pythia_oracle_t *oracle, uint32_t *peer, struct pythia_answer *answer)
{
    struct oracle_answer a;
    uint64_t distance;
    int64_t rank;
    double chance;

    if (!oracle || !peer || !answer)
        return PYTHIA_EINVAL;
    int status = !api_enter(oracle) || next_in(oracle, oracle->words.peer, &distance, &a) ||
                 api_peers_ask(&oracle->peers, &a, &rank, &chance);
    if (status == 0) {
        api_give(oracle, distance, &a, answer);
        answer->probability *= chance;
        *peer = (uint32_t)rank;
    }
    api_leave(oracle);
    return status;
}

int pythia_oracle_value(pythia_oracle_t *oracle, uint64_t distance, enum pythia_value what, int64_t *value,
                        struct pythia_answer *answer)
{
    static const enum grammar_channel channels[] = { GRAMMAR_PEER, GRAMMAR_BYTES, GRAMMAR_INDEX };
    struct oracle_answer a;
    double chance;

    if (!oracle || !value || !answer || !distance || distance > PYTHIA_VALUE_AHEAD || what > PYTHIA_VALUE_TAG)
        return PYTHIA_EINVAL;
    const struct api_peers *p = &oracle->peers;
    int status = 1;
    if (api_enter(oracle) && p->job) {
        struct file_stream s = { p->job, p->class_index, p->rank, p->thread, api_peers_courses(p) };
        status = file_value_ahead(&s, oracle->oracle, distance, channels[what], &a, value, &chance);
    }
    if (status == 0) {
        api_give(oracle, distance, &a, answer);
        answer->probability *= chance;
    }
    api_leave(oracle);
    return status;
}

static bool remaining(const struct pythia_oracle *o, struct oracle_remaining *r)
{
    bool may = api_enter(o);

    if (may)
        oracle_remaining(o->oracle, r);
    api_leave(o);
    return may;
}

int pythia_oracle_remaining(pythia_oracle_t *oracle, double *events, double *ns, double *progress)
{
    struct oracle_remaining r;

    if (!oracle)
        return PYTHIA_EINVAL;
    if (!remaining(oracle, &r) || r.events < 0)
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
    if (!remaining(oracle, &r) || r.loop_events < 0)
        return 1;
    if (events)
        *events = r.loop_events;
    if (ns)
        *ns = r.loop_ns;
    return 0;
}
