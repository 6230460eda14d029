/* SPDX-License-Identifier: MIT */
#include "session/flow.h"

#include <stdlib.h>
#include <string.h>

#include "grammar/flat.h"
#include "job/flow.h"

enum { FLOW_FIRST = 64, FLOW_MOST = 1 << 16 };

static uint32_t flow_hash(const struct session_flow *f)
{
    uint64_t h = ((uint64_t)f->terminal << 32 | f->partner) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= f->receives ? UINT64_C(0xc2b2ae3d27d4eb4f) : 0;
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static bool flow_same(const struct session_flow *a, const struct session_flow *b)
{
    return a->terminal == b->terminal && a->partner == b->partner && a->receives == b->receives;
}

/* Twice the room; the slots are filled anew. */
static bool flows_grow(struct session_flows *t)
{
    uint32_t room = t->room ? 2 * t->room : FLOW_FIRST, slots = 2 * room;
    struct session_flow *row = realloc(t->row, room * sizeof *row);
    if (!row)
        return false;
    t->row = row;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t n = 0; n < t->count; n++) {
        uint32_t i = flow_hash(&t->row[n]) & (slots - 1);
        while (slot[i])
            i = (i + 1) & (slots - 1);
        slot[i] = n + 1;
    }
    free(t->slot);
    t->slot = slot;
    t->room = room;
    t->mask = slots - 1;
    return true;
}

static __attribute__((noinline)) void flows_new(struct session_flows *t, struct session_flow f)
{
    if (t->count >= FLOW_MOST && f.partner != GRAMMAR_NONE) {
        f.partner = GRAMMAR_NONE;
        session_flows_add(t, &f);
        return;
    }
    if (t->count == t->room && !flows_grow(t))
        return;
    uint32_t i = flow_hash(&f) & t->mask;
    while (t->slot[i])
        i = (i + 1) & t->mask;
    t->row[t->count++] = f;
    t->slot[i] = t->count;
}

void session_flows_add(struct session_flows *t, const struct session_flow *f)
{
    for (uint32_t i = flow_hash(f) & t->mask; t->slot && t->slot[i]; i = (i + 1) & t->mask) {
        struct session_flow *row = &t->row[t->slot[i] - 1];
        if (flow_same(row, f)) {
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
        error = job_flow_add(job, rank, f->terminal, f->receives, f->partner, f->messages, f->bytes);
    }
    return error || !t->count ? error : job_flows_settle(job);
}

void session_flows_close(struct session_flows *t)
{
    free(t->row);
    free(t->slot);
    memset(t, 0, sizeof *t);
}
