/* SPDX-License-Identifier: MIT */
/*
 * The digram table: a pair of adjacent symbols, exponents aside, to the node that begins its only place.
 *
 *     slot:  | hash of the pair | node + 1 |      8 bytes, 0: empty.  The pair itself is read from the node.
 *
 * Open addressing with linear probing, load at most 1/2. The table grows by doubling, a few slots an insertion: meanwhile
 * there are two tables,
 *
 *     old   | moved, moved, moved | … still here … |      searched second; what leaves it leaves a mark, no shifting
 *     new   | everything that came since, and what was moved |   deletion shifts the rest of the cluster back
 *
 *   1. a pair is in one of the tables, once
 *   2. the old table is empty long before the new one is full: MOVE slots an insertion, the old one has at most as many
 *      slots as the new one takes insertions times 2
 *   3. the node of an entry still begins its pair: who changes a node's neighbour removes its pair first
 *
 * A look-up costs O(1) expected, an insertion MOVE slots more while the table grows; a new table is one call for memory.
 */
#ifndef PYTHIA_GRAMMAR_DIGRAM_H
#define PYTHIA_GRAMMAR_DIGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "grammar/flat.h"
#include "grammar/node.h"

struct grammar_digram_slot {
    uint32_t hash, node; /* node: + 1; 0: empty, GRAMMAR_NONE: removed (old table only) */
};

struct grammar_digram_table {
    struct base_arena arena;
    struct grammar_digram_slot *slot; /* NULL: no table */
    uint32_t mask;
};

struct grammar_digrams {
    const struct grammar_node *nodes;
    struct grammar_digram_table now, old;
    uint32_t count;
    uint32_t moved; /* slots of the old table that are done with */
};

int grammar_digrams_open(struct grammar_digrams *t, const struct grammar_node *nodes); /* 0 or PYTHIA_ENOMEM */
void grammar_digrams_close(struct grammar_digrams *t);
/* The node of (left, right); inserts `node` and returns it where there was none. GRAMMAR_NONE: no memory to grow, not
   inserted (the pair is then merely not found later: the grammar stays correct, less compact). */
uint32_t grammar_digrams_find_or_add(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node);
/* Removes (left, right) if it belongs to `node`. */
void grammar_digrams_remove(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node);
size_t grammar_digrams_memory(const struct grammar_digrams *t);

static inline uint32_t grammar_digram_hash(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32 ^ h >> 13);
}

/* Slot of the pair, or the empty one where the search ends. */
static inline uint32_t grammar_digram_probe(const struct grammar_digram_table *t, const struct grammar_node *nodes, uint32_t hash,
                                            uint32_t left, uint32_t right)
{
    for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        struct grammar_digram_slot s = t->slot[i];
        if (s.node == 0)
            return i;
        if (s.hash != hash || s.node == GRAMMAR_NONE)
            continue;
        const struct grammar_node *n = &nodes[s.node - 1];
        if (n->symbol == left && nodes[n->next].symbol == right)
            return i;
    }
}

static inline uint32_t grammar_digrams_find(const struct grammar_digrams *t, uint32_t left, uint32_t right)
{
    uint32_t hash = grammar_digram_hash(left, right);
    uint32_t node = t->now.slot[grammar_digram_probe(&t->now, t->nodes, hash, left, right)].node;
    if (__builtin_expect(node == 0 && t->old.slot != NULL, 0))
        node = t->old.slot[grammar_digram_probe(&t->old, t->nodes, hash, left, right)].node;
    return node - 1; /* 0 - 1: GRAMMAR_NONE */
}

#endif
