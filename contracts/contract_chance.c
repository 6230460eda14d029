/* SPDX-License-Identifier: MIT */
/*
 * What times vary by without a reason: pace, scatter between runs, and what may be chance; see contract.h, and
 * doc/ALGORITHMS.md for the formulas. All in logarithms: times are multiplied by what makes them longer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "contracts/contract.h"

#define CHANCE 0.02  /* that some promise about times or efficiencies is broken without a reason */
#define FINEST 1e-6  /* no time is known better; only against logarithms of 0 */

enum { ENOUGH = 3 }; /* times, of which the median tells the pace though one has changed */

/* --- Distributions --- */

/* Quantile of the normal distribution for an upper tail p < 0.5: Abramowitz and Stegun 26.2.23, within 4.5e-4. */
static double normal_quantile(double p)
{
    double t = sqrt(-2 * log(p));

    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* Of Student's t. Hill, "Algorithm 396: Student's t-quantiles", CACM 13 (1970); exact for one degree of freedom and
   two. */
static double t_quantile(double p, double freedom)
{
    if (freedom < 1.5)
        return tan(M_PI * (0.5 - p));
    if (freedom < 2.5)
        return (1 - 2 * p) / sqrt(2 * p * (1 - p));
    double a = 1 / (freedom - 0.5), b = 48 / (a * a), c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI / 2) * freedom, x = d * 2 * p, y = pow(x, 2 / freedom);

    if (y > 0.05 + a) {
        x = -normal_quantile(p);
        y = x * x;
        c += freedom < 5 ? 0.3 * (freedom - 4.5) * (x + 0.6) : 0;
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y -
             1) * (freedom + 1) / (freedom + 2) + 1 / y;
    }
    return sqrt(freedom * y);
}

/* Mean and variance of the logarithm of a chi-squared of 2 x over its freedom: digamma(x) - log(x), and trigamma(x),
   by recurrence to where their series hold. */
static double log_mean(double x)
{
    double sum = -log(x);

    for (; x < 8; x++)
        sum -= 1 / x;
    return sum + log(x) - 1 / (2 * x) - (1 - (0.1 - 1 / (21 * x * x)) / (x * x)) / (12 * x * x);
}

static double log_variance(double x)
{
    double sum = 0;

    for (; x < 8; x++)
        sum += 1 / (x * x);
    return sum + 1 / x + 1 / (2 * x * x) + (1 - (0.2 - 1 / (7 * x * x)) / (x * x)) / (6 * x * x * x);
}

/* The x of a variance, at most `most`. */
static double of_variance(double variance, double most)
{
    double low = log(1e-3), high = log(most);

    if (variance <= log_variance(most))
        return most;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(log_variance(exp(middle)) > variance ? &low : &high) = middle;
    }
    return exp(low);
}

int contracts_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return BASE_ORDER(x, y);
}

/* Sorts them; 0 of none. */
static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, contracts_by_value);
    return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

/* --- One measure --- */

static bool is_timed(const struct contracts_measure *x)
{
    return x->about > CONTRACTS_ABOUT_STRUCTURE && x->about < CONTRACTS_ABOUT_WALL;
}

/* What it is in a run beside the mean over the baseline and the pace, a logarithm; NAN where it is not there. */
static double beside(const struct contracts_measures *m, const struct contracts_measure *x, uint32_t run)
{
    const double *of = m->pace[x->follows].value;
    double pace = of && is_timed(x) ? log(of[run]) : 0;

    return x->mean > 0 && x->value[run] > 0 ? log(x->value[run] / x->mean) - pace : NAN;
}

static double error_of(const struct contracts_measure *x, uint32_t run)
{
    return is_timed(x) ? fmax(FINEST, x->error[run]) : 1;
}

static void find_mean(const struct contracts_measures *m, struct contracts_measure *x)
{
    double sum = 0;

    x->known = 0;
    for (uint32_t i = 0; i < m->runs; i++)
        if (x->value[i] >= 0) {
            sum += x->value[i];
            x->known++;
        }
    x->mean = x->known ? sum / x->known : -1;
    x->scatter = -1;
}

/* Its variance between the runs of the baseline, in those of its errors inside them; sets the change, beside their
   mean. */
static double factor_of(const struct contracts_measures *m, struct contracts_measure *x)
{
    double mean = 0, squares = 0, y;

    for (uint32_t i = 0; i < m->runs; i++)
        if (isfinite(y = beside(m, x, i)))
            mean += y / x->known;
    for (uint32_t i = 0; i < m->runs; i++)
        if (isfinite(y = beside(m, x, i)))
            squares += (y - mean) * (y - mean) / (error_of(x, i) * error_of(x, i));
    y = beside(m, x, m->runs);
    x->change = isfinite(y) ? y - mean : 0;
    return x->known > 1 ? fmax(FINEST, squares / (x->known - 1)) : 0;
}

/* Sum of the squares of the errors: of the new run, and of the mean over the baseline. */
static double square_error(const struct contracts_measures *m, const struct contracts_measure *x)
{
    double sum = error_of(x, m->runs) * error_of(x, m->runs);

    for (uint32_t i = 0; i < m->runs && x->known; i++)
        if (x->value[i] > 0)
            sum += error_of(x, i) * error_of(x, i) / ((double)x->known * x->known);
    return sum;
}

/* Beyond the quantile, and beyond each run of the baseline; against one run, also beyond the scatter inside. */
static void limit(const struct contracts_measures *m, struct contracts_measure *x, double error, double quantile)
{
    double mean = beside(m, x, m->runs) - x->change;

    x->chance = quantile * error;
    if (x->known > 1)
        x->scatter = error * sqrt(x->known / (x->known + 1.0));
    else if (is_timed(x))
        x->chance = fmax(x->chance, log1p(x->inside));
    for (uint32_t i = 0; i < m->runs; i++)
        if (beside(m, x, i) - mean > x->chance)
            x->chance = beside(m, x, i) - mean;
}

/* --- All --- */

/* Of those that follow others, or of those that do not. Turns are made of the others. */
static bool tells_pace(const struct contracts_measure *x, bool follows)
{
    return is_timed(x) && x->about < CONTRACTS_ABOUT_LOOP && x->follows == follows && !x->minor;
}

static double *find_pace(const struct contracts_measures *m, bool follows)
{
    double *room = malloc((m->count + 1) * sizeof *room), *pace = malloc((m->runs + 1) * sizeof *pace);

    for (uint32_t run = 0; run <= m->runs; run++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < m->count; i++)
            if (tells_pace(m->at[i], follows) && isfinite(room[n] = beside(m, m->at[i], run)))
                n++;
        pace[run] = n < ENOUGH ? 1 : exp(median(room, n));
    }
    free(room);
    return pace;
}

/* One number a run. Of one run nothing is known of what it varies by. */
static void settle_whole(struct contracts_measures *m, struct contracts_measure *x, double p)
{
    find_mean(m, x);
    double factor = factor_of(m, x);
    limit(m, x, sqrt(factor * square_error(m, x)), x->known > 1 ? t_quantile(p, x->known - 1) : 0);
}

static bool is_classes(const struct contracts_measure *x)
{
    return !strcmp(x->part, "classes");
}

/* Standard error of a count beside the mean over the baseline; sets the change. Absent is 0. */
static double count_error(const struct contracts_measures *m, struct contracts_measure *x)
{
    double mean = 0, squares = 0;

    for (uint32_t run = 0; run < m->runs; run++)
        mean += fmax(x->value[run], 0) / m->runs;
    for (uint32_t run = 0; run < m->runs; run++)
        squares += (fmax(x->value[run], 0) - mean) * (fmax(x->value[run], 0) - mean);
    x->change = fabs(fmax(x->value[m->runs], 0) - mean);
    return m->runs > 1 ? sqrt(squares / (m->runs - 1) * (1 + 1.0 / m->runs)) : 0;
}

/* Counts that the baseline's runs differ in are one number a run as well. Where one varies, so do the classes, which
   are ranks with equal grammars. */
static void settle_counts(struct contracts_measures *m)
{
    uint32_t varying = 0;

    for (uint32_t i = 0; i < m->count; i++)
        if (m->at[i]->about == CONTRACTS_ABOUT_STRUCTURE)
            varying += (m->at[i]->chance = count_error(m, m->at[i])) > 0 && !is_classes(m->at[i]);
    double quantile = varying ? t_quantile(CHANCE / 2 / varying, m->runs - 1) : 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->at[i]->about == CONTRACTS_ABOUT_STRUCTURE)
            m->at[i]->chance = is_classes(m->at[i]) && varying ? INFINITY : quantile * m->at[i]->chance;
}

/* What the factors have in common: their scale, and with what freedom, from mean and variance of their logarithms. */
struct common { double factor, freedom; };

static struct common common_of(const struct contracts_measures *m, const double *factor, bool follows)
{
    double n = 0, sum = 0, squares = 0, chance = 0, freedom = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct contracts_measure *x = m->at[i];
        if (!is_timed(x) || x->follows != follows || x->minor || x->known < 2)
            continue;
        double half = (x->known - 1) / 2.0, z = log(factor[i]) - log_mean(half);
        n++;
        sum += z;
        squares += z * z;
        chance += log_variance(half);
        freedom += 2 * half;
    }
    if (n < 2)
        return (struct common){ 0, 0 };
    double half = of_variance((squares - sum * sum / n) / (n - 1) - chance / n, freedom / 2);
    return (struct common){ exp(sum / n + log_mean(half)), 2 * half };
}

/* In how many of their errors most times changed, a normal deviation taken for one: in a restless hour in more than is
   told (an empirical null: Efron, "Large-scale simultaneous hypothesis testing", 2004). */
static double unrest_of(const struct contracts_measures *m, const double *error, bool follows, double freedom)
{
    BASE_OWN double *room = malloc((m->count + 1) * sizeof *room);
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++)
        if (tells_pace(m->at[i], follows))
            room[n++] = fabs(m->at[i]->change) / error[i];
    double unrest = n < ENOUGH ? 1 : median(room, n) / normal_quantile(0.25);
    return sqrt(fmax(1, (freedom + n * unrest * unrest) / (freedom + n)));
}

void contracts_measures_settle(struct contracts_measures *m, uint32_t judged)
{
    double *error = calloc(m->count + 1, sizeof *error), p = CHANCE / 2 / fmax(1, judged), unrest[2];

    for (uint32_t i = 0; i < m->count; i++)
        find_mean(m, m->at[i]);
    settle_counts(m);
    double *pace[2] = { find_pace(m, false), find_pace(m, true) };
    for (int follows = 0; follows < 2; follows++) {
        m->pace[follows] = (struct contracts_measure){ .about = CONTRACTS_ABOUT_WALL, .value = pace[follows] };
        settle_whole(m, &m->pace[follows], CHANCE / 2);
    }
    for (uint32_t i = 0; i < m->count; i++)
        error[i] = is_timed(m->at[i]) ? factor_of(m, m->at[i]) : 0;
    struct common all[2] = { common_of(m, error, false), common_of(m, error, true) };
    for (uint32_t i = 0; i < m->count; i++) {
        const struct common *c = &all[m->at[i]->follows];
        double own = fmax(0, m->at[i]->known - 1.0), factor = 1;
        if (own > 0)
            factor = (c->freedom * c->factor + own * error[i]) / (c->freedom + own);
        error[i] = sqrt(factor * square_error(m, m->at[i]));
    }
    for (int follows = 0; follows < 2; follows++)
        unrest[follows] = unrest_of(m, error, follows, all[follows].freedom + m->runs - 1);
    for (uint32_t i = 0; i < m->count; i++) {
        struct contracts_measure *x = m->at[i];
        if (is_timed(x))
            limit(m, x, error[i] * unrest[x->follows],
                  x->known > 1 ? t_quantile(p, all[x->follows].freedom + x->known - 1) : normal_quantile(p));
        else if (x->about >= CONTRACTS_ABOUT_WALL)
            settle_whole(m, x, p);
    }
    free(error);
}
