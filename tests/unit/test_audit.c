/* SPDX-License-Identifier: MIT */
/*
 * Audits and members of large classes: linear in the grammar, whatever the rules. A class made by hand
 *
 *     R -> P^e0 P P^e1 P P^e2 P ...      P_i -> C t_i        C -> x^e y         (C only where it is told)
 *
 * of a million nodes and a thousand members, with exponents of their own at some nodes of R, or at x: below everything.
 * Scanning all nodes for each rule would take hours, which is what the bounds of time stand for.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/intern.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/audit.h"
#include "tests/unit/unit.h"

enum { RANKS = 250, THREADS = 4, MEMBERS = RANKS * THREADS, SLOW = 20 /* seconds of processor */ };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t terminal(struct job *j, const char *word)
{
    return job_terminal(j, &(struct job_terminal){ .kind = JOB_WORD, .function = job_string(j, word),
                                                   .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE });
}

/* A member's own exponent, of the `k`-th node that has turns. */
static uint64_t own(uint32_t member, uint32_t k)
{
    return 2 + (member * (k + 3)) % 97;
}

/* `rules` rules P; node 0, 2, 4, … of the root use them, and between them is y. */
static struct grammar_flat *grammar_of(uint32_t rules, bool deep, uint32_t x, uint32_t y)
{
    uint32_t n = 0, extra = deep ? 1 : 0;
    struct grammar_flat *g = grammar_flat_create(rules + 1 + extra, 2 * rules + 2 * rules + 2 * extra, 0);
    g->terminals = 2;
    g->rules[0] = (struct grammar_flat_rule){ .first = 0, .length = 2 * rules };
    for (uint32_t i = 0; i < rules; i++) { /* the rule below is entered first inside the first P: it has number 2 */
        uint32_t number = 1 + i + (i ? extra : 0);
        g->nodes[n++] = (struct grammar_flat_node){ .symbol = GRAMMAR_RULE | number, .exponent = 2 };
        g->nodes[n++] = (struct grammar_flat_node){ .symbol = y, .exponent = 1 + i };
    }
    for (uint32_t r = 1; r < g->rule_count; r++) {
        bool below = deep && r == 2;
        g->rules[r] = (struct grammar_flat_rule){ .first = n, .length = 2 };
        g->nodes[n++] = (struct grammar_flat_node){ .symbol = deep && !below ? GRAMMAR_RULE | 2 : x, .exponent = 2 };
        g->nodes[n++] = (struct grammar_flat_node){ .symbol = y, .exponent = below ? 1 : 3 + r };
    }
    return g;
}

/* Exponents of `nodes` nodes differ: of the root's, or of the node x of the rule below. */
static void add_turns(struct job_class *c, uint32_t nodes, bool deep)
{
    uint64_t number[MEMBERS];
    c->turn_count = c->column_count = nodes;
    c->turns = calloc(nodes, sizeof *c->turns);
    c->columns = calloc(nodes, sizeof *c->columns);
    for (uint32_t k = 0; k < nodes; k++) {
        uint32_t node = deep ? c->grammar->rules[2].first : 2 * k;
        for (uint32_t m = 0; m < MEMBERS; m++)
            number[m] = own(m, k);
        c->turns[k] = (struct job_turn){ .node = node, .column = k };
        ck_assert_int_eq(job_column_make(&c->columns[k], number, MEMBERS), 0);
        c->grammar->nodes[node].exponent = number[0];
    }
}

/* Of all members together, at node n of a rule that each expands `uses` times. */
static uint64_t expansions(const struct job_class *c, uint32_t n, uint64_t uses)
{
    uint32_t first, k = job_turns_of(c, n, &first) ? first : GRAMMAR_NONE;
    uint64_t sum = 0;
    for (uint32_t m = 0; m < MEMBERS && k != GRAMMAR_NONE; m++)
        sum += uses * own(m, k);
    return k == GRAMMAR_NONE ? MEMBERS * uses * c->grammar->nodes[n].exponent : sum;
}

/* Nodes with turns are in the root or at the bottom, so that all members expand what is above equally often. */
static void count(struct job_class *c, bool deep, uint64_t *events)
{
    struct grammar_flat *g = c->grammar;
    uint64_t *all = calloc(g->rule_count, sizeof *all);
    uint64_t *length = calloc(g->rule_count, sizeof *length);
    all[0] = MEMBERS;
    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t r = deep && i ? i + 1 == g->rule_count ? 2 : i < 2 ? i : i + 1 : i; /* the one below comes last */
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            bool inside = grammar_is_rule(g->nodes[n].symbol);
            g->stats[n].count = r && !deep ? all[r] * g->nodes[n].exponent : expansions(c, n, r ? all[r] / MEMBERS : 1);
            if (inside)
                all[g->nodes[n].symbol & ~GRAMMAR_RULE] += g->stats[n].count;
        }
    }
    grammar_flat_lengths(g, length);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        events[m] = length[0];
        for (uint32_t k = 0; k < c->turn_count; k++) {
            const struct grammar_flat_node *n = &g->nodes[c->turns[k].node];
            uint64_t inner = deep ? 1 : length[n->symbol & ~GRAMMAR_RULE], times = deep ? all[2] / MEMBERS : 1;
            events[m] += times * inner * (own(m, k) - own(0, k));
        }
    }
    g->events = events[0];
    free(all);
    free(length);
}

static struct job *job_of(uint32_t rules, uint32_t nodes, bool deep, uint64_t *events)
{
    struct job *j = job_create();
    uint32_t x = terminal(j, "x"), y = terminal(j, "y");
    struct job_class c = { .grammar = grammar_of(rules, deep, x, y), .range_count = THREADS, .member_ranges = THREADS };
    c.spread = calloc(c.grammar->node_count + 1, sizeof *c.spread);
    c.ranges = calloc(THREADS, sizeof *c.ranges);
    for (uint32_t t = 0; t < THREADS; t++)
        c.ranges[t] = (struct job_range){ .count = RANKS, .stride = 1, .thread = t };
    add_turns(&c, nodes, deep);
    count(&c, deep, events);
    c.hash = grammar_flat_shape(c.grammar, j->terminal_hash);
    ck_assert_int_eq(base_array_room(&j->classes, &j->index->class_room, 1, sizeof *j->classes), 0);
    ck_assert_int_eq(job_table_reserve(&j->index->table[JOB_INTERNED_CLASS], 1), 0);
    job_table_put(&j->index->table[JOB_INTERNED_CLASS], c.hash, 0);
    j->classes[0] = c;
    j->class_count = 1;
    j->info.ranks = RANKS;
    j->info.block = j->info.runs = 1;
    ck_assert_int_eq(base_array_room(&j->streams, &j->stream_room, MEMBERS, sizeof *j->streams), 0);
    for (uint32_t m = 0; m < MEMBERS; m++) /* members by thread, streams by rank */
        j->streams[j->stream_count++] = (struct job_stream){ .rank = m / THREADS, .thread = m % THREADS, .count = 1,
                                                             .events = events[m % THREADS * RANKS + m / THREADS] };
    return j;
}

static void audited(const struct job *j, const char *what)
{
    char why[200] = "";
    double begin = now();
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s: %s", what, why);
    ck_assert_msg(now() - begin < SLOW, "%s: %.1f s", what, now() - begin);
}

/* Readers of files take it, however its figures agree; the audit of what Pythia made does not. */
static void lies(const struct job *j, const char *what)
{
    char why[200] = "";
    audited(j, what);
    ck_assert_msg(audit_job(j, why, sizeof why) == PYTHIA_EFORMAT, "%s", what);
}

/* Right ones pass; one count, one member's exponent or one stream's events that is not so is found. */
START_TEST(what_all_members_expand_is_checked)
{
    static uint64_t events[MEMBERS];
    char why[200] = "";
    for (int deep = 0; deep < 2; deep++) {
        struct job *j = job_of(20, deep ? 1 : 7, deep, events);
        struct job_class *c = &j->classes[0];
        ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s", why);
        uint32_t last = c->grammar->node_count - 1;
        c->grammar->stats[last].count++;
        lies(j, "a count");
        c->grammar->stats[last].count--;
        c->columns[0].data[17]++;
        lies(j, "an exponent");
        c->columns[0].data[17]--;
        j->streams[500].events++;
        j->streams[501].events--;
        lies(j, "events of streams");
        j->streams[500].events--;
        j->streams[501].events++;
        ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s", why);
        c->grammar->stats[last].count = MEMBERS - 1; /* no mean of as many members, no part of 63 bits */
        ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
        c->grammar->stats[last].count = INT64_MAX;
        ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
        job_destroy(j);
    }
}
END_TEST

/* A million nodes, a thousand streams: audited, a member's grammar made of it, and mixed with an earlier run's. */
START_TEST(a_million_nodes_and_a_thousand_streams)
{
    enum { RULES = 250000 };
    static uint64_t events[MEMBERS];
    double begin;
    struct job *j = job_of(RULES, _i ? 1 : 40, _i, events);
    struct merge_updated done;
    ck_assert_uint_ge(j->classes[0].grammar->node_count, 1000000);
    audited(j, "a million nodes");
    begin = now();
    struct grammar_flat *g = job_member_grammar(&j->classes[0], 17, 2);
    ck_assert_uint_eq(g->events, events[2 * RANKS + 17]);
    ck_assert_double_gt(job_mean_turns(&j->classes[0], j->classes[0].turns[0].node), 2);
    ck_assert_msg(now() - begin < SLOW, "a member: %.1f s", now() - begin);
    job_member_free(g);
    struct job *before = job_of(RULES, _i ? 1 : 40, _i, events);
    before->classes[0].grammar->stats[0].count++; /* so that places are mixed, not sums */
    begin = now();
    ck_assert_int_eq(merge_update(j, before, &done), 0);
    ck_assert_msg(now() - begin < SLOW, "mixing: %.1f s", now() - begin);
    job_destroy(before);
    job_destroy(j);
}
END_TEST

static const struct unit_test tests[] = { UNIT_TEST(what_all_members_expand_is_checked),
                                          UNIT_LOOP(a_million_nodes_and_a_thousand_streams, 2) };
int main(void)
{
    return unit_run("job/audit", tests, UNIT_COUNT(tests));
}
