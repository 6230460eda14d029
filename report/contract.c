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

#define ANOTHER 0.5           /* where most times are longer by that share it is another machine */
#define CHANCE 0.01           /* that a rule is broken by chance alone, all its measures together */

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
    return r->name ? has_word(x->where, r->name) : !(x->small || x->rare);
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
    double change = report_measure_change(m, x);

    return x->value <= x->mean || change <= log1p(tolerance) ||
           change <= report_measure_chance(m, x, CHANCE / fmax(judged, 1));
}

/* The wall time against one run is as the clocks say. */
static enum report_verdict judge_wall(const struct report_measures *m, const struct report_measure *x,
                                      struct report_rule *r)
{
    double change = report_measure_change(m, x);

    if (change <= log1p(r->tolerance))
        return REPORT_KEPT;
    if (m->runs == 1 || change > report_measure_chance(m, x, CHANCE))
        return REPORT_BROKEN;
    snprintf(r->why, sizeof r->why, "%.1f %% longer, but the baseline's own runs vary by %.1f %%", 100 * expm1(change),
             100 * sqrt(x->variance));
    return REPORT_CANNOT_SAY;
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

static void break_rule(struct report_contract *c, uint32_t rule, const struct report_measures *m,
                       const struct report_measure *x)
{
    base_must(base_array_more(&c->breaches, c->breach_count, sizeof *c->breaches));
    c->breaches[c->breach_count++] = (struct report_breach){
        .rule = rule, .what = x->part, .where = strdup(x->where), .time = x->time, .base = x->mean,
        .value = x->value,
        .pace = x->time ? expm1(log(x->value / x->mean) - report_measure_change(m, x)) : 0,
        .scatter = x->time && x->known > 1 ? sqrt(x->variance) : -1,
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
        snprintf(r->why, sizeof r->why, "most times are %.1f %% longer: the machine, or all; %s",
                 100 * m->slower, m->runs == 1 ? "take several runs" : "see the wall time");
    }
    for (uint32_t i = 0; i < m->count && !(by_pace && m->slower > ANOTHER); i++) {
        const struct report_measure *x = m->at[i];
        if (r->about == REPORT_ABOUT_WALL && applies(r, x)) {
            r->verdict = judge_wall(m, x, r);
            if (r->verdict == REPORT_BROKEN)
                break_rule(c, rule, m, x);
        } else if (applies(r, x) && !(x->time ? time_kept(m, x, r->tolerance, r->judged) : count_kept(x, c->runs)))
            break_rule(c, rule, m, x);
    }
}

void report_contract_judge(struct report_contract *c, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file)
{
    struct report_measures m;

    report_measure_all(&m, baseline, files, runs, run, file);
    c->runs = runs;
    report_measures_settle(&m);
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
