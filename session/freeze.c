/* SPDX-License-Identifier: MIT */
/* What has been recorded, as a part of a job: that of a stream, while nothing is added to it, and what the run is. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "job/schema.h"
#include "merge/merge.h"
#include "pythia.h"
#include "session/clock.h"
#include "session/internal.h"

/* 1 for a program that entered no region. */
static uint32_t default_team(void)
{
    uint32_t team = atomic_load(&session.team);
    return session.regions && team ? team : 1;
}

int session_fill_info(struct job *job)
{
    struct job_info *info = &job->info;
    info->ranks = session.world.ranks;
    info->threads = default_team();
    info->runs = 1;
    info->start_time = session.start_time;
    info->mpi = job_string(job, session.world.mpi);
    info->wall_ns = base_clock_now() - session.begin - session.before;
    session_define_program(job);
    return info->mpi == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}

/* A poll that found nothing reads the clock twice. */
static uint64_t poll_cost(uint64_t polls)
{
    enum { READINGS = 64 };
    uint64_t before = base_clock_now(), now = before;
    for (int i = 0; i < READINGS && polls; i++)
        now = base_clock_now();
    return (uint64_t)((double)polls * 2 * (double)(now - before) / READINGS);
}

uint64_t session_stream_cost(const struct session_stream *s)
{
    double append = s->cost_samples ? (double)s->cost_sum / (double)s->cost_samples : 0;
    return (uint64_t)(append * (double)s->events) + s->first_ns + s->skipped_ns + poll_cost(s->polls);
}

/* Its thread has met no call since a reset: what it has is forgotten. */
static bool freeze_nothing(const struct session_stream *s, struct session_frozen *f)
{
    struct grammar *nothing = grammar_create(0);
    f->grammar = nothing ? grammar_freeze(nothing) : NULL;
    f->stream = (struct job_stream){.rank = session.world.rank, .thread = s->thread};
    grammar_destroy(nothing);
    return f->grammar != NULL;
}

bool session_stream_freeze(struct session_stream *s, struct session_frozen *f)
{
    memset(f, 0, sizeof *f);
    if (s->resets_seen != atomic_load(&session.resets))
        return freeze_nothing(s, f);
    f->grammar = grammar_freeze(s->grammar);
    f->terminal = base_array_copy(s->keys.job_terminal, s->keys.terminals, sizeof *f->terminal);
    if (!f->grammar || !f->terminal || !session_flows_copy(&s->flows, &f->flows) ||
        !session_hops_copy(&s->hops, &f->hops) || !session_starts_copy(&s->starts_seen, f->grammar, &f->starts) ||
        !session_timeline_copy(&s->timeline, s->keys.terminals, &f->timeline)) {
        session_frozen_drop(f);
        return false;
    }
    f->stream = (struct job_stream){
        .rank = session.world.rank,
        .thread = s->thread,
        .events = s->events,
        .lost = grammar_lost(s->grammar),
        .begin_ns = session_clock_since(s->begin),
        .wall_ns = s->last - s->begin - s->skipped_ns - s->followed_ns - s->idle_ns,
        .mpi_ns = s->call_ns,
        .omp_ns = s->region_ns,
        .cost_ns = session_stream_cost(s),
    };
    f->named = session_named_rows(s, &f->named_count);
    f->stream.drift_ns = session_clock_drift(f->stream.wall_ns);
    f->threads = s->threads;
    f->threads.rank = session.world.rank;
    f->threads.callsite = GRAMMAR_NONE;
    f->threads.ranks = s->thread == 0 && s->threads.threads ? 1 : 0;
    grammar_flat_renumber(f->grammar, s->keys.job_terminal, 0);
    return true;
}

void session_frozen_drop(struct session_frozen *f)
{
    grammar_flat_destroy(f->grammar);
    session_flows_close(&f->flows);
    session_hops_close(&f->hops);
    session_timeline_close(&f->timeline);
    job_starts_drop(&f->starts);
    free(f->terminal);
    free(f->named);
    memset(f, 0, sizeof *f);
}

int session_frozen_add(struct session_frozen *f, struct job *job)
{
    struct grammar_flat *g = f->grammar;
    f->grammar = NULL;
    g->terminals = job->terminal_count; /* more may have been defined since */
    int error = merge_add_stream(job, &f->stream, g);
    error = error ?: job_starts_put(job, &f->starts);
    error = error ?: session_flows_finish(&f->flows, job, f->stream.rank);
    error = error ?: session_hops_finish(&f->hops, job, f->stream.rank, f->stream.thread, f->terminal);
    if (!error && f->threads.ranks)
        error = job_threads_add(job, &f->threads);
    for (uint32_t i = 0; i < f->named_count && !error; i++)
        error = job_named_add(job, &f->named[i]);
    error = error ?: session_timeline_finish(&f->timeline, job, f->stream.rank, f->terminal);
    session_frozen_drop(f);
    return error;
}
