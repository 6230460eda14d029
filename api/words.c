/* SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "base/order.h"
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "pythia.h"

/* --- Of the recording --- */

static int order(const struct api_word *x, const char *text, uint8_t with)
{
    return strcmp(x->text, text) ?: BASE_ORDER(x->with, with);
}

BASE_COMPARISON(compare, struct api_word, order(a, b->text, b->with) ?: BASE_UP(terminal))

/* Index of the first one that is not before the word. */
static uint32_t lower_bound(const struct api_words *w, const char *text, uint8_t with)
{
    return BASE_ARRAY_PLACE(w->entries, i, order(&w->word[i], text, with) < 0);
}

static bool is_at(const struct api_words *w, uint32_t i, const char *text)
{
    return i < w->entries && strcmp(w->word[i].text, text) == 0;
}

static bool has_peer(const struct job_terminal *t)
{
    return t->peer_class == JOB_PEER_RANK || t->peer_class == JOB_PEER_SELF || t->peer_class == JOB_PEER_ROOT;
}

static uint32_t recorded(const struct api_words *w, const char *text, bool with)
{
    uint32_t i = lower_bound(w, text, with);

    if (with && !is_at(w, i, text))
        i = lower_bound(w, text, 0);
    return is_at(w, i, text) ? w->word[i].terminal : GRAMMAR_NONE;
}

/* --- Others --- */

static struct grammar_hash hash_of(const char *text)
{
    XXH128_hash_t h = XXH3_128bits(text, strlen(text));

    return (struct grammar_hash){ h.low64, h.high64 };
}

/* Room for what is kept of the terminals below `end`; new ones are 0. */
static int room(uint8_t **array, uint32_t *size, uint64_t end)
{
    uint32_t before = *size;
    int error = base_array_room(array, size, end, 1);

    if (!error && *size > before)
        memset(*array + before, 0, *size - before);
    return error;
}

/* Everything that can fail comes first. */
static uint32_t words_add(struct api_words *w, const char *text, struct grammar_hash hash)
{
    uint32_t number = w->count + w->other_count;

    if (number >= JOB_LIMIT || job_table_reserve(&w->numbers, 1) ||
        base_array_room(&w->others, &w->other_room, (uint64_t)w->other_count + 1, sizeof *w->others) ||
        room(&w->set, &w->set_room, (uint64_t)number + 1) || room(&w->peer, &w->peer_room, (uint64_t)number + 1))
        return GRAMMAR_NONE;
    if (!(w->others[w->other_count] = strdup(text)))
        return GRAMMAR_NONE;
    job_table_put(&w->numbers, hash, number);
    w->other_count++;
    return number;
}

/* --- All --- */

/* A call answers to its function, to its kind and to its name in the report; a region to "region" and to its name. */
static int add_names(struct api_words *w, const struct job *j, uint32_t t)
{
    const struct job_terminal *from = &j->terminals[t];
    uint32_t site = api_words_callsite(w, t);

    if (from->kind == JOB_NAMED || from->kind == JOB_WORD || from->phase == JOB_CLOSE)
        return 0;
    w->word[w->entries++] = (struct api_word){ from->kind == JOB_REGION ? "region"
                                                                        : job_call_kind_text(from->call_kind),
                                               t, 0 };
    if (site == GRAMMAR_NONE)
        return 0;
    if (asprintf(&w->names[t], "%s@%u", job_text(j, from->function), site) < 0) {
        w->names[t] = NULL;
        return PYTHIA_ENOMEM;
    }
    for (char *c = w->names[t]; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    w->word[w->entries++] = (struct api_word){ w->names[t], t, 0 };
    return 0;
}

/* A region that the program names begins with "NAME{" and ends with "NAME}". */
static int add_named(struct api_words *w, const struct job *j, uint32_t t)
{
    const struct job_terminal *from = &j->terminals[t];

    if (from->kind != JOB_NAMED)
        return 0;
    if (asprintf(&w->names[t], "%s%c", job_text(j, from->function), from->phase == JOB_CLOSE ? '}' : '{') >= 0)
        return 0;
    w->names[t] = NULL;
    return PYTHIA_ENOMEM;
}

int api_words_open(struct api_words *w, const struct job *job)
{
    uint32_t count = job ? job->terminal_count : 0;
    int error = 0;

    w->word = calloc(3 * (size_t)count + 1, sizeof *w->word);
    w->names = calloc((size_t)count + 1, sizeof *w->names);
    w->site = malloc(((job ? (size_t)job->callsite_count : 0) + 1) * sizeof *w->site);
    if (!w->word || !w->names || !w->site || room(&w->set, &w->set_room, (uint64_t)count + 1) ||
        room(&w->peer, &w->peer_room, (uint64_t)count + 1))
        return PYTHIA_ENOMEM;
    w->job = job;
    w->count = count;
    if (job)
        job_number_sites(job, w->site);
    for (uint32_t t = 0; !error && t < count; t++) {
        const struct job_terminal *from = &job->terminals[t];
        w->peer[t] = has_peer(from);
        error = add_named(w, job, t);
        w->word[w->entries++] = (struct api_word){ api_words_text(w, t), t, from->kind == JOB_WORD && w->peer[t] };
        error = error ? error : add_names(w, job, t);
    }
    qsort(w->word, w->entries, sizeof *w->word, compare);
    return error;
}

void api_words_close(struct api_words *w)
{
    for (uint32_t i = 0; i < w->other_count; i++)
        free(w->others[i]);
    free(w->others);
    job_table_free(&w->numbers);
    for (uint32_t t = 0; w->names && t < w->count; t++)
        free(w->names[t]);
    free(w->names);
    free(w->site);
    free(w->word);
    free(w->set);
    free(w->peer);
}

uint32_t api_words_number(struct api_words *w, const char *text, bool with)
{
    uint32_t number = recorded(w, text, with);
    struct grammar_hash hash;

    if (number == GRAMMAR_NONE) {
        hash = hash_of(text);
        number = job_table_find(&w->numbers, hash);
        if (number == GRAMMAR_NONE)
            number = words_add(w, text, hash);
    }
    if (with && number != GRAMMAR_NONE)
        w->peer[number] = 1;
    return number;
}

const char *api_words_text(const struct api_words *w, uint32_t terminal)
{
    if (terminal < w->count && w->job->terminals[terminal].kind == JOB_NAMED && w->names[terminal])
        return w->names[terminal];
    if (terminal < w->count)
        return job_text(w->job, w->job->terminals[terminal].function);
    return w->others[terminal - w->count];
}

uint32_t api_words_callsite(const struct api_words *w, uint32_t terminal)
{
    uint32_t site = terminal < w->count ? w->job->terminals[terminal].callsite : GRAMMAR_NONE;

    return site < (w->job ? w->job->callsite_count : 0) ? w->site[site] : GRAMMAR_NONE;
}

uint32_t api_words_mark(struct api_words *w, const char *text, uint8_t value)
{
    uint32_t marked = 0, other = job_table_find(&w->numbers, hash_of(text));

    for (uint32_t i = lower_bound(w, text, 0); is_at(w, i, text); i++, marked++)
        w->set[w->word[i].terminal] = value;
    if (other != GRAMMAR_NONE) {
        w->set[other] = value;
        marked++;
    }
    return marked;
}
