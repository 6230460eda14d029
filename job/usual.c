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

void job_noted_begin(struct job_noted *e)
{
    memset(e, 0, sizeof *e);
    job_extremes_begin(&e->all);
    e->gaps.first = e->durations.first = JOB_BUCKETS; /* no event is there */
}

void job_lengths_move(struct job_lengths *l, unsigned octave)
{
    *l = (struct job_lengths){ .all = l->all };
    l->first = octave > JOB_OCTAVES_BELOW ? octave - JOB_OCTAVES_BELOW : 0;
}

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

/* Events of an octave that are known by quarters: those that came after a move. */
static uint64_t known_of(const struct job_lengths *l, unsigned octave)
{
    uint64_t known = 0;

    for (unsigned i = 0; octave - l->first < JOB_OCTAVES && i < JOB_QUARTERS; i++)
        known += l->count[JOB_QUARTERS * (octave - l->first) + i];
    return known;
}

/* The mean of the others, over that of the middles of their octaves. */
static double others_at(const struct job_lengths *l, const uint64_t *octave)
{
    double left = (double)l->all, middles = 0;

    for (unsigned k = 0; k < JOB_BUCKETS; k++) {
        uint64_t known = known_of(l, k);
        double sum = 0;
        for (unsigned i = 0; known && i < JOB_QUARTERS; i++)
            sum += (double)l->sum[JOB_QUARTERS * (k - l->first) + i];
        left -= sum;
        middles += 1.5 * ldexp(1, (int)k) * ((double)octave[k] - (double)known);
    }
    return middles > 0 ? fmin(fmax(left / middles, 2.0 / 3), 4.0 / 3) : 1;
}

/* An octave of which at least half is known by quarters is all like these. */
static void take_octave(struct walk *w, const struct job_lengths *l, unsigned octave, uint64_t events, double others)
{
    uint64_t known = known_of(l, octave);
    double from = ldexp(1, (int)octave), width = from / JOB_QUARTERS;

    if (known < events - known) {
        take(w, (double)events, 1.5 * from * others, from, 2 * from);
        return;
    }
    for (unsigned i = 0; known && i < JOB_QUARTERS; i++) {
        unsigned at = JOB_QUARTERS * (octave - l->first) + i;
        if (l->count[at])
            take(w, l->count[at] * ((double)events / (double)known), (double)l->sum[at] / l->count[at],
                 from + i * width, from + (i + 1) * width);
    }
}

/* usual[0], usual[1]: ns of all events if each were as long as is usual; their deviation, likewise. */
static void settle(const struct job_lengths *l, const uint64_t *octave, uint64_t events, uint64_t *usual)
{
    double all = (double)events, cut = fmax(1, SHARE * all), others = others_at(l, octave);
    struct walk w = { .left = cut };

    for (unsigned k = 0; k < JOB_BUCKETS; k++)
        take_octave(&w, l, k, octave[k], others);
    double usually = w.sum / w.events, rest = all - w.events, mean = (w.sum + rest * w.longest) / all;
    double variance = fmax(0, (w.square + rest * w.longest * w.longest) / all - mean * mean);
    usual[0] = (uint64_t)(usually * all + 0.5);
    usual[1] = (uint64_t)(sqrt(variance) * all * all / w.events + 0.5);
}

void job_noted_settle(struct job_noted *e)
{
    if (!e->all.count)
        return;
    settle(&e->gaps, e->all.gaps, e->all.count, &e->all.usual[JOB_USUAL_GAP]);
    settle(&e->durations, e->all.durations, e->all.count, &e->all.usual[JOB_USUAL_DURATION]);
}
