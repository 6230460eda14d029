/* SPDX-License-Identifier: MIT */
/* The mean of the shortest three quarters of a terminal's events, and the deviation that its error follows from. */
#include "job/usual.h"

#include <math.h>
#include <string.h>

#define SHARE 0.75

/* A walk from the shortest events on. */
struct walk {
    double left;        /* events still to be taken */
    double events, sum, square, longest;
};

enum { NO_QUARTER = 1 << 16 };

/* --- Noting --- */

static void lengths_begin(struct job_lengths *l)
{
    *l = (struct job_lengths){ .least = UINT64_MAX, .first = NO_QUARTER };
}

void job_noted_begin(struct job_noted *n)
{
    n->count = 0;
    lengths_begin(&n->gaps);
    lengths_begin(&n->durations);
}

void job_lengths_extreme(struct job_lengths *l, uint64_t ns, uint64_t turn)
{
    uint64_t greatest = l->least + l->span;

    if (turn == 0) {
        l->least = ns;
    } else if (ns < l->least) {
        l->least = ns;
        l->span = greatest - ns;
        l->turn[0] = turn;
    } else {
        l->span = ns - l->least;
        l->turn[1] = turn;
    }
}

static uint32_t octave_of(uint32_t quarter)
{
    uint32_t octave = quarter < 8 ? quarter >= 6 : quarter / 4;
    return octave < JOB_BUCKETS ? octave : JOB_BUCKETS - 1;
}

/* The quarters are those about that length from now on. */
static void lengths_move(struct job_lengths *l, uint64_t ns, uint64_t turn)
{
    uint32_t octave = job_quarter(ns) / 4;

    for (uint32_t i = 0; i < JOB_QUARTERS && l->first != NO_QUARTER; i++) {
        l->octave[octave_of(l->first + i)] += l->quarter[i].count;
        l->others += l->quarter[i].sum;
        l->quarter[i] = (struct job_quarter){ 0 };
    }
    l->first = octave > JOB_OCTAVES_BELOW ? 4 * (octave - JOB_OCTAVES_BELOW) : 4;
    l->since = turn;
    l->outside = 0;
}

void job_lengths_outside(struct job_lengths *l, uint64_t ns, uint64_t turn)
{
    if (l->outside >= turn - l->since - l->outside) {
        lengths_move(l, ns, turn);
        l->quarter[job_quarter(ns) - l->first] = (struct job_quarter){ 1, ns };
        return;
    }
    l->outside++;
    l->octave[octave_of(job_quarter(ns))]++;
    l->others += ns;
}

/* --- What is usual --- */

/* `count` events of `from` to `to`, ns, `mean` in the mean. Their variance is that of an even spread, less where the
   mean is at an end (Bhatia and Davis, 2000). */
static void take(struct walk *w, double count, double mean, double from, double to)
{
    double n = fmin(count, w->left);

    if (!(n > 0))
        return;
    w->left -= n;
    w->events += n;
    w->sum += n * mean;
    w->square += n * (mean * mean + fmax(0, (mean - from) * (to - mean)) / 3);
    w->longest = mean;
}

/* ns from which on a length is in that quarter. */
static double quarter_from(uint32_t quarter)
{
    return quarter < 8 ? quarter - 4.0 : ldexp(4 + quarter % 4, (int)(quarter / 4) - 2);
}

/* Events of each octave that are known by quarters: those that came after a move. */
static void known_of(const struct job_lengths *l, uint64_t *known)
{
    memset(known, 0, JOB_BUCKETS * sizeof *known);
    for (uint32_t i = 0; i < JOB_QUARTERS; i++)
        known[octave_of(l->first + i)] += l->quarter[i].count;
}

/* The mean of the others, over that of the middles of their octaves. */
static double others_at(const struct job_lengths *l)
{
    double middles = 0;

    for (uint32_t k = 0; k < JOB_BUCKETS; k++)
        middles += 1.5 * ldexp(1, (int)k) * (double)l->octave[k];
    return middles > 0 ? fmin(fmax((double)l->others / middles, 2.0 / 3), 4.0 / 3) : 1;
}

/* An octave of which at least half is known by quarters, from *quarter on, is all like these. */
static void take_octave(struct walk *w, const struct job_lengths *l, uint32_t octave, uint64_t known, double others,
                        uint32_t *quarter)
{
    uint64_t events = known + l->octave[octave];
    double from = ldexp(1, (int)octave);

    if (known < l->octave[octave]) {
        take(w, (double)events, 1.5 * from * others, from, 2 * from);
        known = 0;
    }
    for (; *quarter < JOB_QUARTERS && octave_of(l->first + *quarter) <= octave; ++*quarter) {
        const struct job_quarter *q = &l->quarter[*quarter];
        if (known && q->count)
            take(w, (double)q->count * ((double)events / (double)known), (double)q->sum / (double)q->count,
                 quarter_from(l->first + *quarter), quarter_from(l->first + *quarter + 1));
    }
}

/* usual[0], usual[1]: ns of all events if each were as long as is usual; their deviation, likewise. */
static void settle(const struct job_lengths *l, uint64_t events, const uint64_t *known, uint64_t *usual)
{
    double all = (double)events, cut = fmax(1, SHARE * all), others = others_at(l);
    struct walk w = { .left = cut };

    for (uint32_t k = 0, quarter = 0; k < JOB_BUCKETS && w.left > 0; k++)
        if (known[k] + l->octave[k])
            take_octave(&w, l, k, known[k], others, &quarter);
    double usually = w.sum / w.events, rest = all - w.events, mean = (w.sum + rest * w.longest) / all;
    double variance = fmax(0, (w.square + rest * w.longest * w.longest) / all - mean * mean);
    usual[0] = (uint64_t)(usually * all + 0.5);
    usual[1] = (uint64_t)(sqrt(variance) * all * all / w.events + 0.5);
}

/* Least and greatest of a length stand side by side in the extremes, as its two usual values do. */
static void say(const struct job_lengths *l, uint64_t count, struct job_extremes *e, enum job_extreme least,
                enum job_usual usual, uint64_t *octave)
{
    e->value[least] = l->least;
    e->value[least + 1] = l->least + l->span;
    e->turn[least] = l->turn[0];
    e->turn[least + 1] = l->turn[1];
    known_of(l, octave);
    settle(l, count, octave, &e->usual[usual]);
    for (uint32_t k = 0; k < JOB_BUCKETS; k++)
        octave[k] += l->octave[k];
}

void job_noted_say(const struct job_noted *n, struct job_extremes *e)
{
    job_extremes_begin(e);
    e->count = n->count;
    if (!n->count)
        return;
    say(&n->gaps, n->count, e, JOB_GAP_MIN, JOB_USUAL_GAP, e->gaps);
    say(&n->durations, n->count, e, JOB_DURATION_MIN, JOB_USUAL_DURATION, e->durations);
}
