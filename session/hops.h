/* SPDX-License-Identifier: MIT */
/*
 * Stops and hops of a stream (job/hops.h), counted as they happen.
 *
 *     hop 3 ─next─> hop 7 ─other─> hop 5       most events go where it went after that hop the last time, or before
 *
 * An event is counted with the hop that leads to it: what a stop has is the sum of its hops, and so is what stands
 * before a terminal (job/digram.h).
 *
 * Cost: some 15 instructions an event, 20 more where it goes the other way, two look-ups where it parts. Memory: 8
 * bytes a stop, 48 a hop, and their tables. What goes beyond HOPS_MOST stops or hops is not counted.
 * Threads: the stream's.  Hook-safe: yes, first sight aside.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "grammar/flat.h"
#include "job/sum.h"

struct job;

struct session_stop {
    uint32_t terminal; /* of the stream */
    uint32_t path;     /* callsite of session.job, GRAMMAR_NONE: not known */
};
struct session_hop {
    uint32_t from, to;
    struct session_stop place; /* that it leads to */
    uint32_t next, other; /* hops taken after it + 1: last, and before that; 0: none yet */
    struct job_count gap; /* of the events that it leads to */
    uint64_t duration;    /* ns, of these */
};

struct session_hops {
    struct session_hop *hop;
    uint32_t now;                      /* hop to the last event + 1; 0: there was none */
    uint32_t next;                     /* its `next` */
    struct session_stop *stop;
    uint32_t stops, stop_room, hops, hop_room;
    struct base_hash by_place, by_way; /* of the stops, of the hops */
};

static inline bool session_hop_leads(const struct session_hop *hop, uint32_t terminal, uint32_t path)
{
    return hop->place.terminal == terminal && hop->place.path == path;
}

/* The hop to there + 1, by another way than the last time; 0: it cannot be counted. */
uint32_t session_hops_turn(struct session_hops *h, uint32_t terminal, uint32_t path);

static inline void session_hops_note(struct session_hops *h, uint32_t terminal, uint32_t path, uint64_t gap,
                                     uint64_t duration)
{
    uint32_t now = h->next;
    if (__builtin_expect(!now || !session_hop_leads(&h->hop[now - 1], terminal, path), 0) &&
        !(now = session_hops_turn(h, terminal, path)))
        return;
    struct session_hop *hop = &h->hop[now - 1];
    hop->gap.samples++;
    hop->gap.total += gap;
    hop->duration += duration;
    h->now = now;
    h->next = hop->next;
}

/* Another thread goes on with the stream. */
static inline void session_hops_break(struct session_hops *h)
{
    h->now = h->next = 0;
}

/* The rows alone, to be finished or closed. False when out of memory. */
bool session_hops_copy(const struct session_hops *h, struct session_hops *copy);
/* Hands them to a job; terminal i of the stream is called terminal[i] there. 0 or PYTHIA_E… */
int session_hops_finish(const struct session_hops *h, struct job *job, uint32_t rank, uint32_t thread,
                        const uint32_t *terminal);
void session_hops_close(struct session_hops *h);
