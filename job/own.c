/* SPDX-License-Identifier: MIT */
#include "job/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "grammar/flat.h"
#include "job/check.h"
#include "job/job.h"
#include "job/streams.h"
#include "pythia.h"

/* A member keeps a little more than a class does: what matters there is not known before all have met. */
enum { OWN_MOST = 4096 };
static const double own_share = 0.995, class_share = 0.99;

static int place_order(const struct job_own *a, const struct job_own *b)
{
    return BASE_ORDER(a->class_index, b->class_index) ?: BASE_ORDER(a->node, b->node) ?:
           BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->thread, b->thread);
}

static int by_place(const void *x, const void *y)
{
    return place_order(x, y);
}

const struct job_own *job_own_of(const struct job *j, uint32_t class_index, uint32_t node, uint32_t rank,
                                 uint32_t thread)
{
    const struct job_own_list *l = &j->own;
    struct job_own key = {
        .class_index = class_index, .node = node, .rank = rank - rank % j->info.block, .thread = thread
    };
    uint32_t at = BASE_ARRAY_PLACE(l->count, i, place_order(&l->row[i], &key) < 0);
    return at < l->count && place_order(&l->row[at], &key) == 0 ? &l->row[at] : NULL;
}

/* --- Which nodes matter --- */

struct weight { uint32_t node; uint64_t ns; };

static int heavier(const void *x, const void *y)
{
    const struct weight *a = x, *b = y;
    return BASE_ORDER(b->ns, a->ns) ?: BASE_ORDER(a->node, b->node);
}

/* The terminals' nodes that carry this share of their time, heaviest first: how many. */
static uint32_t weigh(const struct grammar_flat *g, double share, struct weight *w)
{
    uint32_t n = 0, kept = 0;
    double whole = 0, sum = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        uint64_t ns = g->stats[i].gap.sum + g->stats[i].duration.sum;
        if (grammar_is_rule(g->nodes[i].symbol) || g->nodes[i].symbol == GRAMMAR_LOST || !ns)
            continue;
        w[n++] = (struct weight){ i, ns };
        whole += (double)ns;
    }
    if (n)
        qsort(w, n, sizeof *w, heavier);
    while (kept < n && kept < OWN_MOST && sum < share * whole)
        sum += (double)w[kept++].ns;
    return kept;
}

static uint64_t rounded(double ns)
{
    return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* In order; rows of one block become one. */
static void add_up(struct job_own_list *l)
{
    uint32_t kept = 0;
    if (l->count)
        qsort(l->row, l->count, sizeof *l->row, by_place);
    for (uint32_t i = 0; i < l->count; i++) {
        if (!kept || place_order(&l->row[kept - 1], &l->row[i]) != 0) {
            l->row[kept++] = l->row[i];
            continue;
        }
        l->row[kept - 1].ranks += l->row[i].ranks;
        for (int k = 0; k < JOB_OWN_SUMS; k++)
            l->row[kept - 1].sum[k] += l->row[i].sum[k];
    }
    l->count = kept;
}

int job_own_add(struct job *j, uint32_t class_index, const struct grammar_flat *g, uint32_t rank, uint32_t thread)
{
    struct job_own_list *l = &j->own;
    struct weight *w = malloc(((size_t)g->node_count + 1) * sizeof *w);
    uint32_t n = w ? weigh(g, own_share, w) : 0;
    int error = w ? base_array_room(&l->row, &l->room, (uint64_t)l->count + n, sizeof *l->row) : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n && !error; i++) {
        const struct grammar_stats *s = &g->stats[w[i].node];
        l->row[l->count++] = (struct job_own){ .class_index = class_index,
                                               .node = w[i].node,
                                               .rank = rank - rank % job_streams_block(j, j),
                                               .thread = thread,
                                               .ranks = 1,
                                               .sum = { rounded(grammar_moments_mean(&s->gap, s->count)),
                                                        rounded(grammar_moments_deviation(&s->gap, s->count)),
                                                        rounded(grammar_moments_mean(&s->duration, s->count)),
                                                        rounded(grammar_moments_deviation(&s->duration, s->count)) } };
    }
    add_up(l);
    free(w);
    return error;
}

void job_own_drop(struct job *j, uint32_t rank, uint32_t thread)
{
    struct job_own_list *l = &j->own;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->row[i].class_index < j->class_count &&
            (j->info.block > 1 || l->row[i].rank != rank || l->row[i].thread != thread))
            l->row[kept++] = l->row[i];
    l->count = kept;
}

int job_own_join(const struct job *into, const struct job *from, const uint32_t *class_map, struct job_own_list *out)
{
    const struct job_own_list *a = &into->own, *b = &from->own;
    uint32_t block = job_streams_block(into, from);
    memset(out, 0, sizeof *out);
    int error = base_array_room(&out->row, &out->room, (uint64_t)a->count + b->count, sizeof *out->row);
    if (error || a->count + b->count == 0)
        return error;
    for (uint32_t i = 0; i < a->count; i++)
        out->row[out->count++] = a->row[i];
    for (uint32_t i = 0; i < b->count; i++) {
        out->row[out->count] = b->row[i];
        out->row[out->count++].class_index = class_map[b->row[i].class_index];
    }
    for (uint32_t i = 0; i < out->count; i++)
        out->row[i].rank -= out->row[i].rank % block;
    add_up(out);
    return 0;
}

/* The rows of one class, from `at` on: marks those of the nodes that matter. */
static int mark_class(const struct job *j, uint32_t at, uint32_t end, bool *keep)
{
    const struct grammar_flat *g = j->classes[j->own.row[at].class_index].grammar;
    struct weight *w = malloc(((size_t)g->node_count + 1) * sizeof *w);
    bool *matters = calloc((size_t)g->node_count + 1, sizeof *matters);
    int error = w && matters ? 0 : PYTHIA_ENOMEM;
    /* a message without rules has no symbols: all that is there stays */
    uint32_t n = error || !g->rule_count ? 0 : weigh(g, class_share, w);
    for (uint32_t i = 0; i < n; i++)
        matters[w[i].node] = true;
    for (uint32_t i = at; i < end && !error; i++)
        keep[i] = !g->rule_count || matters[j->own.row[i].node];
    free(w);
    free(matters);
    return error;
}

int job_own_matter(const struct job *j, bool *keep)
{
    int error = 0;
    for (uint32_t i = 0, next; i < j->own.count && !error; i = next) {
        for (next = i + 1; next < j->own.count && j->own.row[next].class_index == j->own.row[i].class_index; next++)
            ;
        error = mark_class(j, i, next, keep);
    }
    return error;
}

int job_own_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->own.count; i++) {
        const struct job_own *o = &j->own.row[i];
        if (o->class_index >= j->class_count || o->node >= j->classes[o->class_index].grammar->node_count ||
            !o->ranks || o->ranks > j->info.block || o->rank % j->info.block)
            return job_refuse(why, size, "own times %u: out of range", i);
        if (i && place_order(o - 1, o) >= 0)
            return job_refuse(why, size, "own times %u: out of order", i);
    }
    return 0;
}
