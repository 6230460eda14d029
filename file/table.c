/* SPDX-License-Identifier: MIT */
#include "file/table.h"

#include <endian.h>
#include <stdlib.h>

#include "base/array.h"
#include "pythia.h"

enum { LISTS = 3 };

/* What stands in which section. */
static const struct section { uint8_t type, lists, table[LISTS]; } sections[] = {
    { SECTION_MODULES, 1, { JOB_TABLE_MODULES } },
    { SECTION_FRAMES, 1, { JOB_TABLE_FRAMES } },
    { SECTION_CALLSITES, 1, { JOB_TABLE_CALLSITES } },
    { SECTION_COMMS, 1, { JOB_TABLE_COMMS } },
    { SECTION_TERMINALS, 1, { JOB_TABLE_TERMINALS } },
    { SECTION_INFO, 1, { JOB_TABLE_INFO } }, /* definitions end here */
    { SECTION_ORACLE, 1, { JOB_TABLE_ORACLE } },
    { SECTION_SUMS, 1, { JOB_TABLE_SUMS } },
    { SECTION_REGIONS, 1, { JOB_TABLE_REGIONS } },
    { SECTION_TASKS, 1, { JOB_TABLE_TASKS } },
    { SECTION_MACHINE, 1, { JOB_TABLE_MACHINE } },
    { SECTION_GROUPS, 3, { JOB_TABLE_GROUPS, JOB_TABLE_GROUP_RUNS, JOB_TABLE_GROUP_RANGES } },
    { SECTION_FLOWS, 2, { JOB_TABLE_FLOWS, JOB_TABLE_FLOW_RANGES } },
    { SECTION_EXTREMES, 1, { JOB_TABLE_EXTREMES } },
    { SECTION_OWN, 1, { JOB_TABLE_OWN } },
    { SECTION_CLOCK, 1, { JOB_TABLE_CLOCK } },
    { SECTION_DELAY, 1, { JOB_TABLE_DELAY } },
    { SECTION_TOOK, 1, { JOB_TABLE_TOOK } },
    { SECTION_DIGRAMS, 1, { JOB_TABLE_DIGRAMS } },
    { SECTION_THREADS, 1, { JOB_TABLE_THREADS } },
    { SECTION_LEARNED_REGIONS, 1, { JOB_TABLE_LEARNED_REGIONS } },
    { SECTION_LEARNED_TASKS, 1, { JOB_TABLE_LEARNED_TASKS } },
    { SECTION_ENDS, 1, { JOB_TABLE_ENDS } },
    { SECTION_INSIDE, 1, { JOB_TABLE_INSIDE } },
    { SECTION_BINDINGS, 2, { JOB_TABLE_BINDINGS, JOB_TABLE_BINDING_RANGES } },
    { SECTION_HARDWARE, 1, { JOB_TABLE_HARDWARE } },
    { SECTION_HOSTS, 2, { JOB_TABLE_HOSTS, JOB_TABLE_HOST_RANGES } },
    { SECTION_HOPS, 3, { JOB_TABLE_STOPS, JOB_TABLE_HOPS, JOB_TABLE_HOP_RANGES } },
    { SECTION_PLACES, 2, { JOB_TABLE_PLACES, JOB_TABLE_WAYS } },
    { SECTION_SPOTS, 1, { JOB_TABLE_SPOTS } },
    { SECTION_NAMED, 1, { JOB_TABLE_NAMED } },
    { SECTION_LEFT, 1, { JOB_TABLE_LEFT } },
};
enum { SECTIONS = sizeof sections / sizeof *sections, DEFINITIONS = 5 };

/* --- Fields --- */

static void put(unsigned char *at, uint64_t v, uint32_t width)
{
    v = htole64(v);
    job_word_copy(at, &v, width);
}

static uint64_t get(const unsigned char *at, uint32_t width)
{
    uint64_t v = 0;
    job_word_copy(&v, at, width);
    return le64toh(v);
}

uint32_t file_row_size(const struct job_field *field, uint32_t fields)
{
    uint32_t size = 0;
    for (const struct job_field *f = field; f < field + fields; f++)
        size += f->width * f->count;
    return size;
}

void file_columns_put(const struct job_field *field, uint32_t fields, const void *rows, size_t size, uint32_t count,
                      unsigned char *at)
{
    for (const struct job_field *f = field; f < field + fields; f++)
        for (uint32_t k = 0; k < f->count; k++)
            for (uint32_t i = 0; i < count; i++, at += f->width)
                put(at, job_field_get(f, (const char *)rows + i * size, k), f->width);
}

void file_columns_get(const struct job_field *field, uint32_t fields, void *rows, size_t size, uint32_t count,
                      const unsigned char *at)
{
    for (const struct job_field *f = field; f < field + fields; f++)
        for (uint32_t k = 0; k < f->count; k++)
            for (uint32_t i = 0; i < count; i++, at += f->width)
                job_field_put(f, (char *)rows + i * size, k, get(at, f->width));
}

/* --- Records --- */

#define SEVERAL(type, member, bytes, times)                                                                            \
    { .at = offsetof(struct type, member), .width = bytes, .stride = bytes, .count = times }
#define RECORD(name, ...)                                                                                              \
    static const struct job_field name##_fields[] = { __VA_ARGS__ };                                                   \
    const struct file_record file_record_##name = { name##_fields, sizeof name##_fields / sizeof *name##_fields }

RECORD(parts, SEVERAL(file_parts, hash, 8, 2), SEVERAL(file_parts, flags, 4, 12),
       SEVERAL(file_parts, column_first, 8, 1));
RECORD(stats, SEVERAL(grammar_stats, count, 8, 1), SEVERAL(grammar_stats, gap, 8, 4),
       SEVERAL(grammar_stats, duration, 8, 4));
RECORD(spread, SEVERAL(job_spread, all.least, 8, 2), SEVERAL(job_spread, all.least_rank, 4, 2),
       SEVERAL(job_spread, call.least, 8, 2), SEVERAL(job_spread, call.least_rank, 4, 2),
       SEVERAL(job_spread, call_square, 8, 1));
RECORD(range, SEVERAL(job_range, first, 4, 8));
RECORD(variant, SEVERAL(job_variant, node, 4, 6), SEVERAL(job_variant, attr.channel, 1, 2),
       SEVERAL(job_variant, attr.length, 2, 1), SEVERAL(job_variant, attr.unused, 4, 1),
       SEVERAL(job_variant, attr.count, 8, 1), SEVERAL(job_variant, attr.min, 8, 3),
       SEVERAL(job_variant, attr.key, 8, 12));
RECORD(turn, SEVERAL(job_turn, node, 4, 4), SEVERAL(job_turn, exponent, 8, 1));
RECORD(time, SEVERAL(grammar_time, gap, 8, 3));
_Static_assert(sizeof((struct grammar_attr *)0)->key == 12 * 8, "the values of an attribute");

void file_record_put(const struct file_record *r, const void *row, unsigned char *at)
{
    file_columns_put(r->field, r->fields, row, 0, 1, at);
}

void file_record_get(const struct file_record *r, void *row, const unsigned char *words, size_t stride)
{
    size_t at = 0;
    for (const struct job_field *f = r->field; f < r->field + r->fields; f++)
        for (uint32_t k = 0; k < f->count; k++, at += f->width)
            job_field_put(f, row, k, get(words + at / 8 * stride + at % 8, f->width));
}

/* --- A section --- */

static uint64_t table_size(enum job_tables t, uint32_t rows)
{
    return (uint64_t)rows * file_row_size(job_schemas[t].field, job_schemas[t].fields);
}

static void pack_section(struct file_packer *p, const struct section *c)
{
    const void *rows[LISTS];
    uint32_t count[LISTS];
    uint64_t size = 4 * (c->lists - 1u);
    for (int i = 0; i < c->lists; i++) {
        rows[i] = job_rows_of(p->job, c->table[i], &count[i]);
        size += table_size(c->table[i], count[i]);
    }
    unsigned char *at = count[0] ? file_pack_grow(p, c->type, size) : NULL;
    if (!at)
        return;
    p->section[c->type].count = count[0];
    for (int i = 1; i < c->lists; i++, at += 4)
        file_put32(at, count[i]);
    for (int i = 0; i < c->lists; i++) {
        const struct job_schema *s = &job_schemas[c->table[i]];
        file_columns_put(s->field, s->fields, rows[i], s->size, count[i], at);
        at += table_size(c->table[i], count[i]);
    }
}

void file_pack_tables(struct file_packer *p)
{
    for (int i = 0; i < SECTIONS; i++)
        pack_section(p, &sections[i]);
}

/* Rows of each list, where the section is as long as these are. */
static int count_rows(struct file_reader *r, const struct section *c, uint32_t *count)
{
    const struct file_section *s = &r->in.section[c->type];
    uint64_t size = 4 * (c->lists - 1u);
    if (s->count > BASE_ARRAY_LIMIT || s->size < size)
        return REFUSE(r, "damaged: section %s has another size", file_section_name(c->type));
    for (int i = 0; i < c->lists; i++) {
        count[i] = i ? file_get32(s->data + 4 * (i - 1)) : (uint32_t)s->count;
        size += table_size(c->table[i], count[i]);
    }
    if (job_schemas[c->table[0]].single && s->count > 1)
        return REFUSE(r, "damaged: section %s has several records", file_section_name(c->type));
    return size == s->size ? 0 : REFUSE(r, "damaged: section %s has half a record", file_section_name(c->type));
}

/* Rows of a part belong to those of the whole, one after the other. */
static int share_out(struct file_reader *r, enum job_tables part)
{
    const struct job_schema *s = &job_schemas[part];
    uint32_t wholes, parts, next = 0;
    char *row = job_rows_of(r->job, s->whole, &wholes);
    job_rows_of(r->job, part, &parts);
    for (uint32_t i = 0; i < wholes; i++, row += job_schemas[s->whole].size) {
        uint32_t number;
        memcpy(&number, row + s->number, sizeof number);
        memcpy(row + s->first, &next, sizeof next);
        if (number > parts - next)
            return REFUSE(r, "damaged: %ss of %s %u", s->name, job_schemas[s->whole].name, i);
        next += number;
    }
    return next == parts ? 0 : REFUSE(r, "damaged: %ss of no %s", s->name, job_schemas[s->whole].name);
}

static int unpack_section(struct file_reader *r, const struct section *c)
{
    const struct file_section *s = &r->in.section[c->type];
    uint32_t count[LISTS], n;
    int error = s->data ? count_rows(r, c, count) : 0;
    if (error || !s->data)
        return error;
    const unsigned char *at = s->data + 4 * (c->lists - 1u);
    for (int i = 0; i < c->lists; i++) {
        enum job_tables t = c->table[i];
        if (!job_schemas[t].single && job_rows_room(r->job, t, count[i]))
            return file_reader_no_memory(r);
        job_rows_counted(r->job, t, count[i]);
        void *rows = job_rows_of(r->job, t, &n);
        if (!job_schemas[t].single && count[i])
            memset(rows, 0, job_schemas[t].size * (size_t)count[i]);
        file_columns_get(job_schemas[t].field, job_schemas[t].fields, rows, job_schemas[t].size, count[i], at);
        at += table_size(t, count[i]);
        if (job_schemas[t].whole && (error = share_out(r, t)))
            return error;
    }
    return 0;
}

int file_unpack_tables(struct file_reader *r)
{
    int error = 0;
    for (int i = DEFINITIONS; i < SECTIONS && !error; i++)
        error = unpack_section(r, &sections[i]);
    return error;
}

int file_unpack_rows(struct file_reader *r, enum file_section_type type, enum job_tables t, void **rows)
{
    const struct job_schema *s = &job_schemas[t];
    const struct section c = { .type = type, .lists = 1, .table = { t } };
    uint32_t count[LISTS];
    int error = count_rows(r, &c, count);
    if (error)
        return error;
    *rows = calloc((size_t)count[0] + 1, s->size);
    if (!*rows)
        return file_reader_no_memory(r);
    file_columns_get(s->field, s->fields, *rows, s->size, count[0], r->in.section[type].data);
    return 0;
}
