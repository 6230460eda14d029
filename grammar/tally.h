/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a node of the growing grammar: those of stats.h in integers alone.
 *
 *     append ──> tally (integers) ──freeze──> stats (squares as double)
 *
 * An append happens between two instructions of the program, whose floating-point flags, traps and rounding are its
 * own: it computes nothing with fractions. Squares are 128 bits wide, so that they are sums like the others: exact, in
 * any order.
 *
 * What is known of an expansion that nobody measured (a rule x^i y^j made of nodes that stood in several expansions) is
 * composed: sums exact, extremes as bounds, squares with turns taken as independent.
 *
 * Cost: an addition is two multiplications; what composes divides.  Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include "grammar/stats.h"

/* ns^2. Aligned like its halves: a node is two cache lines. */
__extension__ typedef unsigned __int128 grammar_square_t __attribute__((aligned(8)));

struct grammar_sums {
    uint64_t sum, min, max; /* ns, as in struct grammar_moments */
    grammar_square_t square;
};

struct grammar_tally {
    uint64_t count;
    struct grammar_sums gap, duration;
};

static inline grammar_square_t grammar_square_of(uint64_t ns)
{
    return (grammar_square_t)ns * ns;
}

static inline void grammar_sums_add(struct grammar_sums *s, uint64_t ns)
{
    s->sum += ns;
    s->square += grammar_square_of(ns);
    if (ns < s->min)
        s->min = ns;
    if (ns > s->max)
        s->max = ns;
}

static inline void grammar_sums_join(struct grammar_sums *into, const struct grammar_sums *from)
{
    into->sum += from->sum;
    into->square += from->square;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

static inline void grammar_tally_clear(struct grammar_tally *t)
{
    *t = (struct grammar_tally){.gap.min = UINT64_MAX, .duration.min = UINT64_MAX};
}

/* Adds one expansion of `gap` and `duration` ns. */
static inline void grammar_tally_add(struct grammar_tally *t, uint64_t gap, uint64_t duration)
{
    t->count++;
    grammar_sums_add(&t->gap, gap);
    grammar_sums_add(&t->duration, duration);
}

/* Joins the expansions of two places: counts, sums and squares add, extremes widen. */
static inline void grammar_tally_join(struct grammar_tally *into, const struct grammar_tally *from)
{
    into->count += from->count;
    grammar_sums_join(&into->gap, &from->gap);
    grammar_sums_join(&into->duration, &from->duration);
}

/* Moves `part` of `whole` expansions out of `t` into `out` (overwritten), in proportion; the two add up to what was
   there. */
void grammar_tally_split(struct grammar_tally *t, uint64_t part, uint64_t whole, struct grammar_tally *out);

/* sum^2 / n to within n ns^2: what n equal expansions that sum up to it would have as squares. n > 0. */
grammar_square_t grammar_square_mean(uint64_t sum, uint64_t n);
/* `a` * part / whole, rounded down; part <= whole. whole 0: all of it. */
uint64_t grammar_share(uint64_t a, uint64_t part, uint64_t whole);

/* Of the rule x^i y^j over `n` expansions: `out` gets sums and extremes, its count is `n`. */
void grammar_tally_compose(struct grammar_tally *out, const struct grammar_tally *x, uint64_t i,
                           const struct grammar_tally *y, uint64_t j, uint64_t n);
/* Of x where the rule x^e stood: each of its expansions is e now. */
void grammar_tally_spread(struct grammar_tally *t, uint64_t e);
/* `events` mean events of `from` join `into`: extremes and squares of the single events are not known. */
void grammar_sums_fold(struct grammar_sums *into, const struct grammar_sums *from, uint64_t events);
/* `ns` of the sum go, squares in proportion. */
void grammar_sums_shrink(struct grammar_sums *s, uint64_t ns);

/* As it is at rest. The only floating-point arithmetic: for who holds the program's state (base/fpu.h). */
struct grammar_stats grammar_tally_stats(const struct grammar_tally *t);
