/* SPDX-License-Identifier: MIT */
/*
 * The program's time loop: the outermost repetition that carries most of the time, with its turns as the source counts
 * them.
 *
 * A grammar splits a loop whose turns differ a little over several rules, and joins turns where that makes the text
 * shorter: of 200 time steps with another one every 20 it may make 5 x (10 x A B …). What belongs to one loop of the
 * source is called from one function: the innermost one that encloses all calls of a rule's expansion, as far as the
 * recorded frames tell.
 *
 *   rule    expansion                        enclosed by       times   share
 *   F       10 x G, J                        Verlet::run           5     90 %
 *   G       forward, reverse exchange        Verlet::run         190     78 %    <- the innermost one of that function
 *   H       Irecv Send Wait                  forward_comm        760     35 %       too little of the time
 *
 * So: of the rules that carry at least 0.7 of what the rule with most time has, the one that is executed least often,
 * if its function is known or it stands in a row of at least three; from there to the innermost rule of the same
 * function, of two callsites at least (a loop over one call is one over neighbours). That rule may be several turns
 * that differ from the next ones. It is so where a rule inside it carries much of its time and the calls of that inner
 * rule are also made outside of the inner rule, in turns of another kind. (Of a loop within a loop all calls are in
 * the inner rule.) Then the inner rule is taken, and so on. As not all turns expand it, turns are counted by its part
 * that is executed most often; what stands in R by itself is a turn when it has half of the calls, by time. Without
 * such a rule it stays the node with the most time, with its neighbours of the same line of the source. Where calls
 * that come once a turn mark another loop, it may be that one (marks.h).
 *
 * Cost: O(grammar of one class), and each callsite resolved once.
 */
#include <stdlib.h>
#include <string.h>

#include "job/turns.h"
#include "report/loop_place.h"
#include "report/marks.h"
#include "report/ranges.h"
#include "report/report.h"

#define CARRIES 0.7 /* of the time of the rule that has most */
#define MUCH 0.4    /* of the time of a rule, for one inside it whose turns it may be */
#define ELSEWHERE 0.6 /* of the time in the calls of that one: calls that are also made outside of it */
#define LEAST 0.2   /* of the wall time: what takes less is not the main loop */

enum { FUNCTIONS = REPORT_LOOP_DEPTH, IN_A_ROW = 3 };

/* Functions that enclose all calls so far, innermost first. */
struct enclosing { uint32_t count; bool any; uint64_t function[FUNCTIONS]; };

/* A rule; of a terminal, what is counted. */
struct body {
    struct enclosing in;
    uint64_t executions, longest_row; /* of one member */
    uint64_t entries;                 /* executions, rows taken as one */
    double ns;                        /* of one member */
    uint32_t callsite;                /* of its calls, GRAMMAR_NONE: none yet */
    bool several;                     /* callsites */
    bool done;
};

struct search {
    struct report *r;
    const struct job_class *c;
    const struct grammar_flat *g; /* its grammar */
    struct body *rules, *terminals; /* rules[0] is the whole stream */
    uint32_t *order;                /* of the rules: each after all that it uses */
    uint64_t members;
};

/* --- Functions --- */

static void keep_common(struct enclosing *into, const struct enclosing *with)
{
    uint32_t kept = 0;

    if (!into->any) {
        *into = *with;
        into->any = true;
        return;
    }
    for (uint32_t i = 0; i < into->count; i++)
        for (uint32_t k = 0; k < with->count; k++)
            if (into->function[i] == with->function[k]) {
                into->function[kept++] = into->function[i];
                break;
            }
    into->count = kept;
}

static void enclose_call(const struct search *s, const struct job_terminal *t, struct enclosing *in)
{
    const struct report_place *p;

    *in = (struct enclosing){ .any = true };
    if (t->callsite == GRAMMAR_NONE)
        return;
    for (uint32_t depth = 0; depth < FUNCTIONS; depth++) {
        p = report_resolve(s->r->resolver, t->callsite, depth, t->kind == JOB_REGION ? REPORT_ENTRY : REPORT_CALL);
        if (!p)
            return;
        if (p->function && !report_is_start(p))
            in->function[in->count++] = report_function_hash(p);
        if (p->in_main)
            return;
    }
}

/* --- Rules --- */

static void add_terminal(const struct search *s, struct body *b, uint32_t symbol)
{
    const struct job_terminal *t = symbol < s->r->job->terminal_count ? &s->r->job->terminals[symbol] : NULL;
    struct enclosing in;

    if (!t)
        return;
    enclose_call(s, t, &in);
    keep_common(&b->in, &in);
    b->several |= b->callsite != GRAMMAR_NONE && b->callsite != t->callsite;
    b->callsite = t->callsite;
}

static void add_rule(struct body *b, const struct body *inner)
{
    keep_common(&b->in, &inner->in);
    b->several |= inner->several || (b->callsite != GRAMMAR_NONE && b->callsite != inner->callsite);
    b->callsite = inner->callsite;
}

/* Children first: a stack of rules, each looked at again when what it uses is done. */
static void enclose_rules(const struct search *s)
{
    uint32_t *stack = malloc((s->g->node_count + 1) * sizeof *stack), depth = 0;

    stack[depth++] = 0;
    while (depth) {
        uint32_t rule = stack[depth - 1], before = depth;
        const struct grammar_flat_rule *x = &s->g->rules[rule];
        struct body *b = &s->rules[rule];
        for (uint32_t n = x->first; !b->done && n < x->first + x->length && depth < s->g->node_count; n++) {
            uint32_t symbol = s->g->nodes[n].symbol;
            if (grammar_is_rule(symbol) && !s->rules[symbol & ~GRAMMAR_RULE].done)
                stack[depth++] = symbol & ~GRAMMAR_RULE;
        }
        if (depth > before)
            continue;
        for (uint32_t n = x->first; !b->done && n < x->first + x->length; n++) {
            uint32_t symbol = s->g->nodes[n].symbol;
            if (grammar_is_rule(symbol))
                add_rule(b, &s->rules[symbol & ~GRAMMAR_RULE]);
            else
                add_terminal(s, b, symbol);
        }
        b->done = true;
        depth--;
    }
    free(stack);
}

/* NULL: what lost its order. */
static struct body *body_of(const struct search *s, uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        return &s->rules[symbol & ~GRAMMAR_RULE];
    return symbol < s->r->job->terminal_count ? &s->terminals[symbol] : NULL;
}

static void count_executions(const struct search *s)
{
    for (uint32_t n = 0; n < s->g->node_count; n++) {
        const struct grammar_flat_node *node = &s->g->nodes[n];
        uint64_t executions = s->g->stats[n].count / s->members;
        struct body *b = body_of(s, node->symbol);
        if (!b)
            continue;
        b->entries += (uint64_t)((double)executions / job_mean_turns(s->c, n) + 0.5);
        b->executions += executions;
        b->ns += ((double)s->g->stats[n].gap.sum + (double)s->g->stats[n].duration.sum) / (double)s->members;
        b->longest_row = node->exponent > b->longest_row ? node->exponent : b->longest_row;
    }
}

/* --- Choosing --- */

static bool better_outside(const struct body *a, const struct body *b)
{
    return !b || a->executions < b->executions;
}

static bool same_function(const struct body *a, const struct body *b)
{
    return a->in.count && b->in.count && a->in.function[0] == b->in.function[0];
}

static const struct body *outermost(const struct search *s, double least)
{
    const struct body *best = NULL;

    for (uint32_t i = 1; i < s->g->rule_count; i++) {
        const struct body *b = &s->rules[i];
        if (b->executions > 1 && b->ns >= least && (b->in.count || b->longest_row >= IN_A_ROW) &&
            b->several && better_outside(b, best))
            best = b;
    }
    return best;
}

static const struct body *choose(const struct search *s)
{
    double most = 0;

    for (uint32_t i = 1; i < s->g->rule_count; i++)
        if (s->rules[i].executions > 1 && s->rules[i].ns > most)
            most = s->rules[i].ns;
    const struct body *best = outermost(s, CARRIES * most);
    for (uint32_t i = 1; best && best->in.count && i < s->g->rule_count; i++) {
        const struct body *b = &s->rules[i];
        if (b->several && b->ns >= CARRIES * most && b->executions > best->executions && same_function(b, best))
            best = b;
    }
    return best;
}

/* --- Turns that differ --- */

/* How often one execution of each rule makes each call: count[] of the terminals, added `times` times. */
static void add_calls(const struct search *s, uint32_t symbol, double times, double *count)
{
    if (!grammar_is_rule(symbol)) {
        if (symbol < s->r->job->terminal_count)
            count[symbol] += times;
        return;
    }
    double *expanded = calloc(s->g->rule_count, sizeof *expanded);
    expanded[symbol & ~GRAMMAR_RULE] = times;
    for (uint32_t i = s->g->rule_count; i-- > 0;) { /* a rule before all that it uses, so that each is seen once */
        const struct grammar_flat_rule *x = &s->g->rules[s->order[i]];
        for (uint32_t n = x->first; expanded[s->order[i]] > 0 && n < x->first + x->length; n++) {
            uint32_t inner = s->g->nodes[n].symbol;
            double more = expanded[s->order[i]] * job_mean_turns(s->c, n);
            if (grammar_is_rule(inner))
                expanded[inner & ~GRAMMAR_RULE] += more;
            else if (inner < s->r->job->terminal_count)
                count[inner] += more;
        }
    }
    free(expanded);
}

/* Of the time in the calls of a rule: the share of those that `counts` says. */
typedef bool counts_fn(const struct search *s, uint32_t terminal, const double *own, const void *context);

static double share_of(const struct search *s, const double *own, counts_fn *counts, const void *context)
{
    double all = 0, counted = 0;

    for (uint32_t t = 0; t < s->r->job->terminal_count; t++) {
        const struct body *x = &s->terminals[t];
        double ns = x->executions ? own[t] * x->ns / (double)x->executions : 0;
        all += ns;
        counted += own[t] > 0 && counts(s, t, own, context) ? ns : 0;
    }
    return all > 0 ? counted / all : 0;
}

static bool elsewhere(const struct search *s, uint32_t terminal, const double *own, const void *inner)
{
    const struct body *b = inner;
    return (double)s->terminals[terminal].executions > own[terminal] * (double)b->executions + 0.5;
}

static bool among(const struct search *s, uint32_t terminal, const double *own, const void *others)
{
    (void)s;
    (void)own;
    return ((const double *)others)[terminal] > 0;
}

/* Whether `rule` uses `wanted`, at any depth. `seen`: 0 not known, 1 no, 2 yes. */
static bool uses(const struct search *s, uint32_t rule, uint32_t wanted, uint8_t *seen)
{
    const struct grammar_flat_rule *x = &s->g->rules[rule];

    if (rule == wanted)
        return true;
    if (seen[rule])
        return seen[rule] == 2;
    seen[rule] = 1;
    for (uint32_t n = x->first; n < x->first + x->length && seen[rule] == 1; n++)
        if (grammar_is_rule(s->g->nodes[n].symbol) && uses(s, s->g->nodes[n].symbol & ~GRAMMAR_RULE, wanted, seen))
            seen[rule] = 2;
    return seen[rule] == 2;
}

/* The rule inside `b` whose turns those of `b` are, with others beside; NULL: there is none. */
static const struct body *turns_within(const struct search *s, const struct body *b, double *own, uint8_t *seen)
{
    const struct body *best = NULL;

    for (uint32_t i = 1; i < s->g->rule_count; i++) {
        const struct body *x = &s->rules[i];
        if (x->executions <= b->executions || x->ns < MUCH * b->ns || (best && x->ns <= best->ns))
            continue;
        memset(seen, 0, s->g->rule_count);
        memset(own, 0, s->r->job->terminal_count * sizeof *own);
        if (!uses(s, (uint32_t)(b - s->rules), i, seen))
            continue;
        add_calls(s, GRAMMAR_RULE | i, 1, own);
        if (share_of(s, own, elsewhere, x) >= ELSEWHERE)
            best = x;
    }
    return best;
}

/* Entries of a part of the rule whose calls are `own`: in R only where at least half of a turn stands. */
static uint64_t entries_in_turns(const struct search *s, uint32_t part, const double *own, double *other)
{
    const struct grammar_flat_rule *whole = &s->g->rules[0];
    uint64_t entries = body_of(s, part)->entries;

    for (uint32_t n = whole->first; n < whole->first + whole->length; n++) {
        if (s->g->nodes[n].symbol != part)
            continue;
        memset(other, 0, s->r->job->terminal_count * sizeof *other);
        add_calls(s, part, 1, other);
        if (share_of(s, own, among, other) < 0.5)
            entries -= (uint64_t)((double)(s->g->stats[n].count / s->members) / job_mean_turns(s->c, n) + 0.5);
    }
    return entries;
}

/* How often its part that is executed most often is, in and beside it. */
static uint64_t turns_of(const struct search *s, const struct body *b, double *own, double *other)
{
    const struct grammar_flat_rule *rule = &s->g->rules[b - s->rules];
    uint64_t turns = b->executions;

    memset(own, 0, s->r->job->terminal_count * sizeof *own);
    add_calls(s, GRAMMAR_RULE | (uint32_t)(b - s->rules), 1, own);
    for (uint32_t n = rule->first; n < rule->first + rule->length; n++) {
        uint32_t part = s->g->nodes[n].symbol;
        if (!body_of(s, part))
            continue;
        uint64_t entries = entries_in_turns(s, part, own, other);
        if (entries > turns && entries <= b->executions + b->executions / 2)
            turns = entries;
    }
    return turns;
}

/* The parts of the stream that have turns of it, together. */
static double span_of(const struct search *s, uint32_t rule)
{
    const struct grammar_flat_rule *whole = &s->g->rules[0];
    uint8_t *seen = calloc(s->g->rule_count, 1);
    double ns = 0;

    for (uint32_t n = whole->first; n < whole->first + whole->length; n++)
        if (grammar_is_rule(s->g->nodes[n].symbol) && uses(s, s->g->nodes[n].symbol & ~GRAMMAR_RULE, rule, seen))
            ns += (double)s->g->stats[n].gap.sum + (double)s->g->stats[n].duration.sum;
    free(seen);
    return ns / (double)s->members;
}

/* A node that stands for the loop: that with the longest row. */
static uint32_t node_of(const struct search *s, uint32_t rule)
{
    uint32_t best = GRAMMAR_NONE;

    for (uint32_t n = 0; n < s->g->node_count; n++)
        if (s->g->nodes[n].symbol == (GRAMMAR_RULE | rule) &&
            (best == GRAMMAR_NONE || s->g->nodes[n].exponent > s->g->nodes[best].exponent))
            best = n;
    return best;
}

/* The function that encloses the loop goes on through the first call of a turn. */
static void place_loop(const struct search *s, const struct body *b, struct report_loop *l)
{
    uint32_t symbol = s->g->nodes[s->g->rules[b - s->rules].first].symbol;

    while (grammar_is_rule(symbol))
        symbol = s->g->nodes[s->g->rules[symbol & ~GRAMMAR_RULE].first].symbol;
    if (symbol < s->r->job->terminal_count && b->in.count)
        report_place_loop(s->r, symbol, b->in.function[0], l);
}

static void report(const struct search *s, const struct body *b, uint32_t class_index)
{
    uint32_t terminals = s->r->job->terminal_count + 1;
    double *own = calloc(2 * (size_t)terminals, sizeof *own);
    uint8_t *seen = calloc(s->g->rule_count, 1);

    for (const struct body *inner = b; inner; inner = turns_within(s, b, own, seen))
        b = inner;
    uint32_t rule = (uint32_t)(b - s->rules), node = node_of(s, rule);
    double span = span_of(s, rule);
    if (node != GRAMMAR_NONE && span > 0) {
        uint64_t turns = turns_of(s, b, own, own + terminals);
        s->r->model->loop = (struct report_loop){ .present = true,
                                                  .class_index = class_index,
                                                  .node = node,
                                                  .turns = turns,
                                                  .executions = 1,
                                                  .turn_ns = span / (double)turns,
                                                  .total_ns = span };
        place_loop(s, b, &s->r->model->loop);
    }
    free(own);
    free(seen);
}

/* A loop over one call, in which a turn differs: calls beside it from the same line are turns of it, too. */
static void join_neighbours(const struct search *s)
{
    struct report_loop *l = &s->r->model->loop;
    const struct grammar_flat_rule *whole = &s->g->rules[0];

    if (!l->present || &s->r->job->classes[l->class_index] != s->c || l->node >= whole->first + whole->length ||
        grammar_is_rule(s->g->nodes[l->node].symbol) ||
        s->g->nodes[l->node].symbol >= s->r->job->terminal_count)
        return;
    const struct report_place *p = report_place_of(s->r, s->g->nodes[l->node].symbol);
    l->place = p;
    l->turns = 0;
    l->total_ns = 0;
    for (uint32_t n = whole->first; n < whole->first + whole->length; n++) {
        uint32_t symbol = s->g->nodes[n].symbol;
        const struct report_place *q = symbol < s->r->job->terminal_count ? report_place_of(s->r, symbol) : NULL;
        bool same_line = p && q && p->line && p->line == q->line && p->file && q->file && !strcmp(p->file, q->file) &&
                         s->r->job->terminals[symbol].function ==
                             s->r->job->terminals[s->g->nodes[l->node].symbol].function;
        if (symbol != s->g->nodes[l->node].symbol && !same_line)
            continue;
        l->turns += (uint64_t)(job_mean_turns(s->c, n) + 0.5);
        l->total_ns += ((double)s->g->stats[n].gap.sum + (double)s->g->stats[n].duration.sum) / (double)s->members;
    }
    l->turn_ns = l->total_ns / (double)l->turns;
}

/* By frames, where the function of the loop has no name. */
static void place_by_frames(const struct search *s, struct report_loop *l)
{
    const struct job *j = s->r->job;
    uint32_t symbol = l->node == GRAMMAR_NONE ? l->mark : s->g->nodes[l->node].symbol, first = symbol;

    while (grammar_is_rule(first))
        first = s->g->nodes[s->g->rules[first & ~GRAMMAR_RULE].first].symbol;
    if (first >= j->terminal_count || j->terminals[first].callsite >= j->callsite_count)
        return;
    double *calls = calloc((size_t)j->terminal_count + 1, sizeof *calls);
    add_calls(s, symbol, 1, calls);
    report_place_loop_by_frames(s->r, first, calls, l);
    free(calls);
}

static void search(struct search *s, uint32_t class_index)
{
    enclose_rules(s);
    count_executions(s);
    const struct body *b = choose(s);
    if (b)
        report(s, b, class_index);
    else
        join_neighbours(s);
    report_prefer_marks(s->r->job, class_index, &s->r->model->loop);
    const struct report_loop *l = &s->r->model->loop;
    if (l->present && !l->place && l->class_index == class_index)
        place_by_frames(s, &s->r->model->loop);
}

/* The class whose streams have the most time. */
static uint32_t longest_class(const struct job *j)
{
    double most = -1;
    uint32_t best = GRAMMAR_NONE;

    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct grammar_flat *g = j->classes[i].grammar;
        double ns = 0;
        for (uint32_t n = 0; g && n < g->rules[0].length; n++)
            ns += (double)g->stats[n].gap.sum + (double)g->stats[n].duration.sum;
        if (g && ns > most) {
            most = ns;
            best = i;
        }
    }
    return best;
}

void report_find_main_loop(struct report *r)
{
    uint32_t class_index = longest_class(r->job);
    const struct job_class *c = class_index != GRAMMAR_NONE ? &r->job->classes[class_index] : NULL;
    struct search s = { .r = r, .c = c, .g = c ? c->grammar : NULL, .members = c ? report_members(c) : 0 };

    if (!s.g || !s.members)
        return;
    s.rules = calloc(s.g->rule_count, sizeof *s.rules);
    s.terminals = calloc((size_t)r->job->terminal_count + 1, sizeof *s.terminals);
    s.order = calloc(s.g->rule_count, sizeof *s.order);
    for (uint32_t i = 0; i < s.g->rule_count; i++)
        s.rules[i].callsite = GRAMMAR_NONE;
    if (grammar_flat_order(s.g, s.order))
        search(&s, class_index);
    if (r->model->loop.turns < 2 || r->model->loop.total_ns < LEAST * (double)r->model->wall_ns)
        r->model->loop.present = false;
    free(s.rules);
    free(s.terminals);
    free(s.order);
}
