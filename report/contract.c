/* SPDX-License-Identifier: MIT */
/* Rules against measures: which promises a run broke; see contract.h. */
#include "report/contract.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define CHANCE 0.01           /* that a rule is broken by chance alone, all its measures together */
#define PRIOR_FREEDOM 4.0     /* the common variance counts as much as four more runs */
#define LEAST_SCATTER 0.001   /* nothing is measured better than this */
#define STANDARD_ERRORS 3.0   /* of one run against one */

/* --- Chance --- */

/* Quantile of the normal distribution for an upper tail p < 0.5: Abramowitz and Stegun 26.2.23, within 4.5e-4. */
static double normal_quantile(double p)
{
    double t = sqrt(-2 * log(p));

    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* Of Student's t with `freedom` degrees: Hill, "Algorithm 396: Student's t-quantiles", CACM 13 (1970), for freedom >
   2. */
static double t_quantile(double p, double freedom)
{
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
             1) *
                (freedom + 1) / (freedom + 2) +
            1 / y;
    }
    return sqrt(freedom * y);
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

/* Relative variance of a time over the baseline; < 0: fewer than two runs have it. */
static double relative_variance(const struct report_measure *x, uint32_t runs)
{
    double mean = mean_of(x, runs), sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < runs; i++)
        if (x->base[i] >= 0) {
            sum += (x->base[i] / mean - 1) * (x->base[i] / mean - 1);
            n++;
        }
    return n > 1 && mean > 0 ? sum / (n - 1) : -1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the variances of all times: what five runs cannot tell of one measure. */
static void moderate(struct report_measures *m)
{
    double *all = malloc((m->count + 1) * sizeof *all), common;
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        double v = m->at[i]->time ? relative_variance(m->at[i], m->runs) : -1;
        if (v >= 0)
            all[n++] = v;
    }
    qsort(all, n, sizeof *all, by_value);
    common = n ? all[n / 2] : 0;
    free(all);
    for (uint32_t i = 0; i < m->count; i++) {
        double v = relative_variance(m->at[i], m->runs), freedom = m->runs - 1.0;
        m->at[i]->scatter = v < 0 ? -1
                                  : fmax(LEAST_SCATTER,
                                         sqrt((PRIOR_FREEDOM * common + freedom * v) / (PRIOR_FREEDOM + freedom)));
    }
}

/*
 * By how much times changed without a reason, most of them, about what all did: in a restless hour every time of a run
 * is off, by more than its own executions tell. 0 where there are too few to know.
 */
static void find_unrest(struct report_measures *m)
{
    enum { FEW = 8 };
    double *all = malloc((m->count + 1) * sizeof *all);
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct report_measure *x = m->at[i];
        double base = mean_of(x, m->runs);
        if (x->time && !x->small && base > 0 && x->value >= 0)
            all[n++] = x->value / base - 1;
    }
    qsort(all, n, sizeof *all, by_value);
    double middle = n ? all[n / 2] : 0;
    for (uint32_t i = 0; i < n; i++)
        all[i] = fabs(all[i] - middle);
    qsort(all, n, sizeof *all, by_value);
    m->unrest = n < FEW ? 0 : all[n / 2] / normal_quantile(0.25);
    free(all);
}

/* --- Rules and measures --- */

/* Whether `name` stands in `where` as a word, or as some. */
static bool has_word(const char *where, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strstr(where, name); at; at = strstr(at + 1, name)) {
        bool begins = at == where || !(isalnum((unsigned char)at[-1]) || at[-1] == '_') ||
                      !(isalnum((unsigned char)*name) || *name == '_');
        char next = at[length], last = name[length - 1];
        if (begins &&
            (!(isalnum((unsigned char)next) || next == '_') || !(isalnum((unsigned char)last) || last == '_')))
            return true;
    }
    return false;
}

static bool applies(const struct report_rule *r, const struct report_measure *x)
{
    if (r->about != x->about)
        return false;
    if (r->about == REPORT_ABOUT_STRUCTURE)
        return !r->name || !strcmp(r->name, x->part) || (!strcmp(r->name, "callsites") && !x->time && x->value < 0);
    return r->name ? has_word(x->where, r->name) : !x->small;
}

/* A count is kept when the baseline had it, or values on both sides. Classes: when some run had the same. */
static bool count_kept(const struct report_measure *x, uint32_t runs)
{
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < runs; i++) {
        least = fmin(least, x->base[i]);
        most = fmax(most, x->base[i]);
    }
    return x->value >= least && x->value <= most;
}

static bool time_kept(const struct report_measures *m, const struct report_measure *x, double tolerance,
                      uint32_t judged)
{
    double base = mean_of(x, m->runs), change = base > 0 ? x->value / base - 1 : 0, alone = CHANCE / fmax(judged, 1);
    double chance = fmax(STANDARD_ERRORS, normal_quantile(alone)) * hypot(x->error, m->unrest);

    if (x->scatter >= 0)
        chance = fmax(chance, t_quantile(alone, m->runs - 1 + PRIOR_FREEDOM) * x->scatter * sqrt(1 + 1.0 / m->runs));
    return !(base > 0) || change <= tolerance || change <= chance;
}

/* The first run of the baseline that is not as those before it. */
static uint32_t varies_since(const struct report_measure *x, uint32_t runs, double tolerance)
{
    for (uint32_t i = 1; i < runs; i++)
        if (x->time ? fabs(x->base[i] - x->base[0]) > tolerance * fabs(x->base[0])
                    : fabs(x->base[i] - x->base[0]) > 1e-9)
            return i + 1;
    return 0;
}

static void break_rule(struct report_contract *c, uint32_t rule, const struct report_measure *x)
{
    base_must(base_array_more(&c->breaches, c->breach_count, sizeof *c->breaches));
    c->breaches[c->breach_count++] = (struct report_breach){
        .rule = rule, .what = x->part, .where = strdup(x->where), .time = x->time, .base = mean_of(x, c->runs),
        .value = x->value, .scatter = x->time ? x->scatter : -1,
        .varies_since = varies_since(x, c->runs, c->rules[rule].tolerance) };
    c->rules[rule].verdict = REPORT_BROKEN;
}

static double size_of(const struct report_breach *b)
{
    return b->base > 0 && b->value >= 0 ? fabs(b->value / b->base - 1) : INFINITY;
}

static int by_rule(const void *a, const void *b)
{
    const struct report_breach *x = a, *y = b;
    double p = size_of(x), q = size_of(y);

    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    if (p > q || p < q)
        return p < q ? 1 : -1;
    return strcmp(x->where, y->where);
}

static void judge(struct report_contract *c, uint32_t rule, const struct report_measures *m)
{
    struct report_rule *r = &c->rules[rule];

    for (uint32_t i = 0; i < m->count; i++)
        r->judged += applies(r, m->at[i]);
    if (!r->judged && r->name && r->about != REPORT_ABOUT_STRUCTURE) {
        r->verdict = REPORT_CANNOT_SAY;
        snprintf(r->why, sizeof r->why, "nothing that both have is named '%.40s'", r->name);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct report_measure *x = m->at[i];
        if (applies(r, x) && !(x->time ? time_kept(m, x, r->tolerance, r->judged) : count_kept(x, c->runs)))
            break_rule(c, rule, x);
    }
}

void report_contract_judge(struct report_contract *c, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file)
{
    struct report_measures m;

    report_measure_all(&m, baseline, files, runs, run, file);
    c->runs = runs;
    moderate(&m);
    find_unrest(&m);
    for (uint32_t i = 0; i < c->rule_count; i++) {
        if (m.comparable) {
            judge(c, i, &m);
        } else {
            c->rules[i].verdict = REPORT_CANNOT_SAY;
            memcpy(c->rules[i].why, m.why, sizeof m.why);
        }
    }
    if (c->breach_count)
        qsort(c->breaches, c->breach_count, sizeof *c->breaches, by_rule);
    report_measures_clear(&m);
}

enum report_verdict report_contract_verdict(const struct report_contract *c)
{
    enum report_verdict worst = REPORT_KEPT;

    for (uint32_t i = 0; i < c->rule_count; i++)
        if (c->rules[i].verdict == REPORT_BROKEN)
            return REPORT_BROKEN;
        else if (c->rules[i].verdict == REPORT_CANNOT_SAY)
            worst = REPORT_CANNOT_SAY;
    return worst;
}
