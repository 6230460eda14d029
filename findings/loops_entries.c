/* SPDX-License-Identifier: MIT */
/*
 * The least and the most turns of one entry of a loop, from the grammars: of each rule what is before the first entry
 * in it, after the last one, and the least and most between.
 *
 * A step between two terminals means the same for a loop wherever these two stand one after the other, or else nothing
 * is known of it: terminals do not tell all paths. What comes out must have as many turns and entries as the hops.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/loops_parts.h"
#include "findings/ranges.h"

#define MOST_STEPS 10000000u /* nodes times loops */

struct entries {
    uint64_t before, after, least, most; /* turns; without an entry all are in `before` */
    uint64_t turns, count;               /* of all of it */
};

struct pass {
    const struct loops_search *s;
    const struct loops_effect *effect; /* of the loop at hand, by pair */
    uint32_t effects;
    struct entries *of; /* each rule */
    uint32_t *first, *last;
};

static const struct entries turned = { .before = 1, .turns = 1 },
                            entered = { .after = 1, .least = UINT64_MAX, .turns = 1, .count = 1 },
                            entered_aside = { .least = UINT64_MAX, .count = 1 }, nothing;

static struct entries join(struct entries a, struct entries b)
{
    struct entries all = { .before = a.before, .turns = a.turns + b.turns, .count = a.count + b.count };
    if (!a.count || !b.count) {
        const struct entries *one = a.count ? &a : &b;
        all.before += a.count ? 0 : b.before;
        all.after = a.count ? a.after + b.before : b.after;
        all.least = one->least;
        all.most = one->most;
        return all;
    }
    uint64_t between = a.after + b.before;
    all.after = b.after;
    all.least = a.least < b.least ? a.least : b.least;
    all.least = between < all.least ? between : all.least;
    all.most = a.most > b.most ? a.most : b.most;
    all.most = between > all.most ? between : all.most;
    return all;
}

static int by_pair(const struct loops_effect *a, const struct loops_effect *b)
{
    return BASE_ORDER(a->from, b->from) ?: BASE_ORDER(a->to, b->to);
}

static struct entries step_of(const struct pass *p, uint32_t from, uint32_t to)
{
    const struct loops_effect at = { .from = from, .to = to };
    uint32_t n = BASE_ARRAY_PLACE(p->effects, i, by_pair(&p->effect[i], &at) < 0);
    if (n == p->effects || by_pair(&p->effect[n], &at))
        return nothing;
    return !p->effect[n].enters ? turned : p->effect[n].aside ? entered_aside : entered;
}

/* `one` so many times, with a step between each two. */
static struct entries times(const struct pass *p, struct entries one, uint32_t first, uint32_t last, uint64_t n)
{
    struct entries all = one, more = join(step_of(p, last, first), one);
    for (n--; n; n /= 2, more = join(more, more))
        if (n % 2)
            all = join(all, more);
    return all;
}

static void pass_rule(struct pass *p, const struct grammar_flat *g, uint32_t rule)
{
    const struct grammar_flat_rule *x = &g->rules[rule];
    for (uint32_t n = x->first; n < x->first + x->length; n++) {
        uint32_t symbol = g->nodes[n].symbol, own = symbol & ~GRAMMAR_RULE;
        bool is_rule = grammar_is_rule(symbol);
        uint32_t first = is_rule ? p->first[own] : symbol, last = is_rule ? p->last[own] : symbol;
        struct entries part = times(p, is_rule ? p->of[own] : nothing, first, last, g->nodes[n].exponent);
        p->of[rule] = n == x->first ? part : join(join(p->of[rule], step_of(p, p->last[rule], first)), part);
        p->first[rule] = n == x->first ? first : p->first[rule];
        p->last[rule] = last;
    }
}

/* Of one class; false: not known. */
static bool pass_class(struct pass *p, const struct job_class *c, struct entries *all)
{
    const struct grammar_flat *g = c->grammar;
    BASE_OWN uint32_t *order = calloc((size_t)g->rule_count + 1, sizeof *order);
    bool known = !c->turn_count && grammar_flat_order(g, order);

    p->of = calloc((size_t)g->rule_count + 1, sizeof *p->of);
    p->first = calloc((size_t)g->rule_count + 1, sizeof *p->first);
    p->last = calloc((size_t)g->rule_count + 1, sizeof *p->last);
    for (uint32_t i = 0; known && i < g->rule_count; i++)
        pass_rule(p, g, order[i]);
    if (known)
        *all = join(join(step_of(p, GRAMMAR_NONE, p->first[0]), p->of[0]), entered); /* which ends the last one */
    free(p->of);
    free(p->first);
    free(p->last);
    return known;
}

static void pass_loop(struct pass *p, struct findings_loop *l)
{
    uint64_t least = UINT64_MAX, most = 0, turns = 0, count = 0;
    for (uint32_t i = 0; i < p->s->j->class_count; i++) {
        const struct job_class *c = &p->s->j->classes[i];
        struct entries all = nothing;
        uint64_t members = findings_members(c);
        if (!c->grammar || !c->grammar->events || !members)
            continue;
        if (!pass_class(p, c, &all) || all.before)
            return;
        turns += members * (all.turns - 1);
        count += members * (all.count - 1);
        least = all.least < least ? all.least : least;
        most = all.most > most ? all.most : most;
    }
    if (turns != l->turns.sum || count != l->entries.sum)
        return;
    l->turns_least = least;
    l->turns_most = most;
}

/* --- What steps mean --- */

BASE_COMPARISON(by_loop, struct loops_effect, BASE_UP(loop) ?: by_pair(a, b) ?: BASE_UP(enters) ?: BASE_UP(aside))

/* Rows of hops by their terminals, as effects of no loop: `rows` of each. */
static uint32_t count_pairs(const struct loops_search *s, struct loops_effect *pair)
{
    for (uint32_t i = 0; i < s->hops->hop_count; i++)
        pair[i] = loops_effect_of(s, &s->hops->hop[i]);
    return (uint32_t)BASE_ARRAY_JOIN(pair, s->hops->hop_count, by_loop, into, from, into->rows += from->rows);
}

/* Whether each pair of terminals always does the same to the loop. */
static bool is_clear(const struct pass *p, const struct loops_effect *pair, uint32_t pairs)
{
    for (uint32_t i = 0; i < p->effects; i++) {
        const struct loops_effect *e = &p->effect[i];
        uint32_t n = BASE_ARRAY_PLACE(pairs, k, by_pair(&pair[k], e) < 0);
        if ((i && !by_pair(e - 1, e)) || n == pairs || pair[n].rows != e->rows)
            return false;
    }
    return true;
}

/* --- Entries aside --- */

/* The frame of a stop that a loop is in; NULL: it is not. */
static const struct job_place *place_within(const struct loops_search *s, uint32_t stop, int loop)
{
    for (uint32_t k = 0; k < s->stop[stop].frames; k++) {
        const struct loops_frame *f = &s->stop[stop].frame[k];
        for (uint32_t i = 0; i < f->count; i++)
            if (s->chain[f->first + i] == loop)
                return f->place;
    }
    return NULL;
}

bool loops_is_rest(const struct loops_search *s, int loop, const struct job_place *place)
{
    if (!findings_places_lead(s->places, s->closes[loop], s->closes[loop]))
        return false;
    for (uint32_t i = 0; i < s->hops->hop_count; i++) {
        const struct job_hop *h = &s->hops->hop[i];
        const struct job_place *last = h->from == GRAMMAR_NONE ? NULL : place_within(s, h->from, loop);
        if (last && !place_within(s, h->to, loop) && findings_places_lead(s->places, last, place))
            return true;
    }
    return false;
}

void loops_find_entries(struct loops_search *s)
{
    BASE_OWN struct loops_effect *pair = calloc((size_t)s->hops->hop_count + 1, sizeof *pair);
    uint32_t pairs = count_pairs(s, pair), nodes = 0;
    struct pass p = { .s = s };

    for (uint32_t i = 0; i < s->j->class_count; i++)
        nodes += s->j->classes[i].grammar ? s->j->classes[i].grammar->node_count : 0;
    s->effects = (uint32_t)BASE_ARRAY_JOIN(s->effect, s->effects, by_loop, into, from, into->rows += from->rows);
    for (uint32_t i = 0; i < s->effects && (uint64_t)nodes * s->l->loops < MOST_STEPS; i += p.effects) {
        struct findings_loop *l = &s->l->loop[s->effect[i].loop];
        p.effect = &s->effect[i];
        for (p.effects = 1; i + p.effects < s->effects && s->effect[i + p.effects].loop == p.effect->loop;)
            p.effects++;
        if (!l->mean && is_clear(&p, pair, pairs))
            pass_loop(&p, l);
    }
}
