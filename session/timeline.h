/* SPDX-License-Identifier: MIT */
/*
 * What a stream notes beside its events: a time series of what its wall time went to, and extremes of each terminal.
 *
 *     series      | step | step | step | …      at most 128 steps; when they are full two become one, twice as long
 *     noted       terminal -> least and greatest gap and duration, the turn of each, how many by power of two,
 *                               and how long they usually are (job/usual.h)
 *
 * Constant memory whatever the run's length: 3 KiB for the first stream's series, 2.6 KiB a terminal. A turn counts
 * the terminal's events in this stream, from 0.
 * Threads: the stream's.  Hook-safe: notes are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/series.h"
#include "job/usual.h"

struct session_series {
    uint64_t begin, step, end; /* ns; end of the step at hand */
    uint64_t now[JOB_SERIES_KINDS]; /* what of the step at hand is not in `sum` yet */
    uint32_t at;
    uint64_t sum[JOB_SERIES_KINDS][JOB_SERIES_STEPS]; /* ns */
};

struct session_timeline {
    struct session_series *series; /* NULL: this stream has none */
    struct job_noted **noted; /* of each of the stream's terminals; they never move */
    uint32_t count, room;
};

/* False when out of memory. */
bool session_timeline_series(struct session_timeline *c, uint64_t begin);
bool session_timeline_room(struct session_timeline *c, uint32_t terminals);
void session_timeline_close(struct session_timeline *c);
/* A copy, to be closed; false when out of memory. */
bool session_timeline_copy(const struct session_timeline *c, uint32_t terminals, struct session_timeline *copy);

/* Hands it to a job of the rank; terminal i of the stream is called terminal[i] there. 0 or PYTHIA_E… */
struct job;
int session_timeline_finish(const struct session_timeline *c, struct job *job, uint32_t rank, const uint32_t *terminal);

void session_series_cross(struct session_series *s, enum job_series_kind kind, uint64_t from, uint64_t to);

/* Before an event the stream did this, in it that; `begin`, `end`: of the event, ns. Not before what was noted last. */
static inline void session_series_note(struct session_series *s, enum job_series_kind before, uint64_t gap,
                                       enum job_series_kind in, uint64_t begin, uint64_t end)
{
    if (__builtin_expect(end <= s->end, 1)) {
        s->now[before] += gap;
        s->now[in] += end - begin;
    } else {
        session_series_cross(s, before, begin - gap, begin);
        session_series_cross(s, in, begin, end);
    }
}
