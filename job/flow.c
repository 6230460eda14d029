/* SPDX-License-Identifier: MIT */
#include "job/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/flow_join.h"
#include "job/schema.h"
#include "pythia.h"

void job_flows_free(struct job_flows *f)
{
    free(f->row);
    free(f->ranges.range);
    memset(f, 0, sizeof *f);
}

uint32_t job_flow_peer(const struct job_flow *f, uint32_t rank, uint32_t ranks)
{
    if (f->value == GRAMMAR_NONE || f->relation == JOB_ABSOLUTE || !ranks)
        return f->value;
    if (f->relation == JOB_XOR)
        return f->value ^ rank;
    return (uint32_t)(((uint64_t)rank + f->value) % ranks);
}

int job_flows_append(struct job_flows *f, struct job_flow row, const struct job_range *ranges, uint32_t count)
{
    row.range_first = f->ranges.count;
    row.range_count = count;
    int error = base_array_append(&f->ranges.range, &f->ranges.count, &f->ranges.room, ranges, count, sizeof *ranges);
    error = error ?: base_array_append(&f->row, &f->count, &f->room, &row, 1, sizeof row);
    if (error)
        f->ranges.count = row.range_first;
    return error;
}

/* --- Two jobs, terminal by terminal and direction by direction --- */

static int by_terminal(const struct job_flow_item *a, const struct job_flow_item *b)
{
    return BASE_ORDER(a->row.terminal, b->row.terminal) ?: BASE_ORDER(a->row.receives, b->row.receives);
}

static int by_side(const void *x, const void *y)
{
    const struct job_flow_item *a = x, *b = y;
    return by_terminal(a, b) ?: BASE_ORDER(a->side, b->side);
}

uint32_t job_flows_items(const struct job_flows *f, const uint32_t *terminal_map, uint32_t side,
                         struct job_flow_item *to)
{
    for (uint32_t i = 0; i < f->count; i++) {
        to[i] = (struct job_flow_item){ f->row[i], f->ranges.range + f->row[i].range_first, side };
        if (terminal_map)
            to[i].row.terminal = terminal_map[to[i].row.terminal];
    }
    return f->count;
}

int job_flows_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    const struct job_flows *a = &into->flows, *b = &from->flows;
    struct job_flow_item *item = malloc(((size_t)a->count + b->count + 1) * sizeof *item);
    uint32_t n = 0, ranks = into->info.ranks > from->info.ranks ? into->info.ranks : from->info.ranks;
    int error = item ? 0 : PYTHIA_ENOMEM;
    if (!error) {
        n = job_flows_items(a, NULL, 0, item);
        n += job_flows_items(b, maps->of[JOB_OF_TERMINALS], 1, item + n);
        qsort(item, n, sizeof *item, by_side);
    }
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && by_terminal(&item[i], &item[next]) == 0; next++)
            ;
        error = job_flows_join_items(&made->flows, item + i, next - i, ranks);
    }
    free(item);
    return error;
}

int job_flows_settle(struct job *j)
{
    const struct job nobody = { .info.ranks = 0 };
    return job_rows_take(j, &nobody, job_flows_join, JOB_TABLE_FLOWS, JOB_TABLE_FLOW_RANGES);
}

int job_flow_add(struct job *j, uint32_t rank, uint32_t terminal, bool receives, uint32_t peer, uint64_t messages,
                 uint64_t bytes)
{
    struct job_range at = { .first = rank, .count = 1, .stride = 1 };
    struct job_flow row = { .terminal = terminal, .receives = receives, .relation = JOB_ABSOLUTE, .value = peer,
                            .messages = messages, .bytes = bytes };
    if (terminal >= j->terminal_count || (peer != GRAMMAR_NONE && peer >= j->info.ranks))
        return PYTHIA_EINVAL;
    return job_flows_append(&j->flows, row, &at, 1);
}

/* --- Reading --- */

static int walk_row(const struct job *j, const struct job_flow *f, int (*visit)(void *, const struct job_flow_pair *),
                    void *arg)
{
    const struct job_range *r = j->flows.ranges.range + f->range_first;
    uint64_t members = job_ranges_size(r, f->range_count), at = 0;
    struct job_flow_pair pair = { .terminal = f->terminal, .receives = f->receives, .mean = f->mean,
                                  .messages = f->messages, .bytes = f->bytes };
    for (uint32_t k = 0; k < f->range_count; k++)
        for (uint64_t i = 0, n = job_range_size(&r[k]); i < n; i++, at++) {
            pair.rank = job_range_rank(&r[k], i);
            pair.peer = job_flow_peer(f, pair.rank, j->info.ranks);
            if (f->mean) { /* shares that add up */
                pair.messages = f->messages / members + (at < f->messages % members);
                pair.bytes = f->bytes / members + (at < f->bytes % members);
            }
            int stop = visit(arg, &pair);
            if (stop)
                return stop;
        }
    return 0;
}

int job_flows_walk(const struct job *j, int (*visit)(void *arg, const struct job_flow_pair *pair), void *arg)
{
    int stop = 0;
    for (uint32_t i = 0; i < j->flows.count && !stop; i++)
        stop = walk_row(j, &j->flows.row[i], visit, arg);
    return stop;
}

int job_flows_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->flows.count; i++) {
        const struct job_flow *f = &j->flows.row[i];
        const struct job_range *r = j->flows.ranges.range + f->range_first;
        if ((f->relation != JOB_ABSOLUTE && f->relation != JOB_OFFSET && f->relation != JOB_XOR) ||
            (f->value != GRAMMAR_NONE && f->relation != JOB_XOR && f->value >= j->info.ranks))
            return job_refuse(why, size, "messages %u: out of range", i);
        if (!f->range_count || !job_ranges_within(&j->flows.ranges, f->range_first, f->range_count) ||
            !job_ranges_canonical(r, f->range_count) || r->thread)
            return job_refuse(why, size, "messages %u: their ranks", i);
        if (i && (f[-1].terminal > f->terminal || (f[-1].terminal == f->terminal && f[-1].receives > f->receives)))
            return job_refuse(why, size, "messages %u: out of order", i);
    }
    return 0;
}
