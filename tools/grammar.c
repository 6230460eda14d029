/* SPDX-License-Identifier: MIT */
/*
 * `pythia grammar`: the rules of a job's classes in the notation of the PYTHIA paper, then a legend of the terminals.
 *
 *   group 0: ranks 0-7, 1234 events, 3 rules
 *   R -> MPI_Init@0 A^100 MPI_Finalize@4
 *   A -> MPI_Isend@1 MPI_Waitall@2                 # 100 times, 12.3 us each
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "findings/names.h"
#include "findings/ranges.h"
#include "findings/resolve.h"
#include "findings/units.h"
#include "grammar/notation.h"
#include "job/turns.h"
#include "tools/tool.h"

struct request {
    const char *job;
    uint64_t class; /* UINT64_MAX: all */
    bool times;
};

static const struct tool_option options[] = {
    TOOL_COUNT(class, 'c', "class", "C", 0, UINT32_MAX, "only group C of ranks (default: all)"),
    TOOL_SWITCH(times, 't', "times", "count, mean gap and mean duration of every node, in its place"),
    { 0 },
};

static const struct tool_line usage = {
    .options = options, .arguments = "JOB", TOOL_ONLY("job file", job),
    .doc = "Prints the grammar of each group of ranks that do the same in the same order, R first, and where its calls "
           "are."
           "\v"
           "Lines that begin with # and what follows # in a line are not part of the grammar.\n\n"
           "Example:\n"
           "  pythia grammar app.pythia --class 0 --times\n",
};

struct printer {
    const struct job *job;
    struct findings_names *names;
    struct findings_resolver *resolver;
    uint8_t *used; /* by terminal: it stands in a printed grammar */
};

/* Total of one rule over all its expansions, ns. */
static double rule_time(const struct grammar_flat *g, uint32_t rule)
{
    double sum = 0;

    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++)
        sum += (double)g->stats[n].gap.sum + (double)g->stats[n].duration.sum;
    return sum;
}

static const char *symbol_text(const struct printer *p, uint32_t symbol, char rule[16])
{
    if (!grammar_is_rule(symbol))
        return findings_name(p->names, symbol);
    grammar_rule_name(symbol & ~GRAMMAR_RULE, rule);
    return rule;
}

static void print_node(const struct printer *p, const struct grammar_flat *g, uint32_t node)
{
    const struct grammar_stats *s = &g->stats[node];
    char rule[16], exponent[32] = "";

    if (g->nodes[node].exponent > 1)
        snprintf(exponent, sizeof exponent, "^%" PRIu64, g->nodes[node].exponent);
    printf("#   %s%s  count %" PRIu64 "  gap %s  duration %s\n", symbol_text(p, g->nodes[node].symbol, rule), exponent,
           s->count, findings_time(grammar_moments_mean(&s->gap, s->count)),
           findings_time(grammar_moments_mean(&s->duration, s->count)));
}

/* Exponents of members that have others than the first. */
static void print_turns(const struct printer *p, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    char name[16], rule[16];
    uint32_t r = 0;

    for (uint32_t i = 0; i < c->turn_count; i++) {
        const struct job_turn *t = &c->turns[i];
        while (r + 1 < g->rule_count && g->rules[r + 1].first <= t->node)
            r++;
        grammar_rule_name(r, rule);
        if (!i || t->node != t[-1].node)
            printf("# part %u of %s, %s:", t->node - g->rules[r].first + 1, rule,
                   symbol_text(p, g->nodes[t->node].symbol, name));
        bool one = t->column == GRAMMAR_NONE;
        BASE_OWN char *ranks = one ? findings_ranges_text(c->ranges + t->range_first, t->range_count) : NULL;
        if (ranks)
            printf(" ^%" PRIu64 " on %s%s", t->exponent, ranks,
                   i + 1 < c->turn_count && t[1].node == t->node ? "," : "\n");
        else
            printf(" another exponent on each rank\n");
    }
}

/* The lines of grammar_print(), each with its count and time: printed to memory, then taken apart by line. */
static void print_rules(const struct printer *p, const struct job_class *c, uint64_t members, bool times)
{
    const struct grammar_flat *g = c->grammar;
    BASE_OWN uint64_t *uses = malloc(((size_t)g->rule_count + 1) * sizeof *uses);
    BASE_OWN char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    grammar_print(g, findings_name, p->names, memory);
    fclose(memory);
    job_rule_uses(c, uses);
    char *line = text;
    for (uint32_t rule = 0; rule < g->rule_count && *line; rule++) {
        char *end = strchrnul(line, '\n');
        double total = rule_time(g, rule) / (double)members;
        uint64_t own = uses[rule] / members; /* of a member, on average */
        printf("%.*s    # %" PRIu64 " time%s, %s each\n", (int)(end - line), line, own, own == 1 ? "" : "s",
               findings_time(own ? total / (double)own : 0));
        for (uint32_t n = 0; times && n < g->rules[rule].length; n++)
            print_node(p, g, g->rules[rule].first + n);
        line = *end ? end + 1 : end;
    }
}

static void mark_terminals(struct printer *p, const struct grammar_flat *g)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < p->job->terminal_count)
            p->used[g->nodes[n].symbol] = 1;
}

static void print_class(struct printer *p, uint32_t index, bool times)
{
    const struct job_class *c = &p->job->classes[index];
    uint64_t members = findings_members(c);
    BASE_OWN char *ranks = findings_ranges_text(c->ranges, c->member_ranges);

    printf("# group %u: %s, %s%.0f events, %u rules\n", index, ranks, c->turn_count ? "about " : "",
           findings_class_events(c), c->grammar->rule_count);
    mark_terminals(p, c->grammar);
    print_rules(p, c, members ? members : 1, times);
    print_turns(p, c);
    putchar('\n');
}

static void print_legend(const struct printer *p)
{
    char site[1024], comm[256];

    printf("# calls and regions\n");
    for (uint32_t t = 0; t < p->job->terminal_count; t++) {
        const struct job_terminal *terminal = &p->job->terminals[t];
        if (!p->used[t] || terminal->kind == JOB_WORD)
            continue;
        findings_callsite_text(p->resolver, terminal->callsite,
                               terminal->kind == JOB_REGION ? FINDINGS_ENTRY : FINDINGS_CALL, site, sizeof site);
        printf("# %-24s %s", findings_name(p->names, t), site);
        if (terminal->comm < p->job->comm_count) {
            snprintf(comm, sizeof comm, "%s", job_text(p->job, p->job->comms[terminal->comm].name));
            base_clean(comm);
            printf("  on %s", comm);
        }
        putchar('\n');
    }
}

static void print_job(const struct job *j, const struct request *r)
{
    struct printer p = { .job = j, .names = findings_names_create(j), .resolver = findings_resolver_create(j),
                         .used = calloc((size_t)j->terminal_count + 1, 1) };

    for (uint32_t c = 0; c < j->class_count; c++)
        if (j->classes[c].grammar && (r->class == UINT64_MAX || r->class == c))
            print_class(&p, c, r->times);
    print_legend(&p);
    free(p.used);
    findings_resolver_destroy(p.resolver);
    findings_names_destroy(p.names);
}

int tool_grammar(int argc, char **argv)
{
    struct request r = { .class = UINT64_MAX };
    struct job *j;

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_read_job(r.job, &j);
    if (rc != TOOL_OK)
        return rc;
    if (r.class != UINT64_MAX && r.class >= j->class_count) {
        tool_complain("%s: no group %" PRIu64 "; there are %u", r.job, r.class, j->class_count);
        rc = TOOL_INPUT;
    } else {
        print_job(j, &r);
    }
    job_destroy(j);
    return rc;
}
