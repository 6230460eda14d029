/* SPDX-License-Identifier: MIT */
/*
 * A node of the growing grammar: what stands in one place of one rule, with its statistics. Links and statistics lie
 * side by side in two cache lines, because whoever finds a node counts in it.
 *
 *   | links, symbol, exponent, attributes  32 | statistics  88 |
 */
#pragma once

#include <stdint.h>

#include "grammar/tally.h"

struct __attribute__((aligned(64))) grammar_node {
    uint32_t symbol;   /* terminal, or rule | GRAMMAR_RULE; of a guard: its own rule; GRAMMAR_NONE: free */
    uint32_t prev, next;
    uint32_t use_prev, use_next; /* other nodes that name the same rule */
    uint32_t attr;     /* first attribute, GRAMMAR_NONE without */
    uint64_t exponent; /* 0: a guard */
    struct grammar_tally stats;
};
