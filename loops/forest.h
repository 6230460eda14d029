/* SPDX-License-Identifier: MIT */
/*
 * Loops of any directed graph: its strongly connected parts, and again within each.
 *
 *   0 ──> 1 ──> 2 ──> 3 ──> 4      part {1 2 3}, head 1: a loop; without its edges back to 1: part {2}, within it
 *         ^     └┘    │
 *         └───────────┘
 *
 * 1. a part's head is its node that is met first from node 0, depth first, in the order of the edges; where all ways
 *    in lead to one node that is the head, and the loop is the natural loop of code; where several nodes are entered,
 *    it is a loop still
 * 2. loops have smaller numbers than the ones within them; two loops are apart, or one is within the other
 * 3. without the edges from a loop to its own head the graph has no cycle; `order` counts along the edges that are left
 * 4. nodes that node 0 does not lead to come after it, as if they were entries, too
 *
 * Loops are looked for LOOPS_LEVELS deep: what is tangled more than that is no code, and 3. does not hold in it.
 * Cost: (nodes + edges) x depth of loops.
 * Threads: any, each graph by one at a time.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LOOPS_LEVELS = 32 };

/* Edges of node n: to[first[n]] up to to[first[n + 1]]. */
struct loops_graph {
    const uint32_t *first, *to;
    uint32_t nodes;
};

struct loops_forest {
    int *loop;       /* of each node the innermost one, -1: none */
    uint32_t *order; /* of each node */
    int *parent;     /* of each loop the one around it, -1: none */
    uint32_t *head;  /* of each loop, a node */
    uint32_t loops;
};

void loops_forest_make(struct loops_forest *f, const struct loops_graph *g);
void loops_forest_close(struct loops_forest *f); /* zeroed is legal */

/* Whether `loop` is `outer`, or within it; -1 is outside of all. */
static inline bool loops_forest_within(const struct loops_forest *f, int loop, int outer)
{
    while (loop > outer)
        loop = f->parent[loop];
    return loop == outer;
}
/* The innermost loop that holds two nodes, -1: none does. */
static inline int loops_forest_common(const struct loops_forest *f, uint32_t a, uint32_t b)
{
    int loop = f->loop[a];
    while (loop >= 0 && !loops_forest_within(f, f->loop[b], loop))
        loop = f->parent[loop];
    return loop;
}
/* Whether nodes outside of a loop lead to others of it than its head. */
bool loops_forest_aside(const struct loops_forest *f, const struct loops_graph *g, int loop);
/* Whether `to` can be reached from `from` by at least one edge without a turn of a loop that holds both. */
bool loops_forest_leads(const struct loops_forest *f, const struct loops_graph *g, uint32_t from, uint32_t to);
