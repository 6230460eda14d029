/* SPDX-License-Identifier: MIT */
/*
 * How long a terminal's events usually are: the mean of the shortest three quarters, found without keeping them.
 *
 *     2^k     2^(k+1)   2^(k+2)                   2^(k+8)
 *      |. . . .|. . . .|. . . .|   …              |          eight octaves in quarters: events and ns in each
 *
 * The octaves are those about the first event, which is seldom shorter than most: five below it, two above; once more
 * events were outside of them than inside, about the next one. What is outside is known by octave, and by its sum.
 * Where the three quarters end inside a quarter of an octave, its mean stands for the part: so events that are equally
 * long are exact.
 *
 *   1. an event is counted once: in a quarter, or in an octave; what the extremes say by octave (job/extremes.h) is the
 *      sum of both
 *   2. quarters are numbered through from 0 ns on: 4 and 5 are 0 and 1 ns, 6 and 7 are 2 and 3, 4k to 4k + 3 octave k
 *
 * 1.8 KiB a terminal, of which an event touches two lines for its gap, two for its duration.
 * Threads: the stream's.  Hook-safe: notes are.
 */
#ifndef PYTHIA_JOB_USUAL_H
#define PYTHIA_JOB_USUAL_H

#include <stdint.h>

#include "job/extremes.h"

enum { JOB_OCTAVES = 8, JOB_OCTAVES_BELOW = 5, JOB_QUARTERS = 4 * JOB_OCTAVES };

struct job_quarter {
    uint64_t count, sum; /* events; ns */
};

struct job_lengths {
    uint64_t least, span; /* ns, of all events: the greatest less the least */
    uint64_t turn[2];     /* of the least and of the greatest */
    uint32_t first;       /* quarter */
    uint64_t since;       /* the events before that one were counted with another `first` */
    uint64_t outside;     /* later ones that are in no quarter */
    uint64_t octave[JOB_BUCKETS], others; /* all that are in no quarter: events; ns */
    struct job_quarter quarter[JOB_QUARTERS];
};

/* Of one terminal. */
struct job_noted {
    uint64_t count; /* events */
    struct job_lengths gaps, durations;
};

void job_noted_begin(struct job_noted *n); /* of no event */
/* What was noted, but for terminal and ranks; may be asked at any time. */
void job_noted_say(const struct job_noted *n, struct job_extremes *e);

void job_lengths_extreme(struct job_lengths *l, uint64_t ns, uint64_t turn);
void job_lengths_outside(struct job_lengths *l, uint64_t ns, uint64_t turn);

static inline uint32_t job_quarter(uint64_t ns)
{
    unsigned octave = 63u ^ (unsigned)__builtin_clzll(ns | 4);
    return (uint32_t)(ns >> (octave - 2)) + 4 * octave - 4;
}

static inline void job_lengths_add(struct job_lengths *l, uint64_t ns, uint64_t turn)
{
    uint32_t at = job_quarter(ns) - l->first;
    if (__builtin_expect(ns - l->least > l->span, 0))
        job_lengths_extreme(l, ns, turn);
    if (__builtin_expect(at >= JOB_QUARTERS, 0)) {
        job_lengths_outside(l, ns, turn);
        return;
    }
    l->quarter[at].count++;
    l->quarter[at].sum += ns;
}

/* One event of the terminal. */
static inline void job_noted_add(struct job_noted *n, uint64_t gap, uint64_t duration)
{
    uint64_t turn = n->count++;
    job_lengths_add(&n->gaps, gap, turn);
    job_lengths_add(&n->durations, duration, turn);
}

#endif
