/* SPDX-License-Identifier: MIT */
/*
 * Natural loops: dominators and loops of a graph whose nodes are a function's blocks.
 *
 *   0 ──> 1 ──> 2 ──> 3 ──> 4        head 1, members 1 2 3; head 2, member 2: within it
 *         ^     └┘    │
 *         └───────────┘
 *
 * 1. node 0 is the entry; nodes are numbered in reverse postorder, so that a dominator has a smaller number
 * 2. a loop is what the edges back to a node that dominates their beginnings go around, and has that node as its head;
 *    an edge back to another node makes a loop of two entries, which is none here
 * 3. loops have smaller numbers than the ones within them; two loops are apart, or one is within the other
 *
 * After Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. Cost: edges x depth of loops in time, nodes x
 * loops bytes.
 * Threads: any, each graph by one at a time.  Hook-safe: no.
 */
#ifndef PYTHIA_LOOPS_NEST_H
#define PYTHIA_LOOPS_NEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loops_node {
    int *before; /* nodes that lead here */
    uint32_t before_count;
    int dominator; /* the nearest one; the entry's: itself. -1: not found, which all are at first */
    int loop;      /* innermost loop, -1: none, which all are in at first */
};

/* All memory is the caller's. */
struct loops_nest {
    struct loops_node *node;
    uint32_t nodes;
    int *head;       /* of each loop */
    uint8_t *member; /* member[loop * nodes + node] */
    uint32_t loops;
};

/* Fills node[].dominator. */
void loops_find_dominators(struct loops_nest *n);
/* After the dominators. A node at which a loop of several entries begins; -1: there is none. */
int loops_second_entry(const struct loops_nest *n);
/* How many loops there will be: room for `head`, and for `member`, which is zero. */
uint32_t loops_count(const struct loops_nest *n);
/* Fills head, member, loops and node[].loop. `stack`: room for all nodes. */
void loops_find(struct loops_nest *n, int *stack);

/* Whether each way to `node` passes `dominator`. */
bool loops_dominates(const struct loops_nest *n, int dominator, int node);
/* Whether each way to `node` takes the edge from `from` to `to`, the only one between the two. */
bool loops_edge_dominates(const struct loops_nest *n, int from, int to, int node);
static inline bool loops_holds(const struct loops_nest *n, int loop, int node)
{
    return n->member[(size_t)loop * n->nodes + (size_t)node];
}

#endif
