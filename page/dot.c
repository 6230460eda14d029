/* SPDX-License-Identifier: MIT */
/*
 * Grammars as graphs for Graphviz: a cluster a class, a box a rule, an edge a part of it, with its place and exponent:
 *
 *   R --1--> A,  A --1: 7--> Irecv1,  A --2--> Waitall3
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clean.h"
#include "findings/ranges.h"
#include "findings/units.h"
#include "grammar/notation.h"
#include "job/turns.h"
#include "page/export.h"

struct graph {
    struct report *r;
    const struct job_class *c;
    uint32_t index;
    bool *named;   /* by terminal: has a node in this class */
    uint64_t left; /* edges */
    uint32_t last; /* rule that an edge leads to: rules are numbered in the order in which they are first used */
    FILE *out;
};

/* Between double quotes. */
static void print_quoted(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_rule(struct graph *g, uint32_t rule, double total_ns, uint64_t count)
{
    char name[16];

    grammar_rule_name(rule, name);
    fprintf(g->out, "    c%ur%u [shape=box, label=\"%s\\n%" PRIu64 " times, %s\"];\n", g->index, rule, name, count,
            findings_time(total_ns));
}

static void print_terminal(struct graph *g, uint32_t terminal)
{
    if (g->named[terminal])
        return;
    g->named[terminal] = true;
    fprintf(g->out, "    c%ut%u [shape=ellipse, label=\"", g->index, terminal);
    print_quoted(findings_name(g->r->names, terminal), g->out);
    fputs("\\n", g->out);
    if (g->r->job->terminals[terminal].callsite < g->r->job->callsite_count)
        print_quoted(findings_where(g->r, terminal, 60), g->out);
    fputs("\"];\n", g->out);
}

/* Whether other members have another exponent there. */
static bool differs(const struct job_class *c, uint32_t node)
{
    uint32_t first;

    return job_turns_of(c, node, &first) != 0;
}

static void print_edge(struct graph *g, uint32_t rule, uint32_t place, uint32_t node)
{
    const struct grammar_flat_node *n = &g->c->grammar->nodes[node];

    if (grammar_is_rule(n->symbol)) {
        g->last = (n->symbol & ~GRAMMAR_RULE) > g->last ? n->symbol & ~GRAMMAR_RULE : g->last;
        fprintf(g->out, "    c%ur%u -> c%ur%u [label=\"%u", g->index, rule, g->index, n->symbol & ~GRAMMAR_RULE, place);
    } else if (n->symbol < g->r->job->terminal_count) {
        print_terminal(g, n->symbol);
        fprintf(g->out, "    c%ur%u -> c%ut%u [label=\"%u", g->index, rule, g->index, n->symbol, place);
    } else {
        fprintf(g->out, "    c%ulost [shape=ellipse, label=\"order given up\"];\n", g->index);
        fprintf(g->out, "    c%ur%u -> c%ulost [label=\"%u", g->index, rule, g->index, place);
    }
    if (n->exponent > 1)
        fprintf(g->out, ": x %" PRIu64 "%s", n->exponent, differs(g->c, node) ? " …" : "");
    fputs("\"];\n", g->out);
}

static void print_rules(struct graph *g)
{
    const struct grammar_flat *flat = g->c->grammar;
    uint64_t members = findings_members(g->c);

    for (uint32_t i = 0; i <= g->last && i < flat->rule_count && !ferror(g->out); i++) {
        const struct grammar_flat_rule *rule = &flat->rules[i];
        double ns = 0;
        uint64_t count = 1;
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++)
            ns += (double)flat->stats[n].gap.sum + (double)flat->stats[n].duration.sum;
        if (rule->length && members)
            count = (uint64_t)((double)flat->stats[rule->first].count / job_mean_turns(g->c, rule->first) /
                                   (double)members + 0.5);
        print_rule(g, i, members ? ns / (double)members : 0, count);
        for (uint32_t k = 0; k < rule->length; k++) {
            if (!g->left) {
                fprintf(g->out, "    c%ur%um [shape=plaintext, label=\"…\"];\n    c%ur%u -> c%ur%um;\n", g->index, i,
                        g->index, i, g->index, i);
                break;
            }
            g->left--;
            print_edge(g, i, k + 1, rule->first + k);
        }
    }
}

static void print_class(struct graph *g, const char *ranks)
{
    fprintf(g->out, "  subgraph cluster_%u {\n    label=\"group %u: %s\";\n", g->index, g->index, ranks);
    print_rules(g);
    fputs("  }\n", g->out);
}

/* Drawn by dot as it is no side is longer than PAPER; a class gets its part of the edges that are left, or few. */
void page_print_dot(struct report *r, const struct page_export *how, FILE *out)
{
    enum { PAPER = 110 /* inches: 7920 points */, FEW = 8 };
    uint32_t classes = r->job->class_count;
    uint64_t left = how->limit;
    char program[256];

    snprintf(program, sizeof program, "%s", job_text(r->job, r->job->info.program));
    base_clean(program);
    fputs("digraph \"", out);
    print_quoted(program, out);
    fprintf(out, "\" {\n  rankdir=LR; nodesep=0.05; size=\"%d,%d\";\n", PAPER, PAPER);
    fputs("  node [fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=9];\n", out);
    for (uint32_t i = 0; i < classes && left; i++) {
        uint64_t share = left / (classes - i) > FEW ? left / (classes - i) : left < FEW ? left : FEW;
        struct graph g = { .r = r, .c = &r->job->classes[i], .index = i, .left = share, .out = out };
        BASE_OWN char *ranks = findings_ranges_text(g.c->ranges, g.c->member_ranges);
        g.named = calloc((size_t)r->job->terminal_count + 1, sizeof *g.named);
        if (g.c->grammar)
            print_class(&g, ranks);
        left -= share - g.left;
        if (!left && i + 1 < classes)
            fprintf(out, "  more [shape=plaintext, label=\"and %u groups more\"];\n", classes - i - 1);
        free(g.named);
    }
    fputs("}\n", out);
}
