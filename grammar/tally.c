/* SPDX-License-Identifier: MIT */
#include "grammar/tally.h"

uint64_t grammar_share(uint64_t a, uint64_t part, uint64_t whole)
{
    return part >= whole ? a : (uint64_t)((grammar_square_t)a * part / whole);
}

/* Quotient and rest apart: a square times a part would not fit. */
static grammar_square_t square_share(grammar_square_t square, uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return square;
    grammar_square_t quotient = square / whole, rest = square - quotient * whole;
    return quotient * part + rest * part / whole;
}

/* With sum = q n + r: sum^2 / n = q sum + q r + r^2 / n. */
grammar_square_t grammar_square_mean(uint64_t sum, uint64_t n)
{
    if (n == 1)
        return grammar_square_of(sum);
    uint64_t q = sum / n, r = sum % n;
    return (grammar_square_t)q * sum + (grammar_square_t)q * r;
}

static void sums_split(struct grammar_sums *s, uint64_t part, uint64_t whole, struct grammar_sums *out)
{
    *out = (struct grammar_sums){ grammar_share(s->sum, part, whole), s->min, s->max,
                                  square_share(s->square, part, whole) };
    s->sum -= out->sum;
    s->square -= out->square;
}

void grammar_tally_split(struct grammar_tally *t, uint64_t part, uint64_t whole, struct grammar_tally *out)
{
    if (part == whole) { /* the usual case, and the exact one */
        *out = *t;
        grammar_tally_clear(t);
        return;
    }
    out->count = t->count / whole * part; /* a node's count is a multiple of its exponent */
    t->count -= out->count;
    sums_split(&t->gap, part, whole, &out->gap);
    sums_split(&t->duration, part, whole, &out->duration);
}

/* What the squares of `n` expansions have above those of equal ones: n times their variance. */
static grammar_square_t excess(const struct grammar_sums *s, uint64_t n)
{
    grammar_square_t equal = grammar_square_mean(s->sum, n);
    return s->square > equal ? s->square - equal : 0;
}

/* With one expansion everything is exact. */
static void sums_compose(struct grammar_sums *out, const struct grammar_sums *x, uint64_t i,
                         const struct grammar_sums *y, uint64_t j, uint64_t n)
{
    uint64_t sum = x->sum + y->sum;
    if (n <= 1)
        *out = (struct grammar_sums){sum, sum, sum, grammar_square_of(sum)};
    else
        *out = (struct grammar_sums){sum, x->min * i + y->min * j, x->max * i + y->max * j,
                                     grammar_square_mean(sum, n) + excess(x, n * i) + excess(y, n * j)};
}

void grammar_tally_compose(struct grammar_tally *out, const struct grammar_tally *x, uint64_t i,
                           const struct grammar_tally *y, uint64_t j, uint64_t n)
{
    out->count = n;
    sums_compose(&out->gap, &x->gap, i, &y->gap, j, n);
    sums_compose(&out->duration, &x->duration, i, &y->duration, j, n);
}

void grammar_tally_spread(struct grammar_tally *t, uint64_t e)
{
    t->count *= e;
    if (e == 1)
        return;
    t->gap.min /= e;
    t->gap.square /= e;
    t->duration.min /= e;
    t->duration.square /= e;
}

void grammar_sums_fold(struct grammar_sums *into, const struct grammar_sums *from, uint64_t events)
{
    into->sum += from->sum;
    into->square += events ? grammar_square_mean(from->sum, events) : 0;
    into->min = 0;
    if (from->max > into->max)
        into->max = from->max;
}

void grammar_sums_shrink(struct grammar_sums *s, uint64_t ns)
{
    s->square -= s->sum ? square_share(s->square, ns, s->sum) : 0;
    s->sum -= ns;
}

static struct grammar_moments moments_of(const struct grammar_sums *s)
{
    return (struct grammar_moments){s->sum, s->min, s->max, (double)s->square};
}

struct grammar_stats grammar_tally_stats(const struct grammar_tally *t)
{
    return (struct grammar_stats){t->count, moments_of(&t->gap), moments_of(&t->duration)};
}
