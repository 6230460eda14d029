/* SPDX-License-Identifier: MIT */
#include "job/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/schema.h"
#include "pythia.h"

enum { FLOW_PAIRS = 16384 /* members of rows that are written out */, FLOW_ROWS = 4096 /* of a terminal, direction */,
       FLOW_WRITTEN = 1 << 20 /* written out where two relations meet */ };

uint32_t job_flow_peer(const struct job_flow *f, uint32_t rank, uint32_t ranks)
{
    if (f->value == GRAMMAR_NONE || f->relation == JOB_ABSOLUTE || !ranks)
        return f->value;
    if (f->relation == JOB_XOR)
        return f->value ^ rank;
    return (uint32_t)(((uint64_t)rank + f->value) % ranks);
}

static uint32_t value_of(uint32_t peer, uint32_t rank, uint32_t relation, uint32_t ranks)
{
    if (peer == GRAMMAR_NONE || relation == JOB_ABSOLUTE || !ranks)
        return peer;
    if (relation == JOB_XOR)
        return peer ^ rank;
    return (uint32_t)(((uint64_t)peer + ranks - rank % ranks) % ranks);
}

/* A row with its ranks; `side`: of which of two jobs. */
struct item {
    struct job_flow row;
    struct job_set set;
    uint32_t side;
};

static uint32_t first_rank(const struct item *i)
{
    return i->set.ranges->first;
}

static int by_terminal(const struct item *a, const struct item *b)
{
    return BASE_ORDER(a->row.terminal, b->row.terminal) ?: BASE_ORDER(a->row.receives, b->row.receives);
}

BASE_COMPARISON(by_side, struct item, by_terminal(a, b) ?: BASE_UP(side))

BASE_COMPARISON(flow_by_place, struct item, BASE_ORDER(first_rank(a), first_rank(b)) ?: BASE_UP(row.value))

static int flow_by_content(const void *x, const void *y)
{
    const struct job_flow *a = &((const struct item *)x)->row, *b = &((const struct item *)y)->row;
    return BASE_ORDER(a->value, b->value) ?: BASE_ORDER(a->messages, b->messages) ?: BASE_ORDER(a->bytes, b->bytes);
}

/* --- Rows of one terminal and direction, as sets --- */

static uint64_t members_of(const struct item *item, uint32_t count)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        members += job_ranges_size(item[i].set.ranges, item[i].set.count);
    return members;
}

/* Means: by peer, or where those are too many all as one, of nobody. In the order of their content. */
static void become_means(struct item *item, uint32_t count)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++) /* by value first */
        values += !i || item[i - 1].row.value != item[i].row.value;
    for (struct item *i = item; i < item + count; i++) {
        uint64_t ranks = job_ranges_size(i->set.ranges, i->set.count);
        if (__builtin_mul_overflow(i->row.messages, ranks, &i->row.messages))
            i->row.messages = UINT64_MAX;
        if (__builtin_mul_overflow(i->row.bytes, ranks, &i->row.bytes))
            i->row.bytes = UINT64_MAX;
        i->row.mean = 1;
        i->row.value = values > FLOW_ROWS ? GRAMMAR_NONE : i->row.value;
    }
}

/* Rows of one relation; of means those of one peer are one row, else those of equal content. */
static int join_sets(struct job *made, struct item *item, uint32_t count, bool mean)
{
    int error = 0;
    BASE_SORT(item, count, flow_by_content);
    for (uint32_t i = 0, next; i < count && !error; i = next) {
        struct job_flow row = item[i].row;
        for (next = i + 1; next < count && (mean ? item[next].row.value == row.value
                                                 : flow_by_content(&item[i], &item[next]) == 0); next++) {
            row.messages += mean ? item[next].row.messages : 0;
            row.bytes += mean ? item[next].row.bytes : 0;
        }
        error = job_rows_append(made, JOB_TABLE_FLOWS, &row, &item[i].set, sizeof *item, next - i);
    }
    return error;
}

/* Of as many ranks as are not written out: the rows stay what they are, or are means. */
static int join_many(struct job *made, struct item *item, uint32_t count)
{
    uint32_t rows = 0;
    bool mean = item->row.mean;
    qsort(item, count, sizeof *item, flow_by_content);
    for (uint32_t i = 0; i < count && !mean; i++)
        rows += !i || flow_by_content(&item[i - 1], &item[i]) != 0;
    if (rows > FLOW_ROWS)
        become_means(item, count);
    return join_sets(made, item, count, mean || rows > FLOW_ROWS);
}

/* --- Written out --- */

/* Each rank and each of its peers as a row of its own. */
struct pairs {
    struct item *item;
    struct job_range *lone;
    uint32_t count;
};

static void pairs_free(struct pairs *p)
{
    free(p->item);
    free(p->lone);
}

/* With room for `more` rows behind them. */
static int write_out(struct pairs *p, const struct item *item, uint32_t count, uint32_t ranks, uint32_t more)
{
    uint64_t members = members_of(item, count);
    *p = (struct pairs){ 0 };
    if (members + more > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    p->item = malloc((size_t)(members + more + 1) * sizeof *p->item);
    p->lone = malloc((size_t)(members + 1) * sizeof *p->lone);
    if (!p->item || !p->lone)
        return PYTHIA_ENOMEM;
    for (const struct item *end = item + count; item < end; item++)
        for (uint32_t k = job_set_apart(&item->set, p->lone + p->count); k > 0; k--, p->count++) {
            struct item *to = &p->item[p->count];
            *to = *item;
            to->set = (struct job_set){ &p->lone[p->count], 1 };
            to->row.value = job_flow_peer(&item->row, first_rank(to), ranks);
            to->row.relation = JOB_ABSOLUTE;
        }
    p->count = BASE_ARRAY_JOIN(p->item, p->count, flow_by_place, into, from,
                               (into->row.messages += from->row.messages, into->row.bytes += from->row.bytes));
    return 0;
}

/* Sorts by a relation; how many rows there would be. */
static uint32_t arrange(struct pairs *p, uint32_t relation, uint32_t ranks)
{
    uint32_t rows = 0;
    for (struct item *i = p->item; i < p->item + p->count; i++) {
        uint32_t peer = job_flow_peer(&i->row, first_rank(i), ranks);
        i->row.value = value_of(peer, first_rank(i), relation, ranks);
        i->row.relation = (uint8_t)relation;
    }
    BASE_SORT(p->item, p->count, flow_by_content);
    for (uint32_t i = 0; i < p->count; i++)
        rows += !i || flow_by_content(&p->item[i - 1], &p->item[i]) != 0;
    return rows;
}

/* In the relation that makes the fewest rows. */
static int join_pairs(struct job *made, const struct item *item, uint32_t count, uint32_t ranks)
{
    struct pairs p;
    uint32_t best = JOB_ABSOLUTE, fewest = UINT32_MAX;
    int error = write_out(&p, item, count, ranks, 0);
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR && !error; relation <<= 1) {
        uint32_t rows = arrange(&p, relation, ranks);
        best = rows < fewest ? relation : best;
        fewest = rows < fewest ? rows : fewest;
    }
    if (!error) {
        arrange(&p, best, ranks);
        if (fewest > FLOW_ROWS)
            become_means(p.item, p.count);
        error = join_sets(made, p.item, p.count, fewest > FLOW_ROWS);
    }
    pairs_free(&p);
    return error;
}

/* Some rows are means, in one relation or in two, or there are too many to be written out: all others become means,
   too. Those of another relation are of nobody. */
static int join_means(struct job *made, struct item *item, uint32_t count, uint32_t ranks)
{
    struct pairs p;
    uint32_t means = 0;
    for (uint32_t i = 0; i < count; i++)
        if (item[i].row.mean) {
            struct item mean = item[i];
            item[i] = item[means];
            item[means++] = mean;
        }
    if (members_of(item + means, count - means) > FLOW_PAIRS) {
        qsort(item + means, count - means, sizeof *item, flow_by_content);
        become_means(item + means, count - means);
        means = count;
    }
    for (uint32_t i = 1; i < means; i++) {
        item[i].row.value = item[i].row.relation == item->row.relation ? item[i].row.value : GRAMMAR_NONE;
        item[i].row.relation = item->row.relation;
    }
    int error = write_out(&p, item + means, count - means, ranks, means);
    if (!error) {
        arrange(&p, item->row.relation, ranks);
        become_means(p.item, p.count);
        memcpy(p.item + p.count, item, means * sizeof *item);
        error = join_sets(made, p.item, p.count + means, true);
    }
    pairs_free(&p);
    return error;
}

/* The rows that the larger side has, if all of the other falls into them: then no relation makes fewer. 1 where it does
   not. */
static int join_into(struct job *made, const struct item *item, uint32_t count, uint32_t ranks)
{
    struct pairs p;
    uint32_t first = 0;
    while (first < count && item[first].side == item->side)
        first++;
    if (first == count)
        return 1;
    bool second = members_of(item, first) < members_of(item + first, count - first);
    const struct item *large = item + (second ? first : 0), *small = item + (second ? 0 : first);
    uint32_t larger = second ? count - first : first;
    int error = write_out(&p, small, count - larger, ranks, larger);
    if (!error) {
        memcpy(p.item + p.count, large, larger * sizeof *large);
        p.count += larger;
        error = arrange(&p, large->row.relation, ranks) == larger ? join_sets(made, p.item, p.count, false) : 1;
    }
    pairs_free(&p);
    return error;
}

/* Rows of one terminal and direction, those of side 0 first. As long as they are of few ranks they are written out and
   put together anew, so that the result depends on what they say alone; then rows of equal content are joined. */
static int join_items(struct job *made, struct item *item, uint32_t count, uint32_t ranks)
{
    bool one_relation = true, mean = false, means = true;
    for (uint32_t i = 0; i < count; i++) {
        one_relation &= item[i].row.relation == item->row.relation;
        mean |= item[i].row.mean;
        means &= item[i].row.mean;
    }
    if (one_relation && mean == means && (mean || members_of(item, count) > FLOW_PAIRS))
        return join_many(made, item, count);
    if (mean || members_of(item, count) > FLOW_WRITTEN)
        return join_means(made, item, count, ranks);
    int error = join_into(made, item, count, ranks);
    return error == 1 ? join_pairs(made, item, count, ranks) : error;
}

/* --- Two jobs, terminal by terminal and direction by direction --- */

static uint32_t items_of(const struct job *j, const uint32_t *terminal_map, uint32_t side, struct item *to)
{
    for (uint32_t i = 0; i < j->flows.count; i++) {
        const struct job_flow *row = &j->flows.row[i];
        to[i] = (struct item){ *row, { j->flows.ranges.range + row->range_first, row->range_count }, side };
        if (terminal_map)
            to[i].row.terminal = terminal_map[row->terminal];
    }
    return j->flows.count;
}

int job_flows_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    BASE_OWN struct item *item = malloc(((size_t)into->flows.count + from->flows.count + 1) * sizeof *item);
    uint32_t n = 0, ranks = into->info.ranks > from->info.ranks ? into->info.ranks : from->info.ranks;
    int error = item ? 0 : PYTHIA_ENOMEM;
    if (!error) {
        n = items_of(into, NULL, 0, item);
        n += items_of(from, maps->of[JOB_OF_TERMINALS], 1, item + n);
        qsort(item, n, sizeof *item, by_side);
    }
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && by_terminal(&item[i], &item[next]) == 0; next++)
            ;
        error = join_items(made, item + i, next - i, ranks);
    }
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
    return job_rows_append(j, JOB_TABLE_FLOWS, &row, &(struct job_set){ &at, 1 }, 0, 1);
}

/* --- Reading --- */

static int walk_row(const struct job *j, const struct job_flow *f, int (*visit)(void *, const struct job_flow_pair *),
                    void *arg)
{
    const struct job_range *r = j->flows.ranges.range + f->range_first;
    uint64_t members = job_ranges_size(r, f->range_count), at = 0;
    struct job_flow_pair pair = { .terminal = f->terminal, .receives = f->receives, .mean = f->mean,
                                  .messages = f->messages, .bytes = f->bytes };
    int stop = 0;
    for (struct job_walk w = { .range = r, .left = f->range_count }; !stop && job_walk_next(&w); at++) {
        pair.rank = w.at.rank;
        pair.peer = job_flow_peer(f, pair.rank, j->info.ranks);
        if (f->mean) { /* shares that add up */
            pair.messages = f->messages / members + (at < f->messages % members);
            pair.bytes = f->bytes / members + (at < f->bytes % members);
        }
        stop = visit(arg, &pair);
    }
    return stop;
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
        if ((f->relation != JOB_ABSOLUTE && f->relation != JOB_OFFSET && f->relation != JOB_XOR) ||
            (f->value != GRAMMAR_NONE && f->relation != JOB_XOR && f->value >= j->info.ranks))
            return job_refuse(why, size, "messages %u: out of range", i);
        if (j->flows.ranges.range[f->range_first].thread)
            return job_refuse(why, size, "messages %u: its ranks", i);
        if (i && (f[-1].terminal > f->terminal || (f[-1].terminal == f->terminal && f[-1].receives > f->receives)))
            return job_refuse(why, size, "messages %u: out of order", i);
    }
    return 0;
}
