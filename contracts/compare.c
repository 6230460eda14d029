/* SPDX-License-Identifier: MIT */
/* Two jobs side by side: rows of calls and regions, and the verdict; see compare.h. */
#include "contracts/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "contracts/compare_parts.h"
#include "findings/units.h"
#include "replay/calls.h"

/* --- Rows --- */

static bool is_region(const struct job *j, uint32_t t)
{
    return j->terminals[t].kind == JOB_REGION;
}

static void make_rows(struct contracts_comparison *c, uint32_t *const row_of[2], uint32_t *set, const uint8_t *how)
{
    const struct job *job[2] = { c->report[0]->job, c->report[1]->job };
    uint32_t base[2] = { 0, job[0]->terminal_count };
    size_t all = (size_t)job[0]->terminal_count + job[1]->terminal_count;
    BASE_OWN uint32_t *number = malloc((all + 1) * sizeof *number);

    c->rows = calloc(all + 1, sizeof *c->rows);
    memset(number, 0xff, all * sizeof *number);
    for (int side = 0; side < 2; side++)
        for (uint32_t t = 0; t < job[side]->terminal_count; t++) {
            uint32_t r = contracts_match_root(set, base[side] + t);
            if (number[r] == GRAMMAR_NONE) {
                number[r] = c->row_count;
                c->rows[c->row_count++] = (struct contracts_row){ .terminal = { GRAMMAR_NONE, GRAMMAR_NONE },
                                                                  .region = is_region(job[side], t) };
            }
            struct contracts_row *row = &c->rows[number[r]];
            if (row->terminal[side] == GRAMMAR_NONE)
                row->terminal[side] = t;
            if (how[base[side] + t] > row->match)
                row->match = how[base[side] + t];
            row_of[side][t] = number[r];
        }
}

static void add_site(struct contracts_row *r, int side, const struct findings_site *s)
{
    r->count[side] += s->count;
    r->bytes[side] += s->bytes;
    if (s->spread.streams > r->streams[side])
        r->streams[side] = s->spread.streams;
    for (uint32_t k = 0; k < s->team_count; k++)
        findings_team_of(&r->teams[side], &r->team_count[side], s->teams[k].size)->count += s->teams[k].count;
}

/* What the model of each job has, put into the rows. */
static void add_counts(struct contracts_comparison *c, uint32_t *const row[2])
{
    for (int side = 0; side < 2; side++) {
        const struct findings_model *m = c->report[side]->model;
        for (uint32_t i = 0; i < m->site_count; i++)
            add_site(&c->rows[row[side][m->sites[i].terminal]], side, &m->sites[i]);
        for (uint32_t i = 0; i < m->region_count; i++)
            add_site(&c->rows[row[side][m->regions[i].terminal]], side, &m->regions[i]);
    }
}

/* --- What timing decides --- */

static enum replay_chance chance_of(const struct job *j, uint32_t terminal)
{
    return (enum replay_chance)replay_call_of(j, &j->terminals[terminal]).chance;
}

static void find_timing(struct contracts_comparison *c)
{
    for (int side = 0; side < 2; side++) {
        const struct job *j = c->report[side]->job;
        c->timing[side] = GRAMMAR_NONE;
        for (uint32_t t = 0; c->timing[side] == GRAMMAR_NONE && t < j->terminal_count; t++)
            if (j->terminals[t].peer_class == JOB_PEER_ANY || chance_of(j, t) != REPLAY_CERTAIN)
                c->timing[side] = t;
    }
}

bool contracts_by_timing(const struct contracts_comparison *c)
{
    return c->timing[0] != GRAMMAR_NONE || c->timing[1] != GRAMMAR_NONE;
}

bool contracts_row_by_timing(const struct contracts_comparison *c, const struct contracts_row *r)
{
    for (int side = 0; side < 2; side++)
        if (r->terminal[side] != GRAMMAR_NONE && chance_of(c->report[side]->job, r->terminal[side]) == REPLAY_NUMBER)
            return true;
    return false;
}

bool contracts_waits(const struct job *j, uint32_t terminal)
{
    const struct job_terminal *t = &j->terminals[terminal];

    return terminal < j->terminal_count && t->blocking && t->call_kind != JOB_IO;
}

/* --- Verdict --- */

static bool teams_differ(const struct contracts_row *r)
{
    if (r->team_count[0] != r->team_count[1])
        return true;
    for (uint32_t i = 0; i < r->team_count[0]; i++) /* as often, where the region was executed as often */
        if (r->teams[0][i].size != r->teams[1][i].size ||
            (r->count[0] == r->count[1] && r->teams[0][i].count != r->teams[1][i].count))
            return true;
    return false;
}

bool contracts_row_changed(const struct contracts_comparison *c, const struct contracts_row *r)
{
    bool there[2] = { r->count[0] > 0, r->count[1] > 0 };

    return there[0] != there[1] || (!c->scaled && r->count[0] != r->count[1] && !contracts_row_by_timing(c, r));
}

static void conclude(struct contracts_comparison *c)
{
    const struct job *a = c->report[0]->job, *b = c->report[1]->job;

    c->structure_differs = a->info.ranks != b->info.ranks || a->info.threads != b->info.threads ||
                           c->classes.count[0] || c->classes.count[1] || c->classes.moved;
    for (uint32_t i = 0; i < c->row_count; i++) {
        struct contracts_row *r = &c->rows[i];
        r->teams_differ = r->count[0] && r->count[1] && teams_differ(r);
        c->structure_differs |= r->teams_differ || contracts_row_changed(c, r);
        c->times_differ |= r->gap.moved || r->own.moved;
    }
    for (uint32_t i = 0; i < c->loop_count; i++)
        c->structure_differs |= contracts_loop_changed(c, &c->loops[i]);
    for (int i = 0; i < CONTRACTS_TOTALS; i++)
        c->times_differ |= c->totals[i].moved;
    c->times_differ &= !c->other_arguments;
}

enum contracts_law contracts_law(const struct contracts_comparison *c, const double value[2], double *exponent)
{
    static const double power[CONTRACTS_OTHER] = { 0, 1, 1.0 / 3, -1 };
    const uint32_t ranks[2] = { c->report[0]->job->info.ranks, c->report[1]->job->info.ranks };
    enum contracts_law best = CONTRACTS_OTHER;
    double error = 0.02, step = ranks[0] && ranks[1] ? (double)ranks[1] / ranks[0] : 1;

    *exponent = 0;
    if (!(value[0] > 0) || !(value[1] > 0) || ranks[0] == ranks[1])
        return CONTRACTS_OTHER;
    *exponent = log(value[1] / value[0]) / log(step);
    for (int i = 0; i < CONTRACTS_OTHER; i++) {
        double off = fabs(value[0] * pow(step, power[i]) / value[1] - 1);
        if (off < error) {
            error = off;
            best = (enum contracts_law)i;
        }
    }
    return best;
}

const char *contracts_law_name(enum contracts_law law)
{
    static const char *const names[CONTRACTS_LAWS] = { "constant", "P", "P^(1/3)", "1/P", "other" };

    return law < CONTRACTS_LAWS ? names[law] : "other";
}

char *contracts_pair_text(const struct contracts_comparison *c, const uint32_t terminal[2], int first,
                          const int width[2])
{
    int side = terminal[first] == GRAMMAR_NONE ? !first : first;
    struct report *r = c->report[side];

    if (terminal[side] == GRAMMAR_NONE)
        return findings_text("lost events");
    return findings_text("%s at %s",
                         findings_line(job_text(r->job, r->job->terminals[terminal[side]].function), width[0]),
                         findings_where(r, terminal[side], width[1]));
}

const char *contracts_change_text(bool a, bool b, bool changed)
{
    return !a ? "added" : !b ? "removed" : changed ? "changed" : "none";
}

/* --- All --- */

static double row_change(const struct contracts_row *r)
{
    double a = (r->gap.mean[0] + r->own.mean[0]) * (double)r->count[0];
    double b = (r->gap.mean[1] + r->own.mean[1]) * (double)r->count[1];

    return fabs(b - a);
}

static int by_change(const void *a, const void *b)
{
    const struct contracts_row *x = a, *y = b;
    double p = row_change(x), q = row_change(y);

    return BASE_ORDER(x->region, y->region) ?: BASE_ORDER(q, p) ?: BASE_ORDER(x->terminal[0], y->terminal[0]) ?:
           BASE_ORDER(x->terminal[1], y->terminal[1]);
}

static void fill(struct contracts_comparison *c, uint32_t *const row[2], uint32_t *set, uint8_t *how)
{
    uint32_t base[2] = { 0, c->report[0]->job->terminal_count };

    contracts_match_terminals(c, set, how);
    for (int side = 0; side < 2; side++) /* here the rows' numbers are still those of the single terminals' sets */
        for (uint32_t t = 0; t < c->report[side]->job->terminal_count; t++)
            row[side][t] = contracts_match_root(set, base[side] + t);
    contracts_compare_loops(c, row);
    contracts_compare_classes(c, row);
    for (int side = 0; side < 2; side++)
        contracts_match_sites(c->report[side]->model, set, base[side]);
    make_rows(c, row, set, how);
    add_counts(c, row);
    contracts_compare_times(c, row);
    conclude(c);
    qsort(c->rows, c->row_count, sizeof *c->rows, by_change);
}

struct contracts_comparison *contracts_compare(struct report *a, const char *a_file, struct report *b,
                                               const char *b_file)
{
    struct contracts_comparison *c = calloc(1, sizeof *c);
    size_t all = (size_t)a->job->terminal_count + b->job->terminal_count;
    uint32_t *row[2] = { calloc((size_t)a->job->terminal_count + 1, sizeof(uint32_t)),
                         calloc((size_t)b->job->terminal_count + 1, sizeof(uint32_t)) };
    BASE_OWN uint32_t *set = malloc((all + 1) * sizeof *set);
    BASE_OWN uint8_t *how = calloc(all + 1, 1);

    *c = (struct contracts_comparison){ .report = { a, b }, .file = { a_file, b_file },
                                        .scaled = a->job->info.ranks != b->job->info.ranks,
                                        .other_arguments = job_other_arguments(a->job, b->job) };
    for (size_t i = 0; i < all; i++)
        set[i] = (uint32_t)i;
    find_timing(c);
    fill(c, row, set, how);
    free(row[0]);
    free(row[1]);
    return c;
}

void contracts_comparison_destroy(struct contracts_comparison *c)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        free(c->rows[i].teams[0]);
        free(c->rows[i].teams[1]);
    }
    for (int side = 0; side < 2; side++) {
        free(c->classes.only[side]);
        findings_loops_destroy(c->own[side]);
    }
    free(c->rows);
    free(c->loops);
    free(c);
}
