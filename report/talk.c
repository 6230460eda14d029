/* SPDX-License-Identifier: MIT */
/*
 * Who sends to whom, rank by rank. A class says it by rules ("rank + 1"), so that the file does not grow with the
 * ranks; here each rule is written out for each member that it covers:
 *
 *     class, node, variant  x  member, value   -->   (site, from, to, messages, bytes)   --sort, join-->   edges
 *
 * Bounded by MOST rows; what goes beyond is counted as unplaced, like peers without a rule. One-sided data counts as
 * sent by the rank that is read from. Receives are left out: their messages are the sends'.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia.h"
#include "report/model.h"
#include "report/ranges.h"

enum { MOST = 1 << 20, MOST_RANKS = 1 << 20, MOST_PATTERNS = 32 };

struct row {
    uint32_t site;
    struct report_edge edge;
};

struct rows {
    struct row *row;
    uint32_t count;
};

static int add_row(struct rows *rows, const struct row *r)
{
    int error = base_array_more(&rows->row, rows->count, sizeof *r);
    if (error)
        return error;
    rows->row[rows->count++] = *r;
    return 0;
}

/* --- Writing rules out --- */

struct call {
    const struct job_class *c;
    const struct job_variant *v;
    uint32_t site;
    bool receives;
    uint64_t occurrences; /* of one member */
};

static uint64_t bytes_of(const struct call *call, uint32_t rank, uint32_t thread)
{
    const struct job_variant *bytes = job_variant(call->c, call->v->node, GRAMMAR_BYTES, rank, thread);
    if (!bytes || !bytes->attr.count)
        return 0;
    return report_scale(bytes->attr.sum, call->occurrences, bytes->attr.count);
}

/* The peer of a member, as doc/FORMAT.md says; -1 for none. */
static int64_t peer_of(const struct job_variant *v, int64_t value, uint32_t rank)
{
    if (value < 0)
        return -1;
    if (v->relations & JOB_ABSOLUTE)
        return value;
    if (v->relations & JOB_OFFSET) {
        int64_t peer = (value - (int64_t)v->sample_rank + (int64_t)rank) % (int64_t)v->modulus;
        return peer < 0 ? peer + v->modulus : peer;
    }
    return value ^ (int64_t)v->sample_rank ^ (int64_t)rank;
}

static uint64_t values_of(const struct grammar_attr *a)
{
    int64_t value;

    if (grammar_attr_constant(a, &value))
        return 1;
    if (a->kind != GRAMMAR_ATTR_RAMP && a->kind != GRAMMAR_ATTR_LIST)
        return 0;
    return a->period && a->period < a->count ? a->period : a->count;
}

static void add_unplaced(struct report_model *m, uint64_t messages, uint64_t bytes)
{
    m->unplaced_messages += messages;
    m->unplaced_bytes += bytes;
}

static int add_member(struct report_model *m, struct rows *rows, const struct call *call, uint32_t rank,
                      uint32_t thread)
{
    const struct grammar_attr *a = &call->v->attr;
    uint64_t values = values_of(a), bytes = bytes_of(call, rank, thread);
    int rc = 0;

    if (!values || !call->v->modulus || values > MOST - rows->count) {
        add_unplaced(m, call->occurrences, bytes);
        return 0;
    }
    for (uint64_t i = 0; rc == 0 && i < values; i++) {
        uint64_t times = call->occurrences / values + (i < call->occurrences % values);
        int64_t value = GRAMMAR_PEER_NONE, peer = -1;
        if (grammar_attr_value(a, i, &value))
            peer = peer_of(call->v, value, rank);
        struct row row = { call->site,
                           { rank, (uint32_t)peer, times, report_scale((int64_t)bytes, times, call->occurrences) } };
        if (value == GRAMMAR_PEER_NULL || !times)
            continue;
        if (peer < 0 || peer >= (int64_t)m->job->info.ranks || rank >= m->job->info.ranks) {
            add_unplaced(m, row.edge.messages, row.edge.bytes);
            continue;
        }
        if (call->receives)
            row.edge.from = (uint32_t)peer, row.edge.to = rank;
        rc = add_row(rows, &row);
    }
    return rc;
}

static int add_variant(struct report_model *m, struct rows *rows, struct call *call)
{
    uint64_t members = report_members(call->c);
    int rc = 0;

    call->occurrences = members ? call->c->grammar->stats[call->v->node].count / members : 0;
    for (uint32_t k = 0; k < call->v->range_count && rc == 0 && call->occurrences; k++) {
        const struct job_range *r = &call->c->ranges[call->v->range_first + k];
        for (uint64_t i = 0, size = job_range_size(r); rc == 0 && i < size && i < MOST_RANKS; i++)
            rc = add_member(m, rows, call, job_range_rank(r, i), r->thread);
    }
    return rc;
}

static int write_out(struct report_model *m, const uint32_t *place, struct rows *rows)
{
    int rc = 0;

    for (uint32_t i = 0; i < m->job->class_count; i++) {
        const struct job_class *c = &m->job->classes[i];
        for (uint32_t k = 0; rc == 0 && c->grammar && k < c->variant_count; k++) {
            struct call call = { .c = c, .v = &c->variants[k] };
            uint32_t terminal = c->grammar->nodes[call.v->node].symbol;
            if (call.v->attr.channel != GRAMMAR_PEER || terminal >= m->job->terminal_count ||
                !report_model_moves_data(m->job, terminal, &call.receives) ||
                (call.receives && m->job->terminals[terminal].call_kind != JOB_ONESIDED))
                continue;
            call.site = place[terminal];
            rc = add_variant(m, rows, &call);
        }
    }
    return rc;
}

/* --- Joining --- */

static int edge_order(const struct report_edge *x, const struct report_edge *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_edge(const void *a, const void *b)
{
    return edge_order(&((const struct row *)a)->edge, &((const struct row *)b)->edge);
}

static int by_site(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return edge_order(&x->edge, &y->edge);
}

/* Joins neighbours with the same ends; returns how many edges there are in edges[]. */
static uint32_t join(const struct row *row, uint32_t count, bool to_oneself, struct report_edge *edges)
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

static void name_rows(struct report_model *m, const struct row *row, uint32_t count, uint32_t site,
                      struct report_edge *edges)
{
    struct report_pattern *p = &m->patterns[m->pattern_count++];
    uint32_t n = join(row, count, false, edges);

    *p = (struct report_pattern){ .site = site };
    for (uint32_t i = 0; i < count; i++) {
        p->messages += row[i].edge.messages;
        p->bytes += row[i].edge.bytes;
    }
    report_pattern_name(edges, n, m->job->info.ranks, p->name);
}

static int pattern_order(const void *a, const void *b)
{
    const struct report_pattern *x = a, *y = b;

    if ((x->site == GRAMMAR_NONE) != (y->site == GRAMMAR_NONE))
        return x->site == GRAMMAR_NONE ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

static int name_sites(struct report_model *m, struct rows *rows, struct report_edge *edges)
{
    uint32_t begin = 0, sites = 0;

    qsort(rows->row, rows->count, sizeof *rows->row, by_site);
    for (uint32_t i = 0; i < rows->count; i++)
        sites += !i || rows->row[i].site != rows->row[i - 1].site;
    struct report_pattern *grown = realloc(m->patterns, (sites + 1) * sizeof *grown);
    if (!grown)
        return PYTHIA_ENOMEM;
    m->patterns = grown;
    for (uint32_t i = 1; i <= rows->count; i++)
        if (i == rows->count || rows->row[i].site != rows->row[begin].site) {
            name_rows(m, &rows->row[begin], i - begin, rows->row[begin].site, edges);
            begin = i;
        }
    qsort(m->patterns, m->pattern_count, sizeof *m->patterns, pattern_order);
    if (m->pattern_count > MOST_PATTERNS)
        m->pattern_count = MOST_PATTERNS;
    return 0;
}

int report_model_add_talk(struct report_model *m, const uint32_t *place)
{
    struct rows rows = { 0 };
    int rc = write_out(m, place, &rows);
    struct report_edge *scratch = calloc((size_t)rows.count + 1, sizeof *scratch);

    m->edges = calloc((size_t)rows.count + 1, sizeof *m->edges);
    m->patterns = calloc(1, sizeof *m->patterns);
    if (rc == 0 && (!scratch || !m->edges || !m->patterns))
        rc = PYTHIA_ENOMEM;
    if (rc == 0 && rows.count) {
        qsort(rows.row, rows.count, sizeof *rows.row, by_edge);
        m->edge_count = join(rows.row, rows.count, true, m->edges);
        name_rows(m, rows.row, rows.count, GRAMMAR_NONE, scratch);
        rc = name_sites(m, &rows, scratch);
    }
    free(rows.row);
    free(scratch);
    return rc;
}
