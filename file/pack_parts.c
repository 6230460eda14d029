/* SPDX-License-Identifier: MIT */
/* A packed job without its classes: definitions before them, totals and optional sections after them. */
#include "file/timeline.h"
#include "file/pack.h"
#include "file/records.h"
#include "file/traffic.h"

#include <string.h>

#include "pythia.h"

/* --- Definitions --- */

/* A record of a list of fields: VALUE, whose name is RECORD there. */
#define PACK(p, section, size, record, value)                                                        \
    do {                                                                                             \
        struct file_cursor cursor_ = { .at = file_pack_record(p, section, size), .writes = true };                   \
        __auto_type value_ = value;                                                                  \
        if (cursor_.at)                                                                              \
            file_record_##record(&cursor_, &value_);                                                 \
    } while (0)

static void pack_strings(struct file_packer *p)
{
    const struct job *j = p->job;
    size_t size = 4 * (size_t)j->string_count, at = size;
    for (uint32_t i = 0; i < j->string_count; i++)
        size += strlen(j->strings[i]) + 1;
    if (size > UINT32_MAX)
        p->error = PYTHIA_ELIMIT;
    unsigned char *bytes = file_pack_grow(p, SECTION_STRINGS, size);
    if (!bytes)
        return;
    for (uint32_t i = 0; i < j->string_count; i++) {
        size_t length = strlen(j->strings[i]) + 1;
        file_put32(bytes + 4 * (size_t)i, (uint32_t)at);
        memcpy(bytes + at, j->strings[i], length);
        at += length;
    }
    p->section[SECTION_STRINGS].count = j->string_count;
}

static void pack_places(struct file_packer *p)
{
    const struct job *j = p->job;
    unsigned char *at;
    for (uint32_t i = 0; i < j->module_count && (at = file_pack_record(p, SECTION_MODULES, RECORD_MODULE)); i++)
        file_put32s(at, (const uint32_t[]){ j->modules[i].path, j->modules[i].build_id }, 2);
    for (uint32_t i = 0; i < j->frame_count && (at = file_pack_record(p, SECTION_FRAMES, RECORD_FRAME)); i++) {
        file_put32(at, j->frames[i].module);
        file_put64(at + 8, j->frames[i].offset);
    }
    for (uint32_t i = 0; i < j->callsite_count && (at = file_pack_record(p, SECTION_CALLSITES, RECORD_CALLSITE)); i++)
        file_put32s(at, (const uint32_t[]){ j->callsites[i].first, j->callsites[i].count }, 2);
    for (uint32_t i = 0; i < j->comm_count && (at = file_pack_record(p, SECTION_COMMS, RECORD_COMM)); i++)
        file_put32s(at, (const uint32_t[]){ j->comms[i].name, j->comms[i].size }, 2);
}

static void pack_terminals(struct file_packer *p)
{
    for (uint32_t i = 0; i < p->job->terminal_count; i++) {
        const struct job_terminal *t = &p->job->terminals[i];
        unsigned char *at = file_pack_record(p, SECTION_TERMINALS, RECORD_TERMINAL);
        if (!at)
            return;
        at[0] = t->kind;
        at[1] = t->phase;
        at[2] = t->call_kind;
        at[3] = t->peer_class;
        at[4] = t->blocking;
        file_put32s(at + 8, (const uint32_t[]){ t->function, t->callsite, t->comm }, 3);
    }
}

/* --- Streams: by columns, which compress better; ranks as differences; sums as mean and remainder --- */

enum { SUMS = 8, EXACT = 2 /* the first of them: events, lost */, DRIFT = 7 /* the last one, signed */, WORDS = 4 };

/* A file has no use for the remainder of a block's times, and noise does not compress: it is 0 there. */
static uint32_t remainder_of(const struct file_packer *p, const struct job_stream *s, uint64_t sum, size_t column)
{
    return p->file && column >= EXACT ? 0 : (uint32_t)(sum % s->count);
}

/* Rounded down, as a remainder that is not negative needs it; also of what is below 0. */
static uint64_t mean_of(const struct job_stream *s, int64_t sum, uint32_t *remainder)
{
    int64_t mean = sum / (int64_t)s->count, left = sum % (int64_t)s->count;
    if (left < 0) {
        left += s->count;
        mean--;
    }
    *remainder = (uint32_t)left;
    return (uint64_t)mean;
}

static void pack_streams(struct file_packer *p)
{
    const struct job *j = p->job;
    size_t n = j->stream_count;
    unsigned char *at = file_pack_grow(p, SECTION_STREAMS, n * RECORD_STREAM), *rest = at + n * 8 * SUMS,
                  *words = rest + n * 4 * SUMS;
    if (!at)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct job_stream *s = &j->streams[i];
        const uint64_t wide[] = { s->events, s->lost, s->begin_ns, s->wall_ns, s->mpi_ns, s->omp_ns, s->cost_ns };
        const uint32_t narrow[WORDS] = { s->rank - (i ? s[-1].rank : 0), s->thread, s->class_index, s->count };
        uint32_t remainder;
        for (size_t k = 0; k < DRIFT; k++) {
            file_put64(at + 8 * (k * n + i), wide[k] / s->count);
            file_put32(rest + 4 * (k * n + i), remainder_of(p, s, wide[k], k));
        }
        file_put64(at + 8 * (DRIFT * n + i), mean_of(s, s->drift_ns, &remainder));
        file_put32(rest + 4 * (DRIFT * n + i), p->file ? 0 : remainder);
        for (size_t k = 0; k < WORDS; k++)
            file_put32(words + 4 * (k * n + i), narrow[k]);
    }
    p->section[SECTION_STREAMS].count = n;
}

static void pack_lists(struct file_packer *p)
{
    const struct job *j = p->job;
    if (j->oracle.present)
        PACK(p, SECTION_ORACLE, FILE_ORACLE_SIZE, oracle, j->oracle);
    for (uint32_t i = 0; i < j->sum_count; i++)
        PACK(p, SECTION_SUMS, RECORD_SUM, sum, j->sums[i]);
    for (uint32_t i = 0; i < j->digrams.count; i++)
        PACK(p, SECTION_DIGRAMS, RECORD_DIGRAM, digram, j->digrams.of[i]);
    for (uint32_t i = 0; i < j->threads.count; i++)
        PACK(p, SECTION_THREADS, RECORD_THREADS, threads, j->threads.of[i]);
    for (uint32_t i = 0; i < j->region_count; i++)
        PACK(p, SECTION_REGIONS, RECORD_REGION, region, j->regions[i]);
    for (uint32_t i = 0; i < j->task_count; i++)
        PACK(p, SECTION_TASKS, RECORD_TASK, task, j->tasks[i]);
    for (uint32_t i = 0; i < j->learned.region_count; i++)
        PACK(p, SECTION_LEARNED_REGIONS, RECORD_REGION, region, j->learned.regions[i]);
    for (uint32_t i = 0; i < j->learned.task_count; i++)
        PACK(p, SECTION_LEARNED_TASKS, RECORD_TASK, task, j->learned.tasks[i]);
    if (j->machine.present)
        PACK(p, SECTION_MACHINE, RECORD_MACHINE, machine, j->machine);
    if (j->clock.nodes)
        PACK(p, SECTION_CLOCK, RECORD_CLOCK, clock, j->clock);
    if (j->delay.ranks)
        PACK(p, SECTION_DELAY, RECORD_DELAY, delay, j->delay);
}

/* --- In order --- */

void file_pack_definitions(struct file_packer *p)
{
    PACK(p, SECTION_INFO, RECORD_INFO, info, p->job->info);
    pack_strings(p);
    pack_places(p);
    pack_terminals(p);
}

void file_pack_others(struct file_packer *p)
{
    pack_streams(p);
    pack_lists(p);
    file_pack_groups(p);
    file_pack_flows(p);
    file_pack_hops(p);
    file_pack_starts(p);
    file_pack_series(p);
    file_pack_extremes(p);
    file_pack_usual(p);
    file_pack_own(p);
    file_pack_extents(p);
}
