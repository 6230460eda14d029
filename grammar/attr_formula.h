/* SPDX-License-Identifier: MIT */
/*
 * Formulas of value models, shared by attr.c and attr_turns.c.
 *
 * A sequence of up to GRAMMAR_ATTR_SHORT values is rebuilt value by value, which finds the best formula; of a longer
 * one a formula is kept only where it can be proven from its parameters.
 * Threads: owner.  Hook-safe: yes.
 */
#ifndef PYTHIA_GRAMMAR_ATTR_FORMULA_H
#define PYTHIA_GRAMMAR_ATTR_FORMULA_H

#include "grammar/attr.h"

enum { GRAMMAR_ATTR_SHORT = 2 * GRAMMAR_ATTR_LENGTH };

/* Steps are kept far below the range of the type, so that no ramp of a real length wraps around it. */
#define GRAMMAR_ATTR_STEP ((int64_t)1 << 40)

static inline bool grammar_attr_exact(const struct grammar_attr *a)
{
    return a->kind <= GRAMMAR_ATTR_LIST;
}

/* Of occurrence i in its period; a short division where that is enough, the other one takes twice as long. */
static inline uint64_t grammar_attr_phase(const struct grammar_attr *a, uint64_t i)
{
    if (a->period == 0)
        return i;
    return i <= UINT32_MAX ? (uint32_t)i % a->period : i % a->period;
}

/* In two's complement arithmetic: overflow is defined and the same everywhere. */
static inline int64_t grammar_attr_in_phase(const struct grammar_attr *a, uint64_t phase)
{
    return a->kind == GRAMMAR_ATTR_LIST ? a->list[phase]
                                        : (int64_t)((uint64_t)a->ramp.base + (uint64_t)a->ramp.step * phase);
}

/* Value that the formula gives for occurrence i, also beyond the last one. */
static inline int64_t grammar_attr_at(const struct grammar_attr *a, uint64_t i)
{
    if (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == 0)
        return a->ramp.base;
    return grammar_attr_in_phase(a, grammar_attr_phase(a, i));
}

void grammar_attr_set_ramp(struct grammar_attr *a, int64_t base, int64_t step, uint64_t period);
void grammar_attr_set_list(struct grammar_attr *a, const int64_t *value, uint32_t period);
void grammar_attr_set_varies(struct grammar_attr *a);
void grammar_attr_copy(struct grammar_attr *a, const struct grammar_attr *g); /* the formula alone */
/* One more value, without its place in the stream. */
void grammar_attr_append(struct grammar_attr *a, int64_t value);
/* So many more values, which are what an exact model says next; the last one at stream index `at`. */
void grammar_attr_go_on(struct grammar_attr *a, uint64_t count, uint64_t at);
/* The model of these values alone, the first one at stream index `first`. */
void grammar_attr_next(const struct grammar_attr *a, uint64_t count, uint64_t first, struct grammar_attr *out);
/* Sum and extremes of an exact model, from its formula; low and high: bounds where it overflows. */
void grammar_attr_summarise(struct grammar_attr *a, int64_t low, int64_t high);
/* Counts, ends, extremes and sum of two models joined. */
void grammar_attr_totals(struct grammar_attr *into, const struct grammar_attr *from);
/* KEYED: `out` gets out->count occurrences of `whole`, in proportion. */
void grammar_attr_split_keys(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out);

#endif
