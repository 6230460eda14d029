/* SPDX-License-Identifier: MIT */
#include "job/binding.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/schema.h"
#include "pythia.h"

struct item { struct job_binding row; struct job_set set; };

static int by_row(const void *x, const void *y)
{
    const struct job_binding *a = &((const struct item *)x)->row, *b = &((const struct item *)y)->row;
    return BASE_ORDER(a->processors, b->processors) ?: BASE_ORDER(a->each, b->each) ?:
           BASE_ORDER(a->threads, b->threads);
}

static void take(const struct job_bindings *from, const struct job_maps *maps, struct item *item)
{
    for (uint32_t i = 0; i < from->count; i++) {
        item[i] = (struct item){ from->row[i],
                                 { from->ranges.range + from->row[i].range_first, from->row[i].range_count } };
        job_row_rename(JOB_TABLE_BINDINGS, &item[i].row, maps);
    }
}

int job_bindings_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    static const struct job_maps same;
    uint64_t rows = (uint64_t)into->bindings.count + from->bindings.count;
    struct item *item = malloc((rows + 1) * sizeof *item);
    int error = rows > BASE_ARRAY_LIMIT ? PYTHIA_ELIMIT : item ? 0 : PYTHIA_ENOMEM;
    if (!error) {
        take(&into->bindings, &same, item);
        take(&from->bindings, maps, item + into->bindings.count);
        qsort(item, rows, sizeof *item, by_row);
    }
    for (uint64_t i = 0, next; i < rows && !error; i = next) {
        for (next = i + 1; next < rows && by_row(&item[i], &item[next]) == 0; next++)
            ;
        struct job_binding row = item[i].row;
        for (uint64_t k = i + 1; k < next; k++) {
            row.busy_ns += item[k].row.busy_ns;
            row.own_ns += item[k].row.own_ns;
            row.wall_ns += item[k].row.wall_ns;
        }
        error = job_rows_append(made, JOB_TABLE_BINDINGS, JOB_TABLE_BINDING_RANGES, &row, &item[i].set, sizeof *item,
                                (uint32_t)(next - i));
    }
    free(item);
    return error;
}

int job_binding_add(struct job *j, uint32_t rank, const char *processors, const char *each,
                    const struct job_binding *like)
{
    struct job_range here = { .first = rank, .count = 1, .stride = 1 };
    struct job_set set = { &here, 1 };
    struct job_binding row = *like;
    row.processors = job_string(j, processors);
    row.each = each ? job_string(j, each) : GRAMMAR_NONE;
    return row.processors == GRAMMAR_NONE || (each && row.each == GRAMMAR_NONE)
               ? PYTHIA_ENOMEM
               : job_rows_append(j, JOB_TABLE_BINDINGS, JOB_TABLE_BINDING_RANGES, &row, &set, sizeof set, 1);
}

int job_bindings_check(const struct job *j, char *why, size_t size)
{
    const struct job_bindings *b = &j->bindings;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct job_binding *r = &b->row[i];
        if (!r->range_count || !job_ranges_within(&b->ranges, r->range_first, r->range_count) ||
            !job_ranges_canonical(b->ranges.range + r->range_first, r->range_count, j->info.ranks))
            return job_refuse(why, size, "binding %u: its ranks", i);
        if (i && by_row(&(struct item){ .row = r[-1] }, &(struct item){ .row = *r }) >= 0)
            return job_refuse(why, size, "binding %u: out of order", i);
    }
    return 0;
}
