/* SPDX-License-Identifier: MIT */
/* The mean of the shortest three quarters of a terminal's events, and the deviation that its error follows from. */
#include "job/usual.h"

#include <math.h>

#define SHARE 0.75

/* A walk from the shortest events on. */
struct walk {
    double left;        /* events still to be taken */
    double events, sum, square, longest;
};

/* --- Noting --- */

void job_noted_begin(struct job_noted *n)
{
    *n = (struct job_noted){ .gap.least = UINT64_MAX, .duration.least = UINT64_MAX };
}

static uint64_t count_of(const struct job_octave *octaves)
{
    uint64_t count = 0;

    for (uint32_t k = 0; k < JOB_BUCKETS; k++)
        count += octaves[k].count;
    return count;
}

void job_limits_extend(struct job_limits *l, const struct job_octave *octaves, uint64_t ns)
{
    uint64_t greatest = l->least + l->span, turn = count_of(octaves);

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

/* --- What is usual --- */

/* The shortest events of an octave, as many as are left: evenly spread, from the mean less w to the mean plus w, events
   have the variance w^2 / 3, and the shortest share p of them has the mean less w (1 - p), and p w instead of w. */
static void usual_take(struct walk *w, const struct job_octave *o)
{
    double all = (double)o->count, n = fmin(all, w->left), mean = (double)o->sum / all;
    double width = sqrt(3 * fmax(0, (double)o->square / all - mean * mean));

    mean = fmax(mean - width * (1 - n / all), 0);
    width *= n / all;
    w->left -= n;
    w->events += n;
    w->sum += n * mean;
    w->square += n * (mean * mean + width * width / 3);
    w->longest = mean + width;
}

/* usual[0], usual[1]: ns of all events if each were as long as is usual; their deviation, likewise. */
static void usual_settle(const struct job_octave *octaves, uint64_t events, uint64_t *usual)
{
    double all = (double)events;
    struct walk w = { .left = fmax(1, SHARE * all) };

    for (uint32_t k = 0; k < JOB_BUCKETS && w.left > 0; k++)
        if (octaves[k].count)
            usual_take(&w, &octaves[k]);
    double usually = w.sum / w.events, rest = all - w.events, mean = (w.sum + rest * w.longest) / all;
    double variance = fmax(0, (w.square + rest * w.longest * w.longest) / all - mean * mean);
    usual[0] = (uint64_t)(usually * all + 0.5);
    usual[1] = (uint64_t)(sqrt(variance) * all * all / w.events + 0.5);
}

/* Least and greatest of a length stand side by side in the extremes, as its two usual values do. */
static void say(const struct job_limits *l, const struct job_octave *octaves, struct job_extremes *e,
                enum job_extreme least, enum job_usual usual, uint64_t *octave)
{
    e->value[least] = l->least;
    e->value[least + 1] = l->least + l->span;
    e->turn[least] = l->turn[0];
    e->turn[least + 1] = l->turn[1];
    usual_settle(octaves, e->count, &e->usual[usual]);
    for (uint32_t k = 0; k < JOB_BUCKETS; k++)
        octave[k] = octaves[k].count;
}

void job_noted_say(const struct job_noted *n, struct job_extremes *e)
{
    job_extremes_begin(e);
    e->count = count_of(n->gaps);
    if (!e->count)
        return;
    say(&n->gap, n->gaps, e, JOB_GAP_MIN, JOB_USUAL_GAP, e->gaps);
    say(&n->duration, n->durations, e, JOB_DURATION_MIN, JOB_USUAL_DURATION, e->durations);
}
