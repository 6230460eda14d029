/* SPDX-License-Identifier: MIT */
#include "session/hops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "job/digram.h"
#include "job/job.h"
#include "pythia.h"

enum { HOPS_MOST = 1 << 18 };

static uint64_t pair_hash(uint32_t a, uint32_t b)
{
    return base_hash_mix(base_hash_mix((uint64_t)a << 32 | b) + a);
}

static uint32_t stop_find(struct session_hops *h, uint32_t terminal, uint32_t path)
{
    uint64_t hash = pair_hash(terminal, path);
    struct session_stop first = { .terminal = terminal, .path = path };
    uint32_t n = BASE_HASH_FIND(&h->by_place, hash, i, h->stop[i].terminal == terminal && h->stop[i].path == path);
    return n != BASE_HASH_NONE || h->stops == HOPS_MOST
               ? n : base_hash_append(&h->by_place, hash, &h->stop, &h->stops, &h->stop_room, &first, sizeof first);
}

static uint32_t hop_find(struct session_hops *h, uint32_t from, uint32_t to)
{
    uint64_t hash = pair_hash(from, to);
    struct session_hop first = { .from = from, .to = to, .place = h->stop[to] };
    uint32_t n = BASE_HASH_FIND(&h->by_way, hash, i, h->hop[i].from == from && h->hop[i].to == to);
    return n != BASE_HASH_NONE || h->hops == HOPS_MOST
               ? n : base_hash_append(&h->by_way, hash, &h->hop, &h->hops, &h->hop_room, &first, sizeof first);
}

__attribute__((noinline)) uint32_t session_hops_turn(struct session_hops *h, uint32_t terminal, uint32_t path)
{
    uint32_t before = h->now, other = before ? h->hop[before - 1].other : 0;
    if (!other || !session_hop_leads(&h->hop[other - 1], terminal, path)) {
        int kept = errno;
        uint32_t from = before ? h->hop[before - 1].to : GRAMMAR_NONE, to = stop_find(h, terminal, path);
        session_hops_break(h);
        other = to == GRAMMAR_NONE ? 0 : hop_find(h, from, to) + 1;
        errno = kept;
    }
    if (before && other) {
        h->hop[before - 1].other = h->hop[before - 1].next;
        h->hop[before - 1].next = other;
    }
    return other;
}

bool session_hops_copy(const struct session_hops *h, struct session_hops *copy)
{
    *copy = (struct session_hops){ .stop = base_array_copy(h->stop, h->stops, sizeof *h->stop), .stops = h->stops,
                                   .hop = base_array_copy(h->hop, h->hops, sizeof *h->hop), .hops = h->hops };
    if (copy->stop && copy->hop)
        return true;
    session_hops_close(copy);
    return false;
}

/* What stands before each terminal, and how long before: what leads to its stops, whatever their paths. */
static int digrams_finish(const struct session_hops *h, struct job *job, const uint32_t *terminal)
{
    uint32_t terminals = 0;
    int error = 0;
    for (uint32_t i = 0; i < h->stops; i++)
        if (h->stop[i].terminal >= terminals)
            terminals = h->stop[i].terminal + 1;
    struct job_before *before = calloc(terminals + (size_t)1, sizeof *before);
    if (!before)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < h->hops; i++) {
        const struct session_hop *hop = &h->hop[i];
        job_before_add(&before[h->stop[hop->to].terminal],
                       hop->from == GRAMMAR_NONE ? GRAMMAR_NONE : h->stop[hop->from].terminal, hop->gap);
    }
    for (uint32_t i = 0; i < terminals && !error; i++)
        error = job_digrams_add(job, terminal[i], &before[i], terminal);
    free(before);
    return error;
}

int session_hops_finish(const struct session_hops *h, struct job *job, uint32_t rank, uint32_t thread,
                        const uint32_t *terminal)
{
    struct job_hops own = { .stop_count = h->stops, .hop_count = h->hops };
    own.stop = calloc(h->stops + (size_t)1, sizeof *own.stop);
    own.hop = calloc(h->hops + (size_t)1, sizeof *own.hop);
    int error = own.stop && own.hop ? digrams_finish(h, job, terminal) : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < h->stops && !error; i++)
        own.stop[i] = (struct job_stop){ .terminal = terminal[h->stop[i].terminal], .path = h->stop[i].path };
    for (uint32_t i = 0; i < h->hops && !error; i++) {
        const struct session_hop *hop = &h->hop[i];
        own.hop[i] = (struct job_hop){ .from = hop->from, .to = hop->to, .count = hop->gap.samples };
        own.stop[hop->to].count += hop->gap.samples;
        own.stop[hop->to].gap_ns += hop->gap.total;
        own.stop[hop->to].duration_ns += hop->duration;
    }
    if (!error && h->stops)
        error = job_hops_add(job, rank, thread, &own);
    free(own.stop);
    free(own.hop);
    return error;
}

void session_hops_close(struct session_hops *h)
{
    free(h->stop);
    free(h->hop);
    base_hash_close(&h->by_place);
    base_hash_close(&h->by_way);
    memset(h, 0, sizeof *h);
}
