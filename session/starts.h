/* SPDX-License-Identifier: MIT */
/*
 * Which starts a completion completes: distances in events of its stream, back from the completion.
 *
 *     Irecv Irecv Isend Isend Waitall      distances 4, 3, 2, 1 in the order of the requests: one run { 4, -1, 4 }
 *
 * A loop has the same list in each turn. As a value of the node one start is its distance; a list is a name below 0,
 * which is made of its content, so that it is the same on every rank; the list itself is kept once by the stream, and
 * goes to the job where a value or a course of the frozen grammar names it.
 *
 * Threads: the stream's.  Hook-safe: yes, but for lists first seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "job/starts.h"

struct session_stream;
struct grammar_flat;

enum { SESSION_STARTS_RECENT = 16 }; /* a power of two */
enum { SESSION_START_RUNS = 32 }; /* of a list; longer ones are not known */

struct session_starts {
    uint32_t count; /* runs */
    bool known;     /* something is */
    bool full;
    struct job_start_run run[SESSION_START_RUNS];
};

static inline void session_starts_begin(struct session_starts *l)
{
    l->count = 0;
    l->known = l->full = false;
}
/* The next one of the list was started so many events before, 0: not known. */
void session_starts_add(struct session_starts *l, uint32_t distance);
/* The value for GRAMMAR_STARTS; 0 where a list is not kept. */
int64_t session_starts_value(struct session_stream *s, const struct session_starts *l);

/* The lists that a stream has kept, in the order in which it met them. */
struct session_starts_seen {
    struct job_starts lists;
    struct base_hash index;
    /* of one run each */
    struct session_starts_recent { struct job_start_run run; int64_t name; } recent[SESSION_STARTS_RECENT];
};
/* Those that a frozen grammar names, to be put into a job or dropped. False when out of memory. */
bool session_starts_copy(const struct session_starts_seen *seen, const struct grammar_flat *g, struct job_starts *copy);
void session_starts_close(struct session_starts_seen *seen);
