/* SPDX-License-Identifier: MIT */
#include "tools/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/follow.h"
#include "tools/tool.h"

void evaluation_create(struct evaluation *v, const uint64_t *distance, uint32_t distances, uint64_t every)
{
    v->column = calloc(distances, sizeof *v->column);
    v->columns = distances;
    v->clock = cost_of_clock();
    v->every = every;
    for (uint32_t i = 0; i < v->columns; i++) {
        v->column[i].distance = distance[i];
        v->column[i].waiting = calloc(distance[i], sizeof *v->column[i].waiting);
    }
}

void evaluation_clear(struct evaluation *v)
{
    for (uint32_t i = 0; i < v->columns; i++)
        free(v->column[i].waiting);
    free(v->column);
}

/* --- Following --- */

#define NS_RANGE 0x1p20 /* times from 1 ns to 2^40 ns, in the buckets of relative errors */

static void count_error(struct evaluation_errors *e, double relative)
{
    double at = relative > 0 ? 64 * (log2(relative) + 20) + 1 : 0;
    e->bucket[at < 0 ? 0 : at > EVALUATION_BUCKETS ? EVALUATION_BUCKETS : (uint32_t)at]++;
    e->count++;
}

static double median_error(const struct evaluation_errors *e)
{
    uint64_t below = 0;

    for (uint32_t i = 0; i <= EVALUATION_BUCKETS; i++) {
        below += e->bucket[i];
        if (2 * below >= e->count)
            return i ? exp2((i - 0.5) / 64 - 20) : 0;
    }
    return 0;
}

static void judge_values(struct evaluation_column *c, const struct evaluation_answer *a, const struct grammar_event *e)
{
    for (int k = 0; k < EVALUATION_VALUES; k++)
        if (e->channels >> k & 1) {
            c->valued[k]++;
            c->right[k] += a->terminal == e->terminal && a->values >> k & 1 && a->value[k] == e->value[k];
        }
}

static void ask_values(struct evaluation_answer *a, const struct evaluation *v, struct oracle *o, uint64_t distance)
{
    struct oracle_answer answer;
    double chance;

    a->values = 0;
    for (int k = 0; k < EVALUATION_VALUES && v->reference.job; k++)
        if (!file_value_ahead(&v->reference, o, distance, (enum grammar_channel)k, &answer, &a->value[k], &chance))
            a->values |= 1u << k;
}

/* Event number `events` (from 0) came, `elapsed + gap` into the stream. */
static void judge(struct evaluation_column *c, const struct evaluation *v, const struct grammar_event *e)
{
    const struct evaluation_answer *a = &c->waiting[v->events % c->distance];

    if (!a->asked)
        return;
    judge_values(c, a, e);
    bool hit = a->terminal == e->terminal && a->terminal != GRAMMAR_NONE;
    double wrong = (double)a->probability - hit, actual = (double)(v->elapsed + e->gap - a->elapsed);
    c->predictions++;
    c->hits += hit;
    c->unknown += a->terminal == GRAMMAR_NONE;
    c->brier += wrong * wrong;
    if (a->terminal != GRAMMAR_NONE && a->until >= 0 && actual > 0)
        count_error(&c->error, fabs(a->until - actual) / actual);
    if (a->terminal != GRAMMAR_NONE && a->until >= 0) {
        c->bounded++;
        c->inside += actual >= floor(a->low) && actual <= ceil(a->high);
    }
    if (a->terminal != GRAMMAR_NONE && a->until >= 0 && a->deviation >= 0) {
        count_error(&c->width, (a->high - a->low) / NS_RANGE);
        count_error(&c->deviations, 2 * a->deviation / NS_RANGE);
        c->inside_deviation += fabs(actual - a->until) <= ceil(a->deviation);
        c->squares += (actual - a->until) * (actual - a->until);
        c->variances += a->deviation * a->deviation;
    }
    if (hit && a->duration_high >= 0) {
        c->lasting++;
        c->lasting_inside += (double)e->duration >= floor(a->duration_low) &&
                             (double)e->duration <= ceil(a->duration_high);
    }
}

/* After `events` events, for number events + distance - 1: its slot is free, as the one before it there was judged. */
static void ask(struct evaluation_column *c, const struct evaluation *v, struct oracle *o)
{
    struct evaluation_answer *a = &c->waiting[(v->events + c->distance - 1) % c->distance];
    struct oracle_answer answer;

    a->asked = v->events % v->every == 0;
    if (!a->asked)
        return;
    uint64_t begin = base_clock_system();
    oracle_predict(o, c->distance, &answer);
    oracle_bound(o, c->distance, &answer);
    cost_count_since(&c->cost, begin, v->clock);
    a->terminal = answer.terminal;
    a->probability = answer.terminal == GRAMMAR_NONE ? 0 : (float)answer.probability;
    a->until = answer.until;
    a->low = answer.until_low;
    a->high = answer.until_high;
    a->deviation = answer.until_deviation;
    a->duration_low = answer.duration_low;
    a->duration_high = answer.duration_high;
    a->elapsed = v->elapsed;
    ask_values(a, v, o, c->distance);
}

int evaluation_follow(struct evaluation *v, struct oracle *o, struct source *test)
{
    struct grammar_event e;
    int more;

    for (;; v->events++) {
        for (uint32_t i = 0; i < v->columns; i++)
            ask(&v->column[i], v, o);
        if ((more = source_next(test, &e)) <= 0)
            return more < 0 ? TOOL_INPUT : TOOL_OK;
        for (uint32_t i = 0; i < v->columns; i++)
            judge(&v->column[i], v, &e);
        uint64_t begin = base_clock_system();
        oracle_follow(o, e.terminal, e.gap, e.duration);
        cost_count_since(&v->follow, begin, v->clock);
        if (v->reference.follow)
            job_follow_pass(v->reference.follow, e.terminal, e.channels, e.value);
        v->elapsed += e.gap + e.duration;
        v->timed |= e.gap || e.duration;
    }
}

/* --- Printing --- */

enum { COLUMNS = 18, COSTS = 6, AFTER_COSTS = 9 };
static const struct { const char *key, *heading; int width, digits, tsv_digits; } columns[COLUMNS] = {
    { "distance", "distance", 8, 0, 0 }, { "predictions", "predictions", 12, 0, 0 },
    { "accuracy", "accuracy", 9, 4, 6 }, { "unknown", "unknown", 9, 4, 6 }, { "brier", "brier", 9, 4, 6 },
    { "time_error_median", "time error", 11, 4, 4 },
    { "p50_ns", "p50 ns", 8, 0, 0 }, { "p99_ns", "p99 ns", 8, 0, 0 }, { "max_ns", "max ns", 10, 0, 0 },
    /* Shares of the times inside their intervals, medians of how wide these and time +- deviation are, the share inside
       the latter; of the durations inside theirs; how far off the times were beside what the deviations say. */
    { "inside", "inside", 8, 4, 4 }, { "interval_ns", "interval", 10, 0, 0 }, { "deviation_ns", "2 x dev.", 10, 0, 0 },
    { "inside_deviation", "inside", 8, 4, 4 }, { "duration_inside", "lasting", 8, 4, 4 },
    { "error_to_deviation", "off/dev.", 8, 4, 4 },
    /* Of events that have one, and were foretold with it. */
    { "peers", "peers", 8, 4, 4 }, { "bytes", "bytes", 8, 4, 4 }, { "tags", "tags", 8, 4, 4 },
};

/* NAN is "-", in the first column "follow"; NULL: the headings. */
static void print_row(bool tsv, const double *value, int count)
{
    char text[32];

    for (int i = 0; i < count; i++) {
        if (!value)
            snprintf(text, sizeof text, "%s", tsv ? columns[i].key : columns[i].heading);
        else if (isnan(value[i]))
            strcpy(text, i ? "-" : "follow");
        else
            snprintf(text, sizeof text, "%.*f", tsv ? columns[i].tsv_digits : columns[i].digits, value[i]);
        printf("%s%*s", !i ? "" : tsv ? "\t" : " ", tsv ? 0 : columns[i].width, text);
    }
    putchar('\n');
}

static void set_costs(const struct cost_histogram *h, double *value)
{
    value[COSTS] = (double)cost_quantile(h, 0.5);
    value[COSTS + 1] = (double)cost_quantile(h, 0.99);
    value[COSTS + 2] = (double)h->max;
}

static void print_column(const struct evaluation_column *c, bool timed, bool tsv)
{
    double n = c->predictions ? (double)c->predictions : 1, wide = c->width.count ? 1 : (double)NAN;
    double value[COLUMNS] = {
        (double)c->distance, (double)c->predictions, (double)c->hits / n, (double)c->unknown / n, c->brier / n,
        timed && c->error.count ? median_error(&c->error) : (double)NAN, 0, 0, 0,
        (double)c->inside / (double)c->bounded, wide * median_error(&c->width) * NS_RANGE,
        wide * median_error(&c->deviations) * NS_RANGE, (double)c->inside_deviation / (double)c->width.count,
        (double)c->lasting_inside / (double)c->lasting,
        c->variances > 0 ? sqrt(c->squares / c->variances) : (double)NAN,
        (double)c->right[0] / (double)c->valued[0], (double)c->right[1] / (double)c->valued[1],
        (double)c->right[2] / (double)c->valued[2] };

    set_costs(&c->cost, value);
    print_row(tsv, value, COLUMNS);
}

void evaluation_print(const struct evaluation *v, bool tsv)
{
    double follow[COLUMNS];

    print_row(tsv, NULL, COLUMNS);
    for (uint32_t i = 0; i < v->columns; i++)
        print_column(&v->column[i], v->timed, tsv);
    for (int i = 0; i < COLUMNS; i++)
        follow[i] = i == 1 ? (double)v->events : (double)NAN;
    set_costs(&v->follow, follow);
    print_row(tsv, follow, tsv ? COLUMNS : AFTER_COSTS);
}
