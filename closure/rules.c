/* SPDX-License-Identifier: MIT */
/* Grammars as functions and loops. A rule of one place is a loop there, another one a function, once for all classes
   that have it with the same values. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "closure/parts.h"

/* A class while it is printed. */
struct printer {
    struct closure *g;
    const struct job_class *c;
    uint32_t *of_rule, *users; /* nodes that use a rule */
    char **function;           /* of each rule that is one; NULL: it is a loop, or not printed yet */
    double gaps;               /* ns, of all the class's computation */
    bool alone;                /* no other class */
};

static void indent(FILE *f, int depth)
{
    fprintf(f, "%*s", 4 * depth, "");
}

static void print_rule(struct printer *p, uint32_t rule, int depth, FILE *f);

/* --- A call --- */

static int64_t absent(enum grammar_channel channel, const struct job_terminal *t)
{
    if (channel == GRAMMAR_STARTS)
        return INT64_MAX;
    if (channel == GRAMMAR_SOURCE)
        return GRAMMAR_PEER_NULL;
    if (channel != GRAMMAR_PEER)
        return 0;
    if (t->call_kind == JOB_COLLECTIVE)
        return 0;
    return t->peer_class == JOB_PEER_NULL  ? GRAMMAR_PEER_NULL
           : t->peer_class == JOB_PEER_ANY ? GRAMMAR_PEER_ANY
                                           : GRAMMAR_PEER_NONE;
}

static const char *place(struct closure *g, uint32_t terminal)
{
    static char text[512];
    const struct job_terminal *t = &g->job->terminals[terminal];
    findings_callsite_text(g->places, t->callsite, FINDINGS_CALL, text, sizeof text);
    return text;
}

/* The size that most executions of a region had. */
static char *team(struct printer *p, uint32_t node)
{
    const struct job_variant *v = job_variant_most(p->c, node, GRAMMAR_TEAM);
    uint64_t most = 0;
    int64_t size = 1, only;

    if (v && grammar_attr_constant(&v->attr, &only))
        return closure_text("%" PRId64, only);
    for (uint32_t k = 0; v && v->attr.kind == GRAMMAR_ATTR_KEYED && k < v->attr.length; k++)
        if (v->attr.key[k].count > most && v->attr.key[k].value > 0) {
            most = v->attr.key[k].count;
            size = v->attr.key[k].value;
        }
    closure_lack(p->g, p->c->grammar->stats[node].count, "regions whose team size changes: the one of most executions");
    return closure_text("%" PRId64, size);
}

/* What is not kept: of sizes the mean, of tags 0; a peer must be known. */
static char *instead(struct printer *p, uint32_t node, enum grammar_channel channel)
{
    const struct grammar_flat_node *n = &p->c->grammar->nodes[node];
    const struct job_variant *v = job_variant_most(p->c, node, channel);
    uint64_t count = p->c->grammar->stats[node].count;
    const struct closure_call *call = &p->g->call[n->symbol];

    if ((channel == GRAMMAR_PEER || channel == GRAMMAR_SOURCE) && call->message)
        closure_refuse(p->g, "%s: whom %" PRIu64 " calls of %s are with is not kept", place(p->g, n->symbol), count,
                       job_text(p->g->job, p->g->job->terminals[n->symbol].function));
    if (channel == GRAMMAR_STARTS) {
        closure_lack(p->g, count, "completions of which it is not kept what they complete: what is open, whichever are complete first");
        return closure_text("0");
    }
    if (channel == GRAMMAR_PEER && call->channels & 1u << GRAMMAR_STARTS)
        return closure_text("0");
    closure_lack(p->g, count, "calls whose %s is not kept: the mean", channel == GRAMMAR_BYTES ? "size" : "value");
    return closure_text("%" PRId64, (int64_t)(v ? job_attr_mean(&v->attr) : 0));
}

static char *value(struct printer *p, uint32_t node, enum grammar_channel channel, bool *counts)
{
    uint32_t terminal = p->c->grammar->nodes[node].symbol;
    const struct job_terminal *t = &p->g->job->terminals[terminal];
    int64_t none = absent(channel, t);
    char *text;

    if (channel == GRAMMAR_TEAM)
        return team(p, node);
    if (channel == GRAMMAR_PEER && p->g->call[terminal].message &&
        closure_constant(p->c, node, GRAMMAR_REPLY, &(int64_t){ 1 }) &&
        !closure_constant(p->c, node, GRAMMAR_PEER, NULL))
        return closure_text("source");
    text = closure_value(p->g, p->c, node, channel, none, counts);
    if (text && !strcmp(text, "9223372036854775807")) {
        free(text);
        text = closure_text("NONE");
    }
    return text ? text : instead(p, node, channel);
}

static double rounded(double ns)
{
    double unit = ns >= 1000 ? pow(10, floor(log10(ns)) - 2) : 1;
    return floor(ns / unit + 0.5) * unit;
}

/* The mean of all places where it is made, but where that is wrong by more than a little of all the computation. */
static double gap_of(const struct printer *p, uint32_t node)
{
    const struct grammar_stats *s = &p->c->grammar->stats[node];
    double own = s->count ? (double)s->gap.sum / (double)s->count : 0;
    double mean = p->g->call[p->c->grammar->nodes[node].symbol].gap;

    return rounded(fabs(own - mean) * (double)s->count > 0.001 * p->gaps ? own : mean);
}

static void note_bytes(struct printer *p, uint32_t node)
{
    static const enum grammar_channel sized[] = { GRAMMAR_BYTES, GRAMMAR_RECEIVED };
    uint32_t terminal = p->c->grammar->nodes[node].symbol;
    const struct closure_call *call = &p->g->call[terminal];
    uint64_t times = call->spread ? p->g->made->ranks : 1;

    for (const struct job_variant *v = p->c->variants; v < p->c->variants + p->c->variant_count; v++)
        for (int k = 0; k < 2; k++)
            if (v->node == node && v->attr.channel == sized[k] && call->channels & 1u << sized[k] && v->attr.max > 0 &&
                p->g->job->terminals[terminal].call_kind != JOB_COMPLETION) {
                uint64_t bytes = (uint64_t)v->attr.max * times;
                p->g->largest = bytes > p->g->largest ? bytes : p->g->largest;
                if (v->attr.max > INT32_MAX)
                    closure_refuse(p->g, "%s: calls with more than 2 GiB", place(p->g, terminal));
            }
}

/* Of a completion: as many as it has must be there at once. */
static void note_requests(struct printer *p, uint32_t node)
{
    const struct job_variant *v = job_variant_most(p->c, node, GRAMMAR_INDEX);
    const struct closure_call *call = &p->g->call[p->c->grammar->nodes[node].symbol];

    if (v && call->channels & 1u << GRAMMAR_STARTS && v->attr.max < INT32_MAX && v->attr.max > (int64_t)p->g->furthest)
        p->g->furthest = (uint64_t)v->attr.max;
}

static void print_call(struct printer *p, uint32_t node, int depth, FILE *f)
{
    struct closure *g = p->g;
    const struct grammar_flat_node *n = &p->c->grammar->nodes[node];
    const struct grammar_stats *s = &p->c->grammar->stats[node];
    struct closure_call *call = &g->call[n->symbol];
    bool counts = false;
    const char *function = job_text(g->job, g->job->terminals[n->symbol].function);

    indent(f, depth);
    if (job_is_start(g->job, n->symbol)) {
        fprintf(f, "event++; /* %s: main */\n", function);
        return;
    }
    if (call->why) {
        closure_lack(g, s->count, "%s%s: %s", function, g->job->terminals[n->symbol].phase ? " (span)" : "", call->why);
        fprintf(f, "event++; /* %s */\n", function);
        return;
    }
    call->used = true;
    g->sections |= call->sections;
    note_bytes(p, node);
    note_requests(p, node);
    BASE_OWN char *name = closure_call_name(g, n->symbol);
    fprintf(f, "%s(%.0f", name, gap_of(p, node));
    for (uint32_t c = 0; c < GRAMMAR_CHANNELS; c++)
        if (call->channels & 1u << c) {
            BASE_OWN char *text = value(p, node, (enum grammar_channel)c, &counts);
            fprintf(f, ", %s", text);
        }
    if (g->job->terminals[n->symbol].kind == JOB_REGION)
        fprintf(f, ", %.0f", rounded(s->count ? (double)s->duration.sum / (double)s->count : 0));
    fputs(");\n", f);
    call->nth = call->nth || counts;
}

/* --- A rule --- */

static void print_loop(struct printer *p, uint32_t node, int *depth, FILE *f)
{
    BASE_OWN char *turns = closure_turns(p->g, p->c, node);

    if (strcmp(turns, "1") != 0) {
        indent(f, *depth);
        fprintf(f, "for (long turn = 0; turn < %s; turn++)", turns);
        *depth += 1;
    }
}

static void print_node(struct printer *p, uint32_t node, int depth, FILE *f)
{
    const struct grammar_flat_node *n = &p->c->grammar->nodes[node];
    int inner = depth;

    if (n->symbol == GRAMMAR_LOST) {
        closure_refuse(p->g, "the order of %" PRIu64 " events was given up when memory was short (PYTHIA_MEMORY)",
                       n->exponent);
        return;
    }
    print_loop(p, node, &inner, f);
    bool loops = inner > depth, body = grammar_is_rule(n->symbol) && !p->function[n->symbol & ~GRAMMAR_RULE];
    if (loops)
        fputs(body ? " {\n" : "\n", f);
    if (!grammar_is_rule(n->symbol)) {
        print_call(p, node, inner, f);
    } else if (!body) {
        indent(f, inner);
        fprintf(f, "%s();\n", p->function[n->symbol & ~GRAMMAR_RULE]);
    } else {
        print_rule(p, n->symbol & ~GRAMMAR_RULE, inner, f);
    }
    if (loops && body) {
        indent(f, depth);
        fputs("}\n", f);
    }
}

static void print_rule(struct printer *p, uint32_t rule, int depth, FILE *f)
{
    const struct grammar_flat_rule *r = &p->c->grammar->rules[rule];

    for (uint32_t k = r->first; k < r->first + r->length; k++)
        print_node(p, k, depth, f);
}

/* The first place in it that has one. */
static uint32_t first_call(const struct grammar_flat *g, uint32_t rule)
{
    uint32_t symbol = g->nodes[g->rules[rule].first].symbol;

    while (grammar_is_rule(symbol))
        symbol = g->nodes[g->rules[symbol & ~GRAMMAR_RULE].first].symbol;
    return symbol;
}

static void print_function(struct printer *p, uint32_t rule)
{
    char *body = NULL;
    size_t size;
    FILE *f = open_memstream(&body, &size);
    uint32_t symbol = first_call(p->c->grammar, rule);

    if (rule && symbol < p->g->job->terminal_count)
        fprintf(f, "\n/* from %s on */\nstatic void rule_#(void)\n{\n", place(p->g, symbol));
    else
        fputs("\nstatic void ranks_#(void)\n{\n", f);
    print_rule(p, rule, 1, f);
    fputs("}\n", f);
    fclose(f);
    p->function[rule] = closure_shared(p->g, p->g->rules, rule ? "rule" : "ranks", body);
}

char *closure_class(struct closure *g, uint32_t class_index)
{
    const struct job_class *c = &g->job->classes[class_index];
    const struct grammar_flat *flat = c->grammar;
    struct printer p = { .g = g, .c = c, .alone = g->job->class_count == 1 };
    BASE_OWN uint32_t *order = calloc((size_t)flat->rule_count + 1, sizeof *order);

    p.of_rule = calloc((size_t)flat->rule_count + 2, sizeof *p.of_rule);
    p.users = calloc((size_t)flat->node_count + 1, sizeof *p.users);
    p.function = calloc((size_t)flat->rule_count + 1, sizeof *p.function);
    grammar_flat_users(flat, NULL, p.of_rule, p.users);
    for (uint32_t k = 0; k < flat->node_count; k++)
        if (!grammar_is_rule(flat->nodes[k].symbol))
            p.gaps += (double)flat->stats[k].gap.sum;
    if (grammar_flat_order(flat, order)) /* users before what they use, or the other way round */
        for (uint32_t k = 0; k < flat->rule_count; k++) {
            uint32_t rule = order[k];
            if (!rule || p.of_rule[rule + 1] - p.of_rule[rule] > 1 || !p.alone)
                print_function(&p, rule);
        }
    char *root = p.function[0] ? strdup(p.function[0]) : NULL;
    for (uint32_t k = 0; k < flat->rule_count; k++)
        free(p.function[k]);
    free(p.function);
    free(p.users);
    free(p.of_rule);
    return root;
}
