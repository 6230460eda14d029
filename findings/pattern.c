/* SPDX-License-Identifier: MIT */
/*
 * The pattern of communication: which well-known one has all of these edges. From the most to the least special:
 *
 *   pairwise      rank xor k                                    all ranks     everyone to everyone, of four at most
 *   shift         everyone to rank + k                          ring          rank + 1 and rank - 1, around
 *   chain         rank + 1 and rank - 1, not around             master/worker  all edges meet in one rank
 *   tree          rank to its parent in a binomial or a binary tree
 *   butterfly     rank xor 2^k                                  transpose     (i, j) to (j, i) of a grid
 *   2-D, 3-D halo neighbours in a grid whose product is the number of ranks, corners included, around or not
 *   all-to-all    everyone to everyone
 *
 * A few ranks fit several: then the first of the list above that uses all ranks; but 4 and 8 ranks that fit a butterfly
 * are as well a grid of 2 x 2 (x 2), and are called that, a halo only where there is a Cartesian communicator. Where no
 * name fits all edges, one that fits the heavy ones is given with how many pairs are besides. Cost: a pass over the
 * edges for each grid, of which there are few.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/model.h"

struct graph {
    const struct report_edge *edges;
    uint32_t count, ranks;
    bool cartesian; /* the program makes such a communicator */
};

static uint32_t offset_of(const struct graph *g, const struct report_edge *e)
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

static bool is_pairwise(const struct graph *g, char name[64])
{
    uint32_t bits = g->edges[0].from ^ g->edges[0].to;

    for (uint32_t i = 1; i < g->count; i++)
        if ((g->edges[i].from ^ g->edges[i].to) != bits)
            return false;
    if (g->count != g->ranks || g->ranks < 4)
        return false;
    snprintf(name, 64, "pairwise (rank xor %u)", bits);
    return true;
}

static bool is_shift(const struct graph *g, char name[64])
{
    uint32_t offset = offset_of(g, &g->edges[0]);

    for (uint32_t i = 1; i < g->count; i++)
        if (offset_of(g, &g->edges[i]) != offset)
            return false;
    if (g->count != g->ranks || g->ranks == 2) /* two ranks are a pair */
        return false;
    if (offset == 1 || offset == g->ranks - 1)
        snprintf(name, 64, "ring (rank %c 1)", offset == 1 ? '+' : '-');
    else
        snprintf(name, 64, "shift (rank + %u)", offset);
    return true;
}

/* Rank +- 1: around, or as a chain with two ends. */
static bool is_ring(const struct graph *g, char name[64])
{
    uint32_t around = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t offset = offset_of(g, &g->edges[i]);
        if (offset != 1 && offset != g->ranks - 1)
            return false;
        around += (g->edges[i].from > g->edges[i].to ? g->edges[i].from - g->edges[i].to
                                                     : g->edges[i].to - g->edges[i].from) != 1;
    }
    if (g->ranks > 2 && around && g->count == 2 * g->ranks)
        strcpy(name, "ring (both ways)");
    else if (around == 0 && g->count == 2 * (g->ranks - 1))
        strcpy(name, g->ranks == 2 ? "pair" : "1-D halo (chain)");
    else if (around == 0 && g->count == g->ranks - 1)
        strcpy(name, g->edges[0].to > g->edges[0].from ? "pipeline (rank + 1)" : "pipeline (rank - 1)");
    else
        return false;
    return true;
}

static bool is_star(const struct graph *g, char name[64])
{
    uint32_t candidates[2] = { g->edges[0].from, g->edges[0].to };

    for (int k = 0; k < 2 && g->ranks > 2; k++) {
        uint32_t i = 0, master = candidates[k], in = 0, out = 0;
        for (; i < g->count && (g->edges[i].from == master || g->edges[i].to == master); i++)
            *(g->edges[i].from == master ? &out : &in) += 1;
        if (i < g->count || (in < 2 && out < 2))
            continue;
        if (in && out)
            snprintf(name, 64, "master/worker (rank %u)", master);
        else
            snprintf(name, 64, out ? "scatter from rank %u" : "gather to rank %u", master);
        return true;
    }
    return false;
}

static uint32_t binary_parent(uint32_t v)
{
    return (v - 1) / 2;
}

static uint32_t clear_lowest(uint32_t v)
{
    return v & (v - 1);
}

static uint32_t clear_highest(uint32_t v)
{
    return v & ~(1u << (31 - __builtin_clz(v)));
}

static bool is_tree(const struct graph *g, char name[64])
{
    static uint32_t (*const parents[])(uint32_t) = { clear_lowest, clear_highest, binary_parent };

    for (int kind = 0; kind < 3; kind++) {
        uint32_t i = 0, up = 0, down = 0;
        for (; i < g->count; i++) {
            uint32_t from = g->edges[i].from, to = g->edges[i].to;
            if (from && parents[kind](from) == to)
                up++;
            else if (to && parents[kind](to) == from)
                down++;
            else
                break;
        }
        if (i < g->count || (up != g->ranks - 1 && down != g->ranks - 1))
            continue;
        snprintf(name, 64, "%s tree%s", kind == 2 ? "binary" : "binomial",
                 !down ? ", to the root"
                 : !up ? ", from the root"
                       : "");
        return true;
    }
    return false;
}

static bool is_butterfly(const struct graph *g, char name[64])
{
    uint32_t steps = 0;

    if (g->ranks & (g->ranks - 1))
        return false;
    while (UINT64_C(1) << steps < g->ranks)
        steps++;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t bits = g->edges[i].from ^ g->edges[i].to;
        if (bits & (bits - 1))
            return false;
    }
    if (g->count != g->ranks * steps)
        return false;
    if (g->ranks > 8)
        strcpy(name, "butterfly (rank xor 2^k)");
    else
        snprintf(name, 64, "%s (%s)", g->cartesian ? steps == 2 ? "2-D halo" : "3-D halo" : "neighbours in a grid",
                 steps == 2 ? "2 x 2" : "2 x 2 x 2");
    return true;
}

static bool is_transpose(const struct graph *g, char name[64])
{
    for (uint32_t rows = 2; g->count >= g->ranks / 2 && rows <= g->ranks / 2; rows++) {
        uint32_t columns = g->ranks / rows, i = 0;
        if (g->ranks % rows)
            continue;
        while (i < g->count && g->edges[i].from % columns * rows + g->edges[i].from / columns == g->edges[i].to)
            i++;
        if (i < g->count)
            continue;
        snprintf(name, 64, "transpose (%u x %u)", rows, columns);
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
    uint64_t faces[3], wraps[3]; /* edges along one dimension only, the short way and around */
    bool around[3], corners;
};

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
        if (moved == 1)
            *(around ? &p->wraps[along] : &p->faces[along]) += 1;
    }
    return true;
}

/* Whether all edges join neighbours, and everybody talks to his neighbours along each dimension, in one direction at
   least; also around, where somebody does. */
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
        if (p.faces[k] < lines * (d->n[k] - 1) || (p.around[k] && p.wraps[k] < lines))
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

/* A name that all edges fit; false: there is none. */
static bool name_all(const struct graph *g, char name[64])
{
    if (is_pairwise(g, name) || is_shift(g, name) || is_ring(g, name))
        return true;
    if (g->ranks > 2 && is_all_to_all(g)) {
        strcpy(name, "all-to-all");
        return true;
    }
    if (g->ranks > 2 && g->ranks <= 4 && g->count == g->ranks * (g->ranks - 1)) {
        strcpy(name, "all ranks");
        return true;
    }
    return is_star(g, name) || is_tree(g, name) || is_butterfly(g, name) || is_grid(g, name) || is_transpose(g, name);
}

/* The edges with at least a quarter of the messages of the busiest one; the others are besides. */
static void name_most(const struct graph *g, char name[64])
{
    struct report_edge *heavy = malloc(g->count * sizeof *heavy);
    struct graph most = { heavy, 0, g->ranks, g->cartesian };
    uint64_t busiest = 0;
    char best[64]; /* cut: the rest needs 27 bytes */

    for (uint32_t i = 0; i < g->count; i++)
        busiest = g->edges[i].messages > busiest ? g->edges[i].messages : busiest;
    for (uint32_t i = 0; heavy && i < g->count; i++)
        if (g->edges[i].messages >= busiest / 4)
            heavy[most.count++] = g->edges[i];
    if (heavy && most.count < g->count && name_all(&most, best))
        snprintf(name, 64, "%.34s and %u pairs besides", best, g->count - most.count);
    free(heavy);
}

void report_pattern_name(const struct report_edge *edges, uint32_t count, uint32_t ranks, bool cartesian,
                         char name[64])
{
    const struct graph g = { edges, count, ranks, cartesian };

    strcpy(name, count ? "irregular" : "to itself");
    if (count && ranks >= 2 && !name_all(&g, name)) {
        strcpy(name, "irregular");
        name_most(&g, name);
    }
}
