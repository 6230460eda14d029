/* SPDX-License-Identifier: MIT */
/*
 * The digram table: a pair of adjacent symbols, exponents aside, to the node that begins its only place.
 *
 *     slot:  | hash of the pair | node |      8 bytes.  The pair itself is read from the node.
 *     tag:   | . |                            1 byte of the hash, 0: empty
 *
 * Open addressing with linear probing, load at most 1/2. A search reads tags, which stay in the cache where slots would
 * not: most pairs that are looked for stand nowhere. The table grows by doubling, a few slots an insertion: meanwhile
 * there are two tables,
 *
 *     old   | moved, moved, moved | … still here … |      searched second; what leaves it leaves a mark, no shifting
 *     new   | everything that came since, and what was moved |   deletion shifts the rest of the cluster back
 *
 *   1. a pair is in one of the tables, once
 *   2. the old table is empty long before the new one is full: an insertion moves MOVE (8) slots, so it takes a quarter
 *      of the insertions that fill the new one
 *   3. the node of an entry still begins its pair: who changes a node's neighbour removes its pair first
 *
 * A look-up costs O(1) expected, an insertion MOVE slots more while the table grows; a new table is one call for
 * memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "grammar/flat.h"
#include "grammar/node.h"

struct grammar_digram_slot {
    uint32_t hash, node;
};

enum { GRAMMAR_TAG_EMPTY, GRAMMAR_TAG_LEFT, GRAMMAR_TAG_FIRST }; /* left: removed from the old table, or moved */

struct grammar_digram_table {
    struct base_arena arena;
    struct grammar_digram_slot *slot; /* NULL: no table */
    uint8_t *tag;                     /* parallel; in the same arena */
    uint32_t mask;
};

struct grammar_digrams {
    const struct grammar_node *nodes;
    struct grammar_digram_table now, old;
    uint32_t count;
    uint64_t added; /* pairs, ever: what was not found is not there until this rises */
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

static inline uint8_t grammar_digram_tag(uint32_t hash)
{
    uint8_t tag = (uint8_t)(hash >> 24); /* the table's index is made of the low bits */
    return tag < GRAMMAR_TAG_FIRST ? (uint8_t)(tag + GRAMMAR_TAG_FIRST) : tag;
}

/* Slot of the pair, or the empty one where the search ends. */
static inline uint32_t grammar_digram_probe(const struct grammar_digram_table *t, const struct grammar_node *nodes,
                                            uint32_t hash, uint32_t left, uint32_t right)
{
    uint8_t tag = grammar_digram_tag(hash);
    for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        if (t->tag[i] == GRAMMAR_TAG_EMPTY)
            return i;
        if (t->tag[i] != tag || t->slot[i].hash != hash)
            continue;
        const struct grammar_node *n = &nodes[t->slot[i].node];
        if (n->symbol == left && nodes[n->next].symbol == right)
            return i;
    }
}

/* The node of a probed slot. */
static inline uint32_t grammar_digram_at(const struct grammar_digram_table *t, uint32_t i)
{
    return t->tag[i] == GRAMMAR_TAG_EMPTY ? GRAMMAR_NONE : t->slot[i].node;
}

static inline uint32_t grammar_digrams_find(const struct grammar_digrams *t, uint32_t left, uint32_t right)
{
    uint32_t hash = grammar_digram_hash(left, right);
    uint32_t node = grammar_digram_at(&t->now, grammar_digram_probe(&t->now, t->nodes, hash, left, right));
    if (__builtin_expect(node == GRAMMAR_NONE && t->old.slot != NULL, 0))
        node = grammar_digram_at(&t->old, grammar_digram_probe(&t->old, t->nodes, hash, left, right));
    return node;
}
