/* SPDX-License-Identifier: MIT */
/*
 * Audit of exponents that differ between members: one for each member, in order, and how many events there are at most.
 * That statistics count what the members expand is not looked at: tests/unit/audit_job.c does for what Pythia wrote.
 */
#include <stdlib.h>

#include "base/array.h"
#include "job/check.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "pythia.h"

/* Of a column, or of a set: none is 0, none above 2^63 - 1. */
static bool exponents_sane(const struct job_class *c, const struct job_turn *t, uint64_t members)
{
    if (t->column == GRAMMAR_NONE)
        return t->exponent && t->exponent <= INT64_MAX;
    for (uint64_t i = 0; i < members; i++)
        if (job_column_get(&c->columns[t->column], i) - 1 >= INT64_MAX)
            return false;
    return true;
}

/* Sets were audited: they are of members, and canonical. */
static int check_sets(const struct job_class *c, uint32_t first, uint32_t end, uint64_t members, char *why,
                      size_t size)
{
    uint64_t covered = 0;
    uint32_t node = c->turns[first].node;
    for (uint32_t i = first; i < end; i++) {
        const struct job_turn *t = &c->turns[i];
        bool column = t->column != GRAMMAR_NONE;
        if (column && (t->column >= c->column_count || t->exponent || t->range_count || end - first != 1))
            return job_refuse(why, size, "exponents of node %u", node);
        if (!exponents_sane(c, t, members))
            return job_refuse(why, size, "exponents of node %u: out of range", node);
        if (i > first && t[-1].exponent >= t->exponent)
            return job_refuse(why, size, "exponents of node %u out of order", node);
        covered += column ? members : job_ranges_size(c->ranges + t->range_first, t->range_count);
    }
    if (covered != members || (end - first == 1 && c->turns[first].column == GRAMMAR_NONE))
        return job_refuse(why, size, "exponents of node %u: not one for each member", node);
    return 0;
}

int job_turns_check(const struct job_class *c, char *why, size_t size)
{
    int error = 0;
    uint32_t columns = 0;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t i = 0, k; i < c->turn_count && !error; i = k) {
        k = job_turns_end(c, i);
        if ((c->grammar->rule_count && c->turns[i].node >= c->grammar->node_count) ||
            (i && c->turns[i].node < c->turns[i - 1].node))
            error = job_refuse(why, size, "exponents of node %u: out of order", c->turns[i].node);
        else
            error = check_sets(c, i, k, members, why, size);
        if (!error && c->turns[i].column != GRAMMAR_NONE && c->turns[i].column != columns++)
            error = job_refuse(why, size, "columns out of order");
    }
    return !error && columns != c->column_count ? job_refuse(why, size, "columns of no node") : error;
}

uint64_t job_turns_most_events(const struct job_class *c)
{
    struct grammar_flat most = *c->grammar;
    uint64_t least, all = most.events, members = job_ranges_size(c->ranges, c->member_ranges);
    BASE_OWN uint64_t *length = c->turn_count && most.rule_count ? calloc(most.rule_count, sizeof *length) : NULL;
    most.nodes = length ? base_array_copy(most.nodes, most.node_count, sizeof *most.nodes) : NULL;
    for (uint32_t i = 0; i < c->turn_count && most.nodes; i = job_turns_end(c, i))
        job_turns_extent(c, c->turns[i].node, &least, &most.nodes[c->turns[i].node].exponent);
    if (most.nodes)
        grammar_flat_lengths(&most, length);
    if (c->turn_count && most.rule_count)
        all = most.nodes && length[0] ? length[0] : UINT64_MAX; /* out of memory */
    free(most.nodes);
    return __builtin_mul_overflow(all, members, &all) ? UINT64_MAX : all;
}
