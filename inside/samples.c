/* SPDX-License-Identifier: MIT */
#include "inside/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/modules.h"
#include "job/schema.h"
#include "pythia.h"

/* --- The table --- */

static void count_row(struct inside_table *t, const struct inside_row *key)
{
    uint64_t hash = base_hash_mix(base_hash_mix((uint64_t)key->terminal << 32 | key->module) + key->offset + key->kind);
    uint32_t n = BASE_HASH_FIND(&t->by_place, hash, i, t->row[i].terminal == key->terminal &&
                                t->row[i].kind == key->kind && t->row[i].module == key->module &&
                                t->row[i].offset == key->offset);
    if (n == BASE_HASH_NONE && t->count < INSIDE_ROWS)
        n = base_hash_append(&t->by_place, hash, &t->row, &t->count, &t->room, key, sizeof *key);
    if (n == BASE_HASH_NONE)
        t->unknown++;
    else
        t->row[n].samples++;
}

static struct inside_row row_of(uint64_t address, uint32_t terminal, enum job_inside_kind kind)
{
    struct inside_row row = { .terminal = terminal, .kind = kind };
    row.module = base_modules_find((void *)(uintptr_t)address, &row.offset);
    if (row.module == BASE_MODULE_NONE) /* elsewhere in each process */
        row.offset = 0;
    return row;
}

void inside_table_close(struct inside_table *t)
{
    base_hash_close(&t->by_place);
    free(t->row);
    memset(t, 0, sizeof *t);
}

static int add_row(struct job *job, uint32_t rank, const struct inside_row *row)
{
    struct base_module m;
    struct job_inside made = { row->terminal, row->kind, GRAMMAR_NONE, row->offset, row->samples,
                               UINT64_C(1) << rank % 64 };
    if (row->module != BASE_MODULE_NONE && !base_modules_get(row->module, &m)) {
        made.module = job_module(job, m.path, m.build_id);
        if (made.module == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    }
    return job_rows_add(job, JOB_TABLE_INSIDE, &made);
}

int inside_table_finish(const struct inside_table *t, const struct inside_thread *threads, uint32_t count,
                        uint32_t rank, struct job *job)
{
    struct inside_table ends = { .unknown = t->unknown };
    int error = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < threads[i].count; k++) {
            struct inside_row row = row_of(threads[i].open[k].address, GRAMMAR_NONE, JOB_INSIDE_GAP);
            count_row(&ends, &row);
        }
    for (uint32_t i = 0; i < t->count && !error; i++)
        error = t->row[i].terminal < job->terminal_count || t->row[i].kind == JOB_INSIDE_BESIDE
                    ? add_row(job, rank, &t->row[i]) : 0;
    for (uint32_t i = 0; i < ends.count && !error; i++)
        error = add_row(job, rank, &ends.row[i]);
    if (ends.unknown && !error)
        error = add_row(job, rank, &(struct inside_row){ GRAMMAR_NONE, JOB_INSIDE_UNKNOWN, BASE_MODULE_NONE, 0,
                                                         ends.unknown });
    inside_table_close(&ends);
    return error;
}

/* --- A thread --- */

void inside_thread_forget(struct inside_thread *t)
{
    t->count = 0;
    t->seen = 0;
}

void inside_thread_close(struct inside_thread *t)
{
    inside_ring_close(&t->ring);
    free(t->open);
    *t = (struct inside_thread){ .ring.fd = -1 };
}

void inside_thread_follow(struct inside_thread *t, pid_t thread, uint64_t rate)
{
    if (thread == t->thread)
        return;
    inside_ring_close(&t->ring);
    t->thread = thread;
    if (thread)
        (void)inside_ring_open(&t->ring, thread, rate); /* one that has ended, or is one too many, has none */
}

/* What a sample was in that came after the event before `e` had ended. */
static struct inside_row row_in(const struct inside_event *e, const struct inside_sample *one)
{
    bool gap = one->at < e->begin;
    if (!one->other)
        return row_of(one->address, e->terminal, gap ? JOB_INSIDE_GAP : JOB_INSIDE_EVENT);
    uint32_t region = !gap && e->region ? e->terminal : e->around;
    return row_of(one->address, region, region == UINT32_MAX ? JOB_INSIDE_BESIDE : JOB_INSIDE_EVENT);
}

/* An event of the thread: what is open and not later was in it, in its gap, or in what is not known. */
static void samples_settle(struct inside_thread *t, struct inside_table *table, const struct inside_event *e)
{
    uint32_t kept = 0;
    table->unknown += t->seen - t->count;
    for (uint32_t i = 0; i < t->count; i++) {
        struct inside_sample one = t->open[i];
        if (one.at >= e->end) {
            t->open[kept++] = one;
        } else if (one.at < e->since) {
            table->unknown++;
        } else {
            struct inside_row row = row_in(e, &one);
            count_row(table, &row);
        }
    }
    t->seen = t->count = kept;
}

/* Beyond INSIDE_OPEN one of those takes the place of another, so that each of `seen` stays with the same chance. */
static void put_open(struct inside_thread *t, struct inside_sample one)
{
    uint64_t at = t->seen++;
    if (at >= INSIDE_OPEN)
        at = base_hash_mix(one.at) % t->seen;
    if (at < t->count)
        t->open[at] = one;
    else if (t->count < INSIDE_OPEN && !base_array_room(&t->open, &t->room, t->count + 1u, sizeof *t->open))
        t->open[t->count++] = one;
}

static uint64_t oldest(const struct inside_thread *t)
{
    uint64_t at = t->open[0].at;
    for (uint32_t i = 1; i < t->count; i++)
        at = t->open[i].at < at ? t->open[i].at : at;
    return at;
}

enum { TURN = 32 }; /* samples that are read at once */

void inside_thread_lend(struct inside_thread *t, struct inside_thread *to, struct inside_table *table, int64_t ahead)
{
    struct inside_sample some[TURN];
    for (uint32_t n = TURN; n == TURN;) {
        n = inside_ring_read(&t->ring, some, TURN);
        for (uint32_t i = 0; i < n; i++) {
            struct inside_row row = row_of(some[i].address, UINT32_MAX, JOB_INSIDE_BESIDE);
            if (to)
                put_open(to, (struct inside_sample){ some[i].at + (uint64_t)ahead, some[i].address, true });
            else if (table)
                count_row(table, &row);
        }
    }
}

bool inside_thread_take(struct inside_thread *t, struct inside_table *table, int64_t ahead)
{
    struct inside_sample some[TURN];
    struct inside_mark *m = t->mark;
    if (atomic_load_explicit(&m->answered, memory_order_acquire)) {
        samples_settle(t, table, &m->event);
        atomic_store_explicit(&m->answered, false, memory_order_relaxed);
    }
    for (uint32_t n = TURN; n == TURN;) {
        n = inside_ring_read(&t->ring, some, TURN);
        for (uint32_t i = 0; i < n; i++)
            put_open(t, (struct inside_sample){ some[i].at + (uint64_t)ahead, some[i].address, false });
    }
    if (!t->count || atomic_load_explicit(&m->asked, memory_order_relaxed) ||
        atomic_load_explicit(&m->answered, memory_order_relaxed))
        return false;
    inside_ask(m, oldest(t));
    return true;
}
