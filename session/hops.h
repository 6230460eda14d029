/* SPDX-License-Identifier: MIT */
/*
 * Stops and hops of a stream (job/hops.h), counted as they happen.
 *
 *     stop 3 ─last─> hop 7 ─to─> stop 4        most events go where the last one from there went: one comparison
 *
 * Cost: some 20 instructions an event, a look-up in a table where the way parts. Memory: 40 bytes a stop, 16 a hop, and
 * their tables. What goes beyond HOPS_MOST stops or hops is not counted.
 * Threads: the stream's.  Hook-safe: yes, first sight aside.
 */
#ifndef PYTHIA_SESSION_HOPS_H
#define PYTHIA_SESSION_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "grammar/flat.h"

struct job;

struct session_stop {
    uint32_t terminal; /* of the stream */
    uint32_t path;     /* callsite of session.job, GRAMMAR_NONE: not known */
    uint32_t last;     /* hop taken last from here, GRAMMAR_NONE: none yet */
    uint64_t count, gap, duration;
};
struct session_hop {
    uint32_t from, to;
    uint64_t count;
};

struct session_hops {
    struct session_stop *stop;
    struct session_hop *hop;
    uint32_t stops, stop_room, hops, hop_room;
    uint32_t now;                      /* stop of the last event + 1; 0: there was none */
    struct base_hash by_place, by_way; /* of the stops, of the hops */
};

/* The stop that comes next, by a new way; NULL: it cannot be counted. */
struct session_stop *session_hops_turn(struct session_hops *h, uint32_t terminal, uint32_t path);

static inline void session_hops_note(struct session_hops *h, uint32_t terminal, uint32_t path, uint64_t gap,
                                     uint64_t duration)
{
    struct session_stop *s = NULL;
    uint32_t last = h->now ? h->stop[h->now - 1].last : GRAMMAR_NONE;
    if (__builtin_expect(last != GRAMMAR_NONE, 1)) {
        struct session_hop *hop = &h->hop[last];
        s = &h->stop[hop->to];
        if (__builtin_expect(s->terminal == terminal && s->path == path, 1)) {
            hop->count++;
            h->now = hop->to + 1;
        } else {
            s = NULL;
        }
    }
    if (__builtin_expect(!s, 0) && !(s = session_hops_turn(h, terminal, path)))
        return;
    s->count++;
    s->gap += gap;
    s->duration += duration;
}

/* Another thread goes on with the stream. */
static inline void session_hops_break(struct session_hops *h)
{
    h->now = 0;
}

/* The rows alone, to be finished or closed. False when out of memory. */
bool session_hops_copy(const struct session_hops *h, struct session_hops *copy);
/* Hands them to a job; terminal i of the stream is called terminal[i] there. 0 or PYTHIA_E… */
int session_hops_finish(const struct session_hops *h, struct job *job, uint32_t rank, uint32_t thread,
                        const uint32_t *terminal);
void session_hops_close(struct session_hops *h);

#endif
