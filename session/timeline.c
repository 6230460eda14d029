/* SPDX-License-Identifier: MIT */
#include "session/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { SERIES_FIRST = 1 << 16 }; /* ns, of a step to begin with */
enum { LINE = 64, NOTED_BYTES = (sizeof(struct job_noted) + LINE - 1) / LINE * LINE };

bool session_timeline_series(struct session_timeline *c, uint64_t begin)
{
    c->series = calloc(1, sizeof *c->series);
    if (!c->series)
        return false;
    c->series->begin = begin;
    c->series->step = SERIES_FIRST;
    c->series->end = begin + SERIES_FIRST;
    return true;
}

/* At the begin of a line, in a block of ours (base/heap.h): aligned_alloc would take the program's memory. Where the
   block begins stands before it. */
static struct job_noted *take_noted(void)
{
    char *block = malloc(LINE + NOTED_BYTES), *at = block ? block + LINE - (uintptr_t)block % LINE : NULL;
    if (at)
        memcpy(at - sizeof block, &block, sizeof block);
    return (void *)at;
}

static void give_noted(struct job_noted *n)
{
    char *block;
    memcpy(&block, (char *)n - sizeof block, sizeof block);
    free(block);
}

bool session_timeline_room(struct session_timeline *c, uint32_t terminals)
{
    bool room = !base_array_room(&c->noted, &c->room, terminals, sizeof *c->noted);
    while (room && c->count < terminals && (c->noted[c->count] = take_noted()))
        job_noted_begin(c->noted[c->count++]);
    return c->count >= terminals;
}

void session_timeline_close(struct session_timeline *c)
{
    free(c->series);
    while (c->count)
        give_noted(c->noted[--c->count]);
    free(c->noted);
    memset(c, 0, sizeof *c);
}

static void series_settle(struct session_series *s)
{
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++) {
        s->sum[kind][s->at] += s->now[kind];
        s->now[kind] = 0;
    }
}

bool session_timeline_copy(const struct session_timeline *c, uint32_t terminals, struct session_timeline *copy)
{
    *copy = (struct session_timeline){ .series = c->series ? base_array_copy(c->series, 1, sizeof *c->series) : NULL };
    if (copy->series)
        series_settle(copy->series);
    if (!copy->series == !c->series && session_timeline_room(copy, terminals)) {
        for (uint32_t i = 0; i < terminals; i++)
            *copy->noted[i] = *c->noted[i];
        return true;
    }
    session_timeline_close(copy);
    return false;
}

int session_timeline_finish(const struct session_timeline *c, struct job *job, uint32_t rank, const uint32_t *terminal)
{
    struct session_series *s = c->series;
    int error = s ? job_series_add(job, rank, s->step, s->at + 1, s->sum) : 0;
    for (uint32_t i = 0; i < c->count && !error; i++) {
        struct job_extremes e;
        job_noted_say(c->noted[i], &e);
        error = job_extremes_add(job, rank, terminal[i], &e);
    }
    return error;
}

/* Two steps become one. */
static void series_double(struct session_series *s)
{
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
        for (uint32_t i = 0; i < JOB_SERIES_STEPS; i++) {
            uint64_t pair = i < JOB_SERIES_STEPS / 2 ? s->sum[kind][2 * i] + s->sum[kind][2 * i + 1] : 0;
            s->sum[kind][i] = pair;
        }
    s->step *= 2;
    s->at /= 2;
    s->end = s->begin + (s->at + (uint64_t)1) * s->step;
}

/* Beyond the step at hand: what is long enough to need larger steps gets them first, so that this is at most one walk
   over all steps. */
void session_series_cross(struct session_series *s, enum job_series_kind kind, uint64_t from, uint64_t to)
{
    series_settle(s);
    while (to - s->begin > s->step * JOB_SERIES_STEPS)
        series_double(s);
    while (from < to) {
        uint64_t until = to < s->end ? to : s->end;
        s->sum[kind][s->at] += until > from ? until - from : 0;
        from = until > from ? until : from;
        if (from < to || (from == s->end && s->at + 1 < JOB_SERIES_STEPS)) {
            s->at++;
            s->end += s->step;
        }
    }
}
