/* SPDX-License-Identifier: MIT */
#include "session/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/fpu.h"
#include "session/internal.h"

enum { STARTS_MOST = 1 << 14 };

void session_starts_add(struct session_starts *l, uint32_t distance)
{
    struct job_start_run *r = l->count ? &l->run[l->count - 1] : NULL;
    l->known |= distance != 0;
    if (r && r->count == 1)
        r->step = (int32_t)(distance - (uint32_t)r->distance);
    if (r && distance == (uint32_t)r->distance + r->count * (uint32_t)r->step)
        r->count++;
    else if (l->count < SESSION_START_RUNS)
        l->run[l->count++] = (struct job_start_run){distance, 0, 1};
    else
        l->full = true;
}

static struct session_starts_recent *starts_recent(struct session_stream *s, const struct job_start_run *r)
{
    return &s->starts_seen.recent[((uint32_t)r->distance ^ r->count) & (SESSION_STARTS_RECENT - 1)];
}

static uint32_t starts_place_of(const struct session_starts_seen *seen, int64_t name)
{
    return BASE_HASH_FIND(&seen->index, base_hash_mix((uint64_t)name), i, seen->lists.list[i].name == name);
}

static bool keep(struct session_starts_seen *seen, const struct session_starts *l, int64_t name)
{
    uint32_t count = seen->lists.count;
    if (count >= STARTS_MOST || base_hash_reserve(&seen->index, 1) ||
        job_starts_keep(&seen->lists, name, l->run, l->count))
        return false;
    base_hash_put(&seen->index, base_hash_mix((uint64_t)name), count);
    return true;
}

/* A list that this stream has not met. Returns whether it is kept: not where the order of those that come there is
   not. */
static __attribute__((noinline)) bool starts_new(struct session_stream *s, const struct session_starts *l, int64_t name)
{
    base_fpu_t kept = base_fpu_hold();
    bool mine = stream_take(s); /* the helper reads what a stream has kept */
    bool done = mine && grammar_keeps_next(s->grammar, GRAMMAR_STARTS) && keep(&s->starts_seen, l, name);
    stream_release(s);
    base_fpu_give_back(kept);
    return done;
}

/* Its name, 0 where it can't be kept. */
static int64_t starts_name(struct session_stream *s, const struct session_starts *l)
{
    int64_t name = job_starts_name(l->run, l->count);
    if (s->grammar && starts_place_of(&s->starts_seen, name) == BASE_HASH_NONE && !starts_new(s, l, name))
        return 0;
    if (l->count == 1)
        *starts_recent(s, &l->run[0]) = (struct session_starts_recent){l->run[0], name};
    return name;
}

int64_t session_starts_value(struct session_stream *s, const struct session_starts *l)
{
    const struct job_start_run *r = &l->run[0];
    if (!l->known || l->full)
        return 0;
    if (l->count > 1)
        return starts_name(s, l);
    if (r->count == 1)
        return r->distance;
    /* The usual list: what was started just before, in order. Its name is a hash, which takes longer than a look. */
    const struct session_starts_recent *known = starts_recent(s, r);
    if (known->run.distance == r->distance && known->run.step == r->step && known->run.count == r->count)
        return known->name;
    return starts_name(s, l);
}

/* What is to be copied: of lists that were met, each once. */
struct copying { const struct session_starts_seen *seen; bool *taken; struct job_starts *copy; };

static int take_list(struct copying *w, int64_t name)
{
    const struct job_starts *all = &w->seen->lists;
    uint32_t at = name < GRAMMAR_CANCELLED ? starts_place_of(w->seen, name) : BASE_HASH_NONE;
    if (at == BASE_HASH_NONE || w->taken[at])
        return 0;
    w->taken[at] = true;
    return job_starts_keep(w->copy, name, all->runs + all->list[at].first, all->list[at].count);
}

bool session_starts_copy(const struct session_starts_seen *seen, const struct grammar_flat *g, struct job_starts *copy)
{
    struct copying w = { seen, calloc((size_t)seen->lists.count + 1, sizeof *w.taken), copy };
    int64_t name;
    int error = !w.taken;
    for (const struct grammar_attr *a = g->attrs; a < g->attrs + g->attr_count && seen->lists.count && !error; a++)
        if (a->channel == GRAMMAR_STARTS && grammar_attr_constant(a, &name))
            error = take_list(&w, name);
    for (const struct grammar_flat_course *c = g->courses; c < g->courses + g->course_count && !error; c++)
        for (uint32_t k = 0; c->channel == GRAMMAR_STARTS && k < c->count && !error; k++)
            if (!g->steps[c->first + k].back)
                error = take_list(&w, g->steps[c->first + k].value);
    free(w.taken);
    if (error)
        job_starts_drop(copy);
    return !error;
}

void session_starts_close(struct session_starts_seen *seen)
{
    job_starts_drop(&seen->lists);
    base_hash_close(&seen->index);
    memset(seen, 0, sizeof *seen);
}
