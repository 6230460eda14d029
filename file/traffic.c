/* SPDX-License-Identifier: MIT */
/*
 * Who is in which communicator, messages by peer, stops and hops, what completions complete: optional sections, each
 * one list after the other, by columns (file/records.c). Whoever predicts does not read them.
 */
#include "file/traffic.h"

#include "base/array.h"
#include "file/records.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/hops.h"
#include "job/starts.h"

/* --- Bytes of a section --- */

static uint64_t groups_size(const struct job_groups *g)
{
    return 8 + 20 * (uint64_t)g->group_count + 12 * (uint64_t)g->run_count + RECORD_RANGE * (uint64_t)g->ranges.count;
}

static uint64_t flows_size(const struct job_flows *f)
{
    return 4 + 32 * (uint64_t)f->count + RECORD_RANGE * (uint64_t)f->ranges.count;
}

static uint64_t hops_size(const struct job_hops *h)
{
    return 8 + 32 * (uint64_t)h->stop_count + 24 * (uint64_t)h->hop_count + RECORD_RANGE * (uint64_t)h->ranges.count;
}

static uint64_t starts_size(const struct job_starts *s)
{
    return 4 + 12 * (uint64_t)s->count + 12 * (uint64_t)s->run_count;
}

/* --- Writing --- */

/* A section of so many rows; nothing where there are none. */
static struct file_cursor begin(struct file_packer *p, enum file_section_type type, uint32_t rows, uint64_t size)
{
    struct file_cursor c = { .at = rows ? file_pack_grow(p, type, size) : NULL, .writes = true };

    if (c.at)
        p->section[type].count = rows;
    return c;
}

void file_pack_groups(struct file_packer *p)
{
    struct job_groups g = p->job->groups;
    struct file_cursor c = begin(p, SECTION_GROUPS, g.group_count, groups_size(&g));
    if (c.at)
        file_record_groups(&c, &g);
}

void file_pack_flows(struct file_packer *p)
{
    struct job_flows f = p->job->flows;
    struct file_cursor c = begin(p, SECTION_FLOWS, f.count, flows_size(&f));
    if (c.at)
        file_record_flows(&c, &f);
}

void file_pack_hops(struct file_packer *p)
{
    struct job_hops h = p->job->hops;
    struct file_cursor c = begin(p, SECTION_HOPS, h.stop_count, hops_size(&h));
    if (c.at)
        file_record_hops(&c, &h);
}

void file_pack_starts(struct file_packer *p)
{
    struct job_starts s = p->job->starts;
    struct file_cursor c = begin(p, SECTION_STARTS, s.count, starts_size(&s));
    if (c.at)
        file_record_starts(&c, &s);
}

/* --- Reading --- */

/* The number `i` that a section begins with, 0 where it is shorter. */
static uint32_t head(const struct file_section *s, uint32_t i)
{
    return s->size < 4 * ((uint64_t)i + 1) ? 0 : file_get32(s->data + 4 * i);
}

static int refuse_size(struct file_reader *r, enum file_section_type type)
{
    return REFUSE(r, "damaged: section %s has another size", file_section_name(type));
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
    uint32_t next_run = 0, next_range = 0;
    struct file_cursor c;
    if (!s->data)
        return 0;
    if (s->count > BASE_ARRAY_LIMIT)
        return refuse_size(r, SECTION_GROUPS);
    g->group_count = (uint32_t)s->count;
    g->run_count = head(s, 0);
    g->ranges.count = head(s, 1);
    if (s->size != groups_size(g))
        return refuse_size(r, SECTION_GROUPS);
    if (base_array_room(&g->group, &g->group_room, g->group_count, sizeof *g->group) ||
        base_array_room(&g->runs, &g->run_room, g->run_count, sizeof *g->runs) ||
        base_array_room(&g->ranges.range, &g->ranges.room, g->ranges.count, sizeof *g->ranges.range))
        return file_reader_no_memory(r);
    file_record_groups(file_cursor_at(&c, s->data), g);
    for (uint32_t i = 0; i < g->group_count; i++)
        if (!take(&next_run, g->group[i].run_count, g->run_count, &g->group[i].run_first) ||
            !take(&next_range, g->group[i].range_count, g->ranges.count, &g->group[i].range_first))
            return REFUSE(r, "damaged: parts of group %u", i);
    return next_run == g->run_count && next_range == g->ranges.count ? 0 : REFUSE(r, "damaged: parts of no group");
}

static int unpack_flows(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_FLOWS];
    struct job_flows *f = &r->job->flows;
    struct file_cursor c;
    uint32_t next = 0;
    if (!s->data)
        return 0;
    if (s->count > BASE_ARRAY_LIMIT)
        return refuse_size(r, SECTION_FLOWS);
    f->count = (uint32_t)s->count;
    f->ranges.count = head(s, 0);
    if (s->size != flows_size(f))
        return refuse_size(r, SECTION_FLOWS);
    if (base_array_room(&f->row, &f->room, f->count, sizeof *f->row) ||
        base_array_room(&f->ranges.range, &f->ranges.room, f->ranges.count, sizeof *f->ranges.range))
        return file_reader_no_memory(r);
    file_record_flows(file_cursor_at(&c, s->data), f);
    for (uint32_t i = 0; i < f->count; i++)
        if (!take(&next, f->row[i].range_count, f->ranges.count, &f->row[i].range_first))
            return REFUSE(r, "damaged: messages %u", i);
    return next == f->ranges.count && !c.bad ? 0 : REFUSE(r, "damaged: ranks of no messages, or another kind");
}

static int unpack_hops(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_HOPS];
    struct job_hops *h = &r->job->hops;
    struct file_cursor c;
    uint32_t next = 0;
    if (!s->data)
        return 0;
    if (s->count > BASE_ARRAY_LIMIT)
        return refuse_size(r, SECTION_HOPS);
    h->stop_count = (uint32_t)s->count;
    h->hop_count = head(s, 0);
    h->ranges.count = head(s, 1);
    if (s->size != hops_size(h))
        return refuse_size(r, SECTION_HOPS);
    if (base_array_room(&h->stop, &h->stop_room, h->stop_count, sizeof *h->stop) ||
        base_array_room(&h->hop, &h->hop_room, h->hop_count, sizeof *h->hop) ||
        base_array_room(&h->ranges.range, &h->ranges.room, h->ranges.count, sizeof *h->ranges.range))
        return file_reader_no_memory(r);
    file_record_hops(file_cursor_at(&c, s->data), h);
    for (uint32_t i = 0; i < h->hop_count; i++)
        if (!take(&next, h->hop[i].range_count, h->ranges.count, &h->hop[i].range_first))
            return REFUSE(r, "damaged: hop %u", i);
    return next == h->ranges.count ? 0 : REFUSE(r, "damaged: ranges of no hops");
}

static int unpack_starts(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STARTS];
    struct job_starts *l = &r->job->starts;
    struct file_cursor c;
    uint32_t next = 0;
    if (!s->data)
        return 0;
    if (s->count > BASE_ARRAY_LIMIT)
        return refuse_size(r, SECTION_STARTS);
    l->count = (uint32_t)s->count;
    l->run_count = head(s, 0);
    if (s->size != starts_size(l))
        return refuse_size(r, SECTION_STARTS);
    if (base_array_room(&l->list, &l->room, l->count, sizeof *l->list) ||
        base_array_room(&l->runs, &l->run_room, l->run_count, sizeof *l->runs))
        return file_reader_no_memory(r);
    file_record_starts(file_cursor_at(&c, s->data), l);
    for (uint32_t i = 0; i < l->count; i++)
        if (!take(&next, l->list[i].count, l->run_count, &l->list[i].first))
            return REFUSE(r, "damaged: list of starts %u", i);
    return next == l->run_count ? 0 : REFUSE(r, "damaged: runs of no list of starts");
}

int file_unpack_traffic(struct file_reader *r)
{
    int error = unpack_groups(r);
    if (!error)
        error = unpack_flows(r);
    if (!error)
        error = unpack_hops(r);
    return error ? error : unpack_starts(r);
}
