/* SPDX-License-Identifier: MIT */
#include "session/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "grammar/flat.h"
#include "job/flow.h"

enum { FLOW_MOST = 1 << 16 };

/* The row of such messages; GRAMMAR_NONE: there is no memory for a new one. */
static uint32_t flow_find(struct session_flows *t, uint32_t terminal, bool receives, uint32_t peer)
{
    uint64_t hash = base_hash_mix(base_hash_mix((uint64_t)terminal << 32 | peer) + receives);
    struct session_flow first = { .terminal = terminal, .peer = peer, .receives = receives };
    uint32_t n = BASE_HASH_FIND(&t->index, hash, i, session_flow_is(&t->row[i], terminal, receives, peer));
    if (n != BASE_HASH_NONE)
        return n;
    if (t->count >= FLOW_MOST && peer != GRAMMAR_NONE)
        return flow_find(t, terminal, receives, GRAMMAR_NONE);
    return base_hash_append(&t->index, hash, &t->row, &t->count, &t->room, &first, sizeof first);
}

__attribute__((noinline)) uint32_t session_flows_turn(struct session_flows *t, uint32_t terminal, bool receives,
                                                      uint32_t peer)
{
    int kept = errno; /* the program's */
    uint32_t n = flow_find(t, terminal, receives, peer) + 1;
    if (n && t->last)
        t->row[t->last - 1].next = n;
    errno = kept;
    return n;
}

bool session_flows_copy(const struct session_flows *t, struct session_flows *copy)
{
    *copy = (struct session_flows){ .row = base_array_copy(t->row, t->count, sizeof *t->row), .count = t->count };
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
