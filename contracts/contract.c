/* SPDX-License-Identifier: MIT */
/* Rules against measures: which promises a run broke; see contract.h. */
#include "contracts/contract.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/units.h"

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

static bool applies(const struct contracts_rule *r, const struct contracts_measures *m,
                    const struct contracts_measure *x)
{
    if (x->about == CONTRACTS_ABOUT_NAMED)
        return r->about == CONTRACTS_ABOUT_REGION && (r->name ? !strcmp(r->name, x->where) : !x->minor);
    if (r->about != x->about)
        return false;
    if (r->about == CONTRACTS_ABOUT_STRUCTURE)
        return !r->name || !strcmp(r->name, x->part) || (!strcmp(r->name, "callsites") && x->value[m->runs] < 0);
    return r->name ? has_word(x->where, r->name) : !x->minor;
}

/* The first run of the baseline that is not as those before it. */
static uint32_t varies_since(const struct contracts_measure *x, uint32_t runs, double tolerance)
{
    for (uint32_t i = 1; i < runs; i++)
        if (x->about == CONTRACTS_ABOUT_STRUCTURE ? fabs(x->value[i] - x->value[0]) > 1e-9
                                               : fabs(x->value[i] - x->value[0]) > tolerance * fabs(x->value[0]))
            return i + 1;
    return 0;
}

/* The functions that made a time longer: of all runs of the baseline together, and the new one. */
static struct contracts_grown *grown_of(const struct contracts_measures *m, const struct contracts_measure *x,
                                        double pace, uint32_t *count)
{
    BASE_OWN const struct findings_inside_part **part = calloc(m->runs, sizeof *part);
    struct contracts_made made[2] = { { .ns = 0 }, x->made[m->runs] };
    double runs = 0;

    for (uint32_t i = 0; i < m->runs; i++) {
        part[i] = &x->made[i].part;
        runs += x->made[i].ns > 0;
        made[0].ns += x->made[i].ns;
        made[0].error += x->made[i].error * x->made[i].error;
    }
    made[0].part = findings_inside_together(part, m->runs);
    made[0].ns /= fmax(runs, 1);
    made[0].error = sqrt(made[0].error) / fmax(runs, 1);
    struct contracts_grown *grown = contracts_grown_find(made, pace, count);
    free(made[0].part.function);
    return grown;
}

static void break_rule(struct contract *c, uint32_t rule, const struct contracts_measures *m,
                       const struct contracts_measure *x)
{
    bool share = x->about > CONTRACTS_ABOUT_WALL && x->about != CONTRACTS_ABOUT_NAMED;
    double value = x->value[m->runs];
    double pace = x->about > CONTRACTS_ABOUT_STRUCTURE && x->about < CONTRACTS_ABOUT_WALL ?
                  expm1(m->pace[x->follows].change) : 0;
    uint32_t grown_count;
    struct contracts_grown *grown = grown_of(m, x, pace, &grown_count);

    BASE_ADD(c->breaches, c->breach_count, (struct contracts_breach){
        .rule = rule, .what = x->part, .where = strdup(x->where),
        .base = share ? 1 / x->mean : x->mean, .value = share ? 1 / value : value,
        .unit = share ? "share" : x->about != CONTRACTS_ABOUT_STRUCTURE ? "seconds" :
                !strcmp(x->part, "bytes") ? "bytes" : "count",
        .pace = pace, .grown = grown, .grown_count = grown_count,
        .scatter = x->scatter, .varies_since = varies_since(x, c->runs, c->rules[rule].tolerance) });
    c->rules[rule].verdict = CONTRACTS_BROKEN;
}

/* A count is kept when the baseline had it, or values on both sides, or varies enough for it. Classes: when some run
   had the same. */
static bool count_kept(const struct contracts_measure *x, uint32_t runs)
{
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < runs; i++) {
        least = fmin(least, x->value[i]);
        most = fmax(most, x->value[i]);
    }
    return (x->value[runs] >= least && x->value[runs] <= most) || x->change <= x->chance;
}

static bool kept(const struct contracts_measures *m, const struct contracts_measure *x, double tolerance)
{
    if (x->about == CONTRACTS_ABOUT_STRUCTURE)
        return count_kept(x, m->runs);
    return x->value[m->runs] <= x->mean || x->change <= log1p(tolerance) || x->change <= x->chance;
}

static void cannot_say(struct contracts_rule *r, const char *why)
{
    if (r->verdict != CONTRACTS_KEPT)
        return;
    r->verdict = CONTRACTS_CANNOT_SAY;
    snprintf(r->why, sizeof r->why, "%s", why);
}

/* Longer by more than it may be, yet nobody knows why: of a figure of the whole run by less than it varies by, of times
   with most others. */
static void judge_doubt(struct contracts_rule *r, const struct contracts_measures *m, const struct contracts_measure *x)
{
    const struct contracts_measure *of = x->about < CONTRACTS_ABOUT_WALL ? m->pace : x;
    double percent = 100 * expm1(of->change);

    if (x->about == CONTRACTS_ABOUT_STRUCTURE || of->change <= log1p(r->tolerance))
        return;
    if (of == m->pace && of->change > of->chance)
        cannot_say(r, findings_text("most times are %.1f %% longer: the machine is slower, or all of the program",
                                    percent));
    else if (of == x && x->change <= x->chance)
        cannot_say(
            r, findings_text("%.1f %% %s, but the baseline's own runs vary by %.1f %%", percent,
                             x->about == CONTRACTS_ABOUT_WALL || x->about == CONTRACTS_ABOUT_NAMED ? "longer" : "worse",
                             100 * x->scatter));
}

static void judge(struct contract *c, uint32_t rule, const struct contracts_measures *m)
{
    struct contracts_rule *r = &c->rules[rule];
    BASE_OWN double *least = malloc((m->count + 1) * sizeof *least);

    r->judged = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct contracts_measure *x = m->at[i];
        if (!applies(r, m, x))
            continue;
        least[r->judged++] = expm1(x->chance);
        if (!kept(m, x, r->tolerance))
            break_rule(c, rule, m, x);
        else
            judge_doubt(r, m, x);
    }
    qsort(least, r->judged, sizeof *least, contracts_by_value);
    r->least = r->judged && r->about != CONTRACTS_ABOUT_STRUCTURE ? least[r->judged / 2] : -1;
    if (!r->judged && r->about > CONTRACTS_ABOUT_WALL)
        cannot_say(r, "it is not known of all runs");
    else if (!r->judged && r->name && r->about != CONTRACTS_ABOUT_STRUCTURE)
        cannot_say(r, findings_text("nothing that both have is named '%.40s'", r->name));
}

static double size_of(const struct contracts_breach *b)
{
    return b->base > 0 && b->value >= 0 ? fabs(b->value / b->base - 1) : INFINITY;
}

static int by_rule(const void *a, const void *b)
{
    const struct contracts_breach *x = a, *y = b;
    double p = size_of(x), q = size_of(y);

    return BASE_ORDER(x->rule, y->rule) ?: BASE_ORDER(q, p) ?: strcmp(x->where, y->where);
}

/* Times and efficiencies that the rules are about, each once. */
static uint32_t times_judged(const struct contract *c, const struct contracts_measures *m)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; k < c->rule_count; k++)
            if (m->at[i]->about != CONTRACTS_ABOUT_STRUCTURE && applies(&c->rules[k], m, m->at[i])) {
                count++;
                break;
            }
    return count;
}

void contract_judge(struct contract *c, struct report *const *baseline, const char *const *files,
                    uint32_t runs, struct report *run, const char *file)
{
    struct contracts_measures m;

    for (uint32_t i = 0; i < c->rule_count; i++)
        for (uint32_t k = 0; k <= runs && c->rules[i].about == CONTRACTS_ABOUT_SERIALISATION; k++)
            findings_split_communication(k < runs ? baseline[k] : run);
    contracts_measure_all(&m, baseline, files, runs, run, file);
    c->runs = runs;
    if (m.comparable)
        contracts_measures_settle(&m, times_judged(c, &m));
    for (uint32_t i = 0; i < c->rule_count; i++) {
        struct contracts_rule *r = &c->rules[i];
        r->least = -1;
        if (!m.comparable || (m.other && r->about != CONTRACTS_ABOUT_STRUCTURE)) {
            cannot_say(r, m.comparable ? m.other : m.why);
        } else {
            judge(c, i, &m);
        }
    }
    BASE_SORT(c->breaches, c->breach_count, by_rule);
    contracts_measures_clear(&m);
}

enum contracts_verdict contract_verdict(const struct contract *c)
{
    enum contracts_verdict worst = CONTRACTS_KEPT;

    for (uint32_t i = 0; i < c->rule_count; i++)
        if (c->rules[i].verdict == CONTRACTS_BROKEN)
            return CONTRACTS_BROKEN;
        else if (c->rules[i].verdict == CONTRACTS_CANNOT_SAY)
            worst = CONTRACTS_CANNOT_SAY;
    return worst;
}
