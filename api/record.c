/* SPDX-License-Identifier: MIT */
/* The recorder of any runtime: words become terminals of kind JOB_WORD. Each stream numbers its own, so that threads
   record_append without knowing of each other; the job that is made of them has one number a word. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "grammar/grammar.h"
#include "file/file.h"
#include "merge/merge.h"
#include "pythia.h"

enum { MEMORY = 64 << 20, MOST = 1 << 20 };

struct pythia_recorder {
    struct grammar *grammar;
    struct job *words; /* terminals only, numbered as in the grammar */
    uint64_t wall_ns;
    uint32_t rank, thread;
    struct pythia_recorder *owner; /* NULL: this is the recorder that was created; what follows is the owner's */
    struct pythia_recorder **streams; /* but itself */
    uint32_t stream_count, stream_room;
    char *program, *arguments; /* NULL: no name */
};

/* That an event has a peer is part of what it is; who, is not. */
static uint32_t word_terminal(struct job *j, const char *word, uint8_t peer_class)
{
    uint32_t text = job_string(j, word);
    struct job_terminal t = { .kind = JOB_WORD, .phase = JOB_LEAF, .peer_class = peer_class, .function = text,
                              .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE };

    return text == GRAMMAR_NONE ? GRAMMAR_NONE : job_terminal(j, &t);
}

static void stream_destroy(struct pythia_recorder *r)
{
    if (!r)
        return;
    grammar_destroy(r->grammar);
    job_destroy(r->words);
    free(r->streams);
    free(r->program);
    free(r->arguments);
    free(r);
}

static struct pythia_recorder *stream_create(struct pythia_recorder *owner, uint32_t rank, uint32_t thread)
{
    struct pythia_recorder *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct pythia_recorder){ .grammar = grammar_create(MEMORY), .words = job_create(), .rank = rank,
                                   .thread = thread, .owner = owner };
    if (r->grammar && r->words)
        return r;
    stream_destroy(r);
    return NULL;
}

int pythia_recorder_create(pythia_recorder_t **recorder)
{
    struct pythia_recorder *r = recorder ? stream_create(NULL, 0, 0) : NULL;

    if (!recorder)
        return PYTHIA_EINVAL;
    if (!r)
        return PYTHIA_ENOMEM;
    *recorder = r;
    return 0;
}

void pythia_recorder_destroy(pythia_recorder_t *recorder)
{
    if (!recorder || recorder->owner)
        return;
    for (uint32_t i = 0; i < recorder->stream_count; i++)
        stream_destroy(recorder->streams[i]);
    stream_destroy(recorder);
}

static pythia_recorder_t *owner_of(pythia_recorder_t *r)
{
    return r->owner ? r->owner : r;
}

static pythia_recorder_t *find_stream(pythia_recorder_t *owner, uint32_t rank, uint32_t thread)
{
    if (rank == 0 && thread == 0)
        return owner;
    for (uint32_t i = 0; i < owner->stream_count; i++)
        if (owner->streams[i]->rank == rank && owner->streams[i]->thread == thread)
            return owner->streams[i];
    return NULL;
}

int pythia_recorder_stream(pythia_recorder_t *recorder, uint32_t rank, uint32_t thread, pythia_recorder_t **stream)
{
    if (!recorder || !stream || rank >= MOST || thread >= MOST)
        return PYTHIA_EINVAL;
    pythia_recorder_t *owner = owner_of(recorder), *there = find_stream(owner, rank, thread);
    if (!there) {
        if (base_array_room(&owner->streams, &owner->stream_room, owner->stream_count + (uint64_t)1,
                            sizeof *owner->streams) ||
            !(there = stream_create(owner, rank, thread)))
            return PYTHIA_ENOMEM;
        owner->streams[owner->stream_count++] = there;
    }
    *stream = there;
    return 0;
}

int pythia_recorder_name(pythia_recorder_t *recorder, const char *program, const char *arguments)
{
    if (!recorder)
        return PYTHIA_EINVAL;
    pythia_recorder_t *r = owner_of(recorder);
    char *new_program = program ? strdup(program) : NULL, *new_arguments = arguments ? strdup(arguments) : NULL;
    if ((program && !new_program) || (arguments && !new_arguments)) {
        free(new_program);
        free(new_arguments);
        return PYTHIA_ENOMEM;
    }
    if (program) {
        free(r->program);
        r->program = new_program;
    }
    if (arguments) {
        free(r->arguments);
        r->arguments = new_arguments;
    }
    return 0;
}

static int record_append(pythia_recorder_t *r, const char *word, uint8_t peer_class, struct grammar_event *e)
{
    if (!r || !word || !*word)
        return PYTHIA_EINVAL;
    e->terminal = word_terminal(r->words, word, peer_class);
    if (e->terminal == GRAMMAR_NONE)
        return PYTHIA_ENOMEM;
    grammar_append(r->grammar, e);
    r->wall_ns += e->gap + e->duration;
    return 0;
}

int pythia_recorder_event(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns, uint64_t duration_ns)
{
    struct grammar_event e;

    grammar_event_set(&e, GRAMMAR_NONE, gap_ns, duration_ns);
    return record_append(recorder, word, JOB_PEER_NONE, &e);
}

int pythia_recorder_message(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns, uint64_t duration_ns,
                            uint32_t peer)
{
    struct grammar_event e;

    grammar_event_set(&e, GRAMMAR_NONE, gap_ns, duration_ns);
    e.channels = 1u << GRAMMAR_PEER;
    e.value[GRAMMAR_PEER] = peer;
    return peer <= INT32_MAX ? record_append(recorder, word, JOB_PEER_RANK, &e) : PYTHIA_EINVAL;
}

/* --- The job --- */

static uint32_t stream_total(const pythia_recorder_t *owner)
{
    return owner->owner ? 1 : owner->stream_count + 1;
}

/* The recorder itself first; a stream alone stands for itself. */
static const pythia_recorder_t *stream_at(const pythia_recorder_t *owner, uint32_t i)
{
    return i == 0 ? owner : owner->streams[i - 1];
}

/* Whether a stream comes into the job: those without an event do not, unless there is no other. */
static bool is_told(const pythia_recorder_t *owner, uint32_t i)
{
    return grammar_events(stream_at(owner, i)->grammar) > 0 || stream_total(owner) == 1;
}

/* How many ranks have a stream. */
static int count_ranks(const pythia_recorder_t *owner, uint32_t ranks, uint32_t *told)
{
    BASE_OWN uint8_t *seen = calloc(ranks, 1);

    *told = 0;
    if (!seen)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < stream_total(owner); i++) {
        uint8_t *rank = &seen[owner->owner ? 0 : stream_at(owner, i)->rank];
        if (!is_told(owner, i))
            continue;
        *told += !*rank;
        *rank = 1;
    }
    return 0;
}

static int fill_info(struct job *j, const pythia_recorder_t *owner)
{
    struct job_info *info = &j->info;
    uint32_t told = 0;

    info->program = job_string(j, owner->program ? owner->program : "");
    info->arguments = job_string(j, owner->arguments ? owner->arguments : "");
    info->program_id = info->mpi = job_string(j, "");
    for (uint32_t i = 0; i < stream_total(owner); i++) {
        const pythia_recorder_t *s = stream_at(owner, i);
        uint32_t rank = owner->owner ? 0 : s->rank, thread = owner->owner ? 0 : s->thread;
        if (!is_told(owner, i))
            continue;
        info->ranks = rank >= info->ranks ? rank + 1 : info->ranks;
        info->threads = thread >= info->threads ? thread + 1 : info->threads;
        info->wall_ns = s->wall_ns > info->wall_ns ? s->wall_ns : info->wall_ns;
    }
    info->ranks += !info->ranks; /* streams, and none has an event */
    info->threads += !info->threads;
    if (info->program == GRAMMAR_NONE || info->arguments == GRAMMAR_NONE || info->mpi == GRAMMAR_NONE ||
        count_ranks(owner, info->ranks, &told))
        return PYTHIA_ENOMEM;
    info->missing = told ? info->ranks - told : 0;
    return 0;
}

/* The job's numbers of the stream's words, defined where they are new; malloc'ed, NULL when out of memory. */
static uint32_t *define_words(struct job *j, const pythia_recorder_t *s)
{
    uint32_t *number = malloc((s->words->terminal_count + (size_t)1) * sizeof *number);

    for (uint32_t t = 0; number && t < s->words->terminal_count; t++) {
        const struct job_terminal *word = &s->words->terminals[t];
        number[t] = word_terminal(j, job_text(s->words, word->function), word->peer_class);
        if (number[t] == GRAMMAR_NONE) {
            free(number);
            return NULL;
        }
    }
    return number;
}

/* All words are defined. `alone`: the job is this stream's, whatever its numbers. */
static int add_stream(struct job *j, const pythia_recorder_t *s, bool alone)
{
    struct job_stream stream = { .rank = alone ? 0 : s->rank, .thread = alone ? 0 : s->thread,
                                 .events = grammar_events(s->grammar), .lost = grammar_lost(s->grammar),
                                 .wall_ns = s->wall_ns };
    struct grammar_flat *g = grammar_freeze(s->grammar);
    BASE_OWN uint32_t *number = define_words(j, s);

    if (!g || !number) {
        grammar_flat_destroy(g);
        return PYTHIA_ENOMEM;
    }
    grammar_flat_renumber(g, number, 0);
    g->terminals = j->terminal_count;
    return merge_add_stream(j, &stream, g);
}

static int define_all(struct job *j, const pythia_recorder_t *r)
{
    for (uint32_t i = 0; i < stream_total(r); i++) {
        BASE_OWN uint32_t *number = define_words(j, stream_at(r, i));
        if (!number)
            return PYTHIA_ENOMEM;
    }
    return 0;
}

/* A job of its own: the recorder goes on. */
int api_recorder_job(const pythia_recorder_t *r, struct job **job)
{
    struct job *j = job_create();
    int error = !j || fill_info(j, r) || define_all(j, r) ? PYTHIA_ENOMEM : 0;

    for (uint32_t i = 0; !error && i < stream_total(r); i++)
        error = is_told(r, i) ? add_stream(j, stream_at(r, i), r->owner != NULL) : 0;
    if (error)
        job_destroy(j);
    else
        *job = j;
    return error;
}

int pythia_recorder_write(pythia_recorder_t *recorder, const char *path)
{
    struct job *j;
    char why[256];

    if (!recorder || !path)
        return PYTHIA_EINVAL;
    int error = api_recorder_job(owner_of(recorder), &j);
    if (error)
        return error;
    error = file_write(j, path, why, sizeof why);
    int reason = errno;
    job_destroy(j);
    errno = reason;
    return error;
}
