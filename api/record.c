/* SPDX-License-Identifier: MIT */
/* The recorder of any runtime: words become terminals of kind JOB_WORD, numbered by a job's own tables. */
#include <stdlib.h>

#include "grammar/grammar.h"
#include "api/api.h"
#include "file/file.h"
#include "merge/merge.h"
#include "pythia.h"

enum { MEMORY = 64 << 20 };

struct pythia_recorder {
    struct grammar *grammar;
    struct job *words; /* terminals only, numbered as in the grammar */
    uint64_t wall_ns;
};

/* That an event has a partner is part of what it is; who, is not. */
static uint32_t word_terminal(struct job *j, const char *word, uint8_t peer_class)
{
    uint32_t text = job_string(j, word);
    struct job_terminal t = { .kind = JOB_WORD, .phase = JOB_LEAF, .peer_class = peer_class, .function = text,
                              .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE };

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

static int append(pythia_recorder_t *r, const char *word, uint8_t peer_class, struct grammar_event e)
{
    if (!r || !word || !*word)
        return PYTHIA_EINVAL;
    e.terminal = word_terminal(r->words, word, peer_class);
    if (e.terminal == GRAMMAR_NONE)
        return PYTHIA_ENOMEM;
    grammar_append(r->grammar, &e);
    r->wall_ns += e.gap + e.duration;
    return 0;
}

int pythia_recorder_event(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    struct grammar_event e = { .gap = gap_ns, .duration = duration_ns };

    return append(recorder, word, JOB_PEER_NONE, e);
}

int pythia_recorder_message(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns, uint64_t duration_ns,
                            uint32_t peer)
{
    struct grammar_event e = { .gap = gap_ns, .duration = duration_ns, .channels = 1u << GRAMMAR_PEER,
                               .value = { [GRAMMAR_PEER] = peer } };

    return peer <= INT32_MAX ? append(recorder, word, JOB_PEER_RANK, e) : PYTHIA_EINVAL;
}

/* A job of its own: the recorder's must not get a stream, since it goes on. */
int api_recorder_job(const pythia_recorder_t *r, struct job **job)
{
    struct job_stream stream = { .events = grammar_events(r->grammar), .lost = grammar_lost(r->grammar),
                                 .wall_ns = r->wall_ns };
    struct job *j = job_create();
    struct grammar_flat *g = grammar_freeze(r->grammar);
    int error = PYTHIA_ENOMEM;

    if (!j || !g)
        goto destroy;
    for (uint32_t t = 0; t < r->words->terminal_count; t++) {
        const struct job_terminal *word = &r->words->terminals[t];
        if (word_terminal(j, job_text(r->words, word->function), word->peer_class) != t)
            goto destroy;
    }
    j->info.program = j->info.program_id = j->info.arguments = j->info.mpi = job_string(j, "");
    j->info.ranks = j->info.threads = 1;
    j->info.wall_ns = r->wall_ns;
    error = merge_add_stream(j, &stream, g);
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
    int error = api_recorder_job(recorder, &j);
    if (error)
        return error;
    error = file_write(j, path, why, sizeof why);
    job_destroy(j);
    return error;
}
