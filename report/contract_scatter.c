/* SPDX-License-Identifier: MIT */
/*
 * What times vary by without a reason: the pace of whole runs, what each time follows of it, and the scatter that is
 * left; see contract.h. All in logarithms: times are multiplied by what makes them longer.
 *
 *     log(time in run k) = own + line(pace of k, size) + follow * (level of k - their mean) + scatter
 */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "report/contract.h"

#define PRIOR_FREEDOM 8.0    /* the expected variance counts as much as eight more runs */
#define FOLLOWS 0.2          /* deviation of what times follow a pace by, more or less than most (measured: LULESH) … */
#define WAITS_FOLLOW 5.0     /* … and of what waits do, which a busy machine makes several times as long */
#define LEAST_DOUBT 0.05     /* no pace is followed more exactly than this */
#define LEAST_SCATTER 0.001  /* nothing is measured better than this */
#define STANDARD_ERRORS 10.0 /* at least, against one run */
#define FEW 8                /* times, from which nobody knows what most do */
#define PACES 4.0            /* standard deviations between the paces of the baseline that a pace may differ */

/* --- Pace --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return BASE_ORDER(x, y);
}

/* Sorts them; 0 of none. */
static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

static double value_of(const struct report_measures *m, const struct report_measure *x, uint32_t run)
{
    return run < m->runs ? x->base[run] : x->value;
}

static double mean_of(const struct report_measure *x, uint32_t runs)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < runs; i++)
        if (x->base[i] >= 0) {
            sum += x->base[i];
            n++;
        }
    return n ? sum / n : -1;
}

/* The line of a run's pace at the size of a time, not beyond the sizes that it is known from. Who names the wall time
   means what the clock shows. */
static double pace_of(const struct report_measures *m, const struct report_measure *x, uint32_t run)
{
    const struct report_pace *p = &m->pace[run];
    double size = fmax(m->least, fmin(m->most, x->mean > 0 ? log(x->mean) : m->middle));

    return x->about == REPORT_ABOUT_WALL ? 0 : p->level + p->slope * (size - m->middle);
}

static double level_of(const struct report_measures *m, const struct report_measure *x, uint32_t run)
{
    return x->about == REPORT_ABOUT_WALL ? 0 : m->pace[run].level;
}

/* Whether it tells of the machine's pace. */
static bool counts(const struct report_measures *m, const struct report_measure *x)
{
    return x->time && !x->alone && !x->rare && (m->few || !x->small) && x->mean > 0 && x->value > 0;
}

struct point { double size, change; }; /* logarithms */

static int by_size(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    return BASE_ORDER(x->size, y->size) ?: BASE_ORDER(x->change, y->change);
}

static double median_of(const struct point *p, uint32_t n, bool sizes, double *room)
{
    for (uint32_t i = 0; i < n; i++)
        room[i] = sizes ? p[i].size : p[i].change;
    return median(room, n);
}

/* A resistant line through the points: the slope between the medians of the outer thirds, then the level that most are
   at (Tukey, "Exploratory Data Analysis", 1977). No slope where sizes hardly differ. */
static struct report_pace line(struct point *p, uint32_t n, double middle, double *room)
{
    enum { ENOUGH = 12 };
    uint32_t third = n / 3;
    struct report_pace pace = { 0, 0 };

    qsort(p, n, sizeof *p, by_size);
    double range = median_of(p + n - third, third, true, room) - median_of(p, third, true, room);
    if (n >= ENOUGH && range > 1)
        pace.slope = (median_of(p + n - third, third, false, room) - median_of(p, third, false, room)) / range;
    for (uint32_t i = 0; i < n; i++)
        room[i] = p[i].change - pace.slope * (p[i].size - middle);
    pace.level = median(room, n);
    return pace;
}

/* What of the new run's pace may be the machine's. Of one run its level upwards, for nobody knows by what it differs.
   Of several all of it; where it is longer by more than they differ by, it may be the program's, too. */
static void judge_pace(struct report_measures *m)
{
    struct report_pace *p = &m->pace[m->runs];
    double sum = 0, square = 0;

    if (m->runs == 1) {
        p->level = fmax(0, p->level);
        p->slope = 0;
        m->slower = expm1(p->level);
        return;
    }
    for (uint32_t i = 0; i < m->runs; i++) {
        sum += m->pace[i].level;
        square += m->pace[i].level * m->pace[i].level;
    }
    double apart = sqrt(fmax(0, square - sum * sum / m->runs) / (m->runs - 1));
    m->slower = p->level > PACES * apart ? expm1(p->level) : 0;
}

/* The pace of each run: none where there are too few times to know. */
static void find_pace(struct report_measures *m)
{
    struct point *p = malloc((m->count + 1) * sizeof *p);
    double *room = malloc((m->count + 1) * sizeof *room);
    uint32_t n = 0;

    m->pace = calloc(m->runs + 1, sizeof *m->pace);
    for (uint32_t i = 0; i < m->count; i++)
        n += counts(m, m->at[i]);
    m->few = n < FEW;
    n = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (counts(m, m->at[i]))
            room[n++] = log(m->at[i]->mean);
    m->middle = median(room, n);
    m->least = n ? room[n / 6] : 0;
    m->most = n ? room[n - 1 - n / 6] : 0;
    for (uint32_t run = 0; run <= m->runs; run++) {
        n = 0;
        for (uint32_t i = 0; i < m->count; i++)
            if (counts(m, m->at[i]) && value_of(m, m->at[i], run) > 0) {
                double size = m->at[i]->mean;
                p[n++] = (struct point){ log(size), log(value_of(m, m->at[i], run) / size) };
            }
        if (n >= FEW)
            m->pace[run] = line(p, n, m->middle, room);
    }
    free(room);
    free(p);
}

/* --- Scatter --- */

/* What a time is over the baseline: its mean, how it follows the levels of the runs, where follow ~ N(0, prior) and
   what is left ~ N(0, x->variance). Returns the sum of squares that is left, and x->freedom of them. */
static double fit(const struct report_measures *m, struct report_measure *x)
{
    double n = 0, own = 0, level = 0, levels = 0, both = 0, squares = 0;
    double follows = x->alone ? WAITS_FOLLOW : FOLLOWS, prior = follows * follows;

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < m->runs; i++) {
            if (!(x->base[i] > 0))
                continue;
            double y = log(x->base[i]) - pace_of(m, x, i), l = level_of(m, x, i);
            if (pass) {
                y -= own / n, l -= level / n;
                levels += l * l, both += l * y, squares += y * y;
            } else {
                own += y, level += l, n++;
            }
        }
    x->own = n > 0 ? own / n : 0;
    x->level = n > 0 ? level / n : 0;
    x->doubt = prior * x->variance / (x->variance + prior * levels);
    x->follow = both * x->doubt / x->variance;
    x->freedom = fmax(1, n - 1 - levels * x->doubt / x->variance);
    x->known = (uint32_t)n;
    x->doubt += LEAST_DOUBT * LEAST_DOUBT;
    return fmax(0, squares - 2 * x->follow * both + x->follow * x->follow * levels);
}

/* The variance that a time is expected to have is that of its own executions, and what most have more than that: five
   runs cannot tell it of one time alone. */
static void moderate(struct report_measures *m)
{
    enum { PASSES = 3 }; /* how a time follows the pace, and what is left, are found in turn */
    double *more = malloc((m->count + 1) * sizeof *more), extra = 0, prior = PRIOR_FREEDOM;

    for (uint32_t i = 0; i < m->count; i++) {
        struct report_measure *x = m->at[i];
        x->alone |= x->rare;
        x->variance = fmax(LEAST_SCATTER * LEAST_SCATTER, 2 * x->error[0] * x->error[0]);
    }
    for (int pass = 0; pass <= PASSES; pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < m->count; i++) {
            struct report_measure *x = m->at[i];
            if (!x->time)
                continue;
            double left = fit(m, x), expected = x->error[0] * x->error[0] + extra, with = x->alone ? 0 : prior;
            if (x->known < 2)
                continue;
            if (counts(m, x))
                more[n++] = left / x->freedom - x->error[0] * x->error[0];
            if (pass == 0 && !x->alone)
                continue; /* what most have more is not known yet */
            x->variance = fmax(LEAST_SCATTER * LEAST_SCATTER, (with * expected + left) / (with + x->freedom));
            x->freedom += with;
        }
        extra = fmax(0, median(more, n));
        prior = fmin(PRIOR_FREEDOM, fmax(1, n) - 1);
    }
    free(more);
}

/* Logarithm of the change to the new run, beside its pace. */
double report_measure_change(const struct report_measures *m, const struct report_measure *x)
{
    double off = level_of(m, x, m->runs) - x->level;

    return x->known ? log(x->value) - pace_of(m, x, m->runs) - x->own - x->follow * off : 0;
}

/* Its standard error, as runs and executions tell it. */
static double told_error(const struct report_measures *m, const struct report_measure *x)
{
    double off = level_of(m, x, m->runs) - x->level;

    return x->known > 1 ? sqrt(x->variance * (1 + 1.0 / x->known) + x->doubt * off * off)
                        : hypot(x->error[0], x->error[1]);
}

/* By how much times changed without a reason, most of them: in a restless hour by more than is told. Against several
   runs a factor, at least 1; against one, where nobody knows what runs differ by, a deviation. */
static void find_unrest(struct report_measures *m)
{
    double *room = malloc((m->count + 1) * sizeof *room), normal = report_normal_quantile(0.25);
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++)
        if (counts(m, m->at[i]))
            room[n++] = fabs(report_measure_change(m, m->at[i])) / (m->runs == 1 ? 1 : told_error(m, m->at[i]));
    m->unrest = n < FEW ? 0 : median(room, n) / normal;
    if (m->runs > 1)
        m->unrest = fmax(1, m->unrest);
    free(room);
}

double report_measure_chance(const struct report_measures *m, const struct report_measure *x, double p)
{
    double error = told_error(m, x);

    if (x->known > 1)
        return report_t_quantile(p, x->freedom) * error * (x->alone ? 1 : m->unrest);
    return log1p(fmax(STANDARD_ERRORS, report_normal_quantile(p)) * hypot(error, m->unrest)); /* of the time itself */
}

void report_measures_settle(struct report_measures *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        m->at[i]->mean = mean_of(m->at[i], m->runs);
    find_pace(m);
    moderate(m);
    find_unrest(m);
    judge_pace(m);
}
