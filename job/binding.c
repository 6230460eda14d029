/* SPDX-License-Identifier: MIT */
#include "job/binding.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/schema.h"
#include "pythia.h"

/* A row of one of the tables, with its ranks. */
struct item { union { struct job_binding binding; struct job_host host; } row; struct job_set set; };

/* What these tables differ in. */
struct table {
    enum job_tables rows, ranges;
    const char *name;
    int (*order)(const void *a, const void *b); /* of items */
    void (*add)(struct item *into, const struct item *from);
};

static int by_binding(const void *x, const void *y)
{
    const struct job_binding *a = &((const struct item *)x)->row.binding, *b = &((const struct item *)y)->row.binding;
    return BASE_ORDER(a->processors, b->processors) ?: BASE_ORDER(a->each, b->each) ?:
           BASE_ORDER(a->threads, b->threads);
}

static int by_host(const void *x, const void *y)
{
    const struct job_host *a = &((const struct item *)x)->row.host, *b = &((const struct item *)y)->row.host;
    return BASE_ORDER(a->cores, b->cores) ?: BASE_ORDER(a->memory, b->memory);
}

static void add_binding(struct item *into, const struct item *from)
{
    into->row.binding.busy_ns += from->row.binding.busy_ns;
    into->row.binding.own_ns += from->row.binding.own_ns;
    into->row.binding.wall_ns += from->row.binding.wall_ns;
}

static void add_host(struct item *into, const struct item *from)
{
    (void)into, (void)from;
}

static const struct table bindings = { JOB_TABLE_BINDINGS, JOB_TABLE_BINDING_RANGES, "binding", by_binding,
                                       add_binding };
static const struct table hosts = { JOB_TABLE_HOSTS, JOB_TABLE_HOST_RANGES, "host", by_host, add_host };

static const struct job_ranges *ranges_of(const struct job *j, const struct table *t)
{
    return t == &hosts ? &j->hosts.ranges : &j->bindings.ranges;
}

static struct item item_of(const struct job *j, const struct table *t, uint32_t i)
{
    const struct job_range *range = ranges_of(j, t)->range;
    struct item item = { .set = { 0 } };
    if (t == &hosts) {
        item.row.host = j->hosts.row[i];
        item.set = (struct job_set){ range + item.row.host.range_first, item.row.host.range_count };
    } else {
        item.row.binding = j->bindings.row[i];
        item.set = (struct job_set){ range + item.row.binding.range_first, item.row.binding.range_count };
    }
    return item;
}

static uint32_t count_of(const struct job *j, const struct table *t)
{
    return t == &hosts ? j->hosts.count : j->bindings.count;
}

static void binding_take(const struct job *from, const struct table *t, const struct job_maps *maps, struct item *item)
{
    for (uint32_t i = 0; i < count_of(from, t); i++) {
        item[i] = item_of(from, t, i);
        job_row_rename(t->rows, &item[i].row, maps);
    }
}

static int binding_join(const struct job *into, const struct job *from, const struct table *t,
                        const struct job_maps *maps, struct job *made)
{
    static const struct job_maps same;
    uint64_t rows = (uint64_t)count_of(into, t) + count_of(from, t);
    BASE_OWN struct item *item = malloc((rows + 1) * sizeof *item);
    int error = rows > BASE_ARRAY_LIMIT ? PYTHIA_ELIMIT : item ? 0 : PYTHIA_ENOMEM;
    if (!error) {
        binding_take(into, t, &same, item);
        binding_take(from, t, maps, item + count_of(into, t));
        qsort(item, rows, sizeof *item, t->order);
    }
    for (uint64_t i = 0, next; i < rows && !error; i = next) {
        struct item all = item[i];
        for (next = i + 1; next < rows && t->order(&item[i], &item[next]) == 0; next++)
            t->add(&all, &item[next]);
        error = job_rows_append(made, t->rows, t->ranges, &all.row, &item[i].set, sizeof *item, (uint32_t)(next - i));
    }
    return error;
}

int job_bindings_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    return binding_join(into, from, &bindings, maps, made);
}

int job_hosts_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    return binding_join(into, from, &hosts, maps, made);
}

static int binding_append(struct job *j, const struct table *t, uint32_t rank, struct item *item)
{
    struct job_range here = { .first = rank, .count = 1, .stride = 1 };
    struct job_set set = { &here, 1 };
    return job_rows_append(j, t->rows, t->ranges, &item->row, &set, sizeof set, 1);
}

int job_binding_add(struct job *j, uint32_t rank, const char *processors, const char *each,
                    const struct job_binding *like)
{
    struct item item = { .row.binding = *like };
    item.row.binding.processors = job_string(j, processors);
    item.row.binding.each = each ? job_string(j, each) : GRAMMAR_NONE;
    return item.row.binding.processors == GRAMMAR_NONE || (each && item.row.binding.each == GRAMMAR_NONE)
               ? PYTHIA_ENOMEM : binding_append(j, &bindings, rank, &item);
}

int job_host_add(struct job *j, uint32_t rank, const char *cores, const char *memory)
{
    struct item item = { .row.host = { .cores = job_string(j, cores), .memory = job_string(j, memory) } };
    return item.row.host.cores == GRAMMAR_NONE || item.row.host.memory == GRAMMAR_NONE
               ? PYTHIA_ENOMEM : binding_append(j, &hosts, rank, &item);
}

static int check(const struct job *j, const struct table *t, char *why, size_t size)
{
    const struct job_ranges *all = ranges_of(j, t);
    for (uint32_t i = 0; i < count_of(j, t); i++) {
        struct item is = item_of(j, t, i), before = i ? item_of(j, t, i - 1) : is;
        uint32_t first = (uint32_t)(is.set.ranges - all->range);
        if (!is.set.count || !job_ranges_within(all, first, is.set.count) ||
            !job_ranges_canonical(is.set.ranges, is.set.count, j->info.ranks))
            return job_refuse(why, size, "%s %u: its ranks", t->name, i);
        if (i && t->order(&before, &is) >= 0)
            return job_refuse(why, size, "%s %u: out of order", t->name, i);
    }
    return 0;
}

int job_bindings_check(const struct job *j, char *why, size_t size)
{
    return check(j, &bindings, why, size);
}

int job_hosts_check(const struct job *j, char *why, size_t size)
{
    return check(j, &hosts, why, size);
}
