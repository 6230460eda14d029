/* SPDX-License-Identifier: MIT */
/*
 * Who sends to whom, rank by rank, as it was counted (job/flow.h): each row of the file written out for its ranks.
 *
 *     (terminal, relation, value)  x  rank   -->   (site, from, to, messages, bytes)   --sort, join-->   edges
 *
 * Bounded by MOST rows; what goes beyond is counted as unplaced, like peers that are not known. One-sided data
 * counts as sent by the rank that is read from. Receives are left out: their messages are the sends'.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/model.h"
#include "job/flow.h"

enum { MOST = 1 << 20, MOST_PATTERNS = 32 };

struct row {
    uint32_t site;
    struct findings_edge edge;
};

struct rows {
    struct row *row;
    uint32_t count;
};

/* --- Writing rows out --- */

struct writing {
    struct findings_model *model;
    struct rows *rows;
};

/* A receive's message is the send's, but for one-sided data. */
static bool counts(const struct job *j, const struct job_flow_pair *p)
{
    return !p->receives || j->terminals[p->terminal].call_kind == JOB_ONESIDED;
}

static int write_pair(void *arg, const struct job_flow_pair *p)
{
    struct writing *w = arg;
    struct findings_model *m = w->model;
    struct row row = { m->place[p->terminal], { p->rank, p->peer, p->messages, p->bytes } };

    if (!counts(m->job, p) || !p->messages)
        return 0;
    if (p->peer >= m->job->info.ranks || p->rank >= m->job->info.ranks || w->rows->count == MOST) {
        m->unplaced_messages += p->messages;
        m->unplaced_bytes += p->bytes;
        return 0;
    }
    m->by_mean_bytes += p->mean ? p->bytes : 0;
    if (p->receives)
        row.edge.from = p->peer, row.edge.to = p->rank;
    BASE_ADD(w->rows->row, w->rows->count, row);
    return 0;
}

/* --- Joining --- */

static int edge_order(const struct findings_edge *x, const struct findings_edge *y)
{
    return BASE_ORDER(x->from, y->from) ?: BASE_ORDER(x->to, y->to);
}

BASE_COMPARISON(by_edge, struct row, edge_order(&a->edge, &b->edge))

BASE_COMPARISON(by_site, struct row, BASE_UP(site) ?: edge_order(&a->edge, &b->edge))

/* Joins neighbours with the same ends; returns how many edges there are in edges[]. */
static uint32_t join(const struct row *row, uint32_t count, bool to_oneself, struct findings_edge *edges)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!to_oneself && row[i].edge.from == row[i].edge.to)
            continue;
        if (n && edge_order(&edges[n - 1], &row[i].edge) == 0) {
            edges[n - 1].messages += row[i].edge.messages;
            edges[n - 1].bytes += row[i].edge.bytes;
        } else {
            edges[n++] = row[i].edge;
        }
    }
    return n;
}

/* --- Patterns --- */

static void name_rows(struct findings_model *m, const struct row *row, uint32_t count, uint32_t site,
                      struct findings_edge *edges)
{
    struct findings_pattern *p = &m->patterns[m->pattern_count++];
    uint32_t n = join(row, count, false, edges);

    *p = (struct findings_pattern){ .site = site };
    for (uint32_t i = 0; i < count; i++) {
        p->messages += row[i].edge.messages;
        p->bytes += row[i].edge.bytes;
    }
    if (m->job->info.missing)
        strcpy(p->name, "not named: ranks are missing");
    else
        findings_pattern_name(edges, n, m->job->info.ranks, p->name);
}

BASE_COMPARISON(pattern_order, struct findings_pattern, BASE_DOWN(site == GRAMMAR_NONE) ?: BASE_DOWN(bytes) ?:
                BASE_UP(site))

static void name_sites(struct findings_model *m, struct rows *rows, struct findings_edge *edges)
{
    uint32_t begin = 0, sites = 0;

    qsort(rows->row, rows->count, sizeof *rows->row, by_site);
    for (uint32_t i = 0; i < rows->count; i++)
        sites += !i || rows->row[i].site != rows->row[i - 1].site;
    m->patterns = realloc(m->patterns, (sites + 1) * sizeof *m->patterns);
    for (uint32_t i = 1; i <= rows->count; i++)
        if (i == rows->count || rows->row[i].site != rows->row[begin].site) {
            name_rows(m, &rows->row[begin], i - begin, rows->row[begin].site, edges);
            begin = i;
        }
    qsort(m->patterns, m->pattern_count, sizeof *m->patterns, pattern_order);
    if (m->pattern_count > MOST_PATTERNS)
        m->pattern_count = MOST_PATTERNS;
}

void findings_model_add_traffic(struct findings_model *m)
{
    struct rows rows = { 0 };
    struct writing w = { m, &rows };

    base_must(job_flows_walk(m->job, write_pair, &w));
    BASE_OWN struct findings_edge *scratch = calloc((size_t)rows.count + 1, sizeof *scratch);

    m->edges = calloc((size_t)rows.count + 1, sizeof *m->edges);
    m->patterns = calloc(1, sizeof *m->patterns);
    if (rows.count) {
        qsort(rows.row, rows.count, sizeof *rows.row, by_edge);
        m->edge_count = join(rows.row, rows.count, true, m->edges);
        name_rows(m, rows.row, rows.count, GRAMMAR_NONE, scratch);
        name_sites(m, &rows, scratch);
    }
    free(rows.row);
}
