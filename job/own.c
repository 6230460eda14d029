/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "grammar/flat.h"
#include "job/schema.h"
#include "job/streams.h"
#include "pythia.h"

/* A member keeps a little more than a class does: what matters there is not known before all have met. */
enum { OWN_MOST = 4096 };
static const double own_share = 0.995, class_share = 0.99;

const struct job_own *job_own_of(const struct job *j, uint32_t class_index, uint32_t node, uint32_t rank,
                                 uint32_t thread)
{
    struct job_own key = {
        .class_index = class_index, .node = node, .rank = rank - rank % j->info.block, .thread = thread
    };
    return job_rows_find(j, JOB_TABLE_OWN, &key);
}

/* --- Which nodes matter --- */

struct weight { uint32_t node; uint64_t ns; };

BASE_COMPARISON(heavier, struct weight, BASE_DOWN(ns) ?: BASE_UP(node))

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
    BASE_SORT(w, n, heavier);
    while (kept < n && kept < OWN_MOST && sum < share * whole)
        sum += (double)w[kept++].ns;
    return kept;
}

static uint64_t rounded(double ns)
{
    return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

int job_own_add(struct job *j, uint32_t class_index, const struct grammar_flat *g, uint32_t rank, uint32_t thread)
{
    struct job_own_list *l = &j->own;
    BASE_OWN struct weight *w = malloc(((size_t)g->node_count + 1) * sizeof *w);
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
    return error ?: job_rows_settle(j, JOB_TABLE_OWN);
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

/* The rows of one class, from `at` on: marks those of the nodes that matter. */
static int mark_class(const struct job *j, uint32_t at, uint32_t end, bool *keep)
{
    const struct grammar_flat *g = j->classes[j->own.row[at].class_index].grammar;
    BASE_OWN struct weight *w = malloc(((size_t)g->node_count + 1) * sizeof *w);
    BASE_OWN bool *matters = calloc((size_t)g->node_count + 1, sizeof *matters);
    int error = w && matters ? 0 : PYTHIA_ENOMEM;
    /* a message without rules has no symbols: all that is there stays */
    uint32_t n = error || !g->rule_count ? 0 : weigh(g, class_share, w);
    for (uint32_t i = 0; i < n; i++)
        matters[w[i].node] = true;
    for (uint32_t i = at; i < end && !error; i++)
        keep[i] = !g->rule_count || matters[j->own.row[i].node];
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

