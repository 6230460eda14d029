/* SPDX-License-Identifier: MIT */
#include "session/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fpu.h"
#include "base/lock.h"
#include "session/internal.h"

enum { STARTS_MOST = 1 << 14 };

void session_starts_add(struct session_starts *l, uint32_t distance)
{
    struct job_start_run *r = l->count ? &l->run[l->count - 1] : NULL;
    l->known |= distance != 0;
    if (r && r->count == 1)
        r->step = (int32_t)(distance - r->distance);
    if (r && distance == r->distance + r->count * (uint32_t)r->step)
        r->count++;
    else if (l->count < SESSION_START_RUNS)
        l->run[l->count++] = (struct job_start_run){distance, 0, 1};
    else
        l->full = true;
}

static bool is_stored(const struct session_starts_seen *seen, int64_t name)
{
    return BASE_HASH_FIND(&seen->index, base_hash_mix((uint64_t)name), i, seen->name[i] == name) != BASE_HASH_NONE;
}

/* A list that this stream has not met: the job gets it. Returns its name, or 0: there is no room for more. */
static __attribute__((noinline)) int64_t starts_store(struct session_stream *s, const struct session_starts *l,
                                                      int64_t name)
{
    struct session_starts_seen *seen = &s->starts_seen;
    uint32_t count = seen->index.used;
    if (count >= STARTS_MOST || base_hash_reserve(&seen->index, 1) ||
        base_array_room(&seen->name, &seen->room, count + 1u, sizeof *seen->name))
        return 0;
    base_fpu_t kept = base_fpu_hold();
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    int error = session.job ? job_starts_add(session.job, name, l->run, l->count) : -1;
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    base_fpu_give_back(kept);
    if (error)
        return 0;
    base_hash_put(&seen->index, base_hash_mix((uint64_t)name), count);
    seen->name[count] = name;
    return name;
}

/* The name of a list, which is stored. */
static int64_t starts_name(struct session_stream *s, const struct session_starts *l)
{
    int64_t name = job_starts_name(l->run, l->count);
    return is_stored(&s->starts_seen, name) ? name : starts_store(s, l, name);
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
    struct session_starts_recent *known =
        &s->starts_seen.recent[(r->distance ^ r->count) & (SESSION_STARTS_RECENT - 1)];
    if (known->run.distance != r->distance || known->run.step != r->step || known->run.count != r->count) {
        known->name = starts_name(s, l);
        known->run = *r;
    }
    return known->name;
}

void session_starts_close(struct session_starts_seen *seen)
{
    free(seen->name);
    base_hash_close(&seen->index);
    memset(seen, 0, sizeof *seen);
}
