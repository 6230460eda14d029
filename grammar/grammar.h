/* SPDX-License-Identifier: MIT */
/*
 * Online grammar inference: folds a stream of events, as it happens, into a small lossless grammar.
 *
 * The algorithm is that of PYTHIA (Colin, Trahay, Conan: "PYTHIA : un oracle pour guider les décisions des runtimes",
 * COMPAS 2022), a Sequitur (Nevill-Manning and Witten, 1997) with exponents. At any time, once the pending steps are
 * drained:
 *
 *   1. utility     every rule but R is used at least twice, exponents counted (A^2 is two uses)
 *   2. uniqueness  a pair of adjacent symbols, whatever their exponents, stands in one place only
 *   3. no repeat   no symbol stands twice side by side: a^n a^m is a^(n+m)
 *   4. lossless    the expansion of R is the stream
 *   5. statistics  a node's sums are those of the events that it expands to: at every level they add up to R's
 *
 *     stream  a b b c b c a b            R -> A B^2 A
 *                                        A -> a b
 *                                        B -> b c
 *
 * Where b^5 c meets an existing b^3 c, the common part b^3 c becomes (or is) the rule and b^2 stays outside.
 *
 * While the stream repeats what a rule has, an event costs a comparison and a node's statistics: the steps that the
 * paper takes and takes back in each turn of a loop are remembered, and taken where the stream turns off (tail.h). What
 * is read of the grammar is always the paper's.
 *
 * An append takes a bounded number of steps; where one event brings about more, the events after it wait in a short
 * queue and share the work (append.c). Whoever reads the grammar has it done first.
 *
 * Memory: nodes (with their statistics, 128 bytes), rules and attributes are records with 32-bit indices in reserved
 * address space; nothing moves. An append allocates nothing: memory is asked for ahead, in large steps; the digram
 * table (9 bytes a slot) doubles a few slots at a time. At the cap the oldest part of R is folded into one
 * GRAMMAR_LOST node (its times and number of events stay exact, their order is given up) and grammar_lost() tells.
 *
 * Threads: owner.  Hook-safe: grammar_append is; the rest is not, where it does not say so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/flat.h"

struct grammar;

/* One event as it is appended. */
struct grammar_event {
    uint32_t terminal;                /* below GRAMMAR_LOST */
    uint32_t channels;                /* bit c set: value[c] counts */
    uint64_t gap, duration;           /* ns */
    int64_t value[GRAMMAR_CHANNELS];
};

/* An event without values. What is in value[] stays: to clear it would cost as much as to append the event. */
static inline void grammar_event_set(struct grammar_event *e, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    e->terminal = terminal;
    e->channels = 0;
    e->gap = gap;
    e->duration = duration;
}

/* Creates an empty grammar that uses at most `memory` bytes (at least 64 KiB). NULL when out of memory. */
struct grammar *grammar_create(size_t memory);
void grammar_destroy(struct grammar *g); /* NULL is legal */
/* Several grammars share `pool`, the number of bytes that are left. This one must be just created: it begins with a
   little, takes more when it needs it, up to the `memory` that it was created with, and gives all back when it is
   destroyed. */
void grammar_share_pool(struct grammar *g, _Atomic size_t *pool);

/* Appends one event. Never fails: at the cap the grammar goes on in a coarser form. */
void grammar_append(struct grammar *g, const struct grammar_event *event);

/* Whether the order in which values of the channel follow each other is still kept for the terminal that probably comes
   next; true where none is expected. Hook-safe. */
bool grammar_keeps_next(const struct grammar *g, enum grammar_channel channel);

uint64_t grammar_events(const struct grammar *g);
uint64_t grammar_lost(const struct grammar *g);   /* events whose order was given up */
uint32_t grammar_nodes(const struct grammar *g);
size_t grammar_memory(const struct grammar *g);   /* bytes in use */

/* Drains pending steps and gives the canonical form, owned by the caller; NULL when out of memory. The grammar can be
   appended to afterwards. */
struct grammar_flat *grammar_freeze(struct grammar *g);
