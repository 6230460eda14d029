/* SPDX-License-Identifier: MIT */
/*
 * Intervals: between which bounds the times of an answer lie in 8 cases of 10.
 *
 * What the program asks is judged: an answer waits until its event has come, and its error, the actual time over the
 * predicted one, moves three quantiles (10 %, 50 %, 90 %) of the errors in that context by a step up or down.
 *
 *   context    distance (power of two), place of the expected event, what is timed     direct-mapped table of quantiles
 *      |
 *      +-- distance alone: how far beyond the context's quantiles the bounds must lie so that 10 % are below and 10 %
 *          above, whatever the contexts know (adaptive conformal inference: Gibbs and Candes, NeurIPS 2021). What is
 *          judged is the interval as it was given, so the share outside is right in the long run however late it shows
 *
 * Quantiles follow by stochastic approximation (Robbins and Monro, 1951); errors are taken by a logarithm, whose steps
 * are a share of the usual error there, so that ns and seconds are learned alike. The outer ones go with the median, so
 * that a phase that is slower or faster moves an interval and does not widen it. A context that is new begins with
 * what was seen of all others at this distance, the first ones with the spread that was recorded. Where the median of a
 * context was nearer than the prediction lately, it answers in its place.
 *
 * A context with few answers says little: its quantiles, and the mean square of its errors, are weighed against those
 * of all contexts at this distance (a shrinkage estimate: James and Stein, 1961).
 *
 * The deviation is the root of that mean square. The one that is recorded adds up those of the gaps as if they were
 * independent, which they are not: a slow phase is slow in all of them. It counts only as far as this run has not shown
 * its own.
 *
 * Judging is the asker's: oracle_follow() only notes when the event of an answer came; the next question at that
 * distance looks at the two answers that have waited longest.
 *
 *   waiting    | came, to be judged | its event is still ahead |      of each range of distances, in order
 *              first                came                       last
 *
 * Invariants: 1. in each context low <= median <= high. 2. An answer waits at most once. 3. `due` is the least one of
 * those that are ahead.
 * Cost: an addition and a comparison an event; a question some 30 ns; 44 KiB an oracle, touched by who asks.
 *
 * Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct oracle_answer;

enum { ORACLE_INTERVAL_FARTHEST = 256, /* answers further ahead are given, and not judged */
       ORACLE_INTERVAL_RANGES = 9,   /* of distances: 1, 2-3, 4-7, … 256 and beyond */
       ORACLE_INTERVAL_WAITING = 32, ORACLE_INTERVAL_CONTEXTS = 512 };

enum oracle_interval_of { ORACLE_INTERVAL_UNTIL, ORACLE_INTERVAL_DURATION, ORACLE_INTERVAL_KINDS };

/* Of the logarithms of actual over predicted time. */
struct oracle_quantiles {
    float low, median, high;
    float usual;             /* how far from the median an error usually is */
    float nearer;            /* recent errors of the prediction moved by the median, less a share of those without */
    float square;            /* ns^2, mean of the squares of how far off the answers were as given */
    uint32_t key, seen;      /* seen 0: new */
};

/* An answer that waits. */
struct oracle_interval_answer {
    uint64_t asked, due;     /* ns, of `elapsed` when it was asked; number of its event */
    uint64_t until, duration; uint32_t came; /* once it came: ns since then, ns, its terminal */
    uint32_t terminal, context[ORACLE_INTERVAL_KINDS];
    float predicted[ORACLE_INTERVAL_KINDS];            /* ns, before any correction; < 0: not known */
    float given[ORACLE_INTERVAL_KINDS];                /* ns, as given */
    float bound[ORACLE_INTERVAL_KINDS][2];             /* ns, as given */
};

/* Squares of how far off the answers of a distance were, ns^2, times weights: recent ones weigh more. */
struct oracle_interval_square { float sum, seen; /* the weights' sum, from 0; what is missing to 1 is as recorded */ };

struct oracle_intervals {
    uint64_t events, elapsed; /* followed; ns from the first one's gap to the last one's end */
    uint64_t due;             /* number of the next event that an answer waits for; UINT64_MAX: of none */
    struct {
        uint64_t first, came, last;
        struct oracle_interval_answer at[ORACLE_INTERVAL_WAITING];
    } waiting[ORACLE_INTERVAL_RANGES];
    float beyond[ORACLE_INTERVAL_RANGES][ORACLE_INTERVAL_KINDS][2]; /* in usual errors: below low, above high */
    struct oracle_quantiles whole[ORACLE_INTERVAL_RANGES][ORACLE_INTERVAL_KINDS]; /* of all contexts together */
    struct oracle_interval_square square[ORACLE_INTERVAL_RANGES][ORACLE_INTERVAL_KINDS];
    struct oracle_quantiles context[ORACLE_INTERVAL_CONTEXTS];
};

void oracle_interval_start(struct oracle_intervals *v);
/* Event number `due` comes. */
void oracle_interval_came(struct oracle_intervals *v, uint32_t terminal, uint64_t gap, uint64_t duration);
static inline void oracle_interval_event(struct oracle_intervals *v, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    if (__builtin_expect(v->events == v->due, 0))
        oracle_interval_came(v, terminal, gap, duration);
    v->events++;
    v->elapsed += gap + duration;
}

/* Gives an answer at this distance its bounds, and judges earlier ones. */
void oracle_interval_answer(struct oracle_intervals *v, uint64_t distance, struct oracle_answer *answer);
