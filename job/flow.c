/* SPDX-License-Identifier: MIT */
#include "job/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/flow_join.h"
#include "job/job.h"
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
    if (!error)
        error = base_array_append(&f->row, &f->count, &f->room, &row, 1, sizeof row);
    if (error)
        f->ranges.count = row.range_first;
    return error;
}

/* --- Two jobs, terminal by terminal and direction by direction --- */

struct entry {
    const struct job_flow *row;
    const struct job_range *ranges;
    uint32_t terminal, side;
};

static int by_side(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return BASE_ORDER(a->terminal, b->terminal) ?: BASE_ORDER(a->row->receives, b->row->receives) ?:
           BASE_ORDER(a->side, b->side);
}

static int by_terminal(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return BASE_ORDER(a->terminal, b->terminal) ?: BASE_ORDER(a->row->receives, b->row->receives);
}

static int join_entries(struct job_flows *out, const struct entry *e, uint32_t n, uint32_t ranks)
{
    const struct job_flow **row = malloc(((size_t)n + 1) * sizeof *row);
    const struct job_range **ranges = malloc(((size_t)n + 1) * sizeof *ranges);
    int error = row && ranges ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n && !error; i++) {
        row[i] = e[i].row;
        ranges[i] = e[i].ranges;
    }
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && by_terminal(&e[i], &e[next]) == 0; next++)
            ;
        struct job_flow_batch b = { .row = row + i, .ranges = ranges + i, .count = next - i, .terminal = e[i].terminal,
                           .ranks = ranks, .receives = e[i].row->receives };
        while (b.first_side < b.count && e[i + b.first_side].side == 0)
            b.first_side++;
        error = job_flows_join_batch(out, &b);
    }
    free(row);
    free(ranges);
    return error;
}

int job_flows_join(const struct job *into, const struct job *from, const uint32_t *terminal_map, struct job_flows *out)
{
    const struct job_flows *a = &into->flows, *b = &from->flows;
    struct entry *e = malloc(((size_t)a->count + b->count + 1) * sizeof *e);
    uint32_t n = 0, ranks = into->info.ranks > from->info.ranks ? into->info.ranks : from->info.ranks;
    memset(out, 0, sizeof *out);
    if (!e)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < a->count; i++)
        e[n++] = (struct entry){ &a->row[i], a->ranges.range + a->row[i].range_first, a->row[i].terminal, 0 };
    for (uint32_t i = 0; i < b->count; i++)
        e[n++] = (struct entry){ &b->row[i], b->ranges.range + b->row[i].range_first,
                                 terminal_map ? terminal_map[b->row[i].terminal] : b->row[i].terminal, 1 };
    if (n)
        qsort(e, n, sizeof *e, by_side);
    int error = join_entries(out, e, n, ranks);
    free(e);
    if (error)
        job_flows_free(out);
    return error;
}

int job_flows_settle(struct job *j)
{
    const struct job nobody = { .info.ranks = 0 };
    struct job_flows settled;
    int error = job_flows_join(j, &nobody, NULL, &settled);
    if (error)
        return error;
    job_flows_free(&j->flows);
    j->flows = settled;
    return 0;
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
