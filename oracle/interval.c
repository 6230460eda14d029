/* SPDX-License-Identifier: MIT */
#include "oracle/interval.h"

#include <math.h>
#include <string.h>

#include "oracle/oracle.h"

enum { KNOWN = 16,     /* errors at a distance, from which on they tell more than what was recorded */
       MEDIAN_FROM = 9 /* errors in a context, from which on its median may answer */ };

#define OUTSIDE 0.1f        /* of the actual times are below, and as many above */
#define FIRST_STEP 0.5f     /* of the usual error; it shrinks as 1 / seen … */
#define LAST_STEP 0.04f     /* … to this, so that the quantiles can follow a run that changes */
#define CONFORMAL_STEP 0.07f
#define FARTHEST 4.0f       /* usual errors that the bounds may lie beyond */
#define NEARER 0.8f         /* the median must have been so much nearer to answer … */
#define NEARER_STEP (1.0f / 128) /* … over about so many errors */
#define LEAST_ERROR 0.005f  /* nothing is foretold better: half a per cent */
#define SHRINK 32.0f        /* answers of a context that weigh as much as those of all others */
#define SQUARE_STEP (1.0f / 512)
#define MOST_SQUARE 1e36f
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
        q->square = 0;
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

static void interval_learn(struct oracle_quantiles *q, float error, float square)
{
    if (!q->seen && !(q->usual > 0))
        *q = (struct oracle_quantiles){ error, error, error, LEAST_ERROR + fabsf(error) / 4, 1 - NEARER, 0, q->key, 0 };
    float step = step_of(q), off = fabsf(error - q->median);

    q->nearer += (relative(q->median - error) - NEARER * relative(-error) - q->nearer) * NEARER_STEP;
    q->square += (square - q->square) * most(1 / ((float)q->seen + 1), SQUARE_STEP);
    q->usual += (least(off, 8 * q->usual) - q->usual) * (q->seen < 16 ? 0.25f : 0.05f);
    q->usual = most(q->usual, LEAST_ERROR);
    const float down[2] = { step * OUTSIDE, -step * (1 - OUTSIDE) }, up[2] = { -step * OUTSIDE, step * (1 - OUTSIDE) };
    const float shift = least(most(error - q->median, -step / 2), step / 2); /* never beyond what was seen */
    q->median += shift;
    q->low += shift;
    q->high += shift;
    q->low = least(q->low + down[error < q->low], q->median);
    q->high = most(q->high + up[error > q->high], q->median);
    q->seen++;
}

/* --- Judging --- */

static void judge_time(struct oracle_intervals *v, unsigned range, const struct oracle_interval_answer *a, int kind,
                       double actual)
{
    struct oracle_quantiles *q = &v->context[a->context[kind] / 2 % ORACLE_INTERVAL_CONTEXTS];
    float error = log_of(actual) - log_of((double)a->predicted[kind]), off = (float)actual - a->given[kind];
    float square = least(off * off, MOST_SQUARE), *beyond = v->beyond[range][kind];
    const bool outside[2] = { actual + 1 <= (double)a->bound[kind][0], actual - 1 >= (double)a->bound[kind][1] };

    for (int side = 0; side < 2; side++) {
        static const float step[2] = { CONFORMAL_STEP * -OUTSIDE, CONFORMAL_STEP * (1 - OUTSIDE) };
        beyond[side] = least(most(beyond[side] + step[outside[side]], -2), FARTHEST);
    }
    if (q->key == a->context[kind])
        interval_learn(q, error, square);
    interval_learn(&v->whole[range][kind], error, square);
    struct oracle_interval_square *all = &v->square[range][kind];
    all->sum += (square - all->sum) * SQUARE_STEP;
    all->seen += (1 - all->seen) * SQUARE_STEP;
}

static void judge(struct oracle_intervals *v, unsigned range, const struct oracle_interval_answer *a)
{
    if (a->predicted[ORACLE_INTERVAL_UNTIL] >= 0)
        judge_time(v, range, a, ORACLE_INTERVAL_UNTIL, (double)a->until);
    if (a->predicted[ORACLE_INTERVAL_DURATION] >= 0 && a->came == a->terminal)
        judge_time(v, range, a, ORACLE_INTERVAL_DURATION, (double)a->duration);
}

static void judge_due(struct oracle_intervals *v, unsigned range)
{
    for (int i = 0; i < 2 && v->waiting[range].first < v->waiting[range].came; i++)
        judge(v, range, &v->waiting[range].at[v->waiting[range].first++ % ORACLE_INTERVAL_WAITING]);
}

/* --- What came --- */

void oracle_interval_start(struct oracle_intervals *v)
{
    v->due = UINT64_MAX;
}

__attribute__((noinline)) void oracle_interval_came(struct oracle_intervals *v, uint32_t terminal, uint64_t gap,
                                                    uint64_t duration)
{
    v->due = UINT64_MAX;
    for (unsigned range = 0; range < ORACLE_INTERVAL_RANGES; range++) {
        uint64_t *came = &v->waiting[range].came;
        struct oracle_interval_answer *at = v->waiting[range].at;
        struct oracle_interval_answer *a = &at[*came % ORACLE_INTERVAL_WAITING];
        if (*came < v->waiting[range].last && a->due == v->events) {
            a->until = v->elapsed + gap - a->asked;
            a->duration = duration;
            a->came = terminal;
            a = &at[++*came % ORACLE_INTERVAL_WAITING];
        }
        if (*came < v->waiting[range].last && a->due < v->due)
            v->due = a->due;
    }
}

/* --- Answering --- */

/* Mean square of the errors of all answers at a distance; < 0: not known. */
static float square_of(const struct oracle_interval_square *all, double recorded)
{
    if (recorded > 0)
        return all->sum + (1 - all->seen) * (float)(recorded * recorded);
    return all->seen > 0 ? all->sum / all->seen : -1;
}

/* `share`: the weight of what all contexts say. */
static inline float shrink(float own, float all, float share)
{
    return own + share * (all - own);
}

static void interval_give(struct oracle_intervals *v, unsigned range, int kind, const struct oracle_answer *a,
                          struct oracle_interval_answer *wait, double *time, double *deviation, double bound[2])
{
    uint32_t key = wait->context[kind] = key_of(a, range, kind);
    float at = log_of(*time);

    wait->predicted[kind] = (float)*time;
    if (*time < 0) {
        bound[0] = bound[1] = -1;
        return;
    }
    const struct oracle_quantiles *whole = &v->whole[range][kind];
    const struct oracle_quantiles *q = context_of(v, key, whole, *time, *deviation), *all = whole->seen ? whole : q;
    const float *beyond = v->beyond[range][kind], square = square_of(&v->square[range][kind], *deviation);
    float share = SHRINK / (SHRINK + (float)q->seen), usual = shrink(q->usual, all->usual, share);
    float low = shrink(q->low, all->low, share) - beyond[0] * usual;
    float high = shrink(q->high, all->high, share) + beyond[1] * usual;
    if (q->seen >= MEDIAN_FROM && q->nearer < 0)
        *time = from_log(at + q->median);
    *deviation = square < 0 ? -1 : (double)sqrtf(shrink(q->square, square, share));
    bound[0] = from_log(at + low);
    bound[1] = from_log(at + high);
    bound[0] = bound[0] < *time ? bound[0] : *time;
    bound[1] = bound[1] > *time ? bound[1] : *time;
    wait->given[kind] = (float)*time;
    wait->bound[kind][0] = (float)bound[0];
    wait->bound[kind][1] = (float)bound[1];
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
    if (a->due < v->due)
        v->due = a->due;
}

void oracle_interval_answer(struct oracle_intervals *v, uint64_t distance, struct oracle_answer *answer)
{
    unsigned range = range_of(distance);
    struct oracle_interval_answer wait = { .asked = v->elapsed,
                                           .due = v->events + distance - 1,
                                           .terminal = answer->terminal };
    double until[2], duration[2];

    judge_due(v, range);
    interval_give(v, range, ORACLE_INTERVAL_UNTIL, answer, &wait, &answer->until, &answer->until_deviation, until);
    interval_give(v, range, ORACLE_INTERVAL_DURATION, answer, &wait, &answer->duration, &answer->duration_deviation,
                  duration);
    answer->until_low = until[0];
    answer->until_high = until[1];
    answer->duration_low = duration[0];
    answer->duration_high = duration[1];
    if (distance <= ORACLE_INTERVAL_FARTHEST)
        wait_for(v, range, distance, &wait);
}
