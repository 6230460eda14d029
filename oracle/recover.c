/* SPDX-License-Identifier: MIT */
/*
 * What an event that was not expected may mean. Each repair that explains it becomes a hypothesis of its own, weighed
 * by how often such repairs turned out right in this run; the events that follow decide.
 *
 *   exit, extend   a loop was left early or went on: the event is what comes after it, or its first one again
 *   skipped        up to ORACLE_SKIP expected events did not happen
 *   inserted       the event is extra: the position stays
 *   substituted    the event stands for the expected one
 *   relocated      the program is somewhere else: the heaviest places of this event, the last two where they fit
 */
#include <math.h>

#include "oracle/internal.h"

static double price(const struct oracle *o, enum oracle_kind kind)
{
    double all = 0;

    for (int i = ORACLE_HIT; i < ORACLE_KINDS; i++)
        all += o->won[i];
    return o->won[kind] / all;
}

bool oracle_known(const struct oracle *o, uint32_t terminal)
{
    for (uint32_t r = 0; r < o->references; r++) {
        const struct oracle_index *x = o->reference[r].index;
        if (terminal < x->grammar->terminals && x->known[terminal])
            return true;
    }
    return false;
}

/* --- Loops --- */

static void recover_take(struct oracle *o, const struct oracle_hypothesis *h, uint32_t depth, struct oracle_frame f,
                         double weight, enum oracle_kind kind)
{
    struct oracle_hypothesis *s = oracle_slot(o, h->reference, weight, kind);

    if (!s)
        return;
    if (h->weight > 0.5 && !f.guessed)
        oracle_left(&o->reference[h->reference], h, f.node == h->frames[depth].node ? depth + 1 : depth);
    oracle_copy(s, h);
    oracle_enter(o, s, depth, f);
    s->extended = f.node;
}

/* From the bottom: another turn or the next node, against the counts. Ends where the rule goes on: a loop is not left
   from its middle. */
static void recover_loops(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight)
{
    const struct oracle_reference *ref = &o->reference[h->reference];
    const struct oracle_index *x = ref->index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    bool left = false;

    for (uint32_t i = h->depth; i-- > 0;) {
        struct oracle_frame f = h->frames[i];
        bool again = f.turn + 1 < oracle_turns(ref, f.node);
        double extend = nodes[f.node].exponent > 1 ? 1.0 : 0.125; /* a loop that was none */
        o->steps++;
        if (oracle_first(x, nodes[f.node].symbol) == terminal) {
            f.turn++;
            recover_take(o, h, i, f, weight * (again ? price(o, ORACLE_EXIT) : price(o, ORACLE_EXTEND) * extend),
                         again ? ORACLE_EXIT : ORACLE_EXTEND);
        }
        left |= again;
        if (oracle_has_next(x, f.node)) {
            if (left && oracle_first(x, nodes[f.node + 1].symbol) == terminal)
                recover_take(o, h, i, (struct oracle_frame){ h->frames[i].node + 1, 0, 0 },
                             weight * price(o, ORACLE_EXIT), ORACLE_EXIT);
            return;
        }
    }
    if (left && !oracle_rooted(o, h))
        oracle_expand(o, h, terminal, weight * price(o, ORACLE_EXIT), ORACLE_EXIT);
}

/* --- Running off the top --- */

static void start(struct oracle *o, uint32_t reference, struct oracle_frame f, double weight, enum oracle_kind kind)
{
    struct oracle_hypothesis *s = oracle_slot(o, reference, weight, kind);

    if (s)
        oracle_enter(o, s, 0, f);
}

/* One expansion of `rule` ended: what follows at its uses. At most `budget` uses are looked at in all. */
static void expand(struct oracle *o, uint32_t reference, uint32_t rule, uint32_t terminal, double weight,
                   enum oracle_kind kind, uint32_t *budget)
{
    const struct oracle_index *x = o->reference[reference].index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    const uint32_t *use;
    uint32_t count = oracle_index_uses(x, GRAMMAR_RULE | rule, &use);
    double expansions = (double)x->uses[rule];

    for (uint32_t i = 0; i < count && i < ORACLE_BRANCHES && *budget > 0; i++) {
        uint32_t n = use[i];
        double turns = (double)nodes[n].exponent;
        double share = weight * (double)x->uses[x->rule[n]] / expansions; /* to leave; turns - 1 times that to stay */
        --*budget;
        o->steps++;
        if (share * turns < ORACLE_MATTERS * o->found)
            continue;
        if (turns > 1 && x->first[rule] == terminal)
            start(o, reference, (struct oracle_frame){ n, 1, nodes[n].exponent / 2 }, share * (turns - 1), kind);
        if (oracle_has_next(x, n)) {
            if (oracle_first(x, nodes[n + 1].symbol) == terminal)
                start(o, reference, (struct oracle_frame){ n + 1, 0, 0 }, share, kind);
        } else if (x->rule[n] != 0) {
            expand(o, reference, x->rule[n], terminal, share, kind, budget);
        }
    }
}

void oracle_expand(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight,
                   enum oracle_kind kind)
{
    uint32_t budget = 8 * ORACLE_BRANCHES;

    expand(o, h->reference, oracle_of(o, h)->rule[h->frames[0].node], terminal, weight, kind, &budget);
}

/* --- Missing, extra and exchanged events --- */

/* The scratch hypothesis is the last one of the spare set's room, which oracle_slot never gives away. */
static struct oracle_hypothesis *scratch(struct oracle *o)
{
    return &o->spare[o->limit];
}

static void recover_skip(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight)
{
    struct oracle_hypothesis *copy = scratch(o);

    oracle_copy(copy, h);
    weight *= price(o, ORACLE_SKIPPED);
    for (int i = 0; i < ORACLE_SKIP && oracle_advance(o, copy, GRAMMAR_NONE, false); i++) {
        weight /= 2;
        o->steps++;
        if (oracle_peek(o, copy) != terminal)
            continue;
        struct oracle_hypothesis *s = oracle_slot(o, h->reference, weight, ORACLE_SKIPPED);
        if (s) {
            oracle_copy(s, copy);
            oracle_advance(o, s, terminal, false);
        }
        return;
    }
}

static void recover_step(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight)
{
    uint32_t expected = oracle_peek(o, h);
    double odds = oracle_known(o, terminal) ? 1 / o->alphabet : 1;
    struct oracle_hypothesis *s;

    if ((s = oracle_slot(o, h->reference, weight * price(o, ORACLE_INSERTED) * odds, ORACLE_INSERTED)))
        oracle_copy(s, h);
    if (expected == GRAMMAR_NONE)
        return;
    if ((s = oracle_slot(o, h->reference, weight * price(o, ORACLE_SUBSTITUTED) * odds, ORACLE_SUBSTITUTED))) {
        oracle_copy(s, h);
        oracle_advance(o, s, GRAMMAR_NONE, false);
    }
}

void oracle_recover(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight)
{
    bool known = oracle_known(o, terminal);

    if (weight < ORACLE_MATTERS * o->found)
        return;
    if (known)
        recover_loops(o, h, terminal, weight);
    recover_step(o, h, terminal, weight);
    if (known && weight * price(o, ORACLE_SKIPPED) / 2 > ORACLE_MATTERS * o->found)
        recover_skip(o, h, terminal, weight);
}

/* --- Somewhere else --- */

/* Last terminal of a symbol, found downwards; a few levels are enough for a hint. */
static uint32_t last_terminal(const struct oracle_index *x, uint32_t symbol)
{
    for (int level = 0; grammar_is_rule(symbol) && level < ORACLE_DEPTH; level++) {
        const struct grammar_flat_rule *r = &x->grammar->rules[symbol & ~GRAMMAR_RULE];
        symbol = x->grammar->nodes[r->first + r->length - 1].symbol;
    }
    return symbol;
}

static bool follows(const struct oracle *o, const struct oracle_index *x, uint32_t node)
{
    if (node != x->grammar->rules[x->rule[node]].first)
        return last_terminal(x, x->grammar->nodes[node - 1].symbol) == o->previous;
    return false;
}

static void relocate_in(struct oracle *o, uint32_t reference, uint32_t terminal, double weight)
{
    const struct oracle_index *x = o->reference[reference].index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    const uint32_t *use;
    uint32_t count = oracle_index_uses(x, terminal, &use);
    double all = 0;

    count = count < ORACLE_PLACES ? count : ORACLE_PLACES;
    for (uint32_t i = 0; i < count; i++)
        all += (double)x->uses[x->rule[use[i]]] * (double)nodes[use[i]].exponent;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = use[i];
        bool middle = o->previous == terminal;
        double share = (double)x->uses[x->rule[n]] * (middle ? (double)nodes[n].exponent : 1) / all;
        uint64_t turn = o->run < nodes[n].exponent ? o->run : nodes[n].exponent - 1;
        bool fits = middle ? nodes[n].exponent > 1 : follows(o, x, n);
        o->steps++;
        start(o, reference, (struct oracle_frame){ n, 1, middle ? turn : 0 }, weight * share * (fits ? 1 : 0.05),
              ORACLE_RELOCATED);
    }
}

/* The turns of a loop whose beginning the match does not reach are a guess: half of them. */
static void doubt_turns(const struct oracle *o, struct oracle_hypothesis *h, uint64_t length)
{
    const struct oracle_index *x = oracle_of(o, h);
    uint64_t since = 0;

    for (uint32_t i = h->depth; i-- > 0;) {
        struct oracle_frame *f = &h->frames[i];
        uint64_t exponent = x->grammar->nodes[f->node].exponent;
        since += f->turn * oracle_length(x, x->grammar->nodes[f->node].symbol);
        if (exponent > 1 && since >= length) {
            f->guessed = 1;
            f->turn = exponent / 2;
        }
        since += x->before[f->node];
    }
}

bool oracle_relocate_by_history(struct oracle *o, double weight, uint64_t length)
{
    struct oracle_past *past = o->mixer.past;

    if (past && past->here.next != past->history.count)
        oracle_past_follow(past);
    const struct oracle_match *m = past ? oracle_past_in_reference(past, length) : NULL;
    if (!m)
        return false;
    const struct oracle_history_piece *p = oracle_history_origin(&past->history, m->at);
    struct oracle_hypothesis *s = oracle_slot(o, p->reference, weight * price(o, ORACLE_RELOCATED), ORACLE_RELOCATED);
    if (s) {
        oracle_seek(o, s, p->event + (m->at - p->place));
        doubt_turns(o, s, m->length);
    }
    return s != NULL;
}

void oracle_relocate(struct oracle *o, uint32_t terminal, double weight)
{
    if (!oracle_known(o, terminal) || weight * price(o, ORACLE_RELOCATED) < ORACLE_MATTERS * o->found)
        return;
    for (uint32_t r = 0; r < o->references; r++)
        relocate_in(o, r, terminal, weight * price(o, ORACLE_RELOCATED) / o->references);
}
