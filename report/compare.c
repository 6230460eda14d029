/* SPDX-License-Identifier: MIT */
/* Two jobs side by side: which terminals belong together, calls, regions and times; see compare.h. */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia.h"

static const double WORTH = 1e-4; /* of the time of all streams: what a call must change to be told */
enum { PAIRS_AT_MOST = 1 << 26 }; /* terminals looked at to map those without an equal: seconds */

/* --- Which terminals belong together --- */

/* Sets of numbers: those of A's terminals, then those of B's. */
static uint32_t root(uint32_t *set, uint32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

static void join(uint32_t *set, uint32_t a, uint32_t b)
{
    uint32_t x = root(set, a), y = root(set, b);

    set[x > y ? x : y] = x > y ? y : x;
}

static const struct job_frame *innermost(const struct job *j, uint32_t terminal)
{
    uint32_t c = j->terminals[terminal].callsite;

    return c == GRAMMAR_NONE || !j->callsites[c].count ? NULL : &j->frames[j->callsites[c].first];
}

/* In one build of a module another address is another call, whatever the order. */
static bool same_build(const struct job *a, uint32_t s, const struct job *b, uint32_t t)
{
    const struct job_frame *f = innermost(a, s), *g = innermost(b, t);
    const char *id = f ? job_text(a, a->modules[f->module].build_id) : "";

    return f && g && *id && !strcmp(id, job_text(b, b->modules[g->module].build_id));
}

/* Whether what was found for `t` has an equal at another callsite: then `t` is one more way there, not the same one. */
static bool is_taken(const struct job *to, uint32_t found, const struct job *from, uint32_t t)
{
    uint32_t equal = job_find_terminal(from, to->terminal_hash[found]);

    return equal != GRAMMAR_NONE && from->terminals[equal].callsite != from->terminals[t].callsite;
}

static enum report_match match(const struct job *to, const struct job *from, uint32_t t, bool exact, uint32_t *found)
{
    *found = job_find_terminal(to, from->terminal_hash[t]);
    if (*found != GRAMMAR_NONE)
        return REPORT_SAME;
    if (exact)
        return REPORT_ONLY;
    *found = job_match_frame(to, from, t);
    if (*found != GRAMMAR_NONE)
        return is_taken(to, *found, from, t) ? REPORT_ONLY : REPORT_PLACE;
    *found = job_match_terminal(to, from, t);
    if (*found == GRAMMAR_NONE || is_taken(to, *found, from, t) || same_build(from, t, to, *found))
        return REPORT_ONLY;
    return REPORT_ORDER;
}

static uint32_t without_equal(const struct job *to, const struct job *from)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < from->terminal_count; t++)
        count += job_find_terminal(to, from->terminal_hash[t]) == GRAMMAR_NONE;
    return count;
}

/* Both ways: a place of A may have become several of B. how[] of each terminal of both. */
static void match_terminals(struct report_comparison *c, uint32_t *set, uint8_t *how)
{
    const struct job *job[2] = { c->report[0]->job, c->report[1]->job };
    uint64_t all = (uint64_t)job[0]->terminal_count + job[1]->terminal_count;
    uint64_t left = (uint64_t)without_equal(job[1], job[0]) + without_equal(job[0], job[1]);

    c->gave_up = left * all > PAIRS_AT_MOST;
    for (int side = 0; side < 2; side++) {
        uint32_t own = side ? job[0]->terminal_count : 0, other = side ? 0 : job[0]->terminal_count;
        for (uint32_t t = 0; t < job[side]->terminal_count; t++) {
            uint32_t found;
            enum report_match m = match(job[!side], job[side], t, c->gave_up, &found);
            how[own + t] = (uint8_t)m;
            if (m != REPORT_ONLY)
                join(set, own + t, other + found);
            if (side == 0)
                c->matched[m]++;
            else
                c->only_b += m == REPORT_ONLY;
        }
    }
}

/* --- Rows --- */

struct sums { double count, sum, square, within, freedom; };
struct times { struct sums gap, own; double calls; };

struct work {
    uint32_t *row[2];      /* of each terminal */
    struct times *times;   /* 2 a row */
};

static bool is_region(const struct job *j, uint32_t t)
{
    return j->terminals[t].kind == JOB_REGION;
}

/* Phases and communicators of one call are one row. */
static int join_sites(const struct job *j, uint32_t *set, uint32_t base)
{
    size_t cells = 2;
    while (cells < 2 * (size_t)j->terminal_count)
        cells *= 2;
    uint32_t *table = malloc(cells * sizeof *table);

    if (!table)
        return PYTHIA_ENOMEM;
    memset(table, 0xff, cells * sizeof *table);
    for (uint32_t t = 0; t < j->terminal_count; t++) {
        const struct job_terminal *x = &j->terminals[t];
        uint64_t key = ((uint64_t)x->callsite << 32 | x->function) * 0x9e3779b97f4a7c15u;
        size_t i = (size_t)(key >> 20) & (cells - 1);
        for (; table[i] != GRAMMAR_NONE; i = (i + 1) & (cells - 1)) {
            const struct job_terminal *y = &j->terminals[table[i]];
            if (y->callsite == x->callsite && y->function == x->function && (y->kind == JOB_REGION) == (x->kind == JOB_REGION))
                break;
        }
        if (table[i] != GRAMMAR_NONE)
            join(set, base + table[i], base + t);
        table[i] = t;
    }
    free(table);
    return 0;
}

static int make_rows(struct report_comparison *c, struct work *w, uint32_t *set, const uint8_t *how)
{
    const struct job *job[2] = { c->report[0]->job, c->report[1]->job };
    uint32_t base[2] = { 0, job[0]->terminal_count };
    size_t all = (size_t)job[0]->terminal_count + job[1]->terminal_count;
    uint32_t *number = malloc((all + 1) * sizeof *number);

    c->rows = calloc(all + 1, sizeof *c->rows);
    w->times = calloc(2 * all + 1, sizeof *w->times);
    if (!number || !c->rows || !w->times) {
        free(number);
        return PYTHIA_ENOMEM;
    }
    memset(number, 0xff, all * sizeof *number);
    for (int side = 0; side < 2; side++)
        for (uint32_t t = 0; t < job[side]->terminal_count; t++) {
            uint32_t r = root(set, base[side] + t);
            if (number[r] == GRAMMAR_NONE) {
                number[r] = c->row_count;
                c->rows[c->row_count++] = (struct report_row){ .terminal = { GRAMMAR_NONE, GRAMMAR_NONE },
                                                               .region = is_region(job[side], t) };
            }
            struct report_row *row = &c->rows[number[r]];
            if (row->terminal[side] == GRAMMAR_NONE)
                row->terminal[side] = t;
            if (how[base[side] + t] > row->match)
                row->match = how[base[side] + t];
            w->row[side][t] = number[r];
        }
    free(number);
    return 0;
}

static int add_team(struct report_row *r, int side, int64_t size, uint64_t count)
{
    uint32_t i = 0;

    while (i < r->team_count[side] && r->teams[side][i].size < size)
        i++;
    if (i == r->team_count[side] || r->teams[side][i].size != size) {
        struct report_team_count *grown = realloc(r->teams[side], (r->team_count[side] + 1) * sizeof *grown);
        if (!grown)
            return PYTHIA_ENOMEM;
        r->teams[side] = grown;
        memmove(&grown[i + 1], &grown[i], (r->team_count[side] - i) * sizeof *grown);
        grown[i] = (struct report_team_count){ .size = size };
        r->team_count[side]++;
    }
    r->teams[side][i].count += count;
    return 0;
}

/* What the model of each job has, put into the rows. */
static int add_counts(struct report_comparison *c, const struct work *w)
{
    int rc = 0;

    for (int side = 0; side < 2; side++) {
        const struct report_model *m = c->report[side]->model;
        for (uint32_t i = 0; i < m->site_count; i++) {
            struct report_row *r = &c->rows[w->row[side][m->sites[i].terminal]];
            r->count[side] += m->sites[i].count;
            if (m->sites[i].spread.streams > r->streams[side])
                r->streams[side] = m->sites[i].spread.streams;
        }
        for (uint32_t i = 0; i < m->region_count; i++) {
            const struct report_region *g = &m->regions[i];
            struct report_row *r = &c->rows[w->row[side][g->terminal]];
            r->count[side] += g->count;
            if (g->spread.streams > r->streams[side])
                r->streams[side] = g->spread.streams;
            for (uint32_t k = 0; rc == 0 && k < g->team_count; k++)
                rc = add_team(r, side, g->teams[k].size, g->teams[k].count);
        }
    }
    return rc;
}

/* --- Times --- */

static void add_moments(struct sums *s, const struct grammar_moments *m, uint64_t count)
{
    double n = (double)count, within = m->square - (double)m->sum * (double)m->sum / n;

    s->count += n;
    s->sum += (double)m->sum;
    s->square += m->square;
    s->freedom += n - 1;
    s->within += within > 0 ? within : 0;
}

/* A span with others inside: what is left of it is after the last one, in the gap before its end. */
static void add_times(struct report_comparison *c, const struct work *w, int side)
{
    const struct job *j = c->report[side]->job;

    for (uint32_t k = 0; k < j->class_count; k++) {
        const struct grammar_flat *g = j->classes[k].grammar;
        for (uint32_t n = 0; g && n < g->node_count; n++) {
            uint32_t t = g->nodes[n].symbol;
            const struct grammar_stats *s = &g->stats[n];
            if (t >= j->terminal_count || !s->count)
                continue;
            struct times *into = &w->times[2 * (size_t)w->row[side][t] + (size_t)side];
            bool closes = j->terminals[t].phase == JOB_CLOSE;
            into->calls += closes ? 0 : (double)s->count;
            add_moments(closes ? &into->own : &into->gap, &s->gap, s->count);
            add_moments(&into->own, &s->duration, s->count);
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

/* `worth`: ns of all executions together, below which a difference is of no interest. */
static void judge(struct report_shift *shift, const struct sums *a, const struct sums *b, double calls_a, double calls_b,
                  double worth)
{
    const struct sums *s[2] = { a, b };
    double calls[2] = { calls_a, calls_b }, v[2];

    for (int i = 0; i < 2; i++) {
        v[i] = variance(s[i]) * (calls[i] > 0 ? s[i]->count / calls[i] : 1); /* a span is of several parts */
        shift->mean[i] = calls[i] > 0 ? s[i]->sum / calls[i] : 0;
        shift->deviation[i] = v[i] > 0 ? sqrt(v[i]) : 0;
    }
    shift->known = v[0] >= 0 && v[1] >= 0 && calls_a > 0 && calls_b > 0;
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

static void add_totals(struct report_comparison *c, const struct work *w)
{
    static const char *const names[REPORT_TOTALS] = { "wall", "computation", "MPI", "OpenMP" };
    double spread[2][REPORT_TOTALS] = { { 0 } };

    for (int side = 0; side < 2; side++) {
        const struct report_model *m = c->report[side]->model;
        double ranks = c->report[side]->job->info.ranks ? c->report[side]->job->info.ranks : 1;
        uint64_t value[REPORT_TOTALS] = { 0, m->sum_compute_ns, m->sum_mpi_ns, m->sum_omp_ns };
        for (uint32_t r = 0; r < c->row_count; r++) {
            const struct times *t = &w->times[2 * (size_t)r + (size_t)side];
            double gap = sum_spread(&t->gap) / ranks, own = sum_spread(&t->own) / ranks;
            spread[side][0] += gap * gap + own * own;
            spread[side][1] += gap * gap;
            spread[side][c->rows[r].region ? 3 : 2] += own * own;
        }
        for (int i = 0; i < REPORT_TOTALS; i++)
            c->totals[i].ns[side] = i ? (double)value[i] / ranks : (double)m->wall_ns;
    }
    for (int i = 0; i < REPORT_TOTALS; i++) {
        struct report_total *t = &c->totals[i];
        double difference = fabs(t->ns[1] - t->ns[0]);
        t->name = names[i];
        t->spread = (sqrt(spread[0][i]) + sqrt(spread[1][i])) / 2;
        t->moved = difference > t->spread && difference > fmax(0.01 * fmax(t->ns[0], t->ns[1]), 1000);
    }
}

/* --- Verdict --- */

static bool teams_differ(const struct report_row *r)
{
    if (r->team_count[0] != r->team_count[1])
        return true;
    for (uint32_t i = 0; i < r->team_count[0]; i++) /* as often, where the region was executed as often */
        if (r->teams[0][i].size != r->teams[1][i].size ||
            (r->count[0] == r->count[1] && r->teams[0][i].count != r->teams[1][i].count))
            return true;
    return false;
}

bool report_row_changed(const struct report_comparison *c, const struct report_row *r)
{
    bool there[2] = { r->count[0] > 0, r->count[1] > 0 };

    return there[0] != there[1] || (!c->scaled && r->count[0] != r->count[1]);
}

static void conclude(struct report_comparison *c)
{
    const struct job *a = c->report[0]->job, *b = c->report[1]->job;

    c->structure_differs = a->info.ranks != b->info.ranks || a->info.threads != b->info.threads || c->classes.count[0] ||
                           c->classes.count[1] || c->classes.moved;
    for (uint32_t i = 0; i < c->row_count; i++) {
        struct report_row *r = &c->rows[i];
        r->teams_differ = r->count[0] && r->count[1] && teams_differ(r);
        c->structure_differs |= r->teams_differ || report_row_changed(c, r);
        c->times_differ |= r->gap.moved || r->own.moved;
    }
    for (uint32_t i = 0; i < c->loop_count; i++)
        c->structure_differs |= report_loop_changed(c, &c->loops[i]);
    for (int i = 0; i < REPORT_TOTALS; i++)
        c->times_differ |= c->totals[i].moved;
}

enum report_law report_law(const double value[2], const uint32_t ranks[2], double *exponent)
{
    static const double power[REPORT_OTHER] = { 0, 1, 1.0 / 3, -1 };
    enum report_law best = REPORT_OTHER;
    double error = 0.02, step = ranks[0] && ranks[1] ? (double)ranks[1] / ranks[0] : 1;

    *exponent = 0;
    if (!(value[0] > 0) || !(value[1] > 0) || ranks[0] == ranks[1])
        return REPORT_OTHER;
    *exponent = log(value[1] / value[0]) / log(step);
    for (int i = 0; i < REPORT_OTHER; i++) {
        double off = fabs(value[0] * pow(step, power[i]) / value[1] - 1);
        if (off < error) {
            error = off;
            best = (enum report_law)i;
        }
    }
    return best;
}

const char *report_law_name(enum report_law law)
{
    static const char *const names[REPORT_LAWS] = { "constant", "P", "P^(1/3)", "1/P", "other" };

    return law < REPORT_LAWS ? names[law] : "other";
}

/* --- All --- */

static double row_change(const struct report_row *r)
{
    double a = (r->gap.mean[0] + r->own.mean[0]) * (double)r->count[0];
    double b = (r->gap.mean[1] + r->own.mean[1]) * (double)r->count[1];

    return fabs(b - a);
}

static int by_change(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    double p = row_change(x), q = row_change(y);

    if (x->region != y->region)
        return x->region ? 1 : -1;
    if (p > q || p < q)
        return p < q ? 1 : -1;
    if (x->terminal[0] != y->terminal[0])
        return x->terminal[0] < y->terminal[0] ? -1 : 1;
    return (x->terminal[1] > y->terminal[1]) - (x->terminal[1] < y->terminal[1]);
}

static int fill(struct report_comparison *c, struct work *w, uint32_t *set, uint8_t *how)
{
    uint32_t base[2] = { 0, c->report[0]->job->terminal_count };

    match_terminals(c, set, how);
    for (int side = 0; side < 2; side++) /* here the rows' numbers are still those of the single terminals' sets */
        for (uint32_t t = 0; t < c->report[side]->job->terminal_count; t++)
            w->row[side][t] = root(set, base[side] + t);
    int rc = report_compare_shapes(c, w->row);
    for (int side = 0; rc == 0 && side < 2; side++)
        rc = join_sites(c->report[side]->job, set, base[side]);
    if (rc == 0)
        rc = make_rows(c, w, set, how);
    if (rc == 0)
        rc = add_counts(c, w);
    if (rc != 0)
        return rc;
    add_times(c, w, 0);
    add_times(c, w, 1);
    double worth = WORTH * fmin((double)c->report[0]->model->stream_wall_ns, (double)c->report[1]->model->stream_wall_ns);
    for (uint32_t i = 0; i < c->row_count; i++) {
        const struct times *a = &w->times[2 * (size_t)i], *b = a + 1;
        judge(&c->rows[i].gap, &a->gap, &b->gap, a->calls, b->calls, worth);
        judge(&c->rows[i].own, &a->own, &b->own, a->calls, b->calls, worth);
    }
    add_totals(c, w);
    conclude(c);
    qsort(c->rows, c->row_count, sizeof *c->rows, by_change);
    return 0;
}

struct report_comparison *report_compare(struct report *a, const char *a_file, struct report *b, const char *b_file)
{
    struct report_comparison *c = calloc(1, sizeof *c);
    size_t all = (size_t)a->job->terminal_count + b->job->terminal_count;
    struct work w = { { calloc((size_t)a->job->terminal_count + 1, sizeof(uint32_t)),
                        calloc((size_t)b->job->terminal_count + 1, sizeof(uint32_t)) }, NULL };
    uint32_t *set = malloc((all + 1) * sizeof *set);
    uint8_t *how = calloc(all + 1, 1);
    int rc = c && w.row[0] && w.row[1] && set && how ? 0 : PYTHIA_ENOMEM;

    if (rc == 0) {
        c->report[0] = a;
        c->report[1] = b;
        c->file[0] = a_file;
        c->file[1] = b_file;
        c->scaled = a->job->info.ranks != b->job->info.ranks;
        for (size_t i = 0; i < all; i++)
            set[i] = (uint32_t)i;
        rc = fill(c, &w, set, how);
    }
    free(w.row[0]);
    free(w.row[1]);
    free(w.times);
    free(set);
    free(how);
    if (rc == 0)
        return c;
    report_comparison_destroy(c);
    return NULL;
}

void report_comparison_destroy(struct report_comparison *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->row_count; i++) {
        free(c->rows[i].teams[0]);
        free(c->rows[i].teams[1]);
    }
    for (int side = 0; side < 2; side++) {
        free(c->rules.only[side]);
        free(c->classes.only[side]);
    }
    free(c->rows);
    free(c->loops);
    free(c);
}
