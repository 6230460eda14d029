/* SPDX-License-Identifier: MIT */
/*
 * The least that a call took at a site and size, on any rank and in any turn: somebody is last at every collective, and
 * a message is sometimes there already, so that this is what the call takes without a wait. What a call takes beyond
 * that is waiting, or is not explained; it is not transfer.
 */
#include <math.h>
#include <stdlib.h>

#include "job/value.h"
#include "replay/bind_parts.h"

enum { SIZES = 65 }; /* by powers of two; 0: of no size */

/* Where what calls take by their size begins to matter. */
#define LONG_BYTES 1024.0

struct size { uint32_t bucket; double grows; }; /* by how much a mean call is longer than the shortest at its node */

static struct size size_of(const struct replay_bind *b, uint32_t rank, uint32_t n)
{
    const struct job_variant *v = job_variant(bind_class(b, rank), n, GRAMMAR_BYTES, rank, 0);

    if (!v || v->attr.min < 1)
        return (struct size){ 0, 1 };
    double mean = job_attr_mean(&v->attr), least = fmax((double)v->attr.min, LONG_BYTES);
    return (struct size){ 64u - (uint32_t)__builtin_clzll((uint64_t)v->attr.min), mean > least ? mean / least : 1 };
}

/* Of a node of a rank: what to do with its calls. */
typedef void visit(struct replay_bind *b, uint32_t rank, uint32_t n, double *least, double *count);

static void take_least(struct replay_bind *b, uint32_t rank, uint32_t n, double *least, double *count)
{
    double shortest = (double)bind_class(b, rank)->grammar->stats[n].duration.min;

    (void)count;
    if (*least == 0 || shortest + 1 < *least)
        *least = shortest + 1; /* 0: not seen */
}

static void add_least(struct replay_bind *b, uint32_t rank, uint32_t n, double *least, double *count)
{
    uint32_t site = b->site_of[bind_class(b, rank)->grammar->nodes[n].symbol];
    double calls = bind_visits(b, rank, n);

    b->least[site] += calls * (*least - 1) * size_of(b, rank, n).grows;
    count[site] += calls;
}

static void each_node(struct replay_bind *b, double *least, double *count, visit *what)
{
    for (uint32_t r = 0; r < b->source.ranks; r++) {
        const struct grammar_flat *g =
            b->rank[r].class_index == GRAMMAR_NONE ? NULL : bind_class(b, r)->grammar;
        for (uint32_t n = 0; g && n < g->node_count; n++)
            if (g->nodes[n].symbol < b->job->terminal_count && g->stats[n].count &&
                !bind_is_alone(b, r, n, g->nodes[n].symbol))
                what(b, r, n, &least[b->site_of[g->nodes[n].symbol] * SIZES + size_of(b, r, n).bucket], count);
    }
}

void bind_least_find(struct replay_bind *b)
{
    BASE_OWN double *least = calloc((size_t)b->site_count * SIZES + 1, sizeof *least),
                    *count = calloc(b->site_count + 1u, sizeof *count);

    b->least = calloc(b->site_count + 1u, sizeof *b->least);
    each_node(b, least, count, take_least);
    each_node(b, least, count, add_least);
    for (uint32_t s = 0; s < b->site_count; s++)
        b->least[s] = count[s] > 0 ? b->least[s] / count[s] : 0;
}
