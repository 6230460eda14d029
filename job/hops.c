/* SPDX-License-Identifier: MIT */
#include "job/hops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/job.h"
#include "pythia.h"

enum { HOP_COUNTS = 16 };

void job_hops_free(struct job_hops *h)
{
    free(h->stop);
    free(h->hop);
    free(h->ranges.range);
    memset(h, 0, sizeof *h);
}

/* --- Stops --- */

struct stop {
    struct job_stop stop;
    uint32_t *number; /* where who counts it so is told its new number */
};

static int stop_order(const struct job_stop *a, const struct job_stop *b)
{
    return BASE_ORDER(a->terminal, b->terminal) ?: BASE_ORDER(a->path, b->path);
}

static int by_stop(const void *x, const void *y)
{
    return stop_order(&((const struct stop *)x)->stop, &((const struct stop *)y)->stop);
}

static uint32_t renamed(const uint32_t *map, uint32_t number)
{
    return map && number != GRAMMAR_NONE ? map[number] : number;
}

static int join_stops(struct job_hops *out, struct stop *s, uint32_t n)
{
    int error = base_array_room(&out->stop, &out->stop_room, n, sizeof *out->stop);
    if (!error && n)
        qsort(s, n, sizeof *s, by_stop);
    for (uint32_t i = 0; i < n && !error; i++) {
        struct job_stop *last = out->stop_count ? &out->stop[out->stop_count - 1] : NULL;
        if (last && !stop_order(last, &s[i].stop)) {
            last->count += s[i].stop.count;
            last->gap_ns += s[i].stop.gap_ns;
            last->duration_ns += s[i].stop.duration_ns;
        } else {
            out->stop[out->stop_count++] = s[i].stop;
        }
        *s[i].number = out->stop_count - 1;
    }
    return error;
}

/* --- Hops --- */

struct hop {
    struct job_hop hop;
    const struct job_range *ranges;
};

static int by_ends(const struct hop *a, const struct hop *b)
{
    return BASE_ORDER(a->hop.from, b->hop.from) ?: BASE_ORDER(a->hop.to, b->hop.to);
}

static int by_hop(const void *x, const void *y)
{
    const struct hop *a = x, *b = y;
    return by_ends(a, b) ?: BASE_ORDER(a->hop.mean, b->hop.mean) ?: BASE_ORDER(a->hop.count, b->hop.count);
}

/* A row of some that differ in their streams alone; where they become a mean, in their counts, too. */
static int append_row(struct job_hops *out, const struct hop *h, uint32_t n, bool mean)
{
    struct job_ranges set = { 0 };
    struct job_hop row = { .from = h->hop.from, .to = h->hop.to, .mean = mean, .count = mean ? 0 : h->hop.count };
    int error = 0;
    for (uint32_t i = 0; i < n && !error; i++) {
        struct job_ranges larger = { 0 };
        if (mean)
            row.count += h[i].hop.mean ? h[i].hop.count
                                       : h[i].hop.count * job_ranges_size(h[i].ranges, h[i].hop.range_count);
        error = job_ranges_join(&larger, set.range, set.count, h[i].ranges, h[i].hop.range_count);
        free(set.range);
        set = larger;
    }
    if (!error)
        error = base_array_room(&out->hop, &out->hop_room, (uint64_t)out->hop_count + 1, sizeof row);
    if (!error)
        error = base_array_room(&out->ranges.range, &out->ranges.room, (uint64_t)out->ranges.count + set.count,
                                sizeof *set.range);
    if (!error) {
        row.range_first = out->ranges.count;
        row.range_count = set.count;
        memcpy(out->ranges.range + out->ranges.count, set.range, set.count * sizeof *set.range);
        out->ranges.count += set.count;
        out->hop[out->hop_count++] = row;
    }
    free(set.range);
    return error;
}

/* All rows of one hop. */
static int join_counts(struct job_hops *out, const struct hop *h, uint32_t n)
{
    uint32_t counts = 0;
    bool mean = false;
    int error = 0;
    for (uint32_t i = 0; i < n; i++) {
        mean |= h[i].hop.mean;
        counts += !i || h[i].hop.count != h[i - 1].hop.count;
    }
    if (mean || counts > HOP_COUNTS)
        return append_row(out, h, n, true);
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && h[next].hop.count == h[i].hop.count; next++)
            ;
        error = append_row(out, h + i, next - i, false);
    }
    return error;
}

static int join_hops(struct job_hops *out, struct hop *h, uint32_t n)
{
    int error = 0;
    if (n)
        qsort(h, n, sizeof *h, by_hop);
    for (uint32_t i = 0, next; i < n && !error; i = next) {
        for (next = i + 1; next < n && !by_ends(&h[i], &h[next]); next++)
            ;
        error = join_counts(out, h + i, next - i);
    }
    return error;
}

/* --- Two tables --- */

struct side { const struct job_hops *hops; const uint32_t *terminal_map, *callsite_map; };

static int join(const struct side *side, struct job_hops *out)
{
    uint64_t stops = (uint64_t)side[0].hops->stop_count + side[1].hops->stop_count,
             hops = (uint64_t)side[0].hops->hop_count + side[1].hops->hop_count;
    memset(out, 0, sizeof *out);
    if (stops > BASE_ARRAY_LIMIT || hops > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    struct stop *stop = malloc((stops + 1) * sizeof *stop);
    struct hop *hop = malloc((hops + 1) * sizeof *hop);
    uint32_t *number = malloc((stops + 1) * sizeof *number), n = 0, m = 0;
    int error = stop && hop && number ? 0 : PYTHIA_ENOMEM;
    for (int k = 0; k < 2 && !error; k++)
        for (uint32_t i = 0; i < side[k].hops->stop_count; i++, n++) {
            stop[n] = (struct stop){ side[k].hops->stop[i], &number[n] };
            stop[n].stop.terminal = renamed(side[k].terminal_map, stop[n].stop.terminal);
            stop[n].stop.path = renamed(side[k].callsite_map, stop[n].stop.path);
        }
    if (!error)
        error = join_stops(out, stop, n);
    for (int k = 0; k < 2 && !error; k++)
        for (uint32_t i = 0, first = k ? side[0].hops->stop_count : 0; i < side[k].hops->hop_count; i++, m++) {
            hop[m] = (struct hop){ side[k].hops->hop[i],
                                   side[k].hops->ranges.range + side[k].hops->hop[i].range_first };
            hop[m].hop.from = renamed(number + first, hop[m].hop.from);
            hop[m].hop.to = number[first + hop[m].hop.to];
        }
    if (!error)
        error = join_hops(out, hop, m);
    free(stop);
    free(hop);
    free(number);
    if (error)
        job_hops_free(out);
    return error;
}

int job_hops_join(const struct job *into, const struct job *from, const uint32_t *terminal_map,
                  const uint32_t *callsite_map, struct job_hops *out)
{
    const struct side side[2] = { { &into->hops, NULL, NULL }, { &from->hops, terminal_map, callsite_map } };
    return join(side, out);
}

int job_hops_add(struct job *j, uint32_t rank, uint32_t thread, const struct job_hops *own)
{
    struct job_range here = { .first = rank, .count = 1, .stride = 1, .thread = thread };
    struct job_hops one = *own, both;
    one.ranges = (struct job_ranges){ &here, 1, 1 };
    for (uint32_t i = 0; i < own->hop_count; i++) {
        one.hop[i].range_first = 0;
        one.hop[i].range_count = 1;
        one.hop[i].mean = 0;
    }
    const struct side side[2] = { { &j->hops, NULL, NULL }, { &one, NULL, NULL } };
    int error = join(side, &both);
    if (error)
        return error;
    job_hops_free(&j->hops);
    j->hops = both;
    return 0;
}

int job_hops_check(const struct job *j, char *why, size_t size)
{
    const struct job_hops *h = &j->hops;
    for (uint32_t i = 0; i < h->hop_count; i++) {
        const struct job_hop *p = &h->hop[i];
        if (!p->range_count || !job_ranges_canonical(h->ranges.range + p->range_first, p->range_count))
            return job_refuse(why, size, "hop %u: its streams", i);
        if (i && (p[-1].from > p->from || (p[-1].from == p->from && p[-1].to > p->to)))
            return job_refuse(why, size, "hop %u: out of order", i);
    }
    return 0;
}
