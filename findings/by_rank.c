/* SPDX-License-Identifier: MIT */
#include "findings/by_rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/ranges.h"
#include "findings/report.h"
#include "job/course.h"
#include "job/own.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "job/value.h"

/* One rank's stream of a class, of `weight` ranks. */
struct member {
    const struct job *job;
    const struct job_class *class;
    struct grammar_flat *own; /* its exponents */
    uint64_t *uses;           /* of each rule */
    uint32_t rank, thread;
    double weight;
    bool alone;               /* in its class */
};

static unsigned size_of(double bytes)
{
    int exponent = 0;

    if (bytes < 1)
        return 0;
    frexp(bytes, &exponent);
    return exponent < FINDINGS_SIZES ? (unsigned)exponent : FINDINGS_SIZES - 1;
}

double findings_size_least(int size)
{
    return size ? ldexp(1, size - 1) : 0;
}

double findings_size_calls(const struct findings_sizes *s)
{
    double calls = 0;

    for (int k = 0; k < FINDINGS_SIZES; k++)
        calls += s->calls[k];
    return calls;
}

/* All `count` calls of a node. Of a course it is not known which of the terminal's calls are the node's: as many of
   each size as the terminal has. */
static void add_sizes(struct findings_sizes *s, const struct member *m, const struct job_variant *v, double count)
{
    enum { VALUES = 1024 };
    int64_t value[VALUES];
    uint32_t values = job_course_expand(m->job, v, m->rank, value, VALUES), with = 0;
    bool alike = true;

    for (uint32_t i = 0; i < values; i++)
        if (value[i] != GRAMMAR_ABSENT)
            value[with++] = value[i];
    s->bytes += count * job_attr_mean(&v->attr);
    for (uint32_t i = 0; i < with; i++) {
        s->calls[size_of((double)value[i])] += count / with;
        alike &= size_of((double)value[i]) == size_of((double)value[0]);
    }
    if (!with)
        s->calls[size_of(job_attr_mean(&v->attr))] += count;
    s->estimated += with ? !alike * count : size_of((double)v->attr.min) != size_of((double)v->attr.max) ? count : 0;
}

/* Of sizes, or of what begins with one. */
BASE_COMPARISON(by_size, uint32_t, BASE_ORDER(*a, *b))

static struct findings_sizes *comm_sizes(struct findings_by_rank *b, const struct job *j, uint32_t comm)
{
    return comm >= j->comm_count ? NULL : bsearch(&j->comms[comm].size, b->sizes, b->comms, sizeof *b->sizes, by_size);
}

static void add_times(struct findings_cell *cell, const struct member *m, uint32_t n, double count)
{
    const struct job_own *o = job_own_of(m->job, (uint32_t)(m->class - m->job->classes), n, m->rank, m->thread);
    const struct grammar_moments *took = &m->class->grammar->stats[n].duration;
    double mean = grammar_moments_mean(took, m->class->grammar->stats[n].count);
    bool own = o && o->ranks;

    if (own)
        cell->ns += count * job_own_mean(o, JOB_OWN_DURATION);
    else
        *(m->alone ? &cell->ns : &cell->shared_ns) += count * mean;
    if (took->min == UINT64_MAX)
        return;
    cell->least_ns = cell->most_ns > 0 ? fmin(cell->least_ns, (double)took->min) : (double)took->min;
    cell->most_ns = fmax(cell->most_ns, (double)took->max);
}

static void add_node(struct findings_by_rank *b, const struct findings_model *model, const struct member *m,
                     struct findings_cell *row, uint32_t n, double count)
{
    const struct job_terminal *t = &m->job->terminals[m->class->grammar->nodes[n].symbol];

    if (t->kind == JOB_REGION || count <= 0)
        return;
    uint32_t site = model->place[m->class->grammar->nodes[n].symbol];
    if (site >= b->sites)
        return;
    add_times(&row[site], m, n, count);
    if (t->phase == JOB_CLOSE)
        return;
    row[site].count += count;
    const struct job_variant *v = job_variant(m->class, n, GRAMMAR_BYTES, m->rank, m->thread);
    if (!v || t->peer_class == JOB_PEER_NULL)
        return;
    row[site].bytes += count * job_attr_mean(&v->attr);
    add_sizes(&b->sizes[b->comms + site], m, v, count);
    struct findings_sizes *of_comm = comm_sizes(b, m->job, t->comm);
    if (of_comm)
        add_sizes(of_comm, m, v, count);
}

enum { MOST_APART = 1 << 14 }; /* of a block; more are taken to be as their first: a file may name billions */

/* So many ranks from `rank` on, which do the same. */
static void add_member(struct findings_by_rank *b, const struct findings_model *model, struct member *m,
                       struct findings_cell *row)
{
    m->alone = findings_members(m->class) == 1;
    m->own = job_member_grammar(m->class, m->rank, m->thread);
    if (!m->own)
        return;
    m->uses = calloc(m->own->rule_count + 1u, sizeof *m->uses);
    grammar_flat_uses(m->own, m->uses);
    for (uint32_t k = 0; k < m->own->rule_count; k++)
        for (uint32_t n = m->own->rules[k].first; n < m->own->rules[k].first + m->own->rules[k].length; n++)
            if (m->own->nodes[n].symbol < m->job->terminal_count)
                add_node(b, model, m, row, n, m->weight * (double)m->uses[k] * (double)m->own->nodes[n].exponent);
    free(m->uses);
    job_member_free(m->own);
}

/* Whether all members of a class turn as often, and each call has the same bytes on all of them. */
static bool is_uniform(const struct job_class *c)
{
    uint64_t members = findings_members(c);
    bool same = !c->turn_count;

    for (uint32_t v = 0; v < c->variant_count && same; v++)
        same = c->variants[v].attr.channel != GRAMMAR_BYTES ||
               job_ranges_size(c->ranges + c->variants[v].range_first, c->variants[v].range_count) == members;
    return same;
}

/* Of a class, the members of a thread among the ranks from s->rank to below `end`: one that stands for all, or each. */
static void add_class(struct findings_by_rank *b, const struct findings_model *model, const struct job_stream *s,
                      uint32_t end, bool uniform, struct member *m, struct findings_cell *row)
{
    uint64_t members = 0;

    m->rank = UINT32_MAX;
    for (uint32_t k = 0; k < m->class->member_ranges; k++) {
        const struct job_range *r = &m->class->ranges[k];
        uint64_t first = r->thread == s->thread ? job_range_before(r, s->rank) : 0,
                 last = r->thread == s->thread ? job_range_before(r, end) : 0;
        members += last - first;
        if (first < last && job_range_rank(r, first) < m->rank)
            m->rank = job_range_rank(r, first);
    }
    if (uniform || members > MOST_APART) {
        m->weight = (double)members;
        if (members)
            add_member(b, model, m, row);
        return;
    }
    m->weight = 1;
    for (uint32_t k = 0; members && k < m->class->member_ranges; k++) {
        const struct job_range *r = &m->class->ranges[k];
        for (uint64_t i = job_range_before(r, s->rank); r->thread == s->thread && i < job_range_before(r, end); i++) {
            m->rank = job_range_rank(r, i);
            add_member(b, model, m, row);
        }
    }
}

/* A record of one rank, or of a block: its ranks may be of several classes, and differ within one. */
static void add_stream(struct findings_by_rank *b, const struct findings_model *model, const struct job_stream *s,
                       const bool *uniform, struct findings_cell *row)
{
    const struct job *j = model->job;
    uint32_t block = j->info.block > 1 ? j->info.block : 1;
    uint32_t end = s->rank > UINT32_MAX - block ? UINT32_MAX : s->rank + block;
    struct member m = { .job = j, .thread = s->thread };

    for (uint32_t c = 0; c < j->class_count; c++) {
        m.class = &j->classes[c];
        if (m.class->grammar)
            add_class(b, model, s, end, uniform[c], &m, row);
    }
}

static void find_sizes(struct findings_by_rank *b, const struct job *j, const struct findings_site *sites)
{
    BASE_OWN uint32_t *size = malloc((j->comm_count + 1u) * sizeof *size);

    for (uint32_t i = 0; i < j->comm_count; i++)
        size[i] = j->comms[i].size;
    b->comms = BASE_ARRAY_JOIN(size, j->comm_count, by_size, into, from, ((void)into, (void)from));
    b->sizes = calloc((size_t)b->comms + b->sites + 1, sizeof *b->sizes);
    for (uint32_t i = 0; i < b->comms; i++)
        b->sizes[i].comm_size = size[i];
    for (uint32_t i = 0; i < b->sites; i++)
        b->sizes[b->comms + i].site = &sites[i];
}

/* Ranks that matter least have no times of their own: what is left of the call's time is theirs. */
static void share_rest(struct findings_by_rank *b, uint32_t site, double rest)
{
    double shared = 0;

    for (uint32_t k = 0; k < b->ranks; k++) {
        rest -= b->cell[(size_t)k * b->sites + site].ns;
        shared += b->cell[(size_t)k * b->sites + site].shared_ns;
    }
    for (uint32_t k = 0; k < b->ranks && shared > 0; k++) {
        struct findings_cell *c = &b->cell[(size_t)k * b->sites + site];
        c->shared_ns *= fmax(rest, 0) / shared;
        c->ns += c->shared_ns;
    }
}

struct findings_by_rank *findings_by_rank_create(struct report *r)
{
    const struct findings_model *m = r->model;
    struct findings_by_rank *b = calloc(1, sizeof *b);

    b->ranks = m->rank_count;
    b->sites = m->site_count;
    b->cell = calloc((size_t)b->ranks * b->sites + 1, sizeof *b->cell);
    find_sizes(b, r->job, m->sites);
    BASE_OWN bool *uniform = calloc(r->job->class_count + 1u, sizeof *uniform);
    for (uint32_t c = 0; c < r->job->class_count; c++)
        uniform[c] = is_uniform(&r->job->classes[c]);
    for (uint32_t i = 0, rank = 0; i < r->job->stream_count; i++) {
        while (rank + 1 < m->rank_count && m->ranks[rank].rank != r->job->streams[i].rank)
            rank++;
        add_stream(b, m, &r->job->streams[i], uniform, &b->cell[(size_t)rank * b->sites]);
    }
    for (uint32_t s = 0; s < b->sites; s++)
        share_rest(b, s, (double)m->sites[s].time_ns);
    return b;
}

void findings_by_rank_destroy(struct findings_by_rank *b)
{
    free(b->cell);
    free(b->sizes);
    free(b);
}
