/* SPDX-License-Identifier: MIT */
/*
 * The reading view; see structure.h.
 *
 * Which rules stand in line is decided bottom up, before anything is printed: a rule that one node uses, or whose text
 * has at most SHORT items. That bounds the text by SHORT items a node. It bounds the nesting too: a rule that only one
 * node uses is there as a loop (rules are used twice, exponents counted) and doubles the length of the stream, which
 * fits 63 bits; the others hold SHORT items at most.
 */
#include "job/turns.h"
#include "report/structure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/notation.h"
#include "report/order.h"
#include "report/ranges.h"
#include "report/units.h"

enum { SHORT = 24, SHAPE = 200 };

struct view {
    const struct job *job;
    const struct job_class *c;
    const struct grammar_flat *g;
    const struct report_names *names;
    struct report_structure how;
    uint64_t members;
    bool *in_line;   /* by rule */
    bool *named;     /* by rule: in the queue, or was */
    uint32_t *queue; /* rules that were named and wait to be printed */
    uint32_t queued;
    long limit;      /* characters after which nothing more is printed, 0: none */
    FILE *out;
};

static uint32_t rule_of(uint32_t symbol)
{
    return symbol & ~GRAMMAR_RULE;
}

/* --- What stands in line --- */

static void decide(struct view *v)
{
    const struct grammar_flat *g = v->g;
    uint32_t *order = report_bottom_up(g);
    uint32_t *users = calloc(g->rule_count, sizeof *users);
    uint32_t *items = calloc(g->rule_count, sizeof *items);

    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            users[rule_of(g->nodes[n].symbol)]++;
    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t r = order[i];
        uint64_t sum = 0;
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            uint32_t s = g->nodes[n].symbol;
            sum += grammar_is_rule(s) && v->in_line[rule_of(s)] ? items[rule_of(s)] : 1;
        }
        items[r] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
        v->in_line[r] = users[r] <= 1 || sum <= SHORT;
    }
    free(order);
    free(users);
    free(items);
}

/* --- Times --- */

static double mean_us(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count / 1e3 : 0;
}

/* Of all turns of a node of R, for one member. */
static double total_us(const struct view *v, uint32_t node)
{
    const struct grammar_stats *s = &v->g->stats[node];

    return ((double)s->gap.sum + (double)s->duration.sum) / (double)v->members / 1e3;
}

/* --- Lines --- */

/* Prints the rule's name, and remembers to print the rule. */
static void print_name(struct view *v, uint32_t rule)
{
    char name[16];

    if (!v->named[rule])
        v->queue[v->queued++] = rule;
    v->named[rule] = true;
    grammar_rule_name(rule, name);
    fputs(name, v->out);
}

static void print_terminal(const struct view *v, uint32_t node)
{
    const struct grammar_stats *s = &v->g->stats[node];
    uint32_t terminal = v->g->nodes[node].symbol;
    const char *name = report_short_name(v->names, terminal), *cpu = "CPU";

    if (terminal < v->job->terminal_count) {
        uint32_t site = report_site_number(v->names, v->job->terminals[terminal].callsite);
        if (site != GRAMMAR_NONE)
            cpu = report_text("CPU%u", site);
    }
    if (v->how.collapse)
        fprintf(v->out, "%s+%s", cpu, name);
    else
        fprintf(v->out, "%s: %.2f+%s: %.2f", cpu, mean_us(s->gap.sum, s->count), name,
                mean_us(s->duration.sum, s->count));
}

static void print_node(struct view *v, uint32_t node, uint32_t depth);

static void print_body(struct view *v, uint32_t rule, uint32_t depth)
{
    for (uint32_t i = 0; i < v->g->rules[rule].length; i++) {
        if (i)
            fputc('+', v->out);
        print_node(v, v->g->rules[rule].first + i, depth);
    }
}

/* `depth`: loops around this node. */
static void print_node(struct view *v, uint32_t node, uint32_t depth)
{
    uint32_t symbol = v->g->nodes[node].symbol;
    uint64_t least, turns;

    job_turns_extent(v->c, node, &least, &turns);
    uint32_t inside = depth + (turns > 1);
    if (v->limit && ftell(v->out) > v->limit)
        return;
    if (grammar_is_rule(symbol) && !v->in_line[rule_of(symbol)]) {
        print_name(v, rule_of(symbol));
    } else {
        bool parentheses = turns > 1 || grammar_is_rule(symbol);
        if (parentheses)
            fputc('(', v->out);
        if (v->how.depth && inside > v->how.depth)
            fputs("…", v->out);
        else if (grammar_is_rule(symbol))
            print_body(v, rule_of(symbol), inside);
        else
            print_terminal(v, node);
        if (parentheses)
            fputc(')', v->out);
    }
    if (turns > least)
        fprintf(v->out, "[%" PRIu64 "-%" PRIu64 "]", least, turns);
    else if (turns > 1)
        fprintf(v->out, "[%" PRIu64 "]", turns);
}

/* A single event at the top: its two halves are lines of their own. */
static void print_single(const struct view *v, uint32_t node)
{
    const struct grammar_stats *s = &v->g->stats[node];
    uint32_t terminal = v->g->nodes[node].symbol;
    uint32_t site = terminal < v->job->terminal_count
                        ? report_site_number(v->names, v->job->terminals[terminal].callsite)
                        : GRAMMAR_NONE;

    if (site != GRAMMAR_NONE)
        fprintf(v->out, "CPU%u: %.0f\n", site, mean_us(s->gap.sum, s->count));
    else
        fprintf(v->out, "CPU: %.0f\n", mean_us(s->gap.sum, s->count));
    fprintf(v->out, "%s: %.0f\n", report_short_name(v->names, terminal), mean_us(s->duration.sum, s->count));
}

static void print_line(struct view *v, uint32_t node)
{
    uint64_t least, turns;

    job_turns_extent(v->c, node, &least, &turns);
    bool single = turns == 1 && !grammar_is_rule(v->g->nodes[node].symbol);

    if (single && !v->how.collapse) {
        print_single(v, node);
        return;
    }
    if (single)
        fputc('(', v->out);
    print_node(v, node, 0);
    fprintf(v->out, "%s: %.0f\n", single ? ")" : "", total_us(v, node));
}

static void print_lines(struct view *v)
{
    const struct grammar_flat *g = v->g;

    for (uint32_t n = 0; n < g->rules[0].length && !ferror(v->out); n++)
        print_line(v, n);
    for (uint32_t i = 0; i < v->queued && !ferror(v->out); i++) { /* grows as rules name others */
        char name[16];
        grammar_rule_name(v->queue[i], name);
        fprintf(v->out, "%s = ", name);
        print_body(v, v->queue[i], 0);
        fputc('\n', v->out);
    }
}

/*
 * --- Pseudo-code: figures at the left, code at the right ---
 * A node of R has a total of its own. A rule's nodes have those of all places that use the rule: in one of them, their
 * part of that place's total (`part`), so that what is inside a line adds up to it.
 */

static void begin_line(const struct view *v, uint32_t node, bool call, uint32_t indent, double part)
{
    const struct grammar_stats *s = &v->g->stats[node];
    bool both = call && !v->how.collapse;

    fprintf(v->out, "%9s %9s %9s  %*s", report_time(part * total_us(v, node) * 1e3),
            both ? report_time(mean_us(s->gap.sum, s->count) * 1e3) : "",
            both ? report_time(mean_us(s->duration.sum, s->count) * 1e3) : "", (int)(4 * indent), "");
}

/* "MPI_Isend@3 (to rank+1, 800 B)   halo@app.c:12" */
static void print_call(const struct view *v, uint32_t node)
{
    uint32_t terminal = v->g->nodes[node].symbol;
    char message[192] = "", place[256] = "";

    fputs(report_name((void *)(uintptr_t)v->names, terminal), v->out);
    report_message_text(v->job, v->c, node, message, sizeof message);
    if (*message)
        fprintf(v->out, " (%s)", message);
    if (v->how.place && terminal < v->job->terminal_count)
        v->how.place(v->how.context, terminal, place, sizeof place);
    if (*place)
        fprintf(v->out, "   %s", place);
}

static void indent_rule(struct view *v, uint32_t rule, uint32_t depth, uint32_t indent, double part);

/* The part of its nodes' totals that a rule has in the place of `node`, which has `part` of its own. */
static double part_of(const struct view *v, uint32_t node, double part)
{
    const struct grammar_flat_rule *rule = &v->g->rules[rule_of(v->g->nodes[node].symbol)];
    double all = 0;

    for (uint32_t n = rule->first; n < rule->first + rule->length; n++)
        all += total_us(v, n);
    return all > 0 ? part * total_us(v, node) / all : 0;
}

static void indent_node(struct view *v, uint32_t node, uint32_t depth, uint32_t indent, double part)
{
    uint32_t symbol = v->g->nodes[node].symbol;
    uint64_t least, turns;
    bool rule = grammar_is_rule(symbol);
    bool sequence = rule && v->in_line[rule_of(symbol)];

    job_turns_extent(v->c, node, &least, &turns);
    uint32_t inside = depth + (turns > 1);
    if (sequence && turns == 1) { /* parts of the code around it */
        indent_rule(v, rule_of(symbol), depth, indent, part_of(v, node, part));
        return;
    }
    begin_line(v, node, !rule, indent, part);
    if (turns > least)
        fprintf(v->out, sequence ? "loop %" PRIu64 " to %" PRIu64 " times" : "%" PRIu64 " to %" PRIu64 " x ", least,
                turns);
    else if (turns > 1)
        fprintf(v->out, sequence ? "loop %" PRIu64 " times" : "%" PRIu64 " x ", turns);
    if (!rule)
        print_call(v, node);
    else if (!sequence)
        print_name(v, rule_of(symbol));
    fputc('\n', v->out);
    if (sequence && !(v->how.depth && inside > v->how.depth))
        indent_rule(v, rule_of(symbol), inside, indent + 1, part_of(v, node, part));
    else if (sequence)
        fprintf(v->out, "%31s%*s…\n", "", (int)(4 * (indent + 1)), "");
}

static void indent_rule(struct view *v, uint32_t rule, uint32_t depth, uint32_t indent, double part)
{
    for (uint32_t i = 0; i < v->g->rules[rule].length && !ferror(v->out); i++)
        indent_node(v, v->g->rules[rule].first + i, depth, indent, part);
}

static void print_indented(struct view *v)
{
    fprintf(v->out, "%9s %9s %9s\n", "total", "gap", "in call");
    indent_rule(v, 0, 0, 0, 1);
    for (uint32_t i = 0; i < v->queued && !ferror(v->out); i++) {
        char name[16];
        grammar_rule_name(v->queue[i], name);
        fprintf(v->out, "%31s%s (in all places together):\n", "", name);
        indent_rule(v, v->queue[i], 0, 1, 1);
    }
}

/* --- Entry --- */

static void view_open(struct view *v, const struct job *j, uint32_t index, const struct report_names *names, FILE *out)
{
    const struct job_class *c = &j->classes[index];

    memset(v, 0, sizeof *v);
    v->job = j;
    v->c = c;
    v->g = c->grammar;
    v->names = names;
    v->members = report_members(c);
    v->members = v->members ? v->members : 1;
    v->out = out;
    v->in_line = calloc(v->g->rule_count, sizeof *v->in_line);
    v->named = calloc(v->g->rule_count, sizeof *v->named);
    v->queue = calloc(v->g->rule_count, sizeof *v->queue);
    decide(v);
}

static void view_close(struct view *v)
{
    free(v->in_line);
    free(v->named);
    free(v->queue);
}

void report_print_structure(const struct job *j, uint32_t index, const struct report_names *names,
                            const struct report_structure *how, FILE *out)
{
    struct view v;

    if (!j->classes[index].grammar)
        return;
    view_open(&v, j, index, names, out);
    v.how = *how;
    if (how->indented)
        print_indented(&v);
    else
        print_lines(&v);
    view_close(&v);
}

void report_print_shape(const struct job *j, uint32_t index, uint32_t node, const struct report_names *names,
                        FILE *out)
{
    struct view v;

    view_open(&v, j, index, names, out);
    v.how.collapse = true;
    v.limit = SHAPE;
    for (uint32_t r = 0; r < v.g->rule_count; r++)
        v.in_line[r] = true; /* each level prints a parenthesis, so that the limit bounds the depth too */
    print_node(&v, node, 0);
    view_close(&v);
}
