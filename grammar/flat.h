/* SPDX-License-Identifier: MIT */
/*
 * A grammar at rest: the canonical, read-only form that is merged, stored, reported and predicted from.
 *
 *   rules[0] is R, the root; rules are numbered in the order in which an expansion of R first enters them.
 *
 *   rules:  | R: first 0, length 3 | A: first 3, length 2 |
 *   nodes:  | a  A^2  b            | c  d^4               |      symbol, exponent, where its attributes are
 *   stats:  | .   .   .            | .   .                |      parallel to nodes: statistics in that place
 *
 * Invariants (grammar_flat_check):
 *   1. at least the rule R (possibly empty); every other rule has two nodes or more and is used, exponents counted,
 *      at least twice; R is used by nobody
 *   2. rules do not contain themselves, at any depth (R is rank 0 of a DAG)
 *   3. exponents are at least 1; the length of the whole expansion fits 63 bits
 *   4. canonical numbering as above; rules' nodes contiguous and in the order of the rules
 *   5. attributes only on terminals, each channel once a node, in the order of channels
 *
 * Threads: any (read-only).  Hook-safe: reading is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/attr.h"
#include "grammar/stats.h"

#define GRAMMAR_RULE 0x80000000u /* set in a symbol: a rule's number; clear: a terminal's */
#define GRAMMAR_NONE 0xffffffffu
/* The terminal that stands for events whose order was given up when the memory cap was reached (its exponent is their
   number). Never produced otherwise; has no definition. */
#define GRAMMAR_LOST 0x7fffffffu

static inline int grammar_is_rule(uint32_t symbol)
{
    return (symbol & GRAMMAR_RULE) != 0;
}

struct grammar_flat_rule {
    uint32_t first;  /* index of its first node */
    uint32_t length; /* nodes */
};

struct grammar_flat_node {
    uint32_t symbol;
    uint32_t attr;       /* index of its first attribute, GRAMMAR_NONE without */
    uint32_t attr_count; /* contiguous */
    uint32_t reserved;   /* 0 */
    uint64_t exponent;
};

/* What a terminal's values of a channel were, by the number of its event (course.h): from event `from` on `value`, or,
   with a `back`, the values that stand so many events before, plus `value`. Modulo 2^64. Only of a grammar that was
   frozen. */
enum { GRAMMAR_COURSE_STEPS = 512 }; /* of a course, at most */
struct grammar_step { uint64_t from; int64_t value; uint32_t back; };
struct grammar_flat_course { uint32_t terminal, channel, first, count; };

struct grammar_flat {
    uint32_t rule_count, node_count, attr_count;
    uint32_t terminals;  /* terminal numbers in use are below this (GRAMMAR_LOST aside) */
    uint64_t events;     /* length of R's expansion */
    struct grammar_flat_rule *rules;
    struct grammar_flat_node *nodes;
    struct grammar_stats *stats; /* node_count */
    struct grammar_attr *attrs;  /* attr_count */
    struct grammar_flat_course *courses; /* course_count, by terminal and channel; of those with several values */
    struct grammar_step *steps;  /* of the courses */
    uint32_t course_count;
};

/* Allocates a grammar with room for these numbers, zeroed; NULL when out of memory. The caller frees it. */
struct grammar_flat *grammar_flat_create(uint32_t rules, uint32_t nodes, uint32_t attrs);
struct grammar_flat *grammar_flat_copy(const struct grammar_flat *g);
void grammar_flat_destroy(struct grammar_flat *g); /* NULL is legal */

/* Audits the invariants. Returns 0, or PYTHIA_EFORMAT with the reason, one line, in why[size]. Bounded by the size of
   the grammar whatever it contains: hostile input is its job. */
int grammar_flat_check(const struct grammar_flat *g, char *why, size_t size);
/* The same for a grammar without attributes whose `events` are not known: on success they are. */
int grammar_flat_measure(struct grammar_flat *g, char *why, size_t size);
/* The structure alone (symbols by the hash that `terminal_hash[terminal]` gives, exponents) as a Merkle hash; equal on
   every rank for equal structure, whatever the numbering. `rule_hash` may be NULL or has rule_count entries. */
struct grammar_hash { uint64_t low, high; };
struct grammar_hash grammar_flat_hash(const struct grammar_flat *g, const struct grammar_hash *terminal_hash,
                                      struct grammar_hash *rule_hash);

/* The same with exponents aside: equal where sequences differ only in how often what is repeated is. */
struct grammar_hash grammar_flat_shape(const struct grammar_flat *g, const struct grammar_hash *terminal_hash);

/* Rules in an order in which each comes after all that it uses: fills order[rule_count]. False: out of memory, or a
   rule contains itself. */
bool grammar_flat_order(const struct grammar_flat *g, uint32_t *order);

/* Renumbers terminals: t becomes map[t] (GRAMMAR_LOST stays). */
void grammar_flat_renumber(struct grammar_flat *g, const uint32_t *map, uint32_t terminals_after);

/*
 * Expansion, from the first event to the last.
 *   struct grammar_cursor c;
 *   for (int more = grammar_cursor_open(&c, g); more; more = grammar_cursor_next(&c))
 *       use(c.node, c.terminal, c.turn);
 *   grammar_cursor_close(&c);
 * `node` is the index of the terminal's node, `turn` counts from 0 within its exponent, `occurrence` counts how often
 * this node was reached before, `nth` how often the terminal was, whatever the node (for its course; of GRAMMAR_LOST
 * 0).
 */
struct grammar_cursor {
    uint32_t node, terminal;
    uint64_t turn, index, occurrence, nth;
    const struct grammar_flat *grammar;
    void *state;
};
int grammar_cursor_open(struct grammar_cursor *c, const struct grammar_flat *g); /* 0: empty or out of memory */
int grammar_cursor_next(struct grammar_cursor *c);
void grammar_cursor_close(struct grammar_cursor *c);

/* Lengths of the expansions of all rules, saturated at 2^63 - 1: fills length[rule_count]. */
void grammar_flat_lengths(const struct grammar_flat *g, uint64_t *length);
/* How often each rule is expanded in all: fills uses[rule_count], uses[0] = 1, saturated. */
void grammar_flat_uses(const struct grammar_flat *g, uint64_t *uses);
/* Which nodes use a symbol: those of rule r are node[of_rule[r]] up to node[of_rule[r + 1] - 1], ascending; likewise of
   terminals, unless of_terminal is NULL. Fills of_rule[rule_count + 1], of_terminal[terminals + 1], node[node_count].
   Symbols must be in range. Linear. */
void grammar_flat_users(const struct grammar_flat *g, uint32_t *of_terminal, uint32_t *of_rule, uint32_t *node);
