/* SPDX-License-Identifier: MIT */
#include "job/named.h"

#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "job/schema.h"
#include "job/streams.h"

/* Frames of one callsite, then of another one: what interning does may move the job's. */
static uint32_t joined(struct job *j, const struct job_frame *first, uint32_t n, uint32_t then)
{
    uint32_t more = then == GRAMMAR_NONE ? 0 : j->callsites[then].count;
    BASE_OWN struct job_frame *frames = malloc(((size_t)n + more + 1) * sizeof *frames);
    if (!frames)
        return GRAMMAR_NONE;
    if (n)
        memcpy(frames, first, n * sizeof *frames);
    if (more)
        memcpy(frames + n, j->frames + j->callsites[then].first, more * sizeof *frames);
    return job_callsite(j, frames, n + more);
}

uint32_t job_named_path(struct job *j, const char *name, uint32_t outer)
{
    struct job_frame frame = { .module = job_module(j, name, JOB_NAMED_ID) };
    return frame.module == GRAMMAR_NONE ? GRAMMAR_NONE : joined(j, &frame, 1, outer);
}

uint32_t job_named_within(struct job *j, uint32_t path, uint32_t names)
{
    if (path == GRAMMAR_NONE || names == GRAMMAR_NONE)
        return path == GRAMMAR_NONE ? names : path;
    return joined(j, j->frames + j->callsites[path].first, j->callsites[path].count, names);
}

const char *job_named_frame(const struct job *j, const struct job_frame *f)
{
    const struct job_module *m = &j->modules[f->module];
    return f->offset || strcmp(job_text(j, m->build_id), JOB_NAMED_ID) ? NULL : job_text(j, m->path);
}

uint32_t job_named_depth(const struct job *j, uint32_t path)
{
    uint32_t n = 0;
    if (path == GRAMMAR_NONE)
        return 0;
    const struct job_callsite *c = &j->callsites[path];
    while (n < c->count && job_named_frame(j, &j->frames[c->first + c->count - 1 - n]))
        n++;
    return n;
}

const char *job_named_innermost(const struct job *j, uint32_t path)
{
    uint32_t depth = job_named_depth(j, path);
    const struct job_callsite *c = depth ? &j->callsites[path] : NULL;
    return c ? job_named_frame(j, &j->frames[c->first + c->count - depth]) : NULL;
}

struct job_callsite job_named_without(const struct job *j, uint32_t path)
{
    struct job_callsite c = path == GRAMMAR_NONE ? (struct job_callsite){ 0, 0 } : j->callsites[path];
    c.count -= job_named_depth(j, path);
    return c;
}

int job_named_add(struct job *j, const struct job_named *added)
{
    struct job_named own = *added;
    own.rank -= own.rank % job_streams_block(j, j);
    return job_rows_add(j, JOB_TABLE_NAMED, &own);
}

bool job_named_sane(const struct job *j, const void *row)
{
    const struct job_named *n = row;
    const struct job_threads *t = &n->teams;
    uint64_t known = 0;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        if (__builtin_add_overflow(known, t->part[i], &known))
            return false;
    bool path = n->path == GRAMMAR_NONE ? !n->entries && !n->ns && !n->omp_ns && !t->team_ns
                                        : job_named_depth(j, n->path) == j->callsites[n->path].count;
    return path &&
           (n->thread || n->ranks <= j->info.block) && n->unended <= n->entries && n->mpi_ns <= n->ns &&
           n->most_ns <= n->ns && n->most_useful_ns <= n->most_ns && t->timed_ns <= t->team_ns && known <= t->team_ns &&
           t->region_mpi_ns <= t->region_ns;
}
