/* SPDX-License-Identifier: MIT */
/* By columns, and of series only the steps that there are. */
#include "file/timeline.h"

#include <stdlib.h>

#include "base/array.h"
#include "file/table.h"
#include "pythia.h"

/* --- Series --- */

/* A record: what it is of, then its steps; of one rank the parts are the sum, which then fits 16 bits. */
enum { COLUMNS = JOB_SERIES_KINDS * (1 + JOB_SERIES_PARTS) };
static const struct job_schema *const head = &job_schemas[JOB_TABLE_SERIES];

static uint32_t columns_of(const struct job_series *s, struct job_field f[COLUMNS])
{
    const char *row = (const char *)s;
    uint32_t n = 0;
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++) {
        if (s->ranks > 1)
            f[n++] = (struct job_field){ .at = (uint16_t)((const char *)s->sum[kind] - row), .width = 4 };
        for (int part = 0; part < (s->ranks > 1 ? JOB_SERIES_PARTS : 1); part++)
            f[n++] = (struct job_field){ .at = (uint16_t)((const char *)s->part[kind][part] - row), .width = 2 };
    }
    for (uint32_t i = 0; i < n; i++) {
        f[i].stride = f[i].width;
        f[i].count = (uint16_t)s->steps;
    }
    return n;
}

enum { ROUNDED = JOB_SERIES_WHOLE / 85 };

static int32_t rounded(int32_t part)
{
    return part > 0 ? (part + ROUNDED / 2) / ROUNDED * ROUNDED : 0;
}

/* A file says it in 85ths of a step, a message exactly. Of one rank, what a step loses the next one gets: the sum
   stays, and in no step is more than it is long. */
static void round_series(struct job_series *s)
{
    int32_t carried[JOB_SERIES_KINDS] = { 0 };

    for (uint32_t i = 0; i < s->steps; i++) {
        int32_t room = JOB_SERIES_WHOLE;
        for (uint32_t kind = 0; kind < JOB_SERIES_KINDS; kind++) {
            for (uint32_t part = 0; s->ranks > 1 && part < JOB_SERIES_PARTS; part++)
                s->part[kind][part][i] = (uint16_t)rounded(s->part[kind][part][i]);
            if (s->ranks > 1) /* a sum over the ranks is said as it is */
                continue;
            int32_t all = carried[kind] + (int32_t)s->sum[kind][i], said = rounded(all);
            said = said < room ? said : room;
            carried[kind] = all - said;
            room -= said;
            s->sum[kind][i] = (uint32_t)said;
        }
    }
}

void file_pack_series(struct file_packer *p)
{
    for (uint32_t i = 0; i < p->job->series.count; i++) {
        struct job_series s = p->job->series.of[i];
        struct job_field f[COLUMNS];
        uint32_t columns = columns_of(&s, f), size = file_row_size(head->field, head->fields);
        unsigned char *at = file_pack_grow(p, SECTION_SERIES, size + file_row_size(f, columns));
        if (!at)
            return;
        if (p->file)
            round_series(&s);
        for (uint32_t k = 0; k < JOB_SERIES_KINDS * JOB_SERIES_STEPS && s.ranks == 1; k++)
            s.part[k / JOB_SERIES_STEPS][0][k % JOB_SERIES_STEPS] =
                (uint16_t)s.sum[k / JOB_SERIES_STEPS][k % JOB_SERIES_STEPS];
        file_columns_put(head->field, head->fields, &s, 0, 1, at);
        file_columns_put(f, columns, &s, 0, 1, at + size);
        p->section[SECTION_SERIES].count++;
    }
}

/* Returns the bytes of the record at `at`, 0: it does not fit. */
static uint64_t get_series(const unsigned char *at, uint64_t left, struct job_series *s)
{
    struct job_field f[COLUMNS];
    uint32_t size = file_row_size(head->field, head->fields), columns;
    memset(s, 0, sizeof *s);
    if (left < size)
        return 0;
    file_columns_get(head->field, head->fields, s, 0, 1, at);
    if (s->steps > JOB_SERIES_STEPS || size + file_row_size(f, columns = columns_of(s, f)) > left)
        return 0;
    file_columns_get(f, columns, s, 0, 1, at + size);
    for (uint32_t kind = 0; kind < JOB_SERIES_KINDS && s->ranks <= 1; kind++)
        for (uint32_t i = 0; i < s->steps; i++)
            s->sum[kind][i] = s->part[kind][JOB_SERIES_MOST][i] = s->part[kind][JOB_SERIES_LEAST][i];
    return size + file_row_size(f, columns);
}

static int unpack_series(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_SERIES];
    struct job_series_list *l = &r->job->series;
    uint64_t at = 0;
    if (!s->data)
        return 0;
    if (s->count > s->size / file_row_size(head->field, head->fields))
        return REFUSE(r, "damaged: section series has another size");
    if (base_array_room(&l->of, &l->room, s->count, sizeof *l->of))
        return file_reader_no_memory(r);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t size = get_series(s->data + at, s->size - at, &l->of[i]);
        if (!size)
            return REFUSE(r, "damaged: series %llu", (unsigned long long)i);
        at += size;
    }
    l->count = (uint32_t)s->count;
    return at == s->size ? 0 : REFUSE(r, "damaged: bytes after the last series");
}

/* --- Own times --- */

/* A file has the first bits of a mean, and fewer of a deviation; a message has all. */
static void round_own(struct job_own *o)
{
    static const unsigned bits[JOB_OWN_SUMS] = {
        [JOB_OWN_GAP] = 14, [JOB_OWN_GAP_DEVIATION] = 4, [JOB_OWN_DURATION] = 14, [JOB_OWN_DURATION_DEVIATION] = 4
    };
    for (int k = 0; k < JOB_OWN_SUMS; k++) {
        uint64_t v = o->sum[k];
        if (v >> bits[k] == 0 || v >> 63)
            continue;
        unsigned drop = 64 - bits[k] - (unsigned)__builtin_clzll(v);
        o->sum[k] = (v + (UINT64_C(1) << (drop - 1))) >> drop << drop;
    }
}

int file_round_own(const struct job *j, struct job_own_list *said)
{
    uint32_t n = j->own.count, kept = 0;
    BASE_OWN bool *keep = calloc((size_t)n + 1, sizeof *keep);
    struct job_own *rows = malloc(((size_t)n + 1) * sizeof *rows);
    int error = keep && rows ? job_own_matter(j, keep) : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n && !error; i++)
        if (keep[i]) {
            rows[kept] = j->own.row[i];
            round_own(&rows[kept++]);
        }
    *said = (struct job_own_list){ rows, error ? 0 : kept, n };
    return error;
}

/* --- Extremes of blocks --- */

/* A file has the first 16 bits: least ones rounded down, most ones up, so that the mean stays between them. */
static void round_extent(struct job_extent *e)
{
    enum { BITS = 16 };
    uint64_t *const end[] = { &e->least, &e->most };
    for (int k = 0; k < 2; k++) {
        uint64_t v = *end[k];
        unsigned drop = v >> BITS ? 64 - BITS - (unsigned)__builtin_clzll(v) : 0;
        *end[k] = (v + (k && v >> 63 == 0 ? (UINT64_C(1) << drop) - 1 : 0)) >> drop << drop;
    }
}

/* Ranks are counted from the first of the block. */
static const struct job_field extents[] = {
#define EXTENT(member, wide) { .at = offsetof(struct job_stream, member), .width = wide, .count = 1 }
    EXTENT(wall.least, 8),      EXTENT(wall.most, 8),      EXTENT(useful.least, 8),      EXTENT(useful.most, 8),
    EXTENT(wall.least_rank, 4), EXTENT(wall.most_rank, 4), EXTENT(useful.least_rank, 4), EXTENT(useful.most_rank, 4),
};
enum { EXTENTS = sizeof extents / sizeof *extents };

static void shift_ranks(struct job_stream *s, uint32_t by)
{
    s->wall.least_rank += by;
    s->wall.most_rank += by;
    s->useful.least_rank += by;
    s->useful.most_rank += by;
}

void file_pack_extents(struct file_packer *p)
{
    const struct job *j = p->job;
    uint32_t n = j->info.block > 1 ? j->stream_count : 0;
    unsigned char *at = n ? file_pack_grow(p, SECTION_EXTENTS, (size_t)n * RECORD_EXTENTS) : NULL;
    BASE_OWN struct job_stream *said = at ? malloc(n * sizeof *said) : NULL;
    for (uint32_t i = 0; i < n && said; i++) {
        said[i] = j->streams[i];
        shift_ranks(&said[i], -said[i].rank);
        if (p->file && said[i].count > 1) {
            round_extent(&said[i].wall);
            round_extent(&said[i].useful);
        }
    }
    if (said) {
        file_columns_put(extents, EXTENTS, said, sizeof *said, n, at);
        p->section[SECTION_EXTENTS].count = n;
    } else if (n) {
        p->error = PYTHIA_ENOMEM;
    }
}

static int unpack_extents(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_EXTENTS];
    struct job_stream *streams = r->job->streams;
    uint32_t n = r->job->info.block > 1 ? r->job->stream_count : 0;
    if (s->count != n || (n && !s->data))
        return REFUSE(r, "damaged: %llu extremes of %u blocks of ranks", (unsigned long long)s->count, n);
    if (n)
        file_columns_get(extents, EXTENTS, streams, sizeof *streams, n, s->data);
    for (uint32_t i = 0; i < n; i++)
        shift_ranks(&streams[i], streams[i].rank);
    return 0;
}

int file_unpack_timeline(struct file_reader *r)
{
    int error = unpack_extents(r);
    return error ?: unpack_series(r);
}
