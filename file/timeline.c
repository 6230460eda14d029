/* SPDX-License-Identifier: MIT */
/* By columns (file/records.c), and of series only the steps that there are. */
#include "file/timeline.h"

#include <stdlib.h>

#include "base/array.h"
#include "file/records.h"
#include "job/extremes.h"
#include "job/own.h"
#include "job/series.h"
#include "pythia.h"

/* --- Series --- */

enum { SERIES_HEAD = 24 };

static uint64_t size_of(const struct job_series *s)
{
    return SERIES_HEAD + (uint64_t)JOB_SERIES_KINDS * s->steps * (s->ranks > 1 ? 8 : 2);
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
        struct file_cursor c = { .at = file_pack_grow(p, SECTION_SERIES, size_of(&s)), .writes = true };
        if (!c.at)
            return;
        if (p->file)
            round_series(&s);
        file_record_series_head(&c, &s);
        file_record_series_steps(&c, &s);
        p->section[SECTION_SERIES].count++;
    }
}

/* Returns the bytes of the record at `at`, 0: it does not fit. */
static uint64_t get_series(const unsigned char *at, uint64_t left, struct job_series *s)
{
    struct file_cursor c;
    memset(s, 0, sizeof *s);
    if (left < SERIES_HEAD)
        return 0;
    file_record_series_head(file_cursor_at(&c, at), s);
    if (c.bad || s->steps > JOB_SERIES_STEPS || size_of(s) > left)
        return 0;
    file_record_series_steps(&c, s);
    return size_of(s);
}

static int unpack_series(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_SERIES];
    struct job_series_list *l = &r->job->series;
    uint64_t at = 0;
    if (!s->data)
        return 0;
    if (s->count > s->size / SERIES_HEAD)
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

/* --- Extremes --- */

void file_pack_extremes(struct file_packer *p)
{
    struct job_extremes_list l = p->job->extremes;
    struct file_cursor c = { .writes = true };
    c.at = l.count ? file_pack_grow(p, SECTION_EXTREMES, (size_t)l.count * RECORD_EXTREMES) : NULL;
    if (!c.at)
        return;
    file_record_extremes(&c, &l);
    p->section[SECTION_EXTREMES].count = l.count;
}

void file_pack_usual(struct file_packer *p)
{
    struct job_extremes_list l = p->job->extremes;
    struct file_cursor c = { .writes = true };
    c.at = l.count ? file_pack_grow(p, SECTION_USUAL, (size_t)l.count * RECORD_USUAL) : NULL;
    if (!c.at)
        return;
    file_record_usual(&c, &l);
    p->section[SECTION_USUAL].count = l.count;
}

static int unpack_extremes(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_EXTREMES];
    struct job_extremes_list *l = &r->job->extremes;
    struct file_cursor c;
    if (base_array_room(&l->of, &l->room, s->count, sizeof *l->of))
        return file_reader_no_memory(r);
    l->count = s->data ? (uint32_t)s->count : 0;
    if (l->count)
        memset(l->of, 0, l->count * sizeof *l->of); /* an older file does not know what is usual */
    file_record_extremes(file_cursor_at(&c, s->data), l);
    s = &r->in.section[SECTION_USUAL];
    if (s->data && s->count != l->count)
        return REFUSE(r, "damaged: usual times of other terminals");
    if (s->data)
        file_record_usual(file_cursor_at(&c, s->data), l);
    return 0;
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

/* Which rows go into a file: those of nodes that matter; a message has all. NULL: out of memory. */
static bool *own_kept(struct file_packer *p, uint32_t *n)
{
    const struct job_own_list *l = &p->job->own;
    bool *keep = calloc((size_t)l->count + 1, sizeof *keep);
    *n = 0;
    if (keep && p->file && job_own_matter(p->job, keep)) {
        free(keep);
        keep = NULL;
    }
    for (uint32_t i = 0; i < l->count && keep; i++)
        *n += keep[i] |= !p->file;
    return keep;
}

void file_pack_own(struct file_packer *p)
{
    const struct job_own_list *l = &p->job->own;
    uint32_t n, row = 0;
    bool *keep = own_kept(p, &n);
    if (!keep)
        p->error = PYTHIA_ENOMEM;
    unsigned char *at = keep && n ? file_pack_grow(p, SECTION_OWN, (size_t)n * RECORD_OWN) : NULL;
    for (uint32_t i = 0; i < l->count && at; i++) {
        struct job_own o = l->row[i];
        struct file_cursor c = { .at = at, .writes = true, .row = row, .others = n - 1 };
        if (!keep[i])
            continue;
        if (p->file)
            round_own(&o);
        file_record_own(&c, &o);
        row++;
    }
    if (at)
        p->section[SECTION_OWN].count = n;
    free(keep);
}

static int unpack_own(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_OWN];
    struct job_own_list *l = &r->job->own;
    uint32_t n = s->data ? (uint32_t)s->count : 0;
    if (base_array_room(&l->row, &l->room, n, sizeof *l->row))
        return file_reader_no_memory(r);
    for (uint32_t i = 0; i < n; i++) {
        struct file_cursor c;
        file_cursor_at(&c, s->data);
        c.row = i;
        c.others = n - 1;
        file_record_own(&c, &l->row[i]);
    }
    l->count = n;
    return 0;
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

void file_pack_extents(struct file_packer *p)
{
    const struct job *j = p->job;
    uint32_t n = j->info.block > 1 ? j->stream_count : 0;
    unsigned char *at = n ? file_pack_grow(p, SECTION_EXTENTS, (size_t)n * RECORD_EXTENTS) : NULL;
    for (uint32_t i = 0; i < n && at; i++) {
        struct file_cursor c = { .at = at, .writes = true, .row = i, .others = n - 1 };
        struct job_stream s = j->streams[i];
        if (p->file && s.count > 1) {
            round_extent(&s.wall);
            round_extent(&s.useful);
        }
        file_record_extents(&c, &s);
    }
    if (at)
        p->section[SECTION_EXTENTS].count = n;
}

static int unpack_extents(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_EXTENTS];
    uint32_t n = r->job->info.block > 1 ? r->job->stream_count : 0;
    if (s->count != n || (n && !s->data))
        return REFUSE(r, "damaged: %llu extremes of %u blocks of ranks", (unsigned long long)s->count, n);
    for (uint32_t i = 0; i < n; i++) {
        struct file_cursor c;
        file_cursor_at(&c, s->data);
        c.row = i;
        c.others = n - 1;
        file_record_extents(&c, &r->job->streams[i]);
    }
    return 0;
}

int file_unpack_timeline(struct file_reader *r)
{
    int error = unpack_extents(r);
    if (!error)
        error = unpack_series(r);
    if (!error)
        error = unpack_extremes(r);
    return error ? error : unpack_own(r);
}
