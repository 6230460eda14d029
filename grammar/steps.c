/* SPDX-License-Identifier: MIT */
/*
 * The structural steps of the inference (seed algorithm: Colin, Trahay, Conan, COMPAS 2022).
 *
 * match     a pair of symbols stands in two places: the common part of their exponents becomes a rule, or is one
 * inline    a rule with one use is put in the place of that use
 * collapse  a rule whose body is one node s^e: its uses r^k become s^(k e)
 * join      a^n a^m becomes a^(n+m)
 *
 * Each step hints at the places whose digrams it changed; grammar_drain works hints off, rules with too few uses first,
 * as in the paper's figure 2 (e), where the rule that lost its use is dissolved before the next pair is tried.
 */
#include "grammar/internal.h"

static uint32_t rule_of(uint32_t symbol)
{
    return symbol & ~GRAMMAR_RULE;
}

void grammar_unregister(struct grammar *g, uint32_t n)
{
    uint32_t next = g->nodes[n].next;
    if (!grammar_is_guard(g, n) && !grammar_is_guard(g, next))
        grammar_digrams_remove(&g->digrams, g->nodes[n].symbol, g->nodes[next].symbol, n);
}

/* a^n a^m -> a^(n+m) */
static void join_next(struct grammar *g, uint32_t n)
{
    uint32_t m = g->nodes[n].next;
    grammar_unregister(g, m);
    grammar_attrs_join(g, n, m);
    grammar_exponent_add(g, n, g->nodes[m].exponent);
    grammar_tally_join(&g->nodes[n].stats, &g->nodes[m].stats);
    grammar_unlink(g, m);
    grammar_node_give(g, m);
    grammar_hint(&g->digram_hints, n);
}

static bool same_symbol(const struct grammar *g, uint32_t n, uint32_t m)
{
    return !grammar_is_guard(g, n) && !grammar_is_guard(g, m) && g->nodes[n].symbol == g->nodes[m].symbol;
}

static void settle_right(struct grammar *g, uint32_t last)
{
    if (same_symbol(g, last, g->nodes[last].next))
        join_next(g, last);
    else
        grammar_hint(&g->digram_hints, last);
    uint32_t guard = g->nodes[last].next;
    if (grammar_is_guard(g, guard) && g->nodes[guard].next == last)
        grammar_hint(&g->collapse_hints, rule_of(g->nodes[guard].symbol));
}

/* The nodes first … last are new between their neighbours: joins what repeats at both ends and hints at the seams. */
static void steps_settle(struct grammar *g, uint32_t first, uint32_t last)
{
    uint32_t p = g->nodes[first].prev;
    if (same_symbol(g, p, first)) {
        if (last == first)
            last = p;
        join_next(g, p);
    } else if (!grammar_is_guard(g, p)) {
        grammar_hint(&g->digram_hints, p);
    }
    settle_right(g, last);
}

/* Moves `k` turns of node n to `body`: statistics and attributes. */
static void move_turns(struct grammar *g, uint32_t n, uint64_t k, uint32_t body, struct grammar_tally *moved)
{
    uint64_t whole = g->nodes[n].exponent;
    grammar_tally_split(&g->nodes[n].stats, k, whole, moved);
    grammar_tally_join(&g->nodes[body].stats, moved);
    if (g->nodes[n].attr == GRAMMAR_NONE)
        return;
    if (k == whole) {
        grammar_attrs_join(g, body, n);
        return;
    }
    uint32_t carrier = grammar_node_take(g, g->nodes[n].symbol, 1);
    grammar_attrs_split(g, n, g->nodes[n].stats.count + moved->count, moved->count, carrier);
    grammar_attrs_join(g, body, carrier);
    grammar_node_give(g, carrier);
}

static void take_turns(struct grammar *g, uint32_t n, uint64_t k)
{
    grammar_exponent_sub(g, n, k);
    if (g->nodes[n].exponent == 0) {
        grammar_unlink(g, n);
        grammar_node_give(g, n);
    }
}

/*
 * In the place that begins at n, x^e y^f becomes x^(e-i) S y^(f-j), S being the rule x^i y^j whose body is (bx, by).
 */
static void carve(struct grammar *g, uint32_t n, uint64_t i, uint64_t j, uint32_t rule, uint32_t bx, uint32_t by)
{
    uint32_t m = g->nodes[n].next;
    uint64_t expansions = g->nodes[n].stats.count / g->nodes[n].exponent;
    grammar_unregister(g, n);
    if (g->nodes[n].exponent == i)
        grammar_unregister(g, g->nodes[n].prev);
    if (g->nodes[m].exponent == j)
        grammar_unregister(g, m);

    struct grammar_tally x, y;
    move_turns(g, n, i, bx, &x);
    move_turns(g, m, j, by, &y);
    uint32_t k = grammar_node_take(g, rule | GRAMMAR_RULE, 1);
    grammar_tally_compose(&g->nodes[k].stats, &x, i, &y, j, expansions);

    grammar_insert_after(g, n, k);
    take_turns(g, n, i);
    take_turns(g, m, j);
    steps_settle(g, k, k);
}

/* Whether the pair at n, with exponents i and j, is the whole body of a rule. */
static bool steps_is_whole(const struct grammar *g, uint32_t n, uint64_t i, uint64_t j)
{
    uint32_t m = g->nodes[n].next, guard = g->nodes[n].prev;
    return grammar_is_guard(g, guard) && g->nodes[m].next == guard && rule_of(g->nodes[guard].symbol) != 0 &&
           g->nodes[n].exponent == i && g->nodes[m].exponent == j;
}

static uint32_t rule_around(const struct grammar *g, uint32_t whole)
{
    return rule_of(g->nodes[g->nodes[whole].prev].symbol);
}

static void hint_utility(struct grammar *g, uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        grammar_hint(&g->utility_hints, rule_of(symbol));
}

/* --- Extending a rule ---
 *
 * The pair is T y^j, and these are T's only two uses: a new rule T y^j would leave T with one use, dissolved into it at
 * once. The same result with a third of the work: T's own body takes the y^j. This is what each event of a loop does
 * while the loop's next turn is being recognised.
 */
static bool extends(const struct grammar *g, uint32_t n, uint32_t found)
{
    const struct grammar_node *a = &g->nodes[n], *b = &g->nodes[found];
    if (!grammar_is_rule(a->symbol) || a->exponent != 1 || b->exponent != 1 || g->rules[rule_of(a->symbol)].uses != 2)
        return false;
    return g->nodes[a->next].next != found && g->nodes[b->next].next != n; /* else the two become neighbours on the
                                                                              way */
}

static void extend_place(struct grammar *g, uint32_t n, uint64_t j, uint32_t by)
{
    uint32_t m = g->nodes[n].next;
    struct grammar_tally x = g->nodes[n].stats, y;
    grammar_unregister(g, n);
    if (g->nodes[m].exponent == j)
        grammar_unregister(g, m);
    move_turns(g, m, j, by, &y);
    grammar_tally_compose(&g->nodes[n].stats, &x, 1, &y, j, x.count);
    take_turns(g, m, j);
    settle_right(g, n);
}

static void match_extend(struct grammar *g, uint32_t n, uint32_t found, uint64_t j)
{
    struct grammar_rule *r = &g->rules[rule_of(g->nodes[n].symbol)];
    uint32_t y = g->nodes[g->nodes[n].next].symbol, last = g->nodes[r->guard].prev;
    uint32_t by = grammar_node_take(g, y, j);
    grammar_insert_after(g, last, by);
    r->length += j * grammar_symbol_length(g, y);
    extend_place(g, found, j, by);
    extend_place(g, n, j, by);
    if (g->nodes[last].symbol == y)
        join_next(g, last);
    else
        grammar_hint(&g->digram_hints, last);
}

static void match_new_rule(struct grammar *g, uint32_t n, uint32_t found, uint64_t i, uint64_t j)
{
    uint32_t rule = grammar_rule_take(g);
    uint32_t bx = grammar_node_take(g, g->nodes[n].symbol, i);
    uint32_t by = grammar_node_take(g, g->nodes[g->nodes[n].next].symbol, j);
    g->rules[rule].length = i * grammar_symbol_length(g, g->nodes[bx].symbol) +
                            j * grammar_symbol_length(g, g->nodes[by].symbol);
    grammar_insert_after(g, g->rules[rule].guard, bx);
    grammar_insert_after(g, bx, by);
    carve(g, found, i, j, rule, bx, by);
    carve(g, n, i, j, rule, bx, by);
    grammar_hint(&g->digram_hints, bx);
}

/* What a place that a pair is taken out of needs: its neighbours, and its symbols' other uses on both sides. */
static void prefetch_place(const struct grammar *g, uint32_t n)
{
    const struct grammar_node *x = &g->nodes[n], *y = &g->nodes[x->next];
    grammar_prefetch(g, x->prev);
    grammar_prefetch(g, y->next);
    __builtin_prefetch((const char *)x + 64, 1);
    __builtin_prefetch((const char *)y + 64, 1);
    if (grammar_is_rule(x->symbol)) {
        grammar_prefetch(g, x->use_prev);
        grammar_prefetch(g, x->use_next);
        __builtin_prefetch(&g->rules[rule_of(x->symbol)], 1);
    }
    if (grammar_is_rule(y->symbol)) {
        grammar_prefetch(g, y->use_prev);
        grammar_prefetch(g, y->use_next);
        __builtin_prefetch(&g->rules[rule_of(y->symbol)], 1);
    }
}

/* The pair at n stands at `found` too. */
static void match(struct grammar *g, uint32_t n, uint32_t found)
{
    const struct grammar_node *a = &g->nodes[n], *b = &g->nodes[found];
    uint32_t x = a->symbol, y = g->nodes[a->next].symbol;
    uint64_t i = a->exponent < b->exponent ? a->exponent : b->exponent;
    uint64_t ja = g->nodes[a->next].exponent, jb = g->nodes[b->next].exponent, j = ja < jb ? ja : jb;
    prefetch_place(g, found);
    if (steps_is_whole(g, found, i, j)) {
        carve(g, n, i, j, rule_around(g, found), found, b->next);
    } else if (steps_is_whole(g, n, i, j)) {
        carve(g, found, i, j, rule_around(g, n), n, a->next);
        grammar_hint(&g->digram_hints, n); /* the table's entry was the other place */
    } else if (extends(g, n, found)) {
        match_extend(g, n, found, j);
    } else {
        match_new_rule(g, n, found, i, j);
    }
    hint_utility(g, x);
    hint_utility(g, y);
}

static void check_digram(struct grammar *g, uint32_t n)
{
    if (g->nodes[n].symbol == GRAMMAR_NONE || grammar_is_guard(g, n))
        return; /* stale */
    uint32_t m = g->nodes[n].next;
    if (grammar_is_guard(g, m))
        return;
    if (g->nodes[m].symbol == g->nodes[n].symbol) {
        join_next(g, n);
        return;
    }
    uint32_t found = grammar_digrams_find_or_add(&g->digrams, g->nodes[n].symbol, g->nodes[m].symbol, n);
    if (found != n && found != GRAMMAR_NONE)
        match(g, n, found);
}

/* The only use of `rule` gives way to its body; the body's nodes keep their statistics: they were that place's. */
static void inline_rule(struct grammar *g, uint32_t rule)
{
    uint32_t u = g->rules[rule].use_head, p = g->nodes[u].prev, q = g->nodes[u].next;
    uint32_t first = grammar_first(g, rule), last = grammar_last(g, rule);
    grammar_unregister(g, p);
    grammar_unregister(g, u);
    g->nodes[p].next = first;
    g->nodes[first].prev = p;
    g->nodes[q].prev = last;
    g->nodes[last].next = q;
    grammar_node_give(g, u);
    grammar_rule_give(g, rule);
    steps_settle(g, first, last);
}

/* Nobody uses `rule` any more (only after grammar_coarsen). */
static void drop_rule(struct grammar *g, uint32_t rule)
{
    uint32_t guard = g->rules[rule].guard;
    for (uint32_t n; (n = g->nodes[guard].next) != guard;) {
        grammar_unregister(g, n);
        hint_utility(g, g->nodes[n].symbol);
        grammar_unlink(g, n);
        grammar_node_give(g, n);
    }
    grammar_rule_give(g, rule);
}

static void check_utility(struct grammar *g, uint32_t rule)
{
    if (rule == 0 || !g->rules[rule].live)
        return;
    if (g->rules[rule].uses == 1)
        inline_rule(g, rule);
    else if (g->rules[rule].uses == 0)
        drop_rule(g, rule);
}

static void collapse_use(struct grammar *g, uint32_t u, uint32_t body)
{
    uint64_t e = g->nodes[body].exponent;
    grammar_unregister(g, g->nodes[u].prev);
    grammar_unregister(g, u);
    uint32_t v = grammar_node_take(g, g->nodes[body].symbol, g->nodes[u].exponent * e);
    g->nodes[v].stats = g->nodes[u].stats;
    grammar_tally_spread(&g->nodes[v].stats, e);
    grammar_attrs_join(g, v, body);
    grammar_attrs_shrink(g, v, g->nodes[body].stats.count, g->nodes[v].stats.count);
    grammar_insert_after(g, u, v);
    grammar_unlink(g, u);
    grammar_node_give(g, u);
    steps_settle(g, v, v);
}

static void check_collapse(struct grammar *g, uint32_t rule)
{
    if (rule == 0 || !g->rules[rule].live || grammar_first(g, rule) != grammar_last(g, rule))
        return;
    uint32_t use = g->rules[rule].use_head;
    if (use == GRAMMAR_NONE) {
        drop_rule(g, rule);
    } else { /* one use a step */
        grammar_hint(&g->collapse_hints, rule);
        collapse_use(g, use, grammar_first(g, rule));
    }
}

bool grammar_step(struct grammar *g)
{
    if (g->utility_hints.count)
        check_utility(g, g->utility_hints.item[--g->utility_hints.count]);
    else if (g->collapse_hints.count)
        check_collapse(g, g->collapse_hints.item[--g->collapse_hints.count]);
    else if (g->digram_hints.count)
        check_digram(g, g->digram_hints.item[--g->digram_hints.count]);
    else
        return false;
    return true;
}

void grammar_drain(struct grammar *g)
{
    while (grammar_step(g))
        ;
}
