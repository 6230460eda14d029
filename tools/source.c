/* SPDX-License-Identifier: MIT */
#include "tools/source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/turns.h"
#include "tools/tool.h"

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

static int open_job(struct source *s, const struct source_stream *stream)
{
    int rc = tool_read_job(s->path, &s->job);

    if (rc != TOOL_OK)
        return rc;
    if (!stream->rank) {
        tool_complain("%s is a job file: --rank says which stream is meant", s->path);
        return TOOL_USAGE;
    }
    uint32_t class = job_stream_class(s->job, *stream->rank, stream->thread);
    if (class == GRAMMAR_NONE) {
        tool_complain("%s: no stream of rank %" PRIu32 ", thread %" PRIu32, s->path, *stream->rank, stream->thread);
        return TOOL_INPUT;
    }
    s->stream = (struct file_stream){ s->job, class, *stream->rank, stream->thread, NULL };
    s->grammar = job_member_grammar(&s->job->classes[class], *stream->rank, stream->thread);
    return TOOL_OK;
}

/* A job's terminal in the common numbering: words by their text, everything else by its content; what is only moved or
   rebuilt is the terminal of `like`, when that is a job too, as in a predicted run. */
static int number_terminals(struct source *s, const struct source *like)
{
    s->number = calloc((size_t)s->job->terminal_count + 1, sizeof *s->number);
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
        s->number[t] = job_string(s->words, text);
        if (s->number[t] == GRAMMAR_NONE) {
            tool_complain("%s: too many different events", s->path);
            return TOOL_INPUT;
        }
    }
    return TOOL_OK;
}

int source_open(struct source *s, const char *path, const char *what, struct job *words,
                const struct source *like, const struct source_stream *stream)
{
    s->path = path;
    s->words = words;
    if (!is_job(path)) {
        s->text = stream_open(path, words);
        progress_begin(&s->progress, what, stream_size(s->text));
        return TOOL_OK;
    }
    int rc = open_job(s, stream);
    if (rc == TOOL_OK)
        rc = number_terminals(s, like);
    if (rc == TOOL_OK) {
        s->more = grammar_cursor_open(&s->cursor, s->grammar);
        progress_begin(&s->progress, what, s->grammar->events);
    }
    return rc;
}

void source_close(struct source *s)
{
    stream_close(s->text);
    if (s->grammar)
        grammar_cursor_close(&s->cursor);
    job_member_free(s->grammar);
    job_destroy(s->job);
    free(s->number);
}

static int read_text(struct source *s, struct grammar_event *e)
{
    int more = stream_next(s->text, e);

    progress_at(&s->progress, stream_bytes(s->text));
    if (more <= 0)
        progress_end(&s->progress);
    if (more < 0)
        tool_complain("%s", stream_why(s->text));
    return more;
}

static void read_cursor(struct source *s, struct grammar_event *e)
{
    const struct grammar_stats *t = &s->grammar->stats[s->cursor.node];

    memset(e, 0, sizeof *e);
    e->terminal = s->cursor.terminal == GRAMMAR_LOST ? GRAMMAR_NONE : s->number[s->cursor.terminal];
    e->gap = (uint64_t)grammar_moments_mean(&t->gap, t->count);
    e->duration = (uint64_t)grammar_moments_mean(&t->duration, t->count);
    for (enum grammar_channel c = 0; c < GRAMMAR_CHANNELS; c++)
        if (!job_attr_value(s->job, &s->job->classes[s->stream.class_index], s->cursor.node, c, s->stream.rank,
                            s->stream.thread, s->cursor.nth, &e->value[c]))
            e->channels |= 1u << c;
    progress_at(&s->progress, s->cursor.index);
    s->more = grammar_cursor_next(&s->cursor);
    if (!s->more)
        progress_end(&s->progress);
}

int source_next(struct source *s, struct grammar_event *e)
{
    if (s->text)
        return read_text(s, e);
    if (!s->more)
        return 0;
    read_cursor(s, e);
    return 1;
}

int source_learn(struct source *s, struct grammar_flat **g)
{
    struct grammar *grammar;
    struct grammar_event e;
    int more;

    if (s->grammar) {
        *g = grammar_flat_copy(s->grammar);
        grammar_flat_renumber(*g, s->number, s->words->string_count);
        return TOOL_OK;
    }
    grammar = tool_need(grammar_create((size_t)1 << 30));
    while ((more = read_text(s, &e)) > 0)
        grammar_append(grammar, &e);
    if (more == 0)
        *g = grammar_freeze(grammar);
    grammar_destroy(grammar);
    return more < 0 ? TOOL_INPUT : TOOL_OK;
}
