/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "job/starts.h"

#include <stdlib.h>
#include <string.h>

#include "job/check.h"
#include "job/intern.h"
#include "job/schema.h"
#include "pythia.h"

enum { STARTS_SEED = 0x57a7 };

int64_t job_starts_name(const struct job_start_run *runs, uint32_t count)
{
    uint64_t hash = job_hash_bytes(STARTS_SEED, runs, count * sizeof *runs).low;
    return -(int64_t)(hash >> 2) - 1;
}

static uint32_t place_of(const struct job_starts *s, int64_t name)
{
    return BASE_ARRAY_PLACE(s->count, i, s->list[i].name < name);
}

const struct job_start_run *job_starts_find(const struct job *j, int64_t name, uint32_t *count)
{
    const struct job_starts *s = &j->starts;
    uint32_t at = place_of(s, name);
    if (at == s->count || s->list[at].name != name)
        return NULL;
    *count = s->list[at].count;
    return s->runs + s->list[at].first;
}

static int append(struct job_starts *s, int64_t name, const struct job_start_run *runs, uint32_t count)
{
    struct job_start_list list = { name, s->run_count, count };
    int error = base_array_append(&s->runs, &s->run_count, &s->run_room, runs, count, sizeof *runs);
    return error ?: base_array_append(&s->list, &s->count, &s->room, &list, 1, sizeof list);
}

/* In the order of their names. */
int job_starts_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made)
{
    const struct job_starts *a = &into->starts, *b = &from->starts;
    uint32_t i = 0, k = 0;
    int error = 0;
    (void)maps;
    while (!error && (i < a->count || k < b->count)) {
        bool left = k == b->count || (i < a->count && a->list[i].name <= b->list[k].name);
        const struct job_starts *of = left ? a : b;
        const struct job_start_list *l = left ? &a->list[i] : &b->list[k];
        k += left && k < b->count && b->list[k].name == l->name;
        *(left ? &i : &k) += 1;
        error = append(&made->starts, l->name, of->runs + l->first, l->count);
    }
    return error;
}

int job_starts_add(struct job *j, int64_t name, const struct job_start_run *runs, uint32_t count)
{
    struct job one = { 0 };
    uint32_t known;
    if (job_starts_find(j, name, &known))
        return 0;
    int error = append(&one.starts, name, runs, count);
    error = error ?: job_rows_take(j, &one, job_starts_join, JOB_TABLE_STARTS, JOB_TABLE_START_RUNS);
    job_rows_free(&one);
    return error;
}

int job_completes(const struct job *j, const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread,
                  uint64_t i, struct job_start_run *one, const struct job_start_run **runs, uint32_t *count)
{
    int64_t value = 0;
    int status = job_attr_value(j, c, node, GRAMMAR_STARTS, rank, thread, i, JOB_SOMEWHERE, &value);
    if (status)
        return status;
    if (value == GRAMMAR_CANCELLED)
        return 3;
    if (value > UINT32_MAX || value == 0)
        return 2;
    if (value < 0) {
        *runs = job_starts_find(j, value, count);
        return *runs ? 0 : 2;
    }
    *one = (struct job_start_run){ (uint32_t)value, 0, 1 };
    *runs = one;
    *count = 1;
    return 0;
}

int job_starts_check(const struct job *j, char *why, size_t size)
{
    const struct job_starts *s = &j->starts;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct job_start_list *l = &s->list[i];
        if (l->name != job_starts_name(s->runs + l->first, l->count) || (i && l[-1].name >= l->name))
            return job_refuse(why, size, "list of starts %u: its name or order", i);
    }
    return 0;
}
