/* SPDX-License-Identifier: MIT */
/* What is done with the tables of a job, whatever is in them (schema.h). */
#include "job/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/streams.h"
#include "pythia.h"

static uint32_t number_in(const void *of, uint16_t at)
{
    uint32_t v;
    memcpy(&v, (const char *)of + at, sizeof v);
    return v;
}

/* --- A field --- */

void job_field_put(const struct job_field *f, void *row, uint32_t k, uint64_t number)
{
    char *at = (char *)row + f->at + k * (size_t)f->stride;
    uint32_t v4 = (uint32_t)number;
    uint16_t v2 = (uint16_t)number;
    uint8_t v1 = (uint8_t)number;
    job_word_copy(at, f->width == 8 ? (void *)&number : f->width == 4 ? (void *)&v4 : f->width == 2 ? (void *)&v2 : &v1,
                  f->width);
}

static bool is_none(const struct job_field *f, uint64_t v)
{
    return f->flags & JOB_OR_NONE && v == GRAMMAR_NONE;
}

static uint64_t in_block(uint64_t rank, uint32_t block)
{
    return rank == GRAMMAR_NONE || !block ? rank : rank - rank % block;
}

/* --- A row --- */

static int order_of(const struct job_schema *s, const void *a, const void *b)
{
    for (const struct job_field *f = s->field; f < s->field + s->fields && f->joined == JOB_KEY; f++) {
        uint64_t x = job_field_get(f, a, 0), y = job_field_get(f, b, 0);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static uint64_t real_sum(uint64_t a, uint64_t b)
{
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint64_t joined(const struct job *j, const struct job_field *f, uint64_t a, uint64_t b)
{
    switch (f->joined) {
    case JOB_ADDED:
        return a + b;
    case JOB_ADDED_AT_MOST:
        return a + b < a || (f->width == 4 && a + b > UINT32_MAX) ? UINT64_MAX : a + b;
    case JOB_ADDED_REAL:
        return real_sum(a, b);
    case JOB_GREATEST:
        return a > b ? a : b;
    case JOB_EARLIEST:
        return !a || (b && b < a) ? b : a;
    case JOB_EITHER:
        return *job_text(j, (uint32_t)a) || b == GRAMMAR_NONE ? a
               : a == GRAMMAR_NONE || *job_text(j, (uint32_t)b) ? b
                                                                 : a;
    default:
        return a;
    }
}

void job_row_join(const struct job *j, enum job_tables t, void *into, const void *from)
{
    const struct job_schema *s = &job_schemas[t];
    if (s->join)
        s->join(into, from);
    for (const struct job_field *f = s->field; f < s->field + s->fields; f++)
        for (uint32_t k = 0; k < f->count && f->joined > JOB_KEY; k++)
            job_field_put(f, into, k, joined(j, f, job_field_get(f, into, k), job_field_get(f, from, k)));
}

void job_row_rename(enum job_tables t, void *row, const struct job_maps *maps)
{
    const struct job_schema *s = &job_schemas[t];
    for (const struct job_field *f = s->field; f < s->field + s->fields; f++) {
        uint64_t v = job_field_get(f, row, 0);
        if (maps->of[f->refers] && !is_none(f, v))
            job_field_put(f, row, 0, maps->of[f->refers][v]);
    }
}

uint32_t job_rows_named(const struct job *j, enum job_refers what)
{
    const uint32_t counts[JOB_REFERS] = {
        [JOB_OF_STRINGS] = j->string_count,     [JOB_OF_MODULES] = j->module_count,
        [JOB_OF_CALLSITES] = j->callsite_count, [JOB_OF_COMMS] = j->comm_count,
        [JOB_OF_TERMINALS] = j->terminal_count, [JOB_OF_CLASSES] = j->class_count,
        [JOB_OF_STOPS] = j->hops.stop_count,    [JOB_OF_PLACES] = j->places.place_count,
    };
    return counts[what];
}

bool job_row_sane(const struct job *j, enum job_tables t, const void *row)
{
    const struct job_schema *s = &job_schemas[t];
    for (const struct job_field *f = s->field; f < s->field + s->fields; f++) {
        uint64_t v = job_field_get(f, row, 0);
        if (is_none(f, v))
            continue;
        if ((f->refers && v >= job_rows_named(j, f->refers)) || (f->below && v >= f->below) ||
            (f->flags & JOB_NOT_0 && !v) || (f->flags & JOB_BLOCK && v != in_block(v, j->info.block)))
            return false;
    }
    return !s->sane || s->sane(j, row);
}

/* --- A table --- */

void *job_rows_of(const struct job *j, enum job_tables t, uint32_t *count)
{
    const struct job_schema *s = &job_schemas[t];
    void *rows = (char *)(uintptr_t)j + s->rows;
    *count = number_in(j, s->count);
    if (s->single)
        *count = *count != 0;
    else
        memcpy(&rows, (const char *)j + s->rows, sizeof rows);
    return rows;
}

int job_rows_room(struct job *j, enum job_tables t, uint64_t count)
{
    const struct job_schema *s = &job_schemas[t];
    return base_array_room((char *)j + s->rows, (uint32_t *)(void *)((char *)j + s->room), count, s->size);
}

void job_rows_counted(struct job *j, enum job_tables t, uint32_t count)
{
    const struct job_schema *s = &job_schemas[t];
    for (const struct job_field *f = s->field; f < s->field + s->fields; f++)
        if (s->single && s->rows + f->at == s->count)
            return;
    memcpy((char *)j + s->count, &count, sizeof count);
}

void job_rows_swap(struct job *a, struct job *b, enum job_tables t)
{
    const struct job_schema *s = &job_schemas[t];
    const struct { uint16_t at; size_t size; } parts[] = { { s->rows, sizeof(void *) },
                                                           { s->count, sizeof(uint32_t) },
                                                           { s->room, sizeof(uint32_t) } };
    for (int i = 0; i < 3; i++) {
        char *x = (char *)a + parts[i].at, *y = (char *)b + parts[i].at, kept[sizeof(void *)];
        memcpy(kept, x, parts[i].size);
        memcpy(x, y, parts[i].size);
        memcpy(y, kept, parts[i].size);
    }
}

static char *rows_place_of(const struct job_schema *s, char *rows, uint32_t count, const void *key)
{
    return rows + s->size * (size_t)BASE_ARRAY_PLACE(count, i, order_of(s, rows + s->size * (size_t)i, key) < 0);
}

void *job_rows_find(const struct job *j, enum job_tables t, const void *key)
{
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    char *rows = job_rows_of(j, t, &count), *at = count ? rows_place_of(s, rows, count, key) : NULL;
    return at && at < rows + s->size * (size_t)count && order_of(s, at, key) == 0 ? at : NULL;
}

int job_rows_add(struct job *j, enum job_tables t, const void *row)
{
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    void *own = job_rows_find(j, t, row);
    if (own) {
        job_row_join(j, t, own, row);
        return 0;
    }
    job_rows_of(j, t, &count);
    int error = job_rows_room(j, t, (uint64_t)count + 1);
    if (error)
        return error;
    char *rows = job_rows_of(j, t, &count), *at = rows_place_of(s, rows, count, row);
    memmove(at + s->size, at, (size_t)(rows + s->size * (size_t)count - at));
    memcpy(at, row, s->size);
    job_rows_counted(j, t, count + 1);
    return 0;
}

/* --- Rows of sets --- */

static struct job_ranges *ranges_of(const struct job *j, const struct job_schema *s)
{
    return (void *)((char *)(uintptr_t)j + job_schemas[s->sets].rows);
}

/* Whether its ranges are there. */
static bool set_of(const struct job *j, const struct job_schema *s, const char *row, struct job_set *set)
{
    const struct job_ranges *all = ranges_of(j, s);
    uint32_t first = number_in(row, job_schemas[s->sets].first), count = number_in(row, job_schemas[s->sets].number);
    bool there = job_ranges_within(all, first, count);
    *set = (struct job_set){ all->range + (there ? first : 0), there ? count : 0 };
    return there;
}

/* The row gets the union of n sets. */
static int give_set(struct job *j, const struct job_schema *s, char *row, const struct job_set *sets, size_t apart,
                    uint32_t n)
{
    struct job_ranges *all = ranges_of(j, s);
    uint32_t first = all->count;
    int error = job_sets_join(all, sets, apart, n);
    uint32_t number = all->count - first;
    memcpy(row + job_schemas[s->sets].first, &first, sizeof first);
    memcpy(row + job_schemas[s->sets].number, &number, sizeof number);
    return error;
}

int job_rows_append(struct job *j, enum job_tables t, void *row, const struct job_set *sets, size_t apart, uint32_t n)
{
    const struct job_schema *s = &job_schemas[t];
    struct job_ranges *all = ranges_of(j, s);
    uint32_t before = all->count;
    int error = give_set(j, s, row, sets, apart, n);
    error = error ?: base_array_append((char *)j + s->rows, (void *)((char *)j + s->count),
                                       (void *)((char *)j + s->room), row, 1, s->size);
    if (error)
        all->count = before;
    return error;
}

/* --- Two tables --- */

struct sorting { const struct job_schema *schema; const char *rows; };

/* Of equal ones the first stays the first. */
static int by_keys(const void *x, const void *y, void *arg)
{
    const struct sorting *by = arg;
    const uint32_t *a = x, *b = y;
    return order_of(by->schema, by->rows + by->schema->size * (size_t)*a, by->rows + by->schema->size * (size_t)*b)
               ?: BASE_ORDER(*a, *b);
}

static bool is_sorted(const struct job_schema *s, const char *rows, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (order_of(s, rows + s->size * (size_t)(i - 1), rows + s->size * (size_t)i) >= 0)
            return false;
    return true;
}

/* `made` gets the rows in order, joined; `sets`: of each row, where they have some. Or PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
static int rows_settle(const struct job *j, enum job_tables t, const char *rows, const struct job_set *sets,
                       uint32_t count, struct job *made)
{
    const struct job_schema *s = &job_schemas[t];
    struct sorting by = { s, rows };
    uint32_t *number = malloc(((size_t)count + 1) * sizeof *number), none, kept = 0;
    BASE_OWN struct job_set *own = malloc(((size_t)(sets ? count : 0) + 1) * sizeof *own);
    int error = number && own ? job_rows_room(made, t, count) : PYTHIA_ENOMEM;
    char *out = job_rows_of(made, t, &none);
    for (uint32_t i = 0; i < count && !error; i++)
        number[i] = i;
    if (!error && count)
        qsort_r(number, count, sizeof *number, by_keys, &by);
    for (uint32_t i = 0; i < count && sets && !error; i++)
        own[i] = sets[number[i]];
    for (uint32_t i = 0, next; i < count && !error; i = next, kept++, out += s->size) {
        memcpy(out, rows + s->size * (size_t)number[i], s->size);
        for (next = i + 1; next < count && !order_of(s, out, rows + s->size * (size_t)number[next]); next++)
            job_row_join(j, t, out, rows + s->size * (size_t)number[next]);
        error = sets ? give_set(made, s, out, own + i, sizeof *own, next - i) : 0;
    }
    job_rows_counted(made, t, kept);
    free(number);
    return error;
}

int job_rows_settle(struct job *j, enum job_tables t)
{
    struct job made = { 0 };
    uint32_t count;
    const char *rows = job_rows_of(j, t, &count);
    int error = is_sorted(&job_schemas[t], rows, count) ? 0 : rows_settle(j, t, rows, NULL, count, &made);
    if (!error && job_rows_of(&made, t, &count))
        job_rows_swap(j, &made, t);
    job_rows_free(&made);
    return error;
}

/* A copy of a job's rows as another one has them. */
static char *copy_rows(char *to, const struct job *from, enum job_tables t, const struct job_maps *maps, uint32_t block)
{
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    const void *rows = job_rows_of(from, t, &count);
    if (count)
        memcpy(to, rows, s->size * (size_t)count);
    for (uint32_t i = 0; i < count; i++, to += s->size) {
        job_row_rename(t, to, maps);
        for (const struct job_field *f = s->field; f < s->field + s->fields && f->joined == JOB_KEY; f++)
            if (f->flags & JOB_BLOCK)
                job_field_put(f, to, 0, in_block(job_field_get(f, to, 0), block));
    }
    return to;
}

/* The sets of a job's rows. */
static struct job_set *copy_sets(struct job_set *to, const struct job *from, enum job_tables t)
{
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    const char *rows = job_rows_of(from, t, &count);
    for (uint32_t i = 0; i < count && s->sets; i++)
        set_of(from, s, rows + s->size * (size_t)i, to++);
    return to;
}

int job_rows_join(const struct job *into, const struct job *from, enum job_tables t, const struct job_maps *maps,
                  struct job *made)
{
    static const struct job_maps same;
    uint32_t a, b, block = job_streams_block(into, from);
    job_rows_of(into, t, &a);
    job_rows_of(from, t, &b);
    if ((uint64_t)a + b > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    bool of_sets = job_schemas[t].sets;
    BASE_OWN char *both = malloc(((size_t)a + b) * job_schemas[t].size + 1);
    BASE_OWN struct job_set *sets = of_sets ? malloc(((size_t)a + b + 1) * sizeof *sets) : NULL;
    int error = both && (sets || !of_sets) ? 0 : PYTHIA_ENOMEM;
    if (!error) {
        copy_rows(copy_rows(both, into, t, &same, block), from, t, maps, block);
        copy_sets(copy_sets(sets, into, t), from, t);
        error = rows_settle(into, t, both, sets, a + b, made);
    }
    return error;
}

int job_rows_take(struct job *j, const struct job *from, job_joins *join, enum job_tables first, enum job_tables last)
{
    static const struct job_maps same;
    struct job made = { 0 };
    int error = join(j, from, &same, &made);
    for (enum job_tables t = first; t <= last && !error; t++)
        job_rows_swap(j, &made, t);
    job_rows_free(&made);
    return error;
}

/* --- Audit and end --- */

int job_rows_check(const struct job *j, enum job_tables t, char *why, size_t size)
{
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    struct job_set set;
    const char *rows = job_rows_of(j, t, &count);
    for (uint32_t i = 0; i < count; i++) {
        const char *row = rows + s->size * (size_t)i;
        if (!job_row_sane(j, t, row))
            return job_refuse(why, size, "%s %u: out of range", s->name, i);
        if (s->keyed && i && order_of(s, row - s->size, row) >= 0)
            return job_refuse(why, size, "%s %u: out of order", s->name, i);
        if (s->sets && (!set_of(j, s, row, &set) || !job_ranges_canonical(set.ranges, set.count, j->info.ranks)))
            return job_refuse(why, size, "%s %u: its ranks", s->name, i);
    }
    return s->check ? s->check(j, why, size) : 0;
}

void job_rows_free(struct job *j)
{
    for (enum job_tables t = 0; t < JOB_TABLES; t++) {
        uint32_t count;
        if (!job_schemas[t].single)
            free(job_rows_of(j, t, &count));
    }
}

uint32_t job_define(struct job *j, enum job_tables t, const void *row, const struct job_frame *frames)
{
    const struct job_module *m = row;
    const struct job_callsite *c = row;
    const struct job_comm *comm = row;
    switch (t) {
    case JOB_TABLE_MODULES:
        return job_module(j, job_text(j, m->path), job_text(j, m->build_id));
    case JOB_TABLE_CALLSITES:
        return job_callsite(j, frames + c->first, c->count);
    case JOB_TABLE_COMMS:
        return job_comm(j, job_text(j, comm->name), comm->size);
    default:
        return job_terminal(j, row);
    }
}
