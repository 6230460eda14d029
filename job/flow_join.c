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
    uint32_t kept = 0;
    if (n)
        qsort(pair, n, sizeof *pair, order);
    for (uint32_t i = 0; i < n; i++)
        if (kept && order(&pair[kept - 1], &pair[i]) == 0) {
            pair[kept - 1].messages += pair[i].messages;
            pair[kept - 1].bytes += pair[i].bytes;
        } else {
            pair[kept++] = pair[i];
        }
    return kept;
}

static uint32_t write_out(const struct job_flow_batch *b, struct pair *pair)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->row[i]->range_count; k++)
            for (uint64_t m = 0, size = job_range_size(&b->ranges[i][k]); m < size; m++, n++) {
                pair[n].rank = job_range_rank(&b->ranges[i][k], m);
                pair[n].peer = job_flow_peer(b->row[i], pair[n].rank, b->ranks);
                pair[n].messages = b->row[i]->messages;
                pair[n].bytes = b->row[i]->bytes;
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

/* The set of the ranks of n pairs, which may come in any order. */
static int append_pairs(struct job_flows *out, const struct job_flow_batch *b, uint32_t relation,
                        const struct pair *pair, uint32_t n, bool mean)
{
    struct job_flow row = { .terminal = b->terminal,
                            .receives = b->receives,
                            .relation = (uint8_t)relation,
                            .mean = mean,
                            .value = pair[0].value,
                            .messages = pair[0].messages,
                            .bytes = pair[0].bytes };
    struct job_member *m = malloc(n * sizeof *m);
    struct job_ranges set = { 0 };
    int error = m ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n && !error; i++) {
        m[i] = (struct job_member){ pair[i].rank, 0 };
        row.messages += mean && i ? pair[i].messages : 0;
        row.bytes += mean && i ? pair[i].bytes : 0;
    }
    if (!error)
        error = job_ranges_members(&set, m, n);
    if (!error)
        error = job_flows_append(out, row, set.range, set.count);
    free(set.range);
    free(m);
    return error;
}

/* A row for those of equal content in a relation. */
static int append_rows(struct job_flows *out, const struct job_flow_batch *b, uint32_t relation, struct pair *pair,
                       uint32_t n)
{
    int error = 0;
    arrange(pair, n, relation, b->ranks);
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && content_order(&pair[i], &pair[next]) == 0; next++)
            ;
        error = append_pairs(out, b, relation, pair + i, next - i, false);
    }
    return error;
}

static int by_value(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    return BASE_ORDER(a->value, b->value) ?: BASE_ORDER(a->rank, b->rank);
}

/* Means: by peer, or where those are too many all as one, of nobody. */
static int append_means(struct job_flows *out, const struct job_flow_batch *b, uint32_t relation, struct pair *pair,
                        uint32_t n)
{
    uint32_t values = 0, kept;
    int error = 0;
    qsort(pair, n, sizeof *pair, by_value);
    for (uint32_t i = 0; i < n; i++)
        values += !i || pair[i - 1].value != pair[i].value;
    for (uint32_t i = 0; i < n && values > FLOW_ROWS; i++)
        pair[i].value = pair[i].peer = GRAMMAR_NONE;
    kept = add_up(pair, n, by_value); /* a rank stands once in a set */
    for (uint32_t i = 0, next; i < kept && !error; i = next) {
        for (next = i + 1; next < kept && pair[next].value == pair[i].value; next++)
            ;
        error = append_pairs(out, b, relation, pair + i, next - i, true);
    }
    return error;
}

static int join_pairs(struct job_flows *out, const struct job_flow_batch *b, uint64_t members)
{
    struct pair *pair = malloc((size_t)members * sizeof *pair);
    int error = pair ? 0 : PYTHIA_ENOMEM;
    uint32_t n = error ? 0 : write_out(b, pair), best = JOB_ABSOLUTE, fewest = UINT32_MAX;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR && !error; relation <<= 1) {
        uint32_t rows = arrange(pair, n, relation, b->ranks);
        if (rows < fewest) {
            best = relation;
            fewest = rows;
        }
    }
    if (!error && fewest > FLOW_ROWS) {
        arrange(pair, n, best, b->ranks);
        error = append_means(out, b, best, pair, n);
    } else if (!error) {
        error = append_rows(out, b, best, pair, n);
    }
    free(pair);
    return error;
}

/* --- As sets --- */

struct member {
    const struct job_flow *row;
    const struct job_range *ranges;
};

static int by_row(const void *x, const void *y)
{
    const struct job_flow *a = ((const struct member *)x)->row, *b = ((const struct member *)y)->row;
    return BASE_ORDER(a->value, b->value) ?: BASE_ORDER(a->messages, b->messages) ?: BASE_ORDER(a->bytes, b->bytes);
}

/* Rows of one relation; of means those of one peer are one row, else those of equal content. */
static int join_sets(struct job_flows *out, const struct job_flow_batch *b)
{
    struct member *m = malloc(b->count * sizeof *m);
    int error = m ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < b->count && !error; i++)
        m[i] = (struct member){ b->row[i], b->ranges[i] };
    if (!error)
        qsort(m, b->count, sizeof *m, by_row);
    for (uint32_t i = 0, next; i < b->count && !error; i = next) {
        struct job_flow row = *m[i].row;
        struct job_ranges set = { 0 };
        row.terminal = b->terminal;
        error = job_ranges_union(&set, m[i].ranges, row.range_count, NULL, 0);
        for (next = i + 1;
             next < b->count && !error && (b->mean ? m[next].row->value == row.value : by_row(&m[i], &m[next]) == 0);
             next++) {
            struct job_ranges larger = { 0 };
            row.messages += b->mean ? m[next].row->messages : 0;
            row.bytes += b->mean ? m[next].row->bytes : 0;
            error = job_ranges_join(&larger, set.range, set.count, m[next].ranges, m[next].row->range_count);
            free(set.range);
            set = larger;
        }
        if (!error)
            error = job_flows_append(out, row, set.range, set.count);
        free(set.range);
    }
    free(m);
    return error;
}

/* Some rows are means, in one relation or in two: all others become means, too. Those of another relation are of
   nobody. */
static int join_means(struct job_flows *out, const struct job_flow_batch *b, uint64_t members)
{
    struct job_flows made = { 0 };
    struct job_flow_batch exact = *b, all = *b;
    uint32_t relation = 0, n = 0;
    exact.row = malloc(b->count * sizeof *exact.row);
    exact.ranges = malloc(b->count * sizeof *exact.ranges);
    struct pair *pair = malloc((size_t)members * sizeof *pair);
    int error = exact.row && exact.ranges && pair ? 0 : PYTHIA_ENOMEM;
    exact.count = 0;
    for (uint32_t i = 0; i < b->count && !error; i++) {
        struct job_flow row = *b->row[i];
        if (!row.mean) {
            exact.row[exact.count] = b->row[i];
            exact.ranges[exact.count++] = b->ranges[i];
            continue;
        }
        relation = relation ? relation : row.relation;
        if (row.relation != relation)
            row.value = GRAMMAR_NONE;
        row.relation = (uint8_t)relation;
        error = job_flows_append(&made, row, b->ranges[i], row.range_count);
    }
    if (!error && exact.count) {
        n = write_out(&exact, pair);
        arrange(pair, n, relation, b->ranks);
        error = append_means(&made, b, relation, pair, n);
    }
    all.count = made.count;
    all.row = error ? NULL : malloc(made.count * sizeof *all.row);
    all.ranges = error ? NULL : malloc(made.count * sizeof *all.ranges);
    if (!error && (!all.row || !all.ranges))
        error = PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < made.count && !error; i++) {
        all.row[i] = &made.row[i];
        all.ranges[i] = made.ranges.range + made.row[i].range_first;
    }
    if (!error)
        error = join_sets(out, &all);
    free(exact.row);
    free(exact.ranges);
    if (all.row != b->row)
        free(all.row);
    if (all.ranges != b->ranges)
        free(all.ranges);
    free(pair);
    job_flows_free(&made);
    return error;
}

static struct job_flow_batch side_of(const struct job_flow_batch *b, bool first)
{
    struct job_flow_batch side = *b;
    side.row += first ? 0 : b->first_side;
    side.ranges += first ? 0 : b->first_side;
    side.count = first ? b->first_side : b->count - b->first_side;
    return side;
}

static uint64_t members_of(const struct job_flow_batch *b)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < b->count; i++)
        members += job_ranges_size(b->ranges[i], b->row[i]->range_count);
    return members;
}

/* The rows of one side in the relation of the other: as sets, or written out. */
static int convert(struct job_flows *out, const struct job_flow_batch *b, uint32_t relation, uint64_t members)
{
    if (b->row[0]->relation == relation)
        return join_sets(out, b);
    struct pair *pair = malloc((size_t)members * sizeof *pair);
    uint32_t n = pair ? write_out(b, pair) : 0;
    int error = pair ? 0 : PYTHIA_ENOMEM;
    if (!error)
        error = append_rows(out, b, relation, pair, n);
    free(pair);
    return error;
}

/* The rows that the larger side has, if all of the other falls into them: then no relation makes fewer. 1 where it does
   not, and nothing is appended. */
static int join_into(struct job_flows *out, const struct job_flow_batch *b)
{
    struct job_flow_batch one = side_of(b, true), two = side_of(b, false), both = *b;
    uint64_t members_one = members_of(&one), members_two = members_of(&two);
    if (!one.count || !two.count)
        return 1;
    const struct job_flow_batch *large = members_one < members_two ? &two : &one, *small = large == &one ? &two : &one;
    struct job_flows fits = { 0 };
    uint32_t rows = out->count, ranges = out->ranges.count;
    int error = convert(&fits, small, large->row[0]->relation, large == &one ? members_two : members_one);
    both.count = large->count + fits.count;
    both.row = error ? NULL : malloc(both.count * sizeof *both.row);
    both.ranges = error ? NULL : malloc(both.count * sizeof *both.ranges);
    if (!error && (!both.row || !both.ranges))
        error = PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < both.count && !error; i++) {
        both.row[i] = i < large->count ? large->row[i] : &fits.row[i - large->count];
        both.ranges[i] = i < large->count ? large->ranges[i] : fits.ranges.range + both.row[i]->range_first;
    }
    if (!error)
        error = join_sets(out, &both);
    if (!error && out->count - rows != large->count) {
        out->count = rows;
        out->ranges.count = ranges;
        error = 1;
    }
    free(both.row);
    free(both.ranges);
    job_flows_free(&fits);
    return error;
}

int job_flows_join_batch(struct job_flows *out, struct job_flow_batch *b)
{
    uint64_t members = members_of(b);
    bool one_relation = true, means = true;
    for (uint32_t i = 0; i < b->count; i++) {
        one_relation &= b->row[i]->relation == b->row[0]->relation;
        b->mean |= b->row[i]->mean;
        means &= b->row[i]->mean;
    }
    if (one_relation && b->mean == means && (b->mean || members > FLOW_PAIRS))
        return join_sets(out, b);
    if (members > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    if (b->mean)
        return join_means(out, b, members);
    int error = join_into(out, b);
    return error == 1 ? join_pairs(out, b, members) : error;
}
