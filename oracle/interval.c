/* SPDX-License-Identifier: MIT */
#include "oracle/interval.h"

#include <math.h>
#include <string.h>

#include "oracle/oracle.h"

enum { KNOWN = 16 }; /* errors at a distance, from which on they tell more than what was recorded */

#define OUTSIDE 0.1f        /* of the actual times are below, and as many above */
#define FIRST_STEP 0.5f     /* of the usual error; it shrinks as 1 / seen … */
#define LAST_STEP 0.04f     /* … to this, so that the quantiles can follow a run that changes */
#define CONFORMAL_STEP 0.05f
#define FARTHEST 4.0f       /* usual errors that the bounds may lie beyond */
#define NEARER 0.85f        /* the median must have been so much nearer to answer */
#define LEAST_ERROR 0.005f  /* nothing is foretold better: half a per cent */
#define SCALE_STEP (1.0f / 64)
#define MOST_SCALE 16.0f
#define DEVIATIONS 1.2816f  /* of a normal distribution, from the mean to its 90 % quantile */

/* Of numbers that are numbers: without a call, which those of libm are for the sake of others. Whether an error is
   above or below is chance, so there are no branches on it. */
static inline float least(float a, float b)
{
    return a < b ? a : b;
}

static inline float most(float a, float b)
{
    return a > b ? a : b;
}

/* --- A logarithm that is cheap, monotone, and exactly inverted: linear between powers of two --- */

static float log_of(double ns)
{
    double x = ns + 1;
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (float)((double)(int64_t)(bits - ((uint64_t)1023 << 52)) * 0x1p-52);
}

static double from_log(float l)
{
    double at = l > 0 ? (double)l : 0, x;
    uint64_t bits = (uint64_t)(at * 0x1p52) + ((uint64_t)1023 << 52);

    memcpy(&x, &bits, sizeof x);
    return x - 1;
}

/* --- Contexts --- */

static unsigned range_of(uint64_t distance)
{
    unsigned log = distance ? 63 - (unsigned)__builtin_clzll(distance) : 0;
    return log < ORACLE_INTERVAL_RANGES ? log : ORACLE_INTERVAL_RANGES - 1;
}

/* A place of the reference and whether it is in a loop's first turn, or a terminal that only this run knows. */
static uint32_t key_of(const struct oracle_answer *a, unsigned range, int kind)
{
    uint64_t place = a->node != GRAMMAR_NONE ? ((uint64_t)a->reference << 33 | (uint64_t)a->node << 1 | (a->turn > 0))
                                             : (uint64_t)1 << 63 | a->terminal;
    uint64_t x = (place * ORACLE_INTERVAL_RANGES + range) * ORACLE_INTERVAL_KINDS + (unsigned)kind + 1;

    x *= 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32) | 1;
}

static struct oracle_quantiles *context_of(struct oracle_intervals *v, uint32_t key,
                                           const struct oracle_quantiles *whole, double predicted, double deviation)
{
    struct oracle_quantiles *q = &v->context[key / 2 % ORACLE_INTERVAL_CONTEXTS];

    if (q->key == key)
        return q;
    if (whole->seen >= KNOWN) {
        *q = *whole;
        q->key = key;
        q->seen = 0;
        return q;
    }
    float up = deviation > 0 ? log_of(predicted + DEVIATIONS * deviation) - log_of(predicted) : 0.5f;
    float down = deviation > 0 && DEVIATIONS * deviation < 0.9 * predicted
                     ? log_of(predicted) - log_of(predicted - DEVIATIONS * deviation) : up;
    *q = (struct oracle_quantiles){
        .low = -down, .high = up, .usual = most(LEAST_ERROR, (up + down) / 4), .key = key
    };
    return q;
}

static float step_of(const struct oracle_quantiles *q)
{
    float step = FIRST_STEP / (1 + (float)q->seen / 8);

    return (step > LAST_STEP ? step : LAST_STEP) * 4 * q->usual;
}

/* Relative error of a prediction that is so much above the actual time, at most 1: what is far off says no more. */
static float relative(float above)
{
    return least(most(2 * above, -above), 1);
}

static float nearer(float now, float error)
{
    return now + (error - now) / 16;
}

static void learn(struct oracle_quantiles *q, float error)
{
    if (!q->seen && !(q->usual > 0))
        *q = (struct oracle_quantiles){ error, error, error, LEAST_ERROR + fabsf(error) / 4, 1, 1, q->key, 0 };
    float step = step_of(q), off = fabsf(error - q->median);

    q->raw = nearer(q->raw, relative(-error));
    q->corrected = nearer(q->corrected, relative(q->median - error));
    q->usual += (least(off, 8 * q->usual) - q->usual) * (q->seen < 16 ? 0.25f : 0.05f);
    q->usual = most(q->usual, LEAST_ERROR);
    const float down[2] = { step * OUTSIDE, -step * (1 - OUTSIDE) }, up[2] = { -step * OUTSIDE, step * (1 - OUTSIDE) };
    q->median += least(most(error - q->median, -step / 2), step / 2); /* never beyond what was seen */
    q->low += down[error < q->low];
    q->high += up[error > q->high];
    q->low = least(q->low, q->median);
    q->high = most(q->high, q->median);
    q->seen++;
}

/* --- Judging --- */

static void scale_by(struct oracle_interval_scale *s, double error, double deviation)
{
    float share = s->factor > 0 ? SCALE_STEP : 1, square = (float)(error * error),
          said = (float)(deviation * deviation);

    s->error += (square - s->error) * share;
    s->deviation += (said - s->deviation) * share;
    if (s->deviation > 0)
        s->factor = least(most(sqrtf(s->error / s->deviation), 1 / MOST_SCALE), MOST_SCALE);
}

static void judge_time(struct oracle_intervals *v, unsigned range, const struct oracle_interval_answer *a, int kind,
                       double actual)
{
    struct oracle_quantiles *q = &v->context[a->context[kind] / 2 % ORACLE_INTERVAL_CONTEXTS];
    float error = log_of(actual) - log_of((double)a->predicted[kind]), *beyond = v->beyond[range][kind];
    float unit = q->key == a->context[kind] ? q->usual : LEAST_ERROR;

    for (int side = 0; side < 2; side++) {
        static const float step[2] = { CONFORMAL_STEP * -OUTSIDE, CONFORMAL_STEP * (1 - OUTSIDE) };
        float over = side ? error - a->bound[kind][1] : a->bound[kind][0] - error;
        beyond[side] += step[over > beyond[side] * unit];
        beyond[side] = least(most(beyond[side], -2), FARTHEST);
    }
    if (q->key == a->context[kind])
        learn(q, error);
    learn(&v->whole[range][kind], error);
    if (a->deviation[kind] > 0)
        scale_by(&v->scale[range][kind], actual - (double)a->given[kind], (double)a->deviation[kind]);
}

/* The event of the answer has come, and is in the ring. */
static void judge(struct oracle_intervals *v, unsigned range, const struct oracle_interval_answer *a)
{
    uint64_t i = a->due % ORACLE_INTERVAL_RING, before = (a->asked - 1) % ORACLE_INTERVAL_RING;
    uint64_t asked = a->asked ? v->ring[before].begin + v->ring[before].duration : 0;

    if (a->predicted[ORACLE_INTERVAL_UNTIL] >= 0)
        judge_time(v, range, a, ORACLE_INTERVAL_UNTIL, (double)(v->ring[i].begin - asked));
    if (a->predicted[ORACLE_INTERVAL_DURATION] >= 0 && v->ring[i].terminal == a->terminal)
        judge_time(v, range, a, ORACLE_INTERVAL_DURATION, (double)v->ring[i].duration);
}

static void judge_due(struct oracle_intervals *v, unsigned range)
{
    for (int i = 0; i < 2 && v->waiting[range].first < v->waiting[range].last; i++) {
        const struct oracle_interval_answer *a = &v->waiting[range]
                                                      .at[v->waiting[range].first % ORACLE_INTERVAL_WAITING];
        if (a->due >= v->events)
            return;
        if (v->events - a->asked < ORACLE_INTERVAL_RING)
            judge(v, range, a);
        v->waiting[range].first++;
    }
}

/* --- Answering --- */

static void give(struct oracle_intervals *v, unsigned range, int kind, const struct oracle_answer *a,
                 struct oracle_interval_answer *wait, double *time, double *said, double bound[2])
{
    double deviation = *said;
    uint32_t key = wait->context[kind] = key_of(a, range, kind);
    float at = log_of(*time);

    wait->predicted[kind] = (float)*time;
    if (*time < 0) {
        bound[0] = bound[1] = -1;
        return;
    }
    struct oracle_quantiles *q = context_of(v, key, &v->whole[range][kind], *time, deviation);
    const float *beyond = v->beyond[range][kind];
    wait->bound[kind][0] = q->low;
    wait->bound[kind][1] = q->high;
    if (q->seen > 8 && q->corrected < NEARER * q->raw)
        *time = from_log(at + q->median);
    wait->given[kind] = (float)*time;
    wait->deviation[kind] = (float)deviation;
    if (deviation > 0 && v->scale[range][kind].factor > 0)
        *said = deviation * (double)v->scale[range][kind].factor;
    bound[0] = from_log(at + q->low - beyond[0] * q->usual);
    bound[1] = from_log(at + q->high + beyond[1] * q->usual);
    bound[0] = bound[0] < *time ? bound[0] : *time;
    bound[1] = bound[1] > *time ? bound[1] : *time;
}

/* Those that wait are spread over the distance, so that there is room for the next one when it comes: at random, so
   that no period of the program falls in step with them. */
static void wait_for(struct oracle_intervals *v, unsigned range, uint64_t distance,
                     const struct oracle_interval_answer *a)
{
    uint64_t last = v->waiting[range].last, waiting = last - v->waiting[range].first;
    uint64_t mean = distance / ORACLE_INTERVAL_WAITING + 1;
    uint64_t apart = mean == 1 ? 1 : 1 + (v->events * 0x9e3779b97f4a7c15u >> 40) % (2 * mean);

    if (waiting == ORACLE_INTERVAL_WAITING ||
        (waiting && v->waiting[range].at[(last - 1) % ORACLE_INTERVAL_WAITING].due + apart > a->due))
        return;
    v->waiting[range].at[v->waiting[range].last++ % ORACLE_INTERVAL_WAITING] = *a;
}

void oracle_interval_answer(struct oracle_intervals *v, uint64_t distance, struct oracle_answer *answer)
{
    unsigned range = range_of(distance);
    struct oracle_interval_answer wait = { .asked = v->events,
                                           .due = v->events + distance - 1,
                                           .terminal = answer->terminal };
    double until[2], duration[2];

    judge_due(v, range);
    give(v, range, ORACLE_INTERVAL_UNTIL, answer, &wait, &answer->until, &answer->until_deviation, until);
    give(v, range, ORACLE_INTERVAL_DURATION, answer, &wait, &answer->duration, &answer->duration_deviation, duration);
    answer->until_low = until[0];
    answer->until_high = until[1];
    answer->duration_low = duration[0];
    answer->duration_high = duration[1];
    if (distance <= ORACLE_INTERVAL_RING / 2)
        wait_for(v, range, distance, &wait);
}

bool oracle_interval_check(const struct oracle_intervals *v)
{
    for (int i = 0; i < ORACLE_INTERVAL_CONTEXTS; i++)
        if (!(v->context[i].low <= v->context[i].median && v->context[i].median <= v->context[i].high))
            return false;
    for (int r = 0; r < ORACLE_INTERVAL_RANGES; r++)
        if (v->waiting[r].last - v->waiting[r].first > ORACLE_INTERVAL_WAITING)
            return false;
    return true;
}
