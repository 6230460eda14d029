/* SPDX-License-Identifier: MIT */
#include "job/flow_join.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "job/job.h"
#include "pythia.h"

enum { FLOW_PAIRS = 16384 /* members of rows that are written out */, FLOW_ROWS = 4096 };

/* One rank and one of its peers. */
struct pair {
    uint32_t rank, peer;
    uint32_t value; /* as a relation says it */
    uint64_t messages, bytes;
};

static uint32_t value_of(uint32_t peer, uint32_t rank, uint32_t relation, uint32_t ranks)
{
    if (peer == GRAMMAR_NONE || relation == JOB_ABSOLUTE || !ranks)
        return peer;
    if (relation == JOB_XOR)
        return peer ^ rank;
    return (uint32_t)(((uint64_t)peer + ranks - rank % ranks) % ranks);
}

/* --- Written out --- */

static int by_place(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->peer, b->peer);
}

static int content_order(const struct pair *a, const struct pair *b)
{
    return BASE_ORDER(a->value, b->value) ?: BASE_ORDER(a->messages, b->messages) ?: BASE_ORDER(a->bytes, b->bytes);
}

static int by_content(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    return content_order(a, b) ?: BASE_ORDER(a->rank, b->rank);
}

/* Sorts; those of which the order says that they are equal become one. How many are left. */
static uint32_t add_up(struct pair *pair, uint32_t n, int (*order)(const void *, const void *))
{
    return BASE_ARRAY_JOIN(pair, n, order, into, from,
                           (into->messages += from->messages, into->bytes += from->bytes));
}

static uint32_t write_out(const struct job_flow_item *item, uint32_t count, uint32_t ranks, struct pair *pair)
{
    uint32_t n = 0;
    for (const struct job_flow_item *end = item + count; item < end; item++)
        for (uint32_t k = 0; k < item->row.range_count; k++)
            for (uint64_t m = 0, size = job_range_size(&item->ranges[k]); m < size; m++, n++) {
                pair[n].rank = job_range_rank(&item->ranges[k], m);
                pair[n].peer = job_flow_peer(&item->row, pair[n].rank, ranks);
                pair[n].messages = item->row.messages;
                pair[n].bytes = item->row.bytes;
            }
    return add_up(pair, n, by_place);
}

/* Sorts by a relation; how many rows there would be. */
static uint32_t arrange(struct pair *pair, uint32_t n, uint32_t relation, uint32_t ranks)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < n; i++)
        pair[i].value = value_of(pair[i].peer, pair[i].rank, relation, ranks);
    if (n)
        qsort(pair, n, sizeof *pair, by_content);
    for (uint32_t i = 0; i < n; i++)
        rows += !i || content_order(&pair[i - 1], &pair[i]) != 0;
    return rows;
}

/* A row like `row` for the ranks of n pairs. */
static int append_pairs(struct job_flows *out, struct job_flow row, const struct pair *pair, uint32_t n)
{
    struct job_member *m = malloc(n * sizeof *m);
    struct job_ranges set = { 0 };
    int error = m ? 0 : PYTHIA_ENOMEM;
    row.value = pair[0].value;
    row.messages = row.bytes = 0;
    for (uint32_t i = 0; i < n && !error; i++) {
        m[i] = (struct job_member){ pair[i].rank, 0 };
        row.messages += row.mean || !i ? pair[i].messages : 0;
        row.bytes += row.mean || !i ? pair[i].bytes : 0;
    }
    error = error ?: job_ranges_members(&set, m, n);
    error = error ?: job_flows_append(out, row, set.range, set.count);
    free(set.range);
    free(m);
    return error;
}

/* A row for those that the order holds for equal, ranks aside. */
static int append_groups(struct job_flows *out, struct job_flow row, const struct pair *pair, uint32_t n,
                         int (*order)(const struct pair *a, const struct pair *b))
{
    int error = 0;
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && order(&pair[i], &pair[next]) == 0; next++)
            ;
        error = append_pairs(out, row, pair + i, next - i);
    }
    return error;
}

static int append_rows(struct job_flows *out, struct job_flow row, struct pair *pair, uint32_t n, uint32_t ranks)
{
    row.mean = 0;
    arrange(pair, n, row.relation, ranks);
    return append_groups(out, row, pair, n, content_order);
}

static int value_order(const struct pair *a, const struct pair *b)
{
    return BASE_ORDER(a->value, b->value);
}

static int by_value(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    return value_order(a, b) ?: BASE_ORDER(a->rank, b->rank);
}

/* Means: by peer, or where those are too many all as one, of nobody. */
static int append_means(struct job_flows *out, struct job_flow row, struct pair *pair, uint32_t n, uint32_t ranks)
{
    uint32_t values = 0;
    row.mean = 1;
    arrange(pair, n, row.relation, ranks); /* by value first */
    for (uint32_t i = 0; i < n; i++)
        values += !i || pair[i - 1].value != pair[i].value;
    for (uint32_t i = 0; i < n && values > FLOW_ROWS; i++)
        pair[i].value = pair[i].peer = GRAMMAR_NONE;
    return append_groups(out, row, pair, add_up(pair, n, by_value), value_order); /* a rank stands once in a set */
}

static int join_pairs(struct job_flows *out, const struct job_flow_item *item, uint32_t count, uint32_t ranks,
                      uint64_t members)
{
    struct pair *pair = malloc((size_t)members * sizeof *pair);
    uint32_t n = pair ? write_out(item, count, ranks, pair) : 0, fewest = UINT32_MAX;
    struct job_flow row = item->row;
    int error = PYTHIA_ENOMEM;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR && pair; relation <<= 1) {
        uint32_t rows = arrange(pair, n, relation, ranks);
        if (rows < fewest) {
            row.relation = (uint8_t)relation;
            fewest = rows;
        }
    }
    if (pair)
        error = (fewest > FLOW_ROWS ? append_means : append_rows)(out, row, pair, n, ranks);
    free(pair);
    return error;
}

/* --- As sets --- */

static int by_row(const void *x, const void *y)
{
    const struct job_flow *a = &((const struct job_flow_item *)x)->row, *b = &((const struct job_flow_item *)y)->row;
    return BASE_ORDER(a->value, b->value) ?: BASE_ORDER(a->messages, b->messages) ?: BASE_ORDER(a->bytes, b->bytes);
}

/* Rows of one relation; of means those of one peer are one row, else those of equal content. */
static int join_sets(struct job_flows *out, struct job_flow_item *item, uint32_t count, bool mean)
{
    int error = 0;
    if (count)
        qsort(item, count, sizeof *item, by_row);
    for (uint32_t i = 0, next; i < count && !error; i = next) {
        struct job_flow row = item[i].row;
        struct job_ranges set = { 0 };
        error = job_ranges_add(&set, item[i].ranges, row.range_count);
        for (next = i + 1; next < count && !error &&
                           (mean ? item[next].row.value == row.value : by_row(&item[i], &item[next]) == 0); next++) {
            row.messages += mean ? item[next].row.messages : 0;
            row.bytes += mean ? item[next].row.bytes : 0;
            error = job_ranges_add(&set, item[next].ranges, item[next].row.range_count);
        }
        error = error ?: job_flows_append(out, row, set.range, set.count);
        free(set.range);
    }
    return error;
}

/* The same of rows and `more`. */
static int join_all(struct job_flows *out, const struct job_flow_item *item, uint32_t count,
                    const struct job_flows *more, bool mean)
{
    struct job_flow_item *all = malloc(((size_t)count + more->count + 1) * sizeof *all);
    if (!all)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        all[i] = item[i];
    int error = join_sets(out, all, count + job_flows_items(more, NULL, 0, all + count), mean);
    free(all);
    return error;
}

/* Some rows are means, in one relation or in two: all others become means, too. Those of another relation are of
   nobody. */
static int join_means(struct job_flows *out, struct job_flow_item *item, uint32_t count, uint32_t ranks,
                      uint64_t members)
{
    struct job_flows made = { 0 };
    struct job_flow like = { 0 };
    struct pair *pair = malloc((size_t)members * sizeof *pair);
    uint32_t exact = 0;
    int error = pair ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < count && !error; i++) {
        struct job_flow row = item[i].row;
        if (!row.mean) {
            item[exact++] = item[i];
            continue;
        }
        if (!like.relation)
            like = row;
        if (row.relation != like.relation)
            row.value = GRAMMAR_NONE;
        row.relation = like.relation;
        error = job_flows_append(&made, row, item[i].ranges, row.range_count);
    }
    if (!error && exact)
        error = append_means(&made, like, pair, write_out(item, exact, ranks, pair), ranks);
    error = error ?: join_all(out, NULL, 0, &made, true);
    free(pair);
    job_flows_free(&made);
    return error;
}

static uint64_t members_of(const struct job_flow_item *item, uint32_t count)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        members += job_ranges_size(item[i].ranges, item[i].row.range_count);
    return members;
}

/* The rows of one side in the relation of the other: as sets, or written out. */
static int convert(struct job_flows *out, struct job_flow_item *item, uint32_t count, uint32_t ranks, uint8_t relation)
{
    struct job_flow row = item->row;
    if (row.relation == relation)
        return join_sets(out, item, count, false);
    struct pair *pair = malloc((size_t)members_of(item, count) * sizeof *pair);
    row.relation = relation;
    int error = pair ? append_rows(out, row, pair, write_out(item, count, ranks, pair), ranks) : PYTHIA_ENOMEM;
    free(pair);
    return error;
}

/* The rows that the larger side has, if all of the other falls into them: then no relation makes fewer. 1 where it does
   not, and nothing is appended. */
static int join_into(struct job_flows *out, struct job_flow_item *item, uint32_t count, uint32_t ranks)
{
    struct job_flows fits = { 0 };
    uint32_t first = 0, rows = out->count, ranges = out->ranges.count;
    while (first < count && item[first].side == item->side)
        first++;
    if (first == count)
        return 1;
    bool second = members_of(item, first) < members_of(item + first, count - first);
    struct job_flow_item *large = item + (second ? first : 0), *small = item + (second ? 0 : first);
    uint32_t larger = second ? count - first : first;
    int error = convert(&fits, small, count - larger, ranks, large->row.relation);
    error = error ?: join_all(out, large, larger, &fits, false);
    if (!error && out->count - rows != larger) {
        out->count = rows;
        out->ranges.count = ranges;
        error = 1;
    }
    job_flows_free(&fits);
    return error;
}

int job_flows_join_items(struct job_flows *out, struct job_flow_item *item, uint32_t count, uint32_t ranks)
{
    uint64_t members = members_of(item, count);
    bool one_relation = true, mean = false, means = true;
    for (uint32_t i = 0; i < count; i++) {
        one_relation &= item[i].row.relation == item->row.relation;
        mean |= item[i].row.mean;
        means &= item[i].row.mean;
    }
    if (one_relation && mean == means && (mean || members > FLOW_PAIRS))
        return join_sets(out, item, count, mean);
    if (members > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    if (mean)
        return join_means(out, item, count, ranks, members);
    int error = join_into(out, item, count, ranks);
    return error == 1 ? join_pairs(out, item, count, ranks, members) : error;
}
