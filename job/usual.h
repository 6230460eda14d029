/* SPDX-License-Identifier: MIT */
/*
 * How long a terminal's events usually are: the mean of the shortest three quarters, found without keeping them.
 *
 *     2^k     2^(k+1)   2^(k+2)                   2^(k+8)
 *      |. . . .|. . . .|. . . .|   …              |          eight octaves in quarters: events and ns in each
 *
 * The octaves are those about the first event, which is seldom shorter than most: five below it, two above; once more
 * events were outside of them than inside, about the next one. What is outside is known by the counts of the extremes
 * (job/extremes.h), as whole octaves, and by its sum. Where the three quarters end inside a quarter of an octave, its
 * mean stands for the part: so events that are equally long are exact.
 *
 * 832 bytes a terminal; a note is five additions. With it goes what stood before (job/digram.h).
 * Threads: the stream's.  Hook-safe: notes are.
 */
#ifndef PYTHIA_JOB_USUAL_H
#define PYTHIA_JOB_USUAL_H

#include <stdint.h>

#include "job/digram.h"
#include "job/extremes.h"

enum { JOB_OCTAVES = 8, JOB_QUARTERS = 4, JOB_OCTAVES_BELOW = 5 };

struct job_lengths {
    uint64_t sum[JOB_OCTAVES * JOB_QUARTERS]; /* ns */
    uint32_t count[JOB_OCTAVES * JOB_QUARTERS];       /* UINT32_MAX: no more are counted */
    uint32_t first;                                   /* octave */
    uint64_t inside, outside;                         /* events, since `first` is what it is */
    uint64_t all;                                     /* ns of all events */
};

/* Of one terminal; `all.usual` is of what was settled last. */
struct job_noted {
    struct job_extremes all;
    struct job_lengths gaps, durations;
    struct job_before before;
};

void job_noted_begin(struct job_noted *e); /* of no event */
/* Fills all.usual. */
void job_noted_settle(struct job_noted *e);

void job_lengths_move(struct job_lengths *l, unsigned octave); /* about that one; forgets which were inside */

static inline void job_lengths_add(struct job_lengths *l, uint64_t ns)
{
    unsigned octave = job_bucket(ns);
    l->all += ns;
    if (__builtin_expect(octave - l->first >= JOB_OCTAVES, 0) && l->outside++ >= l->inside)
        job_lengths_move(l, octave);
    unsigned at = octave - l->first;
    if (at < JOB_OCTAVES) {
        at = JOB_QUARTERS * at + ((octave < 2 ? ns << (2 - octave) : ns >> (octave - 2)) & 3);
        l->inside++;
        if (__builtin_expect(l->count[at] == UINT32_MAX, 0))
            return;
        l->count[at]++;
        l->sum[at] += ns;
    }
}

/* One event of a terminal; `before`: the stream's terminal before it, GRAMMAR_NONE for the first. */
static inline void job_noted_add(struct job_noted *x, uint32_t before, uint64_t gap, uint64_t duration)
{
    struct job_extremes *e = &x->all;
    uint64_t turn = e->count++;
    job_before_add(&x->before, before, gap);
    job_lengths_add(&x->gaps, gap);
    job_lengths_add(&x->durations, duration);
    e->gaps[job_bucket(gap)]++;
    e->durations[job_bucket(duration)]++;
    if (__builtin_expect(gap < e->value[JOB_GAP_MIN], 0))
        e->value[JOB_GAP_MIN] = gap, e->turn[JOB_GAP_MIN] = turn;
    if (__builtin_expect(gap > e->value[JOB_GAP_MAX], 0))
        e->value[JOB_GAP_MAX] = gap, e->turn[JOB_GAP_MAX] = turn;
    if (__builtin_expect(duration < e->value[JOB_DURATION_MIN], 0))
        e->value[JOB_DURATION_MIN] = duration, e->turn[JOB_DURATION_MIN] = turn;
    if (__builtin_expect(duration > e->value[JOB_DURATION_MAX], 0))
        e->value[JOB_DURATION_MAX] = duration, e->turn[JOB_DURATION_MAX] = turn;
}

#endif
