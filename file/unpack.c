/* SPDX-License-Identifier: MIT */
/*
 * From hostile bytes to a job. The container (checksums, sizes, compression) is container.c; here records become
 * definitions, grammars and streams. What points somewhere is checked before it is followed; parts that belong to a
 * class must stand one after the other, so that nothing is used twice and memory is bounded by the input. Everything
 * else is left to job_check(), which audits the finished job.
 */
#include <stdlib.h>

#include "pythia.h"
#include "file/file.h"
#include "file/records.h"
#include "job/check.h"
#include "file/times.h"
#include "file/timeline.h"
#include "file/traffic.h"
#include "file/unpack.h"
#include "job/intern.h"

int file_reader_no_memory(struct file_reader *r)
{
    REFUSE(r, "out of memory");
    return PYTHIA_ENOMEM;
}

/* What was interned as number `got` stands at place `i` of its section: unless it stood there before. */
static int interned(struct file_reader *r, enum file_section_type type, uint32_t got, uint32_t i)
{
    if (got == GRAMMAR_NONE)
        return file_reader_no_memory(r);
    return got == i ? 0 : REFUSE(r, "damaged: %s %u stands twice", file_section_name(type), i);
}

/* --- Definitions --- */

static int unpack_strings(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STRINGS];
    uint64_t next = 4 * s->count;
    if (s->count > s->size / 5 || s->size > UINT32_MAX)
        return REFUSE(r, "damaged: %llu strings", (unsigned long long)s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t offset = file_get32(s->data + 4 * (size_t)i);
        const unsigned char *end = offset == next && next < s->size ? memchr(s->data + next, 0, s->size - next) : NULL;
        if (!end)
            return REFUSE(r, "damaged: string %u is out of its section", i);
        next = (uint64_t)(end - s->data) + 1;
        int error = interned(r, SECTION_STRINGS, job_string(r->job, (const char *)s->data + offset), i);
        if (error)
            return error;
    }
    return next == s->size ? 0 : REFUSE(r, "damaged: bytes after the last string");
}

static int unpack_modules(struct file_reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_MODULES); i++) {
        const unsigned char *at = file_reader_at(r, SECTION_MODULES, i, RECORD_MODULE);
        uint32_t path = file_get32(at), id = file_get32(at + 4);
        if (path >= j->string_count || id >= j->string_count)
            return REFUSE(r, "damaged: module %u names string %u or %u", i, path, id);
        int error = interned(r, SECTION_MODULES, job_module(j, j->strings[path], j->strings[id]), i);
        if (error)
            return error;
    }
    return 0;
}

static int unpack_callsite(struct file_reader *r, uint32_t i, struct job_frame *frames)
{
    const unsigned char *at = file_reader_at(r, SECTION_CALLSITES, i, RECORD_CALLSITE);
    uint32_t first = file_get32(at), count = file_get32(at + 4);
    if (first != r->job->frame_count || count > file_reader_count(r, SECTION_FRAMES) - first)
        return REFUSE(r, "damaged: frames of callsite %u", i);
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *f = file_reader_at(r, SECTION_FRAMES, first + k, RECORD_FRAME);
        frames[k] = (struct job_frame){ file_get32(f), 0, file_get64(f + 8) };
        if (frames[k].module >= r->job->module_count || file_get32(f + 4))
            return REFUSE(r, "damaged: frame %u", first + k);
    }
    return interned(r, SECTION_CALLSITES, job_callsite(r->job, frames, count), i);
}

static int unpack_callsites(struct file_reader *r)
{
    uint32_t frames = file_reader_count(r, SECTION_FRAMES);
    struct job_frame *scratch = malloc(((size_t)frames + 1) * sizeof *scratch);
    int error = scratch ? 0 : file_reader_no_memory(r);
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_CALLSITES) && !error; i++)
        error = unpack_callsite(r, i, scratch);
    free(scratch);
    if (!error && r->job->frame_count != frames)
        error = REFUSE(r, "damaged: frames of no callsite");
    return error;
}

static int unpack_comms(struct file_reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_COMMS); i++) {
        const unsigned char *at = file_reader_at(r, SECTION_COMMS, i, RECORD_COMM);
        uint32_t name = file_get32(at);
        if (name >= j->string_count)
            return REFUSE(r, "damaged: communicator %u names string %u", i, name);
        int error = interned(r, SECTION_COMMS, job_comm(j, j->strings[name], file_get32(at + 4)), i);
        if (error)
            return error;
    }
    return 0;
}

static int unpack_terminals(struct file_reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_TERMINALS); i++) {
        const unsigned char *at = file_reader_at(r, SECTION_TERMINALS, i, RECORD_TERMINAL);
        struct job_terminal t = { .kind = at[0],
                                  .phase = at[1],
                                  .call_kind = at[2],
                                  .peer_class = at[3],
                                  .blocking = at[4],
                                  .function = file_get32(at + 8),
                                  .callsite = file_get32(at + 12),
                                  .comm = file_get32(at + 16) };
        if (t.function >= j->string_count || (t.callsite >= j->callsite_count && t.callsite != GRAMMAR_NONE) ||
            (t.comm >= j->comm_count && t.comm != GRAMMAR_NONE) || at[5] || at[6] || at[7] || file_get32(at + 20))
            return REFUSE(r, "damaged: terminal %u", i);
        int error = interned(r, SECTION_TERMINALS, job_terminal(j, &t), i);
        if (error)
            return error;
    }
    return 0;
}

/* --- Streams, sums, oracle --- */

/* The first `count` records of a section, whose fields records.c lists, to an array. */
#define UNPACK(r, section, size, count, record, array)                                              \
    for (uint32_t i_ = 0; i_ < (count); i_++) {                                                      \
        struct file_cursor c_;                                                                       \
        file_record_##record(file_cursor_at(&c_, file_reader_at(r, section, i_, size)), &(array)[i_]); \
    }

static int unpack_stream(struct file_reader *r, size_t i, size_t n, struct job_stream *s)
{
    const unsigned char *means = r->in.section[SECTION_STREAMS].data, *rest = means + n * 64, *words = rest + n * 32;
    uint64_t drift, *const column[] = { &s->events, &s->lost,   &s->begin_ns, &s->wall_ns,
                                        &s->mpi_ns, &s->omp_ns, &s->cost_ns,  &drift };
    s->rank = file_get32(words + 4 * i) + (i ? s[-1].rank : 0);
    s->thread = file_get32(words + 4 * (n + i));
    s->class_index = file_get32(words + 4 * (2 * n + i));
    s->count = file_get32(words + 4 * (3 * n + i));
    for (size_t k = 0; k < sizeof column / sizeof *column; k++) {
        uint32_t remainder = file_get32(rest + 4 * (k * n + i));
        *column[k] = file_get64(means + 8 * (k * n + i)) * s->count + remainder;
        if (remainder >= s->count)
            return REFUSE(r, "damaged: remainder of stream %zu", i);
    }
    s->drift_ns = (int64_t)drift; /* below 0 it wraps, as its mean did */
    job_stream_alone(s, s->rank); /* of a block: file_unpack_timeline */
    return 0;
}

static int unpack_streams(struct file_reader *r)
{
    struct job *j = r->job;
    size_t n = file_reader_count(r, SECTION_STREAMS);
    int error = 0;
    if (base_array_room(&j->streams, &j->index->stream_room, n, sizeof *j->streams))
        return file_reader_no_memory(r);
    for (size_t i = 0; i < n && !error; i++)
        error = unpack_stream(r, i, n, &j->streams[i]);
    if (!error)
        j->stream_count = (uint32_t)n;
    return error;
}

static int unpack_sums(struct file_reader *r)
{
    struct job *j = r->job;
    uint32_t n = file_reader_count(r, SECTION_SUMS);
    if (job_sums_reserve(j, n))
        return file_reader_no_memory(r);
    UNPACK(r, SECTION_SUMS, RECORD_SUM, n, sum, j->sums);
    j->sum_count = n;
    return 0;
}

static int unpack_digrams(struct file_reader *r)
{
    uint32_t n = r->in.section[SECTION_DIGRAMS].data ? file_reader_count(r, SECTION_DIGRAMS) : 0;
    if (job_digrams_reserve(r->job, n))
        return file_reader_no_memory(r);
    UNPACK(r, SECTION_DIGRAMS, RECORD_DIGRAM, n, digram, r->job->digrams.of);
    r->job->digrams.count = n;
    return 0;
}

static int unpack_threads(struct file_reader *r)
{
    uint32_t n = r->in.section[SECTION_THREADS].data ? file_reader_count(r, SECTION_THREADS) : 0;
    if (job_threads_reserve(r->job, n))
        return file_reader_no_memory(r);
    UNPACK(r, SECTION_THREADS, RECORD_THREADS, n, threads, r->job->threads.of);
    r->job->threads.count = n;
    return 0;
}

/* The score of a Pythia that measured something else is of no use: as if it were not there. */
static void unpack_oracle(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_ORACLE];
    const unsigned char *at = s->data;
    struct file_cursor c;
    if (!at || s->size != FILE_ORACLE_SIZE || file_get32(at) != ORACLE_DISTANCES ||
        file_get32(at + 4) != ORACLE_DECILES || file_get32(at + 8) != ORACLE_TIME_BUCKETS)
        return;
    r->job->oracle.present = 1;
    file_record_oracle(file_cursor_at(&c, at), &r->job->oracle);
}

static int unpack_regions(struct file_reader *r)
{
    uint32_t n = r->in.section[SECTION_REGIONS].data ? file_reader_count(r, SECTION_REGIONS) : 0;
    if (base_array_room(&r->job->regions, &r->job->index->region_room, n, sizeof *r->job->regions))
        return file_reader_no_memory(r);
    if (n)
        memset(r->job->regions, 0, n * sizeof *r->job->regions);
    UNPACK(r, SECTION_REGIONS, RECORD_REGION, n, region, r->job->regions);
    r->job->region_count = n;
    return 0;
}

static int unpack_tasks(struct file_reader *r)
{
    uint32_t n = file_reader_count(r, SECTION_TASKS);
    if (n && job_task_room(r->job, n))
        return file_reader_no_memory(r);
    UNPACK(r, SECTION_TASKS, RECORD_TASK, n, task, r->job->tasks);
    r->job->task_count = n;
    return 0;
}

static int unpack_learned(struct file_reader *r)
{
    struct job_learned *l = &r->job->learned;
    uint32_t regions = file_reader_count(r, SECTION_LEARNED_REGIONS);
    uint32_t tasks = file_reader_count(r, SECTION_LEARNED_TASKS);
    if (regions + (uint64_t)tasks == 0)
        return 0;
    if (job_learned_reserve(l, regions, tasks))
        return file_reader_no_memory(r);
    UNPACK(r, SECTION_LEARNED_REGIONS, RECORD_REGION, regions, region, l->regions);
    UNPACK(r, SECTION_LEARNED_TASKS, RECORD_TASK, tasks, task, l->tasks);
    return 0;
}

/* Where the record of a section is that has one at most. 1: there; 0: not there; several are an error. */
static int only_record(struct file_reader *r, enum file_section_type type, struct file_cursor *c)
{
    const struct file_section *s = &r->in.section[type];
    file_cursor_at(c, s->data);
    return s->count > 1 ? REFUSE(r, "damaged: section %s has several records", file_section_name(type))
                        : s->data && s->count;
}

static int unpack_machine(struct file_reader *r)
{
    struct file_cursor c;
    int there = only_record(r, SECTION_MACHINE, &c);
    if (there > 0)
        file_record_machine(&c, &r->job->machine);
    r->job->machine.present = there > 0;
    return there < 0 ? there : 0;
}

static int unpack_clock(struct file_reader *r)
{
    struct file_cursor c;
    int there = only_record(r, SECTION_CLOCK, &c);
    if (there > 0)
        file_record_clock(&c, &r->job->clock);
    return there < 0 ? there : 0;
}

/* Shares that are none are refused. */
static int unpack_delay(struct file_reader *r)
{
    struct job_delay *d = &r->job->delay;
    struct file_cursor c;
    int there = only_record(r, SECTION_DELAY, &c);
    if (there <= 0)
        return there;
    file_record_delay(&c, d);
    bool sane = d->ranks && d->ready_ns <= d->wall_ns && d->most_ns <= d->ready_ns;
    return sane ? 0 : REFUSE(r, "damaged: run delay");
}

static int check_counts(struct file_reader *r)
{
    if (r->in.section[SECTION_INFO].count != 1)
        return REFUSE(r, "damaged: %llu info records", (unsigned long long)r->in.section[SECTION_INFO].count);
    for (uint32_t type = SECTION_STRINGS; type < SECTION_TYPES; type++)
        if (type != SECTION_ORACLE && r->in.section[type].count > JOB_LIMIT)
            return REFUSE(r, "damaged: too many %s", file_section_name(type));
    return 0;
}

static int each(struct file_reader *r, int (*const *part)(struct file_reader *), size_t parts)
{
    int error = 0;
    for (size_t i = 0; i < parts && !error; i++)
        error = part[i](r);
    return error;
}

int file_unpack_definitions(struct file_reader *r)
{
    static int (*const part[])(struct file_reader *) = { check_counts,     unpack_strings, unpack_modules,
                                                          unpack_callsites, unpack_comms,   unpack_terminals };
    return each(r, part, sizeof part / sizeof *part);
}

int file_unpack_others(struct file_reader *r)
{
    static int (*const part[])(struct file_reader *) = { unpack_streams, unpack_sums,    unpack_digrams,
                                                          unpack_regions, unpack_tasks,   unpack_learned,
                                                          unpack_machine, unpack_clock,   unpack_delay,
                                                          unpack_threads };
    int error = each(r, part, sizeof part / sizeof *part);
    if (error)
        return error;
    struct file_cursor c;
    file_record_info(file_cursor_at(&c, r->in.section[SECTION_INFO].data), &r->job->info);
    unpack_oracle(r);
    return 0;
}

static int unpack_classes(struct file_reader *r)
{
    struct file_parts *parts = NULL;
    int error = file_unpack_parts(r, &parts);
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_CLASSES) && !error; i++)
        error = file_unpack_class(r, i, &parts[i]);
    free(parts);
    return error;
}

struct grammar_time file_unpack_time(const struct file_reader *r, uint64_t i)
{
    const unsigned char *at = file_reader_at(r, SECTION_TIMES, i, RECORD_TIME);
    return (struct grammar_time){ file_get_double(at), file_get_double(at + 8), file_get_double(at + 16) };
}

/* The times are what the statistics say, where these are in blocks and all rules are here. */
static int check_times(struct file_reader *r)
{
    const struct file_section *s = &r->in.section[SECTION_STATS];
    uint64_t count = r->in.section[SECTION_TIMES].count, first = 0;
    struct grammar_time *times = calloc((size_t)count + 1, sizeof *times);
    int error = times ? 0 : file_reader_no_memory(r);
    if (!error && count && (!s->in_blocks || s->blocks.count != count))
        error = REFUSE(r, "damaged: times of other blocks");
    for (uint32_t i = 0; i < r->job->class_count && !error && count; i++) {
        const struct grammar_flat *g = r->job->classes[i].grammar;
        for (uint32_t k = 0; !g->rule_count && k < g->node_count; k++)
            if ((first + k) % s->blocks.per == 0) /* a message without its rules */
                times[(first + k) / s->blocks.per] = file_unpack_time(r, (first + k) / s->blocks.per);
        file_times_fill(g, first, s->blocks.per, times);
        first += g->node_count;
    }
    for (uint64_t k = 0; k < count && !error; k++) {
        struct grammar_time told = file_unpack_time(r, k);
        if (!file_times_sane(&told) || !file_times_equal(&told, &times[k]))
            error = REFUSE(r, "damaged: times of block %llu are not those of its statistics", (unsigned long long)k);
    }
    free(times);
    return error;
}

static int unpack_all(struct file_reader *r)
{
    int error = file_container_need_all(&r->in, r->why, r->why_size);
    if (!error)
        error = file_unpack_definitions(r);
    if (!error)
        error = unpack_classes(r);
    if (!error)
        error = file_unpack_others(r);
    if (!error)
        error = file_unpack_traffic(r);
    if (!error)
        error = file_unpack_timeline(r);
    if (!error)
        error = check_times(r);
    return error ? error : job_check_parts(r->job, 1, r->why, r->why_size);
}

int file_unpack(const void *data, size_t size, struct job **j, char *why, size_t why_size)
{
    struct file_reader r = { .why = why, .why_size = why_size };
    int error = file_container_open(&r.in, data, size, why, why_size);
    if (error)
        return error;
    r.job = job_create();
    error = r.job ? unpack_all(&r) : file_reader_no_memory(&r);
    free(r.local);
    file_container_close(&r.in);
    if (error)
        job_destroy(r.job);
    else
        *j = r.job;
    return error;
}
