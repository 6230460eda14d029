/* SPDX-License-Identifier: MIT */
/*
 * Who is in which communicator, messages by peer, what completions complete: optional sections, each one list after
 * the other, by columns (doc/FORMAT.md). Whoever predicts does not read them.
 */
#include "file/traffic.h"

#include <stdlib.h>

#include "base/array.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/intern.h"
#include "job/starts.h"
#include "pythia.h"

enum { RANGE_WORDS = 8 };

/* --- Writing --- */

/* Where the next column begins; each has n numbers. */
struct columns {
    unsigned char *at;
    size_t n;
};

static void put_column(struct columns *c, size_t i, uint32_t value)
{
    file_put32(c->at + 4 * i, value);
}

static void next_column(struct columns *c)
{
    c->at += 4 * c->n;
}

static void put_ranges(unsigned char *at, const struct job_range *ranges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct job_range *r = &ranges[i];
        const uint32_t word[RANGE_WORDS] = { r->first, r->count,      r->stride, r->thread,
                                             r->rows,  r->row_stride, r->planes, r->plane_stride };
        for (size_t k = 0; k < RANGE_WORDS; k++)
            file_put32(at + 4 * (k * n + i), word[k]);
    }
}

void file_pack_groups(struct file_packer *p)
{
    const struct job_groups *g = &p->job->groups;
    size_t n = g->group_count, runs = g->run_count;
    unsigned char *at = n ? file_pack_grow(p, SECTION_GROUPS,
                                           8 + 20 * n + 12 * runs + 4 * RANGE_WORDS * (size_t)g->ranges.count)
                          : NULL;
    if (!at)
        return;
    file_put32s(at, (const uint32_t[]){ g->run_count, g->ranges.count }, 2);
    for (size_t i = 0; i < n; i++) {
        const struct job_group *e = &g->group[i];
        const uint32_t word[] = { e->comm, e->remote, e->size, e->run_count, e->range_count };
        struct columns c = { at + 8, n };
        for (size_t k = 0; k < 5; k++, next_column(&c))
            put_column(&c, i, word[k]);
    }
    for (size_t i = 0; i < runs; i++) {
        struct columns c = { at + 8 + 20 * n, runs };
        const uint32_t word[] = { g->runs[i].first, g->runs[i].count, (uint32_t)g->runs[i].stride };
        for (size_t k = 0; k < 3; k++, next_column(&c))
            put_column(&c, i, word[k]);
    }
    put_ranges(at + 8 + 20 * n + 12 * runs, g->ranges.range, g->ranges.count);
    p->section[SECTION_GROUPS].count = n;
}

void file_pack_flows(struct file_packer *p)
{
    const struct job_flows *f = &p->job->flows;
    size_t n = f->count;
    unsigned char *at = n ? file_pack_grow(p, SECTION_FLOWS, 4 + 32 * n + 4 * RANGE_WORDS * (size_t)f->ranges.count)
                          : NULL;
    if (!at)
        return;
    file_put32(at, f->ranges.count);
    for (size_t i = 0; i < n; i++) {
        const struct job_flow *r = &f->row[i];
        const uint32_t kind = r->receives | (uint32_t)r->relation << 8 | (uint32_t)r->mean << 16;
        const uint32_t word[] = { r->terminal, kind, r->value, r->range_count };
        struct columns c = { at + 4, n };
        for (size_t k = 0; k < 4; k++, next_column(&c))
            put_column(&c, i, word[k]);
        file_put64(c.at + 8 * i, r->messages);
        file_put64(c.at + 8 * (n + i), r->bytes);
    }
    put_ranges(at + 4 + 32 * n, f->ranges.range, f->ranges.count);
    p->section[SECTION_FLOWS].count = n;
}

void file_pack_starts(struct file_packer *p)
{
    const struct job_starts *s = &p->job->starts;
    size_t n = s->count, runs = s->run_count;
    unsigned char *at = n ? file_pack_grow(p, SECTION_STARTS, 4 + 12 * n + 12 * runs) : NULL;
    if (!at)
        return;
    file_put32(at, s->run_count);
    for (size_t i = 0; i < n; i++) {
        file_put64(at + 4 + 8 * i, (uint64_t)s->list[i].name);
        file_put32(at + 4 + 8 * n + 4 * i, s->list[i].count);
    }
    for (size_t i = 0; i < runs; i++) {
        struct columns c = { at + 4 + 12 * n, runs };
        const uint32_t word[] = { s->runs[i].distance, (uint32_t)s->runs[i].step, s->runs[i].count };
        for (size_t k = 0; k < 3; k++, next_column(&c))
            put_column(&c, i, word[k]);
    }
    p->section[SECTION_STARTS].count = n;
}

/* --- Reading --- */

static uint32_t column(const unsigned char *at, uint64_t n, uint64_t k, uint64_t i)
{
    return file_get32(at + 4 * (k * n + i));
}

static void get_ranges(const unsigned char *at, struct job_range *ranges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ranges[i] = (struct job_range){ column(at, n, 0, i), column(at, n, 1, i), column(at, n, 2, i),
                                        column(at, n, 3, i), column(at, n, 4, i), column(at, n, 5, i),
                                        column(at, n, 6, i), column(at, n, 7, i) };
}

/* Parts stand one after the other: where this one begins; false: it goes beyond the end. */
static bool take(uint32_t *next, uint32_t count, uint32_t end, uint32_t *first)
{
    *first = *next;
    if (count > end - *next)
        return false;
    *next += count;
    return true;
}

static int unpack_groups(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_GROUPS];
    struct job_groups *g = &r->job->groups;
    uint64_t n = s->count, runs, ranges;
    uint32_t next_run = 0, next_range = 0;
    if (!s->data)
        return 0;
    runs = s->size < 8 ? 0 : file_get32(s->data);
    ranges = s->size < 8 ? 0 : file_get32(s->data + 4);
    if (n > BASE_ARRAY_LIMIT || s->size != 8 + 20 * n + 12 * runs + 4 * RANGE_WORDS * ranges)
        return REFUSE(r, "damaged: section groups has another size");
    if (base_array_room(&g->group, &g->group_room, n, sizeof *g->group) ||
        base_array_room(&g->runs, &g->run_room, runs, sizeof *g->runs) ||
        base_array_room(&g->ranges.range, &g->ranges.room, ranges, sizeof *g->ranges.range))
        return file_reader_no_memory(r);
    const unsigned char *at = s->data + 8;
    for (uint64_t i = 0; i < n; i++) {
        struct job_group e = { .comm = column(at, n, 0, i), .remote = column(at, n, 1, i), .size = column(at, n, 2, i),
                               .run_count = column(at, n, 3, i), .range_count = column(at, n, 4, i) };
        if (!take(&next_run, e.run_count, (uint32_t)runs, &e.run_first) ||
            !take(&next_range, e.range_count, (uint32_t)ranges, &e.range_first))
            return REFUSE(r, "damaged: parts of group %llu", (unsigned long long)i);
        g->group[i] = e;
    }
    at += 20 * n;
    for (uint64_t i = 0; i < runs; i++)
        g->runs[i] = (struct job_run){ column(at, runs, 0, i), column(at, runs, 1, i),
                                       (int32_t)column(at, runs, 2, i) };
    get_ranges(at + 12 * runs, g->ranges.range, (uint32_t)ranges);
    if (next_run != runs || next_range != ranges)
        return REFUSE(r, "damaged: parts of no group");
    g->group_count = (uint32_t)n;
    g->run_count = (uint32_t)runs;
    g->ranges.count = (uint32_t)ranges;
    return 0;
}

static int unpack_flows(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_FLOWS];
    struct job_flows *f = &r->job->flows;
    uint64_t n = s->count, ranges;
    uint32_t next = 0;
    if (!s->data)
        return 0;
    ranges = s->size < 4 ? 0 : file_get32(s->data);
    if (n > BASE_ARRAY_LIMIT || s->size != 4 + 32 * n + 4 * RANGE_WORDS * ranges)
        return REFUSE(r, "damaged: section messages has another size");
    if (base_array_room(&f->row, &f->room, n, sizeof *f->row) ||
        base_array_room(&f->ranges.range, &f->ranges.room, ranges, sizeof *f->ranges.range))
        return file_reader_no_memory(r);
    const unsigned char *at = s->data + 4, *wide = at + 16 * n;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t kind = column(at, n, 1, i);
        struct job_flow e = { .terminal = column(at, n, 0, i),
                              .receives = (uint8_t)kind,
                              .relation = (uint8_t)(kind >> 8),
                              .mean = (uint8_t)(kind >> 16),
                              .value = column(at, n, 2, i),
                              .range_count = column(at, n, 3, i),
                              .messages = file_get64(wide + 8 * i),
                              .bytes = file_get64(wide + 8 * (n + i)) };
        if (kind >> 24 || !take(&next, e.range_count, (uint32_t)ranges, &e.range_first))
            return REFUSE(r, "damaged: messages %llu", (unsigned long long)i);
        f->row[i] = e;
    }
    get_ranges(at + 32 * n, f->ranges.range, (uint32_t)ranges);
    if (next != ranges)
        return REFUSE(r, "damaged: ranks of no messages");
    f->count = (uint32_t)n;
    f->ranges.count = (uint32_t)ranges;
    return 0;
}

static int unpack_starts(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STARTS];
    struct job_starts *l = &r->job->starts;
    uint64_t n = s->count, runs;
    uint32_t next = 0;
    if (!s->data)
        return 0;
    runs = s->size < 4 ? 0 : file_get32(s->data);
    if (n > BASE_ARRAY_LIMIT || s->size != 4 + 12 * n + 12 * runs)
        return REFUSE(r, "damaged: section starts has another size");
    if (base_array_room(&l->list, &l->room, n, sizeof *l->list) ||
        base_array_room(&l->runs, &l->run_room, runs, sizeof *l->runs))
        return file_reader_no_memory(r);
    const unsigned char *at = s->data + 4, *counts = at + 8 * n, *rest = counts + 4 * n;
    for (uint64_t i = 0; i < n; i++) {
        struct job_start_list e = { .name = (int64_t)file_get64(at + 8 * i), .count = file_get32(counts + 4 * i) };
        if (!take(&next, e.count, (uint32_t)runs, &e.first))
            return REFUSE(r, "damaged: list of starts %llu", (unsigned long long)i);
        l->list[i] = e;
    }
    for (uint64_t i = 0; i < runs; i++)
        l->runs[i] = (struct job_start_run){ column(rest, runs, 0, i), (int32_t)column(rest, runs, 1, i),
                                             column(rest, runs, 2, i) };
    if (next != runs)
        return REFUSE(r, "damaged: runs of no list of starts");
    l->count = (uint32_t)n;
    l->run_count = (uint32_t)runs;
    return 0;
}

int file_unpack_traffic(struct file_reader *r)
{
    int error = unpack_groups(r);
    if (!error)
        error = unpack_flows(r);
    return error ? error : unpack_starts(r);
}
