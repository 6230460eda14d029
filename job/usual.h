/* SPDX-License-Identifier: MIT */
/*
 * How long a terminal's events usually are: the mean of the shortest three quarters, found without keeping them.
 *
 *     2^k     2^(k+1)   2^(k+2)
 *      |       |       |       |   …      events, ns and squares of each octave
 *
 * Where the three quarters end inside an octave, its events are taken to be spread evenly, as wide as their deviation
 * says: so those that are equally long are exact, others within what tests/unit/test_timeline.c says.
 *
 * 2.5 KiB a terminal, of which an event touches three lines: the octave of its gap, that of its duration, the extremes.
 * Threads: the stream's.  Hook-safe: notes are.
 */
#pragma once

#include <stdint.h>

#include "grammar/tally.h"
#include "job/extremes.h"

/* Half a line of cache. */
struct job_octave {
    uint64_t count, sum; /* events; ns */
    grammar_square_t square;
};

struct job_limits {
    uint64_t least, span; /* ns, of all events: the greatest less the least */
    uint64_t turn[2];     /* of the least and of the greatest */
};

/* Of one terminal. Begins where a line of cache does. */
struct job_noted {
    struct job_limits gap, duration;
    struct job_octave gaps[JOB_BUCKETS], durations[JOB_BUCKETS];
};

void job_noted_begin(struct job_noted *n); /* of no event */
/* What was noted, but for terminal and ranks; may be asked at any time. */
void job_noted_say(const struct job_noted *n, struct job_extremes *e);

/* Of the event that is about to be counted. */
void job_limits_extend(struct job_limits *l, const struct job_octave *octaves, uint64_t ns);

static inline void job_limits_add(struct job_limits *l, struct job_octave *octaves, uint64_t ns)
{
    unsigned octave = 63u ^ (unsigned)__builtin_clzll(ns | 1);
    struct job_octave *o = &octaves[octave < JOB_BUCKETS ? octave : JOB_BUCKETS - 1];
    if (__builtin_expect(ns - l->least > l->span, 0))
        job_limits_extend(l, octaves, ns);
    o->count++;
    o->sum += ns;
    o->square += grammar_square_of(ns); /* of whole numbers: no flag of the program's floating point is raised */
}

/* One event of the terminal. */
static inline void job_noted_add(struct job_noted *n, uint64_t gap, uint64_t duration)
{
    job_limits_add(&n->gap, n->gaps, gap);
    job_limits_add(&n->duration, n->durations, duration);
}
