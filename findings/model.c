/* SPDX-License-Identifier: MIT */
/* A job as tables; see model.h. */
#include "findings/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/ranges.h"
#include "job/course.h"
#include "job/turns.h"

/* sum * part / whole without overflow, 0 for whole 0; negative sums count as 0. */
static uint64_t scaled(int64_t sum, uint64_t part, uint64_t whole)
{
    if (sum <= 0 || whole == 0)
        return 0;
    unsigned __int128 all = (unsigned __int128)(uint64_t)sum * part / whole;
    return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

/* --- Sites and regions --- */

static int site_key(const struct job_terminal *x, const struct job_terminal *y)
{
    return BASE_ORDER(x->kind == JOB_REGION, y->kind == JOB_REGION) ?: BASE_ORDER(x->function, y->function) ?:
           BASE_ORDER(x->callsite, y->callsite);
}

/* Order of terminals so that those of one site stand together. */
static int by_site(const void *a, const void *b, void *context)
{
    const struct job *j = context;
    uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;

    return site_key(&j->terminals[s], &j->terminals[t]) ?: BASE_ORDER(s, t);
}

/* Makes a site or a region of each group of terminals; m->place[terminal] is its index. */
static void make_tables(struct findings_model *m)
{
    const struct job *j = m->job;
    BASE_OWN uint32_t *sorted = calloc((size_t)j->terminal_count + 1, sizeof *sorted);

    m->sites = calloc((size_t)j->terminal_count + 1, sizeof *m->sites);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        sorted[t] = t;
    qsort_r(sorted, j->terminal_count, sizeof *sorted, by_site, (void *)(uintptr_t)j);
    for (uint32_t i = 0; i < j->terminal_count; i++) {
        const struct job_terminal *t = &j->terminals[sorted[i]];
        if (i == 0 || site_key(t, &j->terminals[sorted[i - 1]])) {
            m->sites[m->all_sites++] = (struct findings_site){
                .function = t->function, .callsite = t->callsite, .terminal = sorted[i], .call_kind = t->call_kind,
                .launch = job_is_start(m->job, sorted[i]) };
            m->region_count += t->kind == JOB_REGION;
        }
        m->place[sorted[i]] = m->all_sites - 1;
    }
    m->site_count = m->all_sites - m->region_count;
    m->regions = m->sites + m->site_count;
}

static void add_node(struct findings_model *m, uint32_t terminal, const struct grammar_stats *s)
{
    struct findings_site *site = findings_site_of(m, terminal);

    m->gap_ns += s->gap.sum;
    site->seen = m->job->terminals[terminal].kind != JOB_NAMED; /* which is no call */
    if (m->job->terminals[terminal].phase != JOB_CLOSE) /* a span that was opened and closed is one call */
        site->count += s->count;
    site->time_ns += s->duration.sum;
    site->gap_ns += s->gap.sum;
}

/* What begins or is a call: the end of a span that others are in has a gap inside it. */
static void add_extremes(struct findings_model *m)
{
    for (uint32_t i = 0; i < m->job->extremes.count; i++) {
        const struct job_extremes *e = &m->job->extremes.of[i];
        const struct job_terminal *t = &m->job->terminals[e->terminal];
        if (t->kind != JOB_REGION && t->phase != JOB_CLOSE)
            job_extremes_add_up(&findings_site_of(m, e->terminal)->extremes, e);
    }
}

struct findings_team *findings_team_of(struct findings_team **teams, uint32_t *count, int64_t size)
{
    uint32_t i = 0;

    while (i < *count && (*teams)[i].size < size)
        i++;
    if (i == *count || (*teams)[i].size != size) {
        base_must(base_array_more(teams, *count, sizeof **teams));
        memmove(*teams + i + 1, *teams + i, ((*count)++ - i) * sizeof **teams);
        (*teams)[i] = (struct findings_team){ .size = size, .least_ns = UINT64_MAX };
    }
    return *teams + i;
}

/* Adds what one place has of a size; `place`: of all its sizes. */
static void add_team(struct findings_site *r, const struct findings_team *own, const struct findings_team *place)
{
    struct findings_team *t = findings_team_of(&r->teams, &r->team_count, own->size);

    t->count += own->count;
    t->time_ns += own->time_ns;
    t->nested += own->nested;
    t->like_ns += own->like_ns;
    t->alone_ns += own->alone_ns;
    if (own->least_ns < t->least_ns)
        t->least_ns = own->least_ns;
    if (!own->count || own->count == place->count)
        return;
    t->compared = true;
    t->gain_ns += (double)place->time_ns - (double)own->time_ns / (double)own->count * (double)place->count;
}

/* What one attribute of `covered` members says, whose occurrences in the class are `occurrences` in all. */
static void add_variant(struct findings_model *m, uint32_t terminal, const struct grammar_attr *a, uint64_t occurrences,
                        uint64_t least_ns)
{
    const struct job_terminal *t = &m->job->terminals[terminal];

    if (t->phase != JOB_LEAF || a->length != 1) /* the shortest one's size is not known */
        least_ns = UINT64_MAX;
    if (a->channel == GRAMMAR_BYTES && t->kind != JOB_REGION)
        findings_site_of(m, terminal)->bytes += (uint64_t)(job_attr_mean(a) * (double)occurrences + 0.5);
    if (a->channel != GRAMMAR_TEAM || t->kind != JOB_REGION || t->phase == JOB_OPEN)
        return;
    uint32_t sizes = a->kind != GRAMMAR_ATTR_KEYED ? 0 : a->length < GRAMMAR_ATTR_KEYS ? a->length : GRAMMAR_ATTR_KEYS;
    struct findings_team of[GRAMMAR_ATTR_KEYS], all = { 0 };
    double alone = 0;
    for (uint32_t k = 0; k < sizes; k++) {
        of[k] = (struct findings_team){ .size = a->key[k].value,
                                        .count = scaled((int64_t)a->key[k].count, occurrences, a->count),
                                        .time_ns = scaled((int64_t)a->key[k].sum, occurrences, a->count),
                                        .least_ns = least_ns };
        of[k].nested = t->phase == JOB_CLOSE ? of[k].count : 0;
        all.count += of[k].count;
        all.time_ns += of[k].time_ns;
        if (of[k].size == 1 && of[k].count)
            alone = (double)of[k].time_ns / (double)of[k].count;
    }
    for (uint32_t k = 0; alone > 0 && k < sizes; k++) {
        of[k].like_ns = (double)of[k].time_ns;
        of[k].alone_ns = alone * (double)of[k].count;
    }
    for (uint32_t k = 0; k < sizes; k++)
        add_team(findings_site_of(m, terminal), &of[k], &all);
}

static void add_class(struct findings_model *m, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    uint64_t members = findings_members(c);
    BASE_OWN uint64_t *uses = NULL;

    base_must(job_members_uses(c, &uses));
    m->values_not_kept += job_values_not_kept(m->job, c);
    for (uint32_t n = 0; n < g->node_count; n++) {
        if (g->nodes[n].symbol < m->job->terminal_count)
            add_node(m, g->nodes[n].symbol, &g->stats[n]);
        else if (g->nodes[n].symbol == GRAMMAR_LOST)
            m->lost_ns += g->stats[n].gap.sum + g->stats[n].duration.sum;
    }
    for (uint32_t v = 0; members && v < c->variant_count; v++) {
        const struct job_variant *variant = &c->variants[v];
        uint32_t terminal = variant->node < g->node_count ? g->nodes[variant->node].symbol : GRAMMAR_NONE;
        uint64_t covered = job_ranges_size(c->ranges + variant->range_first, variant->range_count);
        if (terminal < m->job->terminal_count)
            add_variant(m, terminal, &variant->attr,
                        job_members_count(c, uses, variant->node, variant->range_first, variant->range_count),
                        c->variant_count && covered == members ? g->stats[variant->node].duration.min : UINT64_MAX);
    }
}

BASE_COMPARISON(site_order, struct findings_site, BASE_ORDER(!a->seen, !b->seen) ?: BASE_DOWN(time_ns) ?:
                BASE_UP(terminal))

BASE_COMPARISON(region_order, struct findings_site, BASE_DOWN(time_ns) ?: BASE_UP(terminal))

/* Patterns and places name sites and regions by index: they move along. Calls without an event are no sites (sums.c),
   whatever is counted of the others: what is met at a node has its index below the number of sites. */
static void sort_tables(struct findings_model *m)
{
    BASE_OWN uint32_t *index = calloc((size_t)m->job->terminal_count + 1, sizeof *index);

    for (uint32_t i = 0; i < m->pattern_count; i++)
        if (m->patterns[i].site != GRAMMAR_NONE)
            m->patterns[i].site = m->sites[m->patterns[i].site].terminal;
    for (uint32_t t = 0; t < m->job->terminal_count; t++)
        m->place[t] = findings_site_of(m, t)->terminal;
    qsort(m->sites, m->site_count, sizeof *m->sites, site_order);
    qsort(m->regions, m->region_count, sizeof *m->regions, region_order);
    for (uint32_t i = 0; i < m->all_sites; i++)
        index[m->sites[i].terminal] = i;
    for (uint32_t t = 0; t < m->job->terminal_count; t++)
        m->place[t] = index[m->place[t]];
    for (uint32_t i = 0; i < m->pattern_count; i++)
        if (m->patterns[i].site != GRAMMAR_NONE)
            m->patterns[i].site = index[m->patterns[i].site];
    while (m->site_count && !m->sites[m->site_count - 1].seen)
        m->site_count--;
}

/*
 * --- Time inside spans that contain others ---
 * Such a span is an opening and a closing event without duration; what it did itself is in the gaps between the events
 * inside, the closing one included:
 *
 *     omp parallel{   |gap| MPI_Barrier |gap| omp parallel}        both gaps are time of the region
 *
 * How long that was is recorded by callsite (JOB_EXCLUSIVE_NS), and is taken out of the gaps here.
 */

static void add_time(struct findings_model *m, struct findings_site *s, uint64_t ns)
{
    m->gap_ns -= ns < m->gap_ns ? ns : m->gap_ns;
    s->time_ns += ns;
    s->nested_ns += ns;
}

/* Durations by team size are those of spans with nothing inside; the others share the time evenly. */
static void share_among_teams(struct findings_site *r)
{
    uint64_t nested = 0;

    for (uint32_t k = 0; k < r->team_count; k++)
        nested += r->teams[k].nested;
    for (uint32_t k = 0; k < r->team_count; k++)
        r->teams[k].time_ns += scaled((int64_t)r->nested_ns, r->teams[k].nested, nested);
}

static void add_nested(struct findings_model *m)
{
    for (uint32_t i = 0; i < m->job->sum_count; i++)
        if (job_is_exclusive(m->job, &m->job->sums[i]))
            add_time(m, findings_site_of(m, m->job->sums[i].terminal), m->job->sums[i].count.total);
    for (uint32_t i = 0; i < m->region_count; i++)
        share_among_teams(&m->regions[i]);
}

/* --- All tables --- */

static void add_tables(struct findings_model *m)
{
    m->place = calloc((size_t)m->job->terminal_count + 1, sizeof *m->place);
    make_tables(m);
    for (uint32_t c = 0; c < m->job->class_count; c++)
        if (m->job->classes[c].grammar)
            add_class(m, &m->job->classes[c]);
    add_extremes(m);
    add_nested(m);
    for (uint32_t i = 0; i < m->site_count; i++)
        m->call_ns += m->sites[i].time_ns;
    for (uint32_t i = 0; i < m->region_count; i++)
        m->region_ns += m->regions[i].time_ns;
    findings_model_add_spreads(m);
    findings_model_add_traffic(m);
    sort_tables(m);
}

/* --- Ranks --- */

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void add_stream(struct findings_model *m, const struct job_stream *s)
{
    struct findings_rank *r = m->rank_count ? &m->ranks[m->rank_count - 1] : NULL;

    if (!r || r->rank != s->rank) { /* streams are ordered by rank, then thread */
        r = &m->ranks[m->rank_count++];
        *r = (struct findings_rank){ .rank = s->rank, .ranks = s->count, .wall = s->wall, .useful = s->useful };
        r->wall_ns = job_stream_mean(s, s->wall_ns);
        r->mpi_ns = job_stream_mean(s, s->mpi_ns);
        r->launch_ns = job_stream_launch(m->job, s); /* as its class: a part may have less */
        r->launch_ns = r->launch_ns < r->mpi_ns ? r->launch_ns : r->mpi_ns;
        r->omp_ns = job_stream_mean(s, s->omp_ns);
        r->compute_ns = minus(minus(r->wall_ns, r->mpi_ns), r->omp_ns);
        m->sum_wall_ns += s->wall_ns;
        m->sum_mpi_ns += s->mpi_ns;
        m->sum_omp_ns += s->omp_ns;
        m->sum_compute_ns += minus(minus(s->wall_ns, s->mpi_ns), s->omp_ns);
    }
    r->streams += s->count;
    r->events += s->events;
    r->cost_ns += s->cost_ns;
    m->stream_wall_ns += s->wall_ns;
    m->events += s->events;
    m->lost += s->lost;
    m->cost_ns += s->cost_ns;
}

static void add_ranks(struct findings_model *m)
{
    m->ranks = calloc((size_t)m->job->stream_count + 1, sizeof *m->ranks);
    for (uint32_t i = 0; i < m->job->stream_count; i++)
        add_stream(m, &m->job->streams[i]);
    m->base = job_base_of(m->job);
    m->sum_launch_ns = job_launch_time(m->job);
    m->sum_launch_ns = m->sum_launch_ns < m->call_ns ? m->sum_launch_ns : m->call_ns;
    m->unfinished_ns = m->job->ends.count ? minus((uint64_t)job_mpi_time(m->job), m->call_ns - m->sum_launch_ns) : 0;
    m->wall_ns = (uint64_t)(m->base.wall_ns + 0.5);
    for (uint32_t i = 0; i < m->rank_count; i++)
        m->launch_ns = m->ranks[i].launch_ns > m->launch_ns ? m->ranks[i].launch_ns : m->launch_ns;
    findings_efficiency_fill(m);
}

/* --- All --- */

struct findings_model *findings_model_create(const struct job *j)
{
    struct findings_model *m = calloc(1, sizeof *m);

    m->job = j;
    add_tables(m);
    add_ranks(m);
    findings_model_add_peers(m);
    return m;
}

void findings_model_destroy(struct findings_model *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->region_count; i++)
        free(m->regions[i].teams);
    free(m->sites);
    free(m->ranks);
    free(m->peers);
    free(m->edges);
    free(m->patterns);
    free(m->place);
    free(m);
}

uint64_t findings_class_time(const struct findings_model *m, unsigned call_kind)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < m->site_count; i++)
        if (m->sites[i].call_kind == call_kind)
            sum += m->sites[i].time_ns;
    return sum;
}
