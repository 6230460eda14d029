/* SPDX-License-Identifier: MIT */
/*
 * The pattern of communication: which well-known one has all of these edges.
 *
 *   pairs          each rank has one other                      ring          rank + 1, rank - 1 or both, around
 *   1-D halo       rank + 1 and rank - 1, not around             master and workers  all edges meet in one rank
 *   2-D, 3-D halo  neighbours in a grid whose product is the number of ranks, corners included, around or not
 *   all to all     everyone to everyone, about as much
 *
 * A few ranks fit several: then the first that is tried. Where none fits all edges, it is irregular: a name that fits
 * most of them would say what is not so. Cost: a pass over the edges for each grid, of which there are few.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/model.h"

struct graph {
    const struct findings_edge *edges;
    uint32_t count, ranks;
};

static uint32_t offset_of(const struct graph *g, const struct findings_edge *e)
{
    return (e->to + g->ranks - e->from) % g->ranks;
}

/* Everyone sends to everyone, about as much. */
static bool is_all_to_all(const struct graph *g)
{
    uint64_t least = UINT64_MAX, most = 0;

    if (g->count != (uint64_t)g->ranks * (g->ranks - 1))
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        least = g->edges[i].bytes < least ? g->edges[i].bytes : least;
        most = g->edges[i].bytes > most ? g->edges[i].bytes : most;
    }
    return most <= 2 * least;
}

/* Each rank has one other: so there are as many edges as pairs, at least. */
static bool is_pairs(const struct graph *g, char name[64])
{
    uint32_t talk = 0, *other = g->ranks / 2 <= g->count ? malloc((size_t)g->ranks * sizeof *other) : NULL;
    bool fits = other != NULL;

    for (uint32_t i = 0; i < g->ranks && fits; i++)
        other[i] = g->ranks;
    for (uint32_t i = 0; i < g->count && fits; i++) {
        const uint32_t ends[2] = { g->edges[i].from, g->edges[i].to };
        fits = ends[0] < g->ranks && ends[1] < g->ranks;
        for (int k = 0; k < 2 && fits; k++) {
            talk += other[ends[k]] == g->ranks;
            fits = other[ends[k]] == g->ranks || other[ends[k]] == ends[!k];
            other[ends[k]] = ends[!k];
        }
    }
    free(other);
    if (fits && talk == g->ranks)
        snprintf(name, 64, talk > 2 ? "pairs" : "pair");
    return fits && talk == g->ranks;
}

/* Rank +- 1: around, or with two ends, one way or both. */
static bool is_line(const struct graph *g, char name[64])
{
    uint32_t up = 0, down = 0, around = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t offset = offset_of(g, &g->edges[i]);
        if (offset != 1 && offset != g->ranks - 1)
            return false;
        *(offset == 1 ? &up : &down) += 1;
        around += (g->edges[i].from > g->edges[i].to ? g->edges[i].from - g->edges[i].to
                                                     : g->edges[i].to - g->edges[i].from) != 1;
    }
    if (g->ranks > 2 && (up == g->ranks || !up) && (down == g->ranks || !down))
        strcpy(name, up && down ? "ring (both ways)" : up ? "ring (rank + 1)" : "ring (rank - 1)");
    else if (!around && up == g->ranks - 1 && down == g->ranks - 1)
        strcpy(name, "1-D halo (chain)");
    else if (!around && g->ranks > 2 && g->count == g->ranks - 1 && (!up || !down))
        strcpy(name, up ? "chain (rank + 1)" : "chain (rank - 1)");
    else
        return false;
    return true;
}

/* All edges meet in one rank, which has two others at least. */
static bool is_star(const struct graph *g, char name[64])
{
    uint32_t candidates[2] = { g->edges[0].from, g->edges[0].to };

    for (int k = 0; k < 2 && g->ranks > 2; k++) {
        uint32_t i = 0, master = candidates[k], in = 0, out = 0;
        for (; i < g->count && (g->edges[i].from == master || g->edges[i].to == master); i++)
            *(g->edges[i].from == master ? &out : &in) += 1;
        if (i < g->count || (in < 2 && out < 2))
            continue;
        snprintf(name, 64, "master and workers (rank %u)", master);
        return true;
    }
    return false;
}

/* --- Grids --- */

struct grid {
    uint32_t n[3]; /* rank = (x * n[1] + y) * n[2] + z */
};

/* How far apart in one dimension: 0, 1, or 2 for more; `around` is set when only the way around is that short. */
static uint32_t distance(uint32_t a, uint32_t b, uint32_t n, bool *around)
{
    uint32_t d = a > b ? a - b : b - a;

    *around = d > 1 && d == n - 1;
    if (*around)
        return 1;
    return d > 2 ? 2 : d;
}

/* What the edges of a grid are made of, by dimension. */
struct parts {
    uint64_t faces[3], wraps[3]; /* pairs along one dimension only, the short way and around */
    bool around[3], corners;
};

BASE_COMPARISON(by_ends, struct findings_edge, BASE_UP(from) ?: BASE_UP(to))

/* Whether it is the only edge of its two ranks, or the first of them: pairs are counted by it. */
static bool is_first(const struct graph *g, const struct findings_edge *e)
{
    const struct findings_edge back = { .from = e->to, .to = e->from };

    return e->from < e->to || !bsearch(&back, g->edges, g->count, sizeof back, by_ends);
}

/* Counts; returns whether all edges join neighbours. */
static bool take_apart(const struct graph *g, const struct grid *d, struct parts *p)
{
    *p = (struct parts){ 0 };
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t from = g->edges[i].from, to = g->edges[i].to, moved = 0;
        bool around = false;
        int along = 0;
        for (int k = 2; k >= 0; k--) {
            bool wrapped;
            uint32_t apart = distance(from % d->n[k], to % d->n[k], d->n[k], &wrapped);
            if (apart > 1)
                return false;
            if (apart) {
                moved++;
                along = k;
                around = wrapped;
                p->around[k] |= wrapped;
            }
            from /= d->n[k];
            to /= d->n[k];
        }
        p->corners |= moved > 1;
        if (moved == 1 && is_first(g, &g->edges[i]))
            *(around ? &p->wraps[along] : &p->faces[along]) += 1;
    }
    return true;
}

/* Whether all edges join neighbours, and all neighbours along a dimension have an edge, in one direction at least; also
   around, where somebody does. */
static bool fits(const struct graph *g, const struct grid *d, bool *around, bool *corners)
{
    struct parts p;

    if (!take_apart(g, d, &p))
        return false;
    *around = false;
    *corners = p.corners;
    for (int k = 0; k < 3; k++) {
        uint64_t lines = g->ranks / d->n[k];
        if (d->n[k] == 1)
            continue;
        if (p.faces[k] != lines * (d->n[k] - 1) || (p.around[k] && p.wraps[k] != lines))
            return false;
        *around |= p.around[k];
    }
    /* Where all ranks are neighbours, some of the pairs are no corners. */
    bool all_near = d->n[0] <= 2 && d->n[1] <= 2 && d->n[2] <= 2;
    return !all_near || !p.corners || g->count == (uint64_t)g->ranks * (g->ranks - 1);
}

/* Faces exchanged by everybody: less than half of them is no halo. */
static bool dense(const struct graph *g, int dimensions)
{
    return g->count >= (uint64_t)g->ranks * (unsigned)dimensions / 2;
}

static bool is_grid(const struct graph *g, char name[64])
{
    bool around, corners, found = false;
    uint32_t longest = UINT32_MAX;

    if (!dense(g, 2)) /* bounds the search: there are no more edges than traffic.c makes */
        return false;
    for (int dimensions = 2; dimensions <= 3 && !found; dimensions++)
        for (uint32_t x = dimensions == 3 ? 2 : 1; x <= (dimensions == 3 ? g->ranks / 4 : 1); x++)
            for (uint32_t y = 2; g->ranks % x == 0 && y <= g->ranks / x / 2; y++) {
                struct grid d = { { x, y, g->ranks / x / y } };
                uint32_t edge = x > y ? x : y;
                edge = d.n[2] > edge ? d.n[2] : edge;
                if (g->ranks / x % y || edge >= longest || !dense(g, dimensions) || !fits(g, &d, &around, &corners))
                    continue;
                int n = dimensions == 2 ? snprintf(name, 64, "2-D halo (%u x %u", y, d.n[2])
                                        : snprintf(name, 64, "3-D halo (%u x %u x %u", x, y, d.n[2]);
                snprintf(name + n, 64 - (size_t)n, "%s%s)", around ? ", around" : "", corners ? ", corners" : "");
                longest = edge;
                found = true;
            }
    return found;
}

void findings_pattern_name(const struct findings_edge *edges, uint32_t count, uint32_t ranks, char name[64])
{
    const struct graph g = { edges, count, ranks };

    strcpy(name, count ? "irregular" : "to itself");
    if (!count || ranks < 2 || is_pairs(&g, name) || is_line(&g, name))
        return;
    if (ranks > 2 && is_all_to_all(&g))
        strcpy(name, "all to all");
    else if (!is_star(&g, name) && !is_grid(&g, name))
        strcpy(name, "irregular");
}
