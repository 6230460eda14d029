/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/schema.h"
#include "pythia.h"

enum { HOP_COUNTS = 16 };

void job_hops_free(struct job_hops *h)
{
    free(h->stop);
    free(h->hop);
    free(h->ranges.range);
    memset(h, 0, sizeof *h);
}

/* --- Hops --- */

struct hop {
    struct job_hop hop;
    struct job_set set;
};

static int by_ends(const struct hop *a, const struct hop *b)
{
    return BASE_ORDER(a->hop.from, b->hop.from) ?: BASE_ORDER(a->hop.to, b->hop.to);
}

BASE_COMPARISON(by_hop, struct hop, by_ends(a, b) ?: BASE_UP(hop.mean) ?: BASE_UP(hop.count))

/* A row of some that differ in their streams alone; where they become a mean, in their counts, too. */
static int append_row(struct job *made, const struct hop *h, uint32_t n, bool mean)
{
    struct job_hop row = { .from = h->hop.from, .to = h->hop.to, .mean = mean, .count = mean ? 0 : h->hop.count };
    for (uint32_t i = 0; i < n && mean; i++)
        row.count += h[i].hop.mean ? h[i].hop.count
                                   : h[i].hop.count * job_ranges_size(h[i].set.ranges, h[i].set.count);
    return job_rows_append(made, JOB_TABLE_HOPS, &row, &h->set, sizeof *h, n);
}

/* All rows of one hop. */
static int join_counts(struct job *made, const struct hop *h, uint32_t n)
{
    uint32_t counts = 0;
    bool mean = false;
    int error = 0;
    for (uint32_t i = 0; i < n; i++) {
        mean |= h[i].hop.mean;
        counts += !i || h[i].hop.count != h[i - 1].hop.count;
    }
    if (mean || counts > HOP_COUNTS)
        return append_row(made, h, n, true);
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && h[next].hop.count == h[i].hop.count; next++)
            ;
        error = append_row(made, h + i, next - i, false);
    }
    return error;
}

static int join_hops(struct job *made, struct hop *h, uint32_t n)
{
    int error = 0;
    BASE_SORT(h, n, by_hop);
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && !by_ends(&h[i], &h[next]); next++)
            ;
        error = join_counts(made, h + i, next - i);
    }
    return error;
}

/* --- Two tables --- */

static int stop_order(const struct job_stop *a, const struct job_stop *b)
{
    return BASE_ORDER(a->terminal, b->terminal) ?: BASE_ORDER(a->path, b->path);
}

/* Hops by the numbers that their stops have among all. 0 or PYTHIA_ENOMEM. */
static int number_hops(const struct job_hops *side, const struct job_maps *maps, const struct job_hops *all,
                       struct hop *hop)
{
    uint32_t *number = malloc(((size_t)side->stop_count + 1) * sizeof *number);
    const struct job_maps stops = { { [JOB_OF_STOPS] = number } };
    for (uint32_t i = 0; number && i < side->stop_count; i++) {
        struct job_stop s = side->stop[i];
        job_row_rename(JOB_TABLE_STOPS, &s, maps);
        number[i] = BASE_ARRAY_PLACE(all->stop_count, k, stop_order(&all->stop[k], &s) < 0);
    }
    for (uint32_t i = 0; number && i < side->hop_count; i++) {
        hop[i] = (struct hop){ side->hop[i],
                              { side->ranges.range + side->hop[i].range_first, side->hop[i].range_count } };
        job_row_rename(JOB_TABLE_HOPS, &hop[i].hop, &stops);
    }
    free(number);
    return number ? 0 : PYTHIA_ENOMEM;
}

int job_hops_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    static const struct job_maps same;
    const struct job_hops *a = &into->hops, *b = &from->hops;
    uint64_t hops = (uint64_t)a->hop_count + b->hop_count;
    BASE_OWN struct hop *hop = malloc((hops + 1) * sizeof *hop);
    int error = hops > BASE_ARRAY_LIMIT ? PYTHIA_ELIMIT : hop ? 0 : PYTHIA_ENOMEM;
    error = error ?: job_rows_join(into, from, JOB_TABLE_STOPS, maps, made);
    error = error ?: number_hops(a, &same, &made->hops, hop);
    error = error ?: number_hops(b, maps, &made->hops, hop + a->hop_count);
    error = error ?: join_hops(made, hop, (uint32_t)hops);
    return error;
}

int job_hops_add(struct job *j, uint32_t rank, uint32_t thread, const struct job_hops *own)
{
    struct job_range here = { .first = rank, .count = 1, .stride = 1, .thread = thread };
    struct job one = { .hops = *own };
    one.hops.ranges = (struct job_ranges){ &here, 1, 1 };
    for (uint32_t i = 0; i < own->hop_count; i++) {
        own->hop[i].range_first = 0;
        own->hop[i].range_count = 1;
        own->hop[i].mean = 0;
    }
    return job_rows_take(j, &one, job_hops_join, JOB_TABLE_STOPS, JOB_TABLE_HOP_RANGES);
}

int job_hops_check(const struct job *j, char *why, size_t size)
{
    const struct job_hops *h = &j->hops;
    for (uint32_t i = 0; i < h->hop_count; i++) {
        const struct job_hop *p = &h->hop[i];
        if (i && (p[-1].from > p->from || (p[-1].from == p->from && p[-1].to > p->to)))
            return job_refuse(why, size, "hop %u: out of order", i);
    }
    return 0;
}
