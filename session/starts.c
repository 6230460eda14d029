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

static uint32_t place_of(const struct session_starts_seen *seen, int64_t name)
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

/* A list that this stream has not met: *named where its name may be given, as it may of what varies, of which no single
   value is asked. Returns whether it is kept. */
static __attribute__((noinline)) bool starts_new(struct session_stream *s, const struct session_starts *l, int64_t name,
                                                 bool *named)
{
    base_fpu_t kept = base_fpu_hold();
    bool mine = s->grammar && stream_take(s); /* the helper reads what a stream has kept */
    bool varies = !s->grammar || (mine && grammar_varies_next(s->grammar, GRAMMAR_STARTS));
    bool done = mine && !varies && keep(&s->starts_seen, l, name);
    if (s->grammar)
        stream_release(s);
    base_fpu_give_back(kept);
    *named = varies || done;
    return done;
}

/* Its name, 0 where it would have to be kept and can't be. */
static int64_t starts_name(struct session_stream *s, const struct session_starts *l)
{
    int64_t name = job_starts_name(l->run, l->count);
    bool named = true, known = place_of(&s->starts_seen, name) != BASE_HASH_NONE || starts_new(s, l, name, &named);
    if (known && l->count == 1)
        *starts_recent(s, &l->run[0]) = (struct session_starts_recent){l->run[0], name};
    return named ? name : 0;
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

bool session_starts_copy(const struct session_starts_seen *seen, const struct grammar_flat *g, struct job_starts *copy)
{
    const struct job_starts *all = &seen->lists;
    bool *taken = calloc((size_t)all->count + 1, sizeof *taken);
    int64_t name[JOB_STARTS_NAMED];
    int error = !taken;
    for (uint32_t i = 0; i < g->attr_count && all->count && !error; i++)
        for (uint32_t n = job_starts_named(&g->attrs[i], name); n > 0 && !error; n--) {
            uint32_t at = place_of(seen, name[n - 1]);
            if (at == BASE_HASH_NONE || taken[at])
                continue;
            taken[at] = true;
            error = job_starts_keep(copy, name[n - 1], all->runs + all->list[at].first, all->list[at].count);
        }
    free(taken);
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
