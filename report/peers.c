/* SPDX-License-Identifier: MIT */
/*
 * Who sends how much to whom: the peers of point-to-point calls, relative to the rank where the merge found that rule.
 * A row stands for a communicator, a direction and a peer ("rank + 1"), whatever the number of ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia.h"
#include "report/model.h"
#include "report/ranges.h"

enum { MOST_VALUES = 64 }; /* distinct peers of one call; more are one row, "varies" */

/* What is known of the calls behind one variant. */
struct messages {
    uint32_t comm;
    bool receives;
    uint64_t count, bytes; /* of all members that it covers */
};

/* Appends; equal rows are joined at the end, by sorting: a job may have as many as ranks times communicators. */
static int add_row(struct report_model *m, const struct report_peer *row)
{
    int error = base_array_more(&m->peers, m->peer_count, sizeof *row);
    if (error)
        return error;
    m->peers[m->peer_count++] = *row;
    return 0;
}

static int key_order(const void *a, const void *b)
{
    const struct report_peer *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->receives != y->receives)
        return x->receives ? 1 : -1;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void join_rows(struct report_model *m)
{
    uint32_t kept = 0;

    qsort(m->peers, m->peer_count, sizeof *m->peers, key_order);
    for (uint32_t i = 1; i < m->peer_count; i++) {
        if (key_order(&m->peers[kept], &m->peers[i]) != 0) {
            m->peers[++kept] = m->peers[i];
            continue;
        }
        m->peers[kept].messages += m->peers[i].messages;
        m->peers[kept].bytes += m->peers[i].bytes;
    }
    m->peer_count = kept + 1;
}

static int add_messages(struct report_model *m, const struct messages *from, enum report_relation relation,
                        int64_t value, uint64_t part, uint64_t whole)
{
    struct report_peer row = { .comm = from->comm, .receives = from->receives, .relation = (uint8_t)relation,
                               .value = value };

    row.messages = report_scale((int64_t)from->count, part, whole);
    row.bytes = report_scale((int64_t)from->bytes, part, whole);
    return add_row(m, &row);
}

/* One value of a sample, as a relation that holds for all members that the variant covers. */
static int add_value(struct report_model *m, const struct messages *from, const struct job_variant *v, int64_t value,
                     uint64_t part, uint64_t whole)
{
    int64_t modulus = v->modulus;

    if (value == GRAMMAR_PEER_ANY)
        return add_messages(m, from, REPORT_ANY, 0, part, whole);
    if (value < 0) /* MPI_PROC_NULL: no message */
        return 0;
    if ((v->relations & JOB_OFFSET) && modulus > 0) {
        int64_t offset = (value - (int64_t)v->sample_rank) % modulus;
        offset = offset < 0 ? offset + modulus : offset;
        offset = 2 * offset > modulus ? offset - modulus : offset; /* "rank - 1", not "rank + 7" */
        return add_messages(m, from, REPORT_OFFSET, offset, part, whole);
    }
    if (v->relations & JOB_ABSOLUTE)
        return add_messages(m, from, REPORT_RANK, value, part, whole);
    return add_messages(m, from, REPORT_XOR, value ^ (int64_t)v->sample_rank, part, whole);
}

/* The values of the model, each with its share of the occurrences. */
static int add_values(struct report_model *m, const struct messages *from, const struct job_variant *v)
{
    const struct grammar_attr *a = &v->attr;
    uint64_t values = a->period ? a->period : a->count;
    int64_t value;
    int rc = 0;

    if (grammar_attr_constant(a, &value))
        return add_value(m, from, v, value, 1, 1);
    if ((a->kind != GRAMMAR_ATTR_RAMP && a->kind != GRAMMAR_ATTR_LIST) || values > MOST_VALUES || values == 0)
        return add_messages(m, from, REPORT_VARIES, 0, 1, 1);
    if (values > a->count)
        values = a->count;
    for (uint64_t i = 0; rc == 0 && i < values; i++) {
        uint64_t times = a->count / values + (i < a->count % values);
        if (!grammar_attr_value(a, i, &value))
            return add_messages(m, from, REPORT_VARIES, 0, 1, 1);
        rc = add_value(m, from, v, value, times, a->count);
    }
    return rc;
}

/* Bytes of one call on the members that `v` covers: of the first of them. */
static uint64_t bytes_of(const struct job_class *c, const struct job_variant *v, uint64_t occurrences)
{
    const struct job_range *r = &c->ranges[v->range_first];
    const struct job_variant *bytes = job_variant(c, v->node, GRAMMAR_BYTES, r->first, r->thread);

    return bytes ? report_scale(bytes->attr.sum, occurrences, bytes->attr.count) : 0;
}

bool report_model_moves_data(const struct job *j, uint32_t terminal, bool *receives)
{
    const struct job_terminal *t = &j->terminals[terminal];
    const char *function = job_text(j, t->function);
    bool send = strcasestr(function, "send") != NULL, receive = strcasestr(function, "recv") != NULL;

    if (t->call_kind == JOB_ONESIDED) {
        send = strstr(function, "Put") || strcasestr(function, "accumulate");
        receive = strstr(function, "Get") || strstr(function, "Fetch") || strstr(function, "Compare");
    } else if (t->call_kind != JOB_P2P) {
        return false;
    }
    *receives = !send; /* the peer and the bytes of Sendrecv are those of its send */
    return (send || receive) && t->phase != JOB_OPEN;
}

static int peer_order(const void *a, const void *b)
{
    const struct report_peer *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->messages != y->messages)
        return x->messages < y->messages ? 1 : -1;
    return key_order(a, b);
}

int report_model_add_peers(struct report_model *m)
{
    int rc = 0;

    for (uint32_t i = 0; i < m->job->class_count; i++) {
        const struct job_class *c = &m->job->classes[i];
        uint64_t members = report_members(c);
        for (uint32_t k = 0; rc == 0 && c->grammar && members && k < c->variant_count; k++) {
            const struct job_variant *v = &c->variants[k];
            uint32_t symbol = c->grammar->nodes[v->node].symbol;
            struct messages from;
            if (v->attr.channel != GRAMMAR_PEER || !v->range_count || symbol >= m->job->terminal_count ||
                !report_model_moves_data(m->job, symbol, &from.receives))
                continue;
            from.comm = m->job->terminals[symbol].comm;
            from.count = c->grammar->stats[v->node].count / members *
                         report_range_members(c, v->range_first, v->range_count);
            from.bytes = bytes_of(c, v, from.count);
            rc = add_values(m, &from, v);
        }
    }
    if (rc == 0 && m->peer_count) {
        join_rows(m);
        qsort(m->peers, m->peer_count, sizeof *m->peers, peer_order);
    }
    return rc;
}
