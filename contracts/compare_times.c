/* SPDX-License-Identifier: MIT */
/* Times of two jobs, call by call: which of them moved beyond their spread. */
#include <math.h>
#include <stdlib.h>

#include "contracts/compare_parts.h"
#include "job/extremes.h"

static const double WORTH = 1e-4; /* of the time of all streams: what a call must change to be told */

/* Moments of executions; `within`, `freedom`: of those in one place of the grammar, about the mean of that place. */
struct sums { double count, sum, square, within, freedom; };
struct times { struct sums gap, own; struct contracts_usual usual_gap, usual_own; double calls; };

static void add_moments(struct sums *s, const struct grammar_moments *m, uint64_t count)
{
    double n = (double)count, within = m->square - (double)m->sum * (double)m->sum / n;

    s->count += n;
    s->sum += (double)m->sum;
    s->square += m->square;
    s->freedom += n - 1;
    s->within += within > 0 ? within : 0;
}

static void add_usual(struct contracts_usual *to, double count, const struct contracts_usual *one)
{
    to->mean += count * one->mean;
    to->variance += count * one->variance;
}

/* A span with others inside: what is left of it is after the last one, in the gap before its end. */
static void add_times(const struct contracts_comparison *c, uint32_t *const row[2], struct times *times, int side)
{
    const struct job *j = c->report[side]->job;
    BASE_OWN struct contracts_usual_event *usual = contracts_usual_events(j, c->report[!side]->job);

    for (uint32_t k = 0; k < j->class_count; k++) {
        const struct grammar_flat *g = j->classes[k].grammar;
        for (uint32_t n = 0; g && n < g->node_count; n++) {
            uint32_t t = g->nodes[n].symbol;
            const struct grammar_stats *s = &g->stats[n];
            if (t >= j->terminal_count || !s->count)
                continue;
            struct times *into = &times[2 * (size_t)row[side][t] + (size_t)side];
            bool closes = j->terminals[t].phase == JOB_CLOSE;
            into->calls += closes ? 0 : (double)s->count;
            add_moments(closes ? &into->own : &into->gap, &s->gap, s->count);
            add_moments(&into->own, &s->duration, s->count);
            add_usual(closes ? &into->usual_own : &into->usual_gap, (double)s->count, &usual[t].gap);
            add_usual(&into->usual_own, (double)s->count, &usual[t].duration);
        }
    }
}

/* Variance of one execution; in its place where places were met often enough, else of all together. < 0: not known. */
static double variance(const struct sums *s)
{
    double between = s->count > 0 ? s->square - s->sum * s->sum / s->count : 0;

    if (s->count < 2)
        return -1;
    if (s->freedom >= s->count / 2)
        return s->within / s->freedom;
    return between > 0 ? between / (s->count - 1) : 0;
}

/* Of one execution; a span is of several parts. */
static double variance_of_call(const struct sums *s, double calls)
{
    return variance(s) * (calls > 0 ? s->count / calls : 1);
}

static void fill_usual(struct contracts_shift *shift, int side, const struct contracts_usual *sum, double calls)
{
    shift->usual[side] = calls > 0 ? sum->mean / calls : 0;
    shift->error[side] = sum->mean > 0 ? sqrt(sum->variance) / sum->mean : 0;
}

/* `worth`: ns of all executions together, below which a difference is of no interest; < 0: they are of other work, or
   what they vary by is not known. */
static void judge(struct contracts_shift *shift, const struct sums *a, const struct sums *b, double calls_a,
                  double calls_b, double worth)
{
    const struct sums *s[2] = { a, b };
    double calls[2] = { calls_a, calls_b }, v[2];

    for (int i = 0; i < 2; i++) {
        v[i] = variance_of_call(s[i], calls[i]);
        shift->mean[i] = calls[i] > 0 ? s[i]->sum / calls[i] : 0;
        shift->deviation[i] = v[i] > 0 ? sqrt(v[i]) : 0;
    }
    shift->known = v[0] >= 0 && v[1] >= 0 && calls_a > 0 && calls_b > 0 && worth >= 0;
    if (!shift->known)
        return;
    double difference = fabs(shift->mean[1] - shift->mean[0]), spread = sqrt((v[0] + v[1]) / 2);
    double few = 3 * sqrt(1 / calls_a + 1 / calls_b);
    double least = 0.01 * fmax(shift->mean[0], shift->mean[1]);
    shift->moved = difference > spread * fmax(1, few) && difference > fmax(least, 10) &&
                   difference * fmin(calls_a, calls_b) > worth;
}

/* What a sum of executions may vary by if all of them vary together; all of it where no spread is known. Different sums
   are taken for independent: their squares add. */
static double sum_spread(const struct sums *s)
{
    double v = variance(s);

    return v < 0 ? s->sum : sqrt(v) * s->count;
}

/* What each stream makes once at most, as MPI_Init, varies together on all ranks, from run to run: how much is not
   known from one. */
static bool is_once(const struct contracts_row *r)
{
    return r->count[0] <= r->streams[0] || r->count[1] <= r->streams[1];
}

static void add_totals(struct contracts_comparison *c, const struct times *times)
{
    static const char *const names[CONTRACTS_TOTALS] = { "wall", "computation", "MPI", "OpenMP" };
    double spread[2][CONTRACTS_TOTALS] = { { 0 } };

    for (int side = 0; side < 2; side++) {
        const struct findings_model *m = c->report[side]->model;
        double ranks = c->report[side]->job->info.ranks ? c->report[side]->job->info.ranks : 1;
        uint64_t value[CONTRACTS_TOTALS] = { 0, m->sum_compute_ns, m->sum_mpi_ns, m->sum_omp_ns };
        for (uint32_t r = 0; r < c->row_count; r++) {
            const struct times *t = &times[2 * (size_t)r + (size_t)side];
            bool once = is_once(&c->rows[r]);
            double gap = (once ? t->gap.sum : sum_spread(&t->gap)) / ranks,
                   own = (once ? t->own.sum : sum_spread(&t->own)) / ranks;
            spread[side][0] += gap * gap + own * own;
            spread[side][1] += gap * gap;
            spread[side][c->rows[r].region ? 3 : 2] += own * own;
        }
        for (int i = 0; i < CONTRACTS_TOTALS; i++)
            c->totals[i].ns[side] = i ? (double)value[i] / ranks : (double)m->wall_ns;
    }
    for (int i = 0; i < CONTRACTS_TOTALS; i++) {
        struct contracts_total *t = &c->totals[i];
        double difference = fabs(t->ns[1] - t->ns[0]);
        t->name = names[i];
        t->spread = (sqrt(spread[0][i]) + sqrt(spread[1][i])) / 2;
        t->moved = !c->other_arguments && difference > t->spread &&
                   difference > fmax(0.01 * fmax(t->ns[0], t->ns[1]), 1000);
    }
}

void contracts_compare_times(struct contracts_comparison *c, uint32_t *const row[2])
{
    BASE_OWN struct times *times = calloc(2 * (size_t)c->row_count + 1, sizeof *times);
    double worth = c->other_arguments ? -1 : WORTH *
                   fmin((double)c->report[0]->model->stream_wall_ns, (double)c->report[1]->model->stream_wall_ns);

    add_times(c, row, times, 0);
    add_times(c, row, times, 1);
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct times *a = &times[2 * (size_t)i], *b = a + 1;
        double from = is_once(&c->rows[i]) ? -1 : worth;
        judge(&c->rows[i].gap, &a->gap, &b->gap, a->calls, b->calls, from);
        judge(&c->rows[i].own, &a->own, &b->own, a->calls, b->calls, from);
        for (int side = 0; side < 2; side++) {
            const struct times *of = side ? b : a;
            fill_usual(&c->rows[i].gap, side, &of->usual_gap, of->calls);
            fill_usual(&c->rows[i].own, side, &of->usual_own, of->calls);
        }
    }
    add_totals(c, times);
}

struct contracts_grown *contracts_row_grown(const struct contracts_comparison *c, const struct contracts_row *r,
                                            bool before, uint32_t *count)
{
    const struct contracts_shift *s = before ? &r->gap : &r->own;
    struct contracts_made made[2] = { { .ns = 0 } };

    *count = 0;
    if (!s->moved || (!before && contracts_waits(c->report[1]->job, r->terminal[1])))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct findings_inside_part *p = findings_inside_find(c->report[i], r->terminal[i], before);
        if (!p)
            return NULL;
        made[i] = (struct contracts_made){ *p, s->mean[i],
                                           s->deviation[i] / sqrt((double)r->count[i]) / fmax(s->mean[i], 1) };
    }
    return contracts_grown_find(made, 0, count);
}

/*
 * --- What is usual of times (job/extremes.h), with the variance of one ---
 *
 * The time of a loop's turn is of all, also of those that a busy machine made longer: what is usual of it is made of
 * its events. Where one of two jobs does not know what is usual, it is the mean in both.
 */

static struct contracts_usual of_moments(const struct grammar_moments *m, uint64_t count)
{
    double deviation = grammar_moments_deviation(m, count);

    return (struct contracts_usual){ grammar_moments_mean(m, count), deviation * deviation };
}

static struct contracts_usual of_extremes(const struct job_extremes *e, enum job_usual mean, enum job_usual deviation)
{
    double off = (double)e->usual[deviation] / (double)e->count;

    return (struct contracts_usual){ (double)e->usual[mean] / (double)e->count, off * off };
}

static bool knows(const struct job *j)
{
    for (uint32_t i = 0; i < j->extremes.count; i++)
        if (j->extremes.of[i].usual[JOB_USUAL_GAP] || j->extremes.of[i].usual[JOB_USUAL_DURATION])
            return true;
    return false;
}

struct contracts_usual_event *contracts_usual_events(const struct job *j, const struct job *other)
{
    bool both = knows(j) && knows(other);
    struct contracts_usual_event *of = calloc(j->terminal_count + 1u, sizeof *of);
    BASE_OWN struct grammar_stats *all = calloc(j->terminal_count + 1u, sizeof *all);

    for (uint32_t k = 0; k < j->class_count; k++) {
        const struct grammar_flat *g = j->classes[k].grammar;
        for (uint32_t n = 0; g && n < g->node_count; n++)
            if (g->nodes[n].symbol < j->terminal_count)
                grammar_stats_join(&all[g->nodes[n].symbol], &g->stats[n]);
    }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        of[t] = (struct contracts_usual_event){ of_moments(&all[t].gap, all[t].count),
                                                of_moments(&all[t].duration, all[t].count) };
    for (uint32_t i = 0; both && i < j->extremes.count; i++) {
        const struct job_extremes *e = &j->extremes.of[i];
        if (e->usual[JOB_USUAL_GAP] || e->usual[JOB_USUAL_DURATION])
            of[e->terminal] = (struct contracts_usual_event){
                of_extremes(e, JOB_USUAL_GAP, JOB_USUAL_GAP_DEVIATION),
                of_extremes(e, JOB_USUAL_DURATION, JOB_USUAL_DURATION_DEVIATION) };
    }
    return of;
}
