/* SPDX-License-Identifier: MIT */
/* A packed job without its classes: definitions before them, totals and optional sections after them. */
#include "file/timeline.h"
#include "file/pack.h"
#include "file/traffic.h"
#include "file/regions.h"

#include <string.h>

#include "pythia.h"

/* --- Definitions --- */

static void pack_info(struct file_packer *p)
{
    const struct job_info *f = &p->job->info;
    const uint32_t words[] = { f->program, f->program_id, f->arguments, f->mpi,   f->ranks,
                               f->threads, f->missing,    f->runs,      f->block, 0 };
    unsigned char *at = file_pack_record(p, SECTION_INFO, RECORD_INFO);
    if (!at)
        return;
    file_put32s(at, words, 10);
    file_put64(at + 40, f->wall_ns);
    file_put64(at + 48, f->start_time);
}

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

/* --- The oracle's record --- */

static void put_next(struct file_packer *p, uint64_t v)
{
    unsigned char *at = file_pack_grow(p, SECTION_ORACLE, 8);
    if (at)
        file_put64(at, v);
}

static void put_next_double(struct file_packer *p, double v)
{
    unsigned char *at = file_pack_grow(p, SECTION_ORACLE, 8);
    if (at)
        file_put_double(at, v);
}

static void pack_score(struct file_packer *p, const struct oracle_score *s)
{
    put_next(p, s->events);
    put_next(p, s->known);
    put_next(p, s->cost_ns);
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        put_next(p, oracle_score_distances[d]);
        put_next(p, s->at[d].predictions);
        put_next(p, s->at[d].hits);
        put_next(p, s->at[d].unknown);
        put_next_double(p, s->at[d].brier);
        for (int i = 0; i < ORACLE_DECILES; i++)
            put_next(p, s->at[d].answers[i]);
        for (int i = 0; i < ORACLE_DECILES; i++)
            put_next(p, s->at[d].right[i]);
    }
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        put_next(p, s->time_error[i]);
    put_next(p, s->peers.asked);
    put_next(p, s->peers.foretold);
    put_next(p, s->peers.right);
}

static void pack_oracle(struct file_packer *p)
{
    const struct job_oracle *o = &p->job->oracle;
    if (!o->present)
        return;
    unsigned char *at = file_pack_record(p, SECTION_ORACLE, 16);
    if (at)
        file_put32s(at, (const uint32_t[]){ ORACLE_DISTANCES, ORACLE_DECILES, ORACLE_TIME_BUCKETS, o->ranks }, 4);
    put_next(p, o->actions);
    put_next_double(p, o->gain_seconds);
    put_next_double(p, o->cost_seconds);
    put_next(p, o->wall_ns);
    pack_score(p, &o->score);
    put_next(p, o->start_time);
    put_next(p, (uint64_t)o->recorded_ranks << 32 | o->threads);
    put_next(p, o->recorded_ns);
    put_next(p, o->recorded_time);
}

static void pack_sums(struct file_packer *p)
{
    unsigned char *at;
    for (uint32_t i = 0; i < p->job->sum_count && (at = file_pack_record(p, SECTION_SUMS, RECORD_SUM)); i++) {
        const struct job_sum *s = &p->job->sums[i];
        file_put32s(at, (const uint32_t[]){ s->terminal, s->name }, 2);
        file_put64(at + 8, s->count.samples);
        file_put64(at + 16, s->count.total);
    }
}

static void pack_regions(struct file_packer *p)
{
    for (uint32_t i = 0; i < p->job->region_count; i++) {
        unsigned char *at = file_pack_record(p, SECTION_REGIONS, RECORD_REGION);
        if (at)
            file_region_pack(&p->job->regions[i], at);
    }
}

/* --- Tasks --- */

static void pack_tasks(struct file_packer *p)
{
    unsigned char *at;
    for (uint32_t i = 0; i < p->job->task_count && (at = file_pack_record(p, SECTION_TASKS, RECORD_TASK)); i++) {
        const struct job_task *t = &p->job->tasks[i];
        const uint64_t wide[] = { t->created, t->at_once, t->undeferred, t->loops, t->timed, t->time_ns,
                                  t->min_ns, t->max_ns, t->wait_ns, t->subtree_ns, t->cost_ns, t->proof };
        file_put32s(at, (const uint32_t[]){ t->callsite, t->depth }, 2);
        for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
            file_put64(at + 8 + 8 * k, wide[k]);
    }
}

static void pack_machine(struct file_packer *p)
{
    const struct job_machine *m = &p->job->machine;
    unsigned char *at = m->present ? file_pack_record(p, SECTION_MACHINE, RECORD_MACHINE) : NULL;
    if (!at)
        return;
    file_put_double(at, m->joules);
    file_put32s(at + 8, (const uint32_t[]){ m->nodes, m->tree, m->energy }, 3);
}

static void pack_clock(struct file_packer *p)
{
    const struct job_clock *c = &p->job->clock;
    unsigned char *at = c->nodes ? file_pack_record(p, SECTION_CLOCK, RECORD_CLOCK) : NULL;
    if (!at)
        return;
    file_put64(at, c->error_ns);
    file_put32(at + 8, c->nodes);
}

/* --- In order --- */

void file_pack_definitions(struct file_packer *p)
{
    pack_info(p);
    pack_strings(p);
    pack_places(p);
    pack_terminals(p);
}

void file_pack_others(struct file_packer *p)
{
    pack_streams(p);
    pack_oracle(p);
    pack_sums(p);
    pack_regions(p);
    pack_tasks(p);
    pack_machine(p);
    file_pack_groups(p);
    file_pack_flows(p);
    file_pack_starts(p);
    file_pack_series(p);
    file_pack_extremes(p);
    file_pack_own(p);
    pack_clock(p);
}
