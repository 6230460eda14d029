/* SPDX-License-Identifier: MIT */
/* By columns, and of series only the steps that there are (doc/FORMAT.md). */
#include "file/timeline.h"

#include <stdlib.h>

#include "base/array.h"
#include "job/extremes.h"
#include "job/own.h"
#include "job/series.h"
#include "pythia.h"

enum { SERIES_HEAD = 24, EXTREMES_ROW = 4 + 4 * JOB_EXTREMES + 8 * (1 + 2 * JOB_EXTREMES + 2 * JOB_BUCKETS) };

/* --- Series --- */

/* Of one rank the parts are the sum, which then fits 16 bits. */
static uint64_t size_of(uint32_t ranks, uint32_t steps)
{
    return SERIES_HEAD + (uint64_t)JOB_SERIES_KINDS * steps * (ranks > 1 ? 8 : 2);
}

static void put16(unsigned char *at, uint32_t v)
{
    at[0] = (unsigned char)v;
    at[1] = (unsigned char)(v >> 8);
}

static uint16_t get16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static void put_series(struct file_packer *p, const struct job_series *s)
{
    unsigned char *at = file_pack_grow(p, SECTION_SERIES, size_of(s->ranks, s->steps));
    size_t n = s->steps;
    if (!at)
        return;
    file_put32s(at, (const uint32_t[]){ s->rank, s->ranks, s->steps, 0 }, 4);
    file_put64(at + 16, s->step_ns);
    at += SERIES_HEAD;
    for (uint32_t kind = 0; kind < JOB_SERIES_KINDS; kind++, at += n * (s->ranks > 1 ? 8 : 2))
        for (uint32_t i = 0; i < n; i++)
            if (s->ranks > 1) {
                file_put32(at + 4 * i, s->sum[kind][i]);
                put16(at + 4 * n + 2 * i, s->part[kind][JOB_SERIES_LEAST][i]);
                put16(at + 6 * n + 2 * i, s->part[kind][JOB_SERIES_MOST][i]);
            } else {
                put16(at + 2 * i, s->sum[kind][i]);
            }
    p->section[SECTION_SERIES].count++;
}

void file_pack_series(struct file_packer *p)
{
    for (uint32_t i = 0; i < p->job->series.count; i++)
        put_series(p, &p->job->series.of[i]);
}

/* Returns the bytes of the record at `at`, 0: it does not fit. */
static uint64_t get_series(const unsigned char *at, uint64_t left, struct job_series *s)
{
    memset(s, 0, sizeof *s);
    if (left < SERIES_HEAD)
        return 0;
    s->rank = file_get32(at);
    s->ranks = file_get32(at + 4);
    s->steps = file_get32(at + 8);
    s->step_ns = file_get64(at + 16);
    uint64_t size = size_of(s->ranks, s->steps), n = s->steps;
    if (n > JOB_SERIES_STEPS || size > left || file_get32(at + 12))
        return 0;
    at += SERIES_HEAD;
    for (uint32_t kind = 0; kind < JOB_SERIES_KINDS; kind++, at += n * (s->ranks > 1 ? 8 : 2))
        for (uint32_t i = 0; i < n; i++) {
            bool several = s->ranks > 1;
            s->sum[kind][i] = several ? file_get32(at + 4 * i) : get16(at + 2 * i);
            s->part[kind][JOB_SERIES_LEAST][i] = get16(several ? at + 4 * n + 2 * i : at + 2 * i);
            s->part[kind][JOB_SERIES_MOST][i] = get16(several ? at + 6 * n + 2 * i : at + 2 * i);
        }
    return size;
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

/* The 64-bit numbers of one row, in order. */
static uint64_t *wide_of(struct job_extremes *e, uint32_t k)
{
    if (k == 0)
        return &e->count;
    if (k <= JOB_EXTREMES)
        return &e->value[k - 1];
    if (k <= 2 * JOB_EXTREMES)
        return &e->turn[k - 1 - JOB_EXTREMES];
    k -= 1 + 2 * JOB_EXTREMES;
    return k < JOB_BUCKETS ? &e->gaps[k] : &e->durations[k - JOB_BUCKETS];
}

enum { WIDE = 1 + 2 * JOB_EXTREMES + 2 * JOB_BUCKETS };

void file_pack_extremes(struct file_packer *p)
{
    const struct job_extremes_list *l = &p->job->extremes;
    size_t n = l->count;
    unsigned char *at = n ? file_pack_grow(p, SECTION_EXTREMES, n * EXTREMES_ROW) : NULL;
    if (!at)
        return;
    unsigned char *wide = at + n * (4 + 4 * JOB_EXTREMES);
    for (size_t i = 0; i < n; i++) {
        struct job_extremes e = l->of[i];
        file_put32(at + 4 * i, e.terminal);
        for (size_t k = 0; k < JOB_EXTREMES; k++)
            file_put32(at + 4 * ((1 + k) * n + i), e.rank[k]);
        for (uint32_t k = 0; k < WIDE; k++)
            file_put64(wide + 8 * (k * n + i), *wide_of(&e, k));
    }
    p->section[SECTION_EXTREMES].count = n;
}

static int unpack_extremes(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_EXTREMES];
    struct job_extremes_list *l = &r->job->extremes;
    uint64_t n = s->count;
    if (!s->data)
        return 0;
    if (s->size % EXTREMES_ROW || n != s->size / EXTREMES_ROW)
        return REFUSE(r, "damaged: section extremes has another size");
    if (base_array_room(&l->of, &l->room, n, sizeof *l->of))
        return file_reader_no_memory(r);
    const unsigned char *wide = s->data + n * (4 + 4 * JOB_EXTREMES);
    for (uint64_t i = 0; i < n; i++) {
        struct job_extremes *e = &l->of[i];
        memset(e, 0, sizeof *e);
        e->terminal = file_get32(s->data + 4 * i);
        for (uint64_t k = 0; k < JOB_EXTREMES; k++)
            e->rank[k] = file_get32(s->data + 4 * ((1 + k) * n + i));
        for (uint32_t k = 0; k < WIDE; k++)
            *wide_of(e, k) = file_get64(wide + 8 * (k * n + i));
    }
    l->count = (uint32_t)n;
    return 0;
}

/* --- Own times --- */

enum { OWN_NARROW = 5, OWN_ROW = 4 * OWN_NARROW + 8 * JOB_OWN_SUMS };

/* Which rows go into a file: those of nodes that matter; a message has all. NULL: out of memory. */
static bool *own_kept(struct file_packer *p, size_t *n)
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
    size_t n, k = 0;
    bool *keep = own_kept(p, &n);
    if (!keep)
        p->error = PYTHIA_ENOMEM;
    unsigned char *at = keep && n ? file_pack_grow(p, SECTION_OWN, n * OWN_ROW) : NULL;
    for (uint32_t i = 0; i < l->count && at; i++) {
        const struct job_own *o = &l->row[i];
        const uint32_t narrow[OWN_NARROW] = { o->class_index, o->node, o->rank, o->thread, o->ranks };
        if (!keep[i])
            continue;
        for (size_t c = 0; c < OWN_NARROW; c++)
            file_put32(at + 4 * (c * n + k), narrow[c]);
        for (size_t c = 0; c < JOB_OWN_SUMS; c++)
            file_put64(at + 4 * OWN_NARROW * n + 8 * (c * n + k), o->sum[c]);
        k++;
    }
    if (at)
        p->section[SECTION_OWN].count = n;
    free(keep);
}

static int unpack_own(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_OWN];
    struct job_own_list *l = &r->job->own;
    uint64_t n = s->count;
    if (!s->data)
        return 0;
    if (s->size % OWN_ROW || n != s->size / OWN_ROW)
        return REFUSE(r, "damaged: section own times has another size");
    if (base_array_room(&l->row, &l->room, n, sizeof *l->row))
        return file_reader_no_memory(r);
    for (uint64_t i = 0; i < n; i++) {
        struct job_own *o = &l->row[i];
        uint32_t *const narrow[OWN_NARROW] = { &o->class_index, &o->node, &o->rank, &o->thread, &o->ranks };
        for (uint64_t c = 0; c < OWN_NARROW; c++)
            *narrow[c] = file_get32(s->data + 4 * (c * n + i));
        for (uint64_t c = 0; c < JOB_OWN_SUMS; c++)
            o->sum[c] = file_get64(s->data + 4 * OWN_NARROW * n + 8 * (c * n + i));
    }
    l->count = (uint32_t)n;
    return 0;
}

int file_unpack_timeline(struct file_reader *r)
{
    int error = unpack_series(r);
    if (!error)
        error = unpack_extremes(r);
    return error ? error : unpack_own(r);
}
