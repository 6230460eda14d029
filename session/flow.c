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

static __attribute__((noinline)) void flows_new(struct session_flows *t, struct session_flow f)
{
    if (t->count >= FLOW_MOST && f.peer != GRAMMAR_NONE) {
        f.peer = GRAMMAR_NONE;
        session_flows_add(t, &f);
        return;
    }
    if (base_hash_reserve(&t->index, 1) || base_array_room(&t->row, &t->room, t->count + 1u, sizeof *t->row))
        return;
    base_hash_put(&t->index, flow_hash(&f), t->count);
    t->row[t->count++] = f;
}

void session_flows_add(struct session_flows *t, const struct session_flow *f)
{
    uint64_t hash = flow_hash(f);
    uint32_t at = base_hash_start(hash), n;
    while ((n = base_hash_next(&t->index, hash, &at)) != BASE_HASH_NONE) {
        struct session_flow *row = &t->row[n];
        if (row->terminal == f->terminal && row->peer == f->peer && row->receives == f->receives) {
            row->messages += f->messages;
            row->bytes += f->bytes;
            return;
        }
    }
    flows_new(t, *f);
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
