/* SPDX-License-Identifier: MIT */
#include "file/values.h"

#include <stdlib.h>

#include "base/array.h"
#include "file/lean.h"
#include "file/table.h"
#include "job/relation.h"
#include "pythia.h"

/* --- Lists --- */

/* Of lists how many runs each has, then of all runs each field. */
static const struct { uint8_t table, field; } columns[] = {
    { JOB_TABLE_STARTS, 1 }, { JOB_TABLE_START_RUNS, 0 }, { JOB_TABLE_START_RUNS, 1 }, { JOB_TABLE_START_RUNS, 2 },
};
enum { COLUMNS = sizeof columns / sizeof *columns, RUNS = 4 };

static size_t put_column(const struct job *j, int k, unsigned char *to, unsigned char *scratch)
{
    const struct job_schema *s = &job_schemas[columns[k].table];
    const struct job_field *f = &s->field[columns[k].field];
    uint32_t count;
    const void *rows = job_rows_of(j, (enum job_tables)columns[k].table, &count);

    file_columns_put(f, 1, rows, s->size, count, scratch);
    return file_lean_put(to, scratch, (struct file_lean_column){ f->width, f->width, count });
}

void file_pack_starts(struct file_packer *p)
{
    const struct job_starts *s = &p->job->starts;
    size_t longest = s->run_count > s->count ? s->run_count : s->count, used = RUNS;
    size_t room = RUNS + COLUMNS * (1 + longest * FILE_LEAN_LONGEST);
    unsigned char *at = s->count ? file_pack_grow(p, SECTION_STARTS, room) : NULL, *scratch = malloc(8 * longest + 1);

    if (!scratch)
        p->error = PYTHIA_ENOMEM;
    if (at && scratch) {
        file_put32(at, s->run_count);
        for (int k = 0; k < COLUMNS; k++)
            used += put_column(p->job, k, at + used, scratch);
        p->section[SECTION_STARTS].raw.size = used;
        p->section[SECTION_STARTS].count = s->count;
    }
    free(scratch);
}

static const unsigned char *get_column(struct job *j, int k, const unsigned char *at, const unsigned char *end,
                                       unsigned char *scratch)
{
    const struct job_schema *s = &job_schemas[columns[k].table];
    const struct job_field *f = &s->field[columns[k].field];
    uint32_t count;
    void *rows = job_rows_of(j, (enum job_tables)columns[k].table, &count);

    at = file_lean_get(at, end, scratch, (struct file_lean_column){ f->width, f->width, count });
    file_columns_get(f, 1, rows, s->size, count, scratch);
    return at;
}

/* Runs belong to the lists one after the other; a list's name is made of its own. */
static bool share_out(struct job_starts *s)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        struct job_start_list *l = &s->list[i];
        if (l->count > s->run_count - next)
            return false;
        l->first = next;
        l->name = job_starts_name(s->runs + next, l->count);
        next += l->count;
    }
    return next == s->run_count;
}

int file_unpack_starts(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STARTS];
    const unsigned char *at = s->data, *end = at ? at + s->size : NULL;
    uint32_t lists = (uint32_t)s->count, runs = at && s->size >= RUNS ? file_get32(at) : 0;

    if (!at)
        return 0;
    if (s->size < RUNS || s->count > s->size || runs > s->size)
        return REFUSE(r, "damaged: section %s is too short", file_section_name(SECTION_STARTS));
    BASE_OWN unsigned char *scratch = calloc(8, (size_t)(lists > runs ? lists : runs) + 1);
    if (!scratch || job_rows_room(r->job, JOB_TABLE_STARTS, lists) ||
        job_rows_room(r->job, JOB_TABLE_START_RUNS, runs))
        return file_reader_no_memory(r);
    job_rows_counted(r->job, JOB_TABLE_STARTS, lists);
    job_rows_counted(r->job, JOB_TABLE_START_RUNS, runs);
    memset(r->job->starts.list, 0, lists * sizeof *r->job->starts.list);
    at += RUNS;
    for (int k = 0; k < COLUMNS && at; k++)
        at = get_column(r->job, k, at, end, scratch);
    return at == end && share_out(&r->job->starts) ? 0 : REFUSE(r, "damaged: section %s: runs of no list",
                                                                 file_section_name(SECTION_STARTS));
}

/* --- Models --- */

/* Numbers stand where no name does, but for one in 2^28. */
#define FIRST ((int64_t)-2)
#define LAST (FIRST - (int64_t)UINT32_MAX)

static int64_t number_of(const struct job *j, int64_t name)
{
    const struct job_start_list *l = j->starts.list;
    uint32_t i = BASE_ARRAY_PLACE(j->starts.count, k, l[k].name < name);

    return i < j->starts.count && l[i].name == name ? FIRST - i : name;
}

static int64_t name_of(const struct job *j, int64_t number)
{
    bool one = number <= FIRST && number >= LAST && FIRST - number < j->starts.count;

    return one ? j->starts.list[FIRST - number].name : number;
}

/* The value that may be a name; NULL: none. */
static int64_t *name_in(struct grammar_attr *a)
{
    if (a->kind == GRAMMAR_ATTR_VARIES)
        return &a->course;
    return a->kind == GRAMMAR_ATTR_CONSTANT && a->channel == GRAMMAR_STARTS ? &a->min : NULL;
}

/* Of a constant its value is enough. */
void file_attr_leave(const struct job *j, struct grammar_attr *a)
{
    int64_t *name = name_in(a);

    if (name)
        *name = number_of(j, *name);
    if (a->kind == GRAMMAR_ATTR_CONSTANT)
        a->max = a->sum = 0;
}

/* What is no sound model stays as it is, and is refused by who audits it. */
void file_attr_enter(const struct job *j, struct grammar_attr *a)
{
    int64_t *name = name_in(a);
    struct grammar_attr whole;

    if (name)
        *name = name_of(j, *name);
    if (a->kind != GRAMMAR_ATTR_CONSTANT || a->max || a->sum)
        return;
    whole = *a;
    job_relation_canonical(&whole);
    a->max = whole.max;
    a->sum = whole.sum;
}
