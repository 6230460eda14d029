/* SPDX-License-Identifier: MIT */
/*
 * Stops and hops of a stream (job/hops.h), counted as they happen.
 *
 *     stop 3 ─last─> hop 7 ─to─> stop 4        most events go where the last one from there went: one comparison
 *
 * An event is counted with the hop that leads to it: what a stop has is the sum of its hops, and so is what stands
 * before a terminal (job/digram.h).
 *
 * Cost: some 15 instructions an event, a look-up in a table where the way parts. Memory: 24 bytes a stop, 24 a hop, and
 * their tables. What goes beyond HOPS_MOST stops or hops is not counted.
 * Threads: the stream's.  Hook-safe: yes, first sight aside.
 */
#ifndef PYTHIA_SESSION_HOPS_H
#define PYTHIA_SESSION_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "grammar/flat.h"
#include "job/sum.h"

struct job;

struct session_stop {
    uint32_t terminal; /* of the stream */
    uint32_t path;     /* callsite of session.job, GRAMMAR_NONE: not known */
    uint32_t last;     /* hop taken last from here + 1; 0: none yet */
    uint64_t duration; /* ns, of all events */
};
struct session_hop {
    uint32_t from, to;
    struct job_count gap; /* of the events that it leads to */
};

struct session_hops {
    struct session_stop *stop;
    struct session_hop *hop;
    uint32_t stops, stop_room, hops, hop_room;
    uint32_t now;                      /* stop of the last event + 1; 0: there was none */
    uint32_t next;                     /* its `last` */
    struct base_hash by_place, by_way; /* of the stops, of the hops */
};

/* The hop to there, by another way than the last time; NULL: it cannot be counted. */
struct session_hop *session_hops_turn(struct session_hops *h, uint32_t terminal, uint32_t path);

static inline void session_hops_note(struct session_hops *h, uint32_t terminal, uint32_t path, uint64_t gap,
                                     uint64_t duration)
{
    struct session_hop *hop = h->next ? &h->hop[h->next - 1] : NULL;
    if (__builtin_expect(!hop || h->stop[hop->to].terminal != terminal || h->stop[hop->to].path != path, 0) &&
        !(hop = session_hops_turn(h, terminal, path)))
        return;
    hop->gap.samples++;
    hop->gap.total += gap;
    h->stop[hop->to].duration += duration;
    h->now = hop->to + 1;
    h->next = h->stop[hop->to].last;
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

#endif
