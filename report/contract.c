/* SPDX-License-Identifier: MIT */
/* Rules against measures: which promises a run broke; see contract.h. */
#include "report/contract.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"

#define CHANCE 0.01           /* that a rule is broken by chance alone, all its measures together */
#define PRIOR_FREEDOM 4.0     /* the expected variance counts as much as four more runs */
#define LEAST_SCATTER 0.001   /* nothing is measured better than this */
#define STANDARD_ERRORS 10.0  /* at least, against one run */
#define FEW 8                 /* times, from which nobody knows what most do */
#define PACES 4.0             /* standard deviations between the paces of the baseline that a pace may differ */

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

/* Mean over the baseline, as it was. */
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

/* Who names the wall time means what the clock shows: the pace is part of it. */
static double pace_of(const struct report_measures *m, const struct report_measure *x, uint32_t run)
{
    const struct report_pace *p = &m->pace[run];
    double size = mean_of(x, m->runs);

    return x->about == REPORT_ABOUT_WALL || !(size > 0) ? 1 : exp(p->level + p->slope * (log(size) - m->middle));
}

/* Mean over the baseline, at its pace; *n: runs that have it. */
static double even_mean(const struct report_measures *m, const struct report_measure *x, uint32_t *n)
{
    double sum = 0;

    *n = 0;
    for (uint32_t i = 0; i < m->runs; i++)
        if (x->base[i] >= 0) {
            sum += x->base[i] / pace_of(m, x, i);
            ++*n;
        }
    return *n ? sum / *n : -1;
}

/* Whether it tells of the machine's pace. */
static bool counts(const struct report_measures *m, const struct report_measure *x)
{
    return x->time && x->about != REPORT_ABOUT_WALL && !x->small && mean_of(x, m->runs) > 0 && x->value > 0;
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

static double most(const struct report_measures *m, bool slope)
{
    double sum = 0, square = 0;

    for (uint32_t i = 0; i < m->runs; i++) {
        double v = slope ? m->pace[i].slope : m->pace[i].level;
        sum += v;
        square += v * v;
    }
    return PACES * sqrt(fmax(0, (square - sum * sum / m->runs) / (m->runs - 1)));
}

/* What of the new run's pace may be the machine's: of several runs, what they differ by; of one, its level upwards. */
static void bound_pace(struct report_measures *m)
{
    struct report_pace *p = &m->pace[m->runs];

    if (m->runs == 1) {
        p->level = fmax(0, p->level);
        p->slope = 0; /* nobody knows by what it differs */
        return;
    }
    double level = log1p(most(m, false)), slope = most(m, true);
    p->level = fmax(-level, fmin(level, p->level));
    p->slope = fmax(-slope, fmin(slope, p->slope));
}

/* The pace of each run: none where there are too few times to know. */
static void find_pace(struct report_measures *m)
{
    struct point *p = malloc((m->count + 1) * sizeof *p);
    double *room = malloc((m->count + 1) * sizeof *room);
    uint32_t n = 0;

    m->pace = calloc(m->runs + 1, sizeof *m->pace);
    for (uint32_t i = 0; i < m->count; i++)
        if (counts(m, m->at[i]))
            room[n++] = log(mean_of(m->at[i], m->runs));
    m->middle = median(room, n);
    for (uint32_t run = 0; run <= m->runs; run++) {
        n = 0;
        for (uint32_t i = 0; i < m->count; i++)
            if (counts(m, m->at[i]) && value_of(m, m->at[i], run) > 0) {
                double size = mean_of(m->at[i], m->runs);
                p[n++] = (struct point){ log(size), log(value_of(m, m->at[i], run) / size) };
            }
        if (n >= FEW)
            m->pace[run] = line(p, n, m->middle, room);
    }
    m->slower = m->runs == 1 ? expm1(m->pace[1].level) : 0;
    free(room);
    free(p);
}

/* --- Scatter --- */

/* Relative variance over the baseline; < 0: fewer than two runs have it. */
static double relative_variance(const struct report_measures *m, const struct report_measure *x)
{
    uint32_t n;
    double mean = even_mean(m, x, &n), sum = 0;

    for (uint32_t i = 0; i < m->runs; i++)
        if (x->base[i] >= 0) {
            double off = x->base[i] / pace_of(m, x, i) / mean - 1;
            sum += off * off;
        }
    return n > 1 && mean > 0 ? sum / (n - 1) : -1;
}

/* Relative change to the new run. */
static double change_of(const struct report_measures *m, const struct report_measure *x)
{
    uint32_t n;
    double base = even_mean(m, x, &n);

    return base > 0 ? x->value / pace_of(m, x, m->runs) / base - 1 : 0;
}

/* The variance that a measure is expected to have is that of its own executions, times what most have more than that:
   five runs cannot tell it of one measure alone. */
static void moderate(struct report_measures *m)
{
    double *more = malloc((m->count + 1) * sizeof *more), factor, freedom = m->runs - 1.0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct report_measure *x = m->at[i];
        double v = counts(m, x) && x->error[0] > 0 ? relative_variance(m, x) : -1;
        if (v >= 0)
            more[n++] = v / (x->error[0] * x->error[0]);
    }
    factor = median(more, n);
    free(more);
    for (uint32_t i = 0; i < m->count; i++) {
        struct report_measure *x = m->at[i];
        double v = relative_variance(m, x), expected = factor * x->error[0] * x->error[0];
        x->scatter = v < 0 ? -1 : fmax(LEAST_SCATTER, sqrt((PRIOR_FREEDOM * expected + freedom * v) /
                                                           (PRIOR_FREEDOM + freedom)));
    }
}

/* Standard error of the change of a time, as its runs and executions tell it. */
static double told_error(const struct report_measures *m, const struct report_measure *x)
{
    return x->scatter >= 0 ? x->scatter * sqrt(1 + 1.0 / m->runs) : hypot(x->error[0], x->error[1]);
}

/* By how much times changed without a reason, most of them: in a restless hour by more than is told. Against several
   runs a factor, at least 1; against one, where nobody knows what runs differ by, a deviation. */
static void find_unrest(struct report_measures *m)
{
    double *room = malloc((m->count + 1) * sizeof *room), normal = normal_quantile(0.25);
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->count; i++)
        if (counts(m, m->at[i]) && (m->runs == 1 || m->at[i]->scatter > 0))
            room[n++] = fabs(change_of(m, m->at[i])) / (m->runs == 1 ? 1 : told_error(m, m->at[i]));
    m->unrest = n < FEW ? 0 : median(room, n) / normal;
    if (m->runs > 1)
        m->unrest = fmax(1, m->unrest);
    free(room);
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

/* Of the wall time, by the scatter of the baseline alone: against one run it is as the clocks say. */
static enum report_verdict judge_wall(const struct report_measures *m, const struct report_measure *x,
                                      struct report_rule *r)
{
    double change = change_of(m, x), variance = relative_variance(m, x), few = m->runs - 1.0;
    double chance = variance < 0 ? 0 : t_quantile(CHANCE, fmax(few, 3)) * sqrt(variance * (1 + 1.0 / m->runs));

    if (change <= r->tolerance)
        return REPORT_KEPT;
    if (change > chance)
        return REPORT_BROKEN;
    snprintf(r->why, sizeof r->why, "%.1f %% longer, but the baseline's own runs vary by %.1f %%", 100 * change,
             100 * sqrt(variance));
    return REPORT_CANNOT_SAY;
}

static bool time_kept(const struct report_measures *m, const struct report_measure *x, double tolerance,
                      uint32_t judged)
{
    double change = change_of(m, x), alone = CHANCE / fmax(judged, 1), error = told_error(m, x);
    double chance = x->scatter >= 0 ? t_quantile(alone, m->runs - 1 + PRIOR_FREEDOM) * error * m->unrest
                                    : fmax(STANDARD_ERRORS, normal_quantile(alone)) * hypot(error, m->unrest);

    return change <= tolerance || change <= chance;
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

    return BASE_ORDER(x->rule, y->rule) ?: BASE_ORDER(q, p) ?: strcmp(x->where, y->where);
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
    bool by_pace = r->about != REPORT_ABOUT_STRUCTURE && r->about != REPORT_ABOUT_WALL;
    if (by_pace && r->judged && m->slower > r->tolerance) {
        r->verdict = REPORT_CANNOT_SAY;
        snprintf(r->why, sizeof r->why, "most times are %.1f %% longer: the machine, or all; take several runs",
                 100 * m->slower);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct report_measure *x = m->at[i];
        if (r->about == REPORT_ABOUT_WALL && applies(r, x)) {
            r->verdict = judge_wall(m, x, r);
            if (r->verdict == REPORT_BROKEN)
                break_rule(c, rule, x);
        } else if (applies(r, x) && !(x->time ? time_kept(m, x, r->tolerance, r->judged) : count_kept(x, c->runs)))
            break_rule(c, rule, x);
    }
}

void report_contract_judge(struct report_contract *c, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file)
{
    struct report_measures m;

    report_measure_all(&m, baseline, files, runs, run, file);
    c->runs = runs;
    find_pace(&m);
    moderate(&m);
    find_unrest(&m); /* beside the pace that the run has, whoever it is laid to */
    bound_pace(&m);
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
