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
#include "job/check.h"
#include "file/table.h"
#include "file/timeline.h"
#include "file/unpack.h"
#include "file/values.h"
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

/* Rows of a table, each sane, interned in their order. */
static int define_rows(struct file_reader *r, enum file_section_type type, enum job_tables t,
                       const struct job_frame *frames)
{
    BASE_OWN void *rows = NULL;
    int error = file_unpack_rows(r, type, t, &rows);
    uint32_t next = 0; /* callsites take the frames one after the other */
    for (uint32_t i = 0; i < file_reader_count(r, type) && !error; i++) {
        const void *row = (const char *)rows + i * (size_t)job_schemas[t].size;
        const struct job_callsite *c = t == JOB_TABLE_CALLSITES ? row : NULL;
        if (!job_row_sane(r->job, t, row) ||
            (c && (c->first != next || c->count > file_reader_count(r, SECTION_FRAMES) - next)))
            error = REFUSE(r, "damaged: %s %u", job_schemas[t].name, i);
        else
            error = interned(r, type, job_define(r->job, t, row, frames), i);
        next += c ? c->count : 0;
    }
    return error;
}

static int unpack_callsites(struct file_reader *r)
{
    void *frames = NULL;
    uint32_t count = file_reader_count(r, SECTION_FRAMES);
    int error = file_unpack_rows(r, SECTION_FRAMES, JOB_TABLE_FRAMES, &frames);
    for (uint32_t i = 0; i < count && !error; i++)
        if (!job_row_sane(r->job, JOB_TABLE_FRAMES, (const struct job_frame *)frames + i))
            error = REFUSE(r, "damaged: frame %u", i);
    error = error ?: define_rows(r, SECTION_CALLSITES, JOB_TABLE_CALLSITES, frames);
    free(frames);
    return error || r->job->frame_count == count ? error : REFUSE(r, "damaged: frames of no callsite");
}

/* --- Streams --- */

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
    if (job_rows_room(j, JOB_TABLE_STREAMS, n))
        return file_reader_no_memory(r);
    for (size_t i = 0; i < n && !error; i++)
        error = unpack_stream(r, i, n, &j->streams[i]);
    if (!error)
        j->stream_count = (uint32_t)n;
    return error;
}

static int check_counts(struct file_reader *r)
{
    if (r->in.section[SECTION_INFO].count != 1)
        return REFUSE(r, "damaged: %llu info records", (unsigned long long)r->in.section[SECTION_INFO].count);
    for (uint32_t type = SECTION_STRINGS; type < SECTION_TYPES; type++)
        if (r->in.section[type].count > JOB_LIMIT)
            return REFUSE(r, "damaged: too many %s", file_section_name(type));
    return 0;
}

int file_unpack_definitions(struct file_reader *r)
{
    int error = check_counts(r);
    error = error ?: unpack_strings(r);
    error = error ?: define_rows(r, SECTION_MODULES, JOB_TABLE_MODULES, NULL);
    error = error ?: unpack_callsites(r);
    error = error ?: define_rows(r, SECTION_COMMS, JOB_TABLE_COMMS, NULL);
    error = error ?: define_rows(r, SECTION_TERMINALS, JOB_TABLE_TERMINALS, NULL);
    return error ?: file_unpack_starts(r);
}

int file_unpack_others(struct file_reader *r)
{
    int error = unpack_streams(r);
    return error ?: file_unpack_tables(r);
}

static int unpack_classes(struct file_reader *r)
{
    BASE_OWN struct file_parts *parts = NULL;
    int error = file_unpack_parts(r, &parts);
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_CLASSES) && !error; i++)
        error = file_unpack_class(r, i, &parts[i]);
    return error;
}

static int unpack_all(struct file_reader *r)
{
    int error = file_container_need_all(&r->in, r->why, r->why_size);
    error = error ?: file_unpack_definitions(r);
    error = error ?: unpack_classes(r);
    error = error ?: file_unpack_others(r);
    error = error ?: file_unpack_timeline(r);
    return error ?: job_check_parts(r->job, 1, r->why, r->why_size);
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
