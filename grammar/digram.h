/* SPDX-License-Identifier: MIT */
/*
 * The digram table: a pair of adjacent symbols, exponents aside, to the node that begins its only place.
 *
 * Open addressing with linear probing; deletion shifts the rest of the cluster back, so there are no tombstones and a
 * probe's length depends on the load alone. Grows by doubling (the one allocation on the append path, amortised).
 * 12 bytes a slot, load at most 5/8.
 */
#ifndef PYTHIA_GRAMMAR_DIGRAM_H
#define PYTHIA_GRAMMAR_DIGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "grammar/flat.h"

struct grammar_digram_slot {
    uint32_t left, right; /* symbols */
    uint32_t node;        /* GRAMMAR_NONE: empty */
};

struct grammar_digrams {
    struct grammar_digram_slot *slot;
    uint32_t mask, count;
};

int grammar_digrams_open(struct grammar_digrams *t); /* 0 or PYTHIA_ENOMEM */
void grammar_digrams_close(struct grammar_digrams *t);
/* The node of (left, right); inserts `node` and returns it where there was none. GRAMMAR_NONE: no memory to grow, not
   inserted (the pair is then merely not found later: the grammar stays correct, less compact). */
uint32_t grammar_digrams_find_or_add(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node);
uint32_t grammar_digrams_find(const struct grammar_digrams *t, uint32_t left, uint32_t right);
/* Removes (left, right) if it belongs to `node`. */
void grammar_digrams_remove(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node);
size_t grammar_digrams_memory(const struct grammar_digrams *t);

#endif
