/* SPDX-License-Identifier: MIT */
#include "session/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "grammar/flat.h"
#include "job/flow.h"

enum { FLOW_MOST = 1 << 16 };

static uint64_t flow_hash(const struct session_flow *f)
{
    return base_hash_mix(base_hash_mix((uint64_t)f->terminal << 32 | f->peer) + f->receives);
}

static bool flow_is(const struct session_flow *row, const struct session_flow *f)
{
    return row->terminal == f->terminal && row->peer == f->peer && row->receives == f->receives;
}

/* The row of such messages; GRAMMAR_NONE: there is no memory for a new one. */
static __attribute__((noinline)) uint32_t flow_find(struct session_flows *t, const struct session_flow *f)
{
    uint64_t hash = flow_hash(f);
    uint32_t at = base_hash_start(hash), n;
    while ((n = base_hash_next(&t->index, hash, &at)) != BASE_HASH_NONE)
        if (flow_is(&t->row[n], f))
            return n;
    if (t->count >= FLOW_MOST && f->peer != GRAMMAR_NONE)
        return flow_find(t, &(struct session_flow){ .terminal = f->terminal, .peer = GRAMMAR_NONE,
                                                    .receives = f->receives });
    if (base_hash_reserve(&t->index, 1) || base_array_room(&t->row, &t->room, t->count + 1u, sizeof *t->row))
        return GRAMMAR_NONE;
    base_hash_put(&t->index, hash, t->count);
    t->row[t->count] = (struct session_flow){ .terminal = f->terminal, .peer = f->peer, .receives = f->receives };
    return t->count++;
}

void session_flows_add(struct session_flows *t, const struct session_flow *f)
{
    uint32_t n = t->last ? t->row[t->last - 1].next - 1u : GRAMMAR_NONE;
    if (__builtin_expect(n == GRAMMAR_NONE || !flow_is(&t->row[n], f), 0)) {
        n = flow_find(t, f);
        if (n == GRAMMAR_NONE)
            return;
        if (t->last)
            t->row[t->last - 1].next = n + 1;
    }
    t->last = n + 1;
    t->row[n].messages += f->messages;
    t->row[n].bytes += f->bytes;
}

bool session_flows_copy(const struct session_flows *t, struct session_flows *copy)
{
    *copy = (struct session_flows){.count = t->count};
    if (t->count == 0)
        return true;
    copy->row = malloc(t->count * sizeof *copy->row);
    if (copy->row)
        memcpy(copy->row, t->row, t->count * sizeof *copy->row);
    return copy->row != NULL;
}

int session_flows_finish(const struct session_flows *t, struct job *job, uint32_t rank)
{
    int error = 0;
    for (uint32_t i = 0; i < t->count && !error; i++) {
        const struct session_flow *f = &t->row[i];
        error = job_flow_add(job, rank, f->terminal, f->receives, f->peer, f->messages, f->bytes);
    }
    return error || !t->count ? error : job_flows_settle(job);
}

void session_flows_close(struct session_flows *t)
{
    free(t->row);
    base_hash_close(&t->index);
    memset(t, 0, sizeof *t);
}
