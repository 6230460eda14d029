/* SPDX-License-Identifier: MIT */
/* Audit of a growing grammar: the frozen form's invariants, then what only the growing form has. */
#include <stdio.h>
#include <stdlib.h>

#include "grammar/internal.h"
#include "pythia.h"
#include "tests/unit/audit.h"

static int refuse(char *why, size_t size, const char *what, uint32_t n)
{
    snprintf(why, size, "%s at node %u", what, n);
    return PYTHIA_EFORMAT;
}

static int check_ring(struct grammar *g, uint32_t rule, uint32_t *digrams, char *why, size_t size)
{
    uint32_t guard = g->rules[rule].guard;
    for (uint32_t n = g->nodes[guard].next; n != guard; n = g->nodes[n].next) {
        uint32_t m = g->nodes[n].next;
        if (g->nodes[m].prev != n)
            return refuse(why, size, "broken ring", n);
        if (m == guard)
            continue;
        if (g->nodes[n].symbol == g->nodes[m].symbol)
            return refuse(why, size, "a symbol twice side by side", n);
        if (grammar_digrams_find(&g->digrams, g->nodes[n].symbol, g->nodes[m].symbol) != n)
            return refuse(why, size, "a pair that stands twice, or is not registered", n);
        ++*digrams;
    }
    return 0;
}

static int check_uses(struct grammar *g, uint32_t rule, char *why, size_t size)
{
    uint64_t uses = 0;
    for (uint32_t n = g->rules[rule].use_head; n != GRAMMAR_NONE; n = g->nodes[n].use_next) {
        if (g->nodes[n].symbol != (rule | GRAMMAR_RULE))
            return refuse(why, size, "a use of another rule", n);
        uses += g->nodes[n].exponent;
    }
    return uses == g->rules[rule].uses ? 0 : refuse(why, size, "uses are miscounted", g->rules[rule].guard);
}

static int check_live(struct grammar *g, char *why, size_t size)
{
    uint32_t digrams = 0;
    int error = 0;
    for (uint32_t r = 0; !error && r < g->rule_top; r++) {
        if (!g->rules[r].live)
            continue;
        error = check_ring(g, r, &digrams, why, size);
        error = error ? error : check_uses(g, r, why, size);
    }
    if (!error && digrams != g->digrams.count)
        error = refuse(why, size, "pairs in the table that stand nowhere", 0);
    return error;
}

int audit_grammar(struct grammar *g, char *why, size_t size)
{
    struct grammar_flat *f = grammar_freeze(g);
    if (!f) {
        snprintf(why, size, "out of memory");
        return PYTHIA_ENOMEM;
    }
    int error = grammar_flat_check(f, why, size);
    error = error ? error : audit_counts(f, why, size);
    error = error ? error : audit_times(f, why, size);
    error = error ? error : check_live(g, why, size);
    grammar_flat_destroy(f);
    return error;
}
