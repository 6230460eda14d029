/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "job/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
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

static uint32_t starts_place_of(const struct job_starts *s, int64_t name)
{
    return BASE_ARRAY_PLACE(s->count, i, s->list[i].name < name);
}

const struct job_start_run *job_starts_find(const struct job_starts *s, int64_t name, uint32_t *count)
{
    uint32_t at = starts_place_of(s, name);
    if (at == s->count || s->list[at].name != name)
        return NULL;
    *count = s->list[at].count;
    return s->runs + s->list[at].first;
}

static int starts_append(struct job_starts *s, int64_t name, const struct job_start_run *runs, uint32_t count)
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
        error = starts_append(&made->starts, l->name, of->runs + l->first, l->count);
    }
    return error;
}

int job_starts_keep(struct job_starts *s, int64_t name, const struct job_start_run *runs, uint32_t count)
{
    return starts_append(s, name, runs, count);
}

BASE_COMPARISON(by_name, struct job_start_list, BASE_UP(name))

int job_starts_put(struct job *j, struct job_starts *s)
{
    struct job some = { .starts = *s };
    uint32_t kept = 0;
    BASE_SORT(s->list, s->count, by_name);
    for (uint32_t i = 0; i < s->count; i++)
        if (!kept || s->list[kept - 1].name != s->list[i].name)
            s->list[kept++] = s->list[i];
    some.starts.count = kept;
    int error = kept ? job_rows_take(j, &some, job_starts_join, JOB_TABLE_STARTS, JOB_TABLE_START_RUNS) : 0;
    job_starts_drop(s);
    return error;
}

void job_starts_drop(struct job_starts *s)
{
    free(s->list);
    free(s->runs);
    memset(s, 0, sizeof *s);
}

int job_starts_add(struct job *j, int64_t name, const struct job_start_run *runs, uint32_t count)
{
    struct job_starts one = { 0 };
    int error = job_starts_keep(&one, name, runs, count);
    if (!error)
        return job_starts_put(j, &one);
    job_starts_drop(&one);
    return error;
}

int job_starts_insert(struct job_starts *s, const struct job_start_run *runs, uint32_t count, int64_t *name)
{
    *name = job_starts_name(runs, count);
    uint32_t at = starts_place_of(s, *name);
    if (at < s->count && s->list[at].name == *name)
        return 0;
    uint32_t from = at < s->count ? s->list[at].first : s->run_count, behind = s->run_count - from;
    int error = starts_append(s, *name, runs, count);
    if (error)
        return error;
    memmove(s->runs + from + count, s->runs + from, behind * sizeof *runs);
    memcpy(s->runs + from, runs, count * sizeof *runs);
    memmove(s->list + at + 1, s->list + at, (s->count - 1 - at) * sizeof *s->list);
    s->list[at] = (struct job_start_list){ *name, from, count };
    for (uint32_t i = at + 1; i < s->count; i++)
        s->list[i].first += count;
    return 0;
}

/* One that is there, and was not marked. */
static const struct job_start_list *starts_mark(const struct job_starts *s, int64_t name, uint8_t *named)
{
    uint32_t at = name < GRAMMAR_CANCELLED ? starts_place_of(s, name) : s->count;
    if (at == s->count || s->list[at].name != name || named[at])
        return NULL;
    named[at] = 1;
    return &s->list[at];
}

static void mark_named(const struct job *j, uint8_t *named)
{
    const struct job_starts *s = &j->starts;
    int64_t value;
    for (const struct job_class *c = j->classes; c < j->classes + j->class_count; c++)
        for (const struct job_variant *v = c->variants; v < c->variants + c->variant_count; v++) {
            bool starts = v->attr.channel == GRAMMAR_STARTS;
            bool varies = v->attr.kind == GRAMMAR_ATTR_VARIES;
            const struct job_start_list *course = varies ? starts_mark(s, v->attr.course, named) : NULL;
            for (uint32_t k = 0; starts && course && k < course->count; k++)
                if (!s->runs[course->first + k].step)
                    starts_mark(s, s->runs[course->first + k].distance, named);
            if (starts && grammar_attr_constant(&v->attr, &value))
                starts_mark(s, value, named);
        }
}

/* By their names, which are hashes: so the same ones are left in whatever order ranks meet. */
void job_starts_prune(struct job *j, uint8_t *named)
{
    struct job_starts *s = &j->starts;
    uint32_t kept = 0, runs = 0;
    mark_named(j, named);
    for (uint32_t i = 0; i < s->count; i++) {
        struct job_start_list l = s->list[i];
        if (!named[i])
            continue;
        if (l.count > JOB_STARTS_RUNS - runs)
            break;
        memmove(s->runs + runs, s->runs + l.first, l.count * sizeof *s->runs);
        s->list[kept++] = (struct job_start_list){ l.name, runs, l.count };
        runs += l.count;
    }
    s->count = kept;
    s->run_count = runs;
}

int job_completes(const struct job *j, const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread,
                  uint64_t nth, struct job_start_run *one, const struct job_start_run **runs, uint32_t *count)
{
    int64_t value = 0;
    int status = job_attr_value(j, c, node, GRAMMAR_STARTS, rank, thread, nth, &value);
    if (status)
        return status;
    if (value == GRAMMAR_CANCELLED)
        return 3;
    if (value > UINT32_MAX || value == 0)
        return 2;
    if (value < 0) {
        *runs = job_starts_find(&j->starts, value, count);
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
        if (l->first > s->run_count || l->count > s->run_count - l->first ||
            l->name != job_starts_name(s->runs + l->first, l->count) || (i && l[-1].name >= l->name))
            return job_refuse(why, size, "list of starts %u: its name or order", i);
    }
    return 0;
}
