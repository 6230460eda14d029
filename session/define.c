/* SPDX-License-Identifier: MIT */
/* From what a process sees (addresses, pointers) to what a job stores (modules and offsets, strings). */
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/modules.h"
#include "job/group.h"
#include "pythia.h"
#include "session/internal.h"
#include "watch/process.h"

static uint32_t define_module(uint32_t module)
{
    struct base_module m = {.path = ""};
    if (module < SESSION_MODULES && session.module[module])
        return session.module[module] - 1;
    (void)base_modules_get(module, &m);
    uint32_t number = job_module(session.job, m.path, m.build_id);
    if (module < SESSION_MODULES)
        session.module[module] = number + 1;
    return number;
}

/* Code that is made at run time is in no module, and elsewhere in each process. Its places are told apart by address,
   and known to others by what they call: the first one that calls `function` (of session.job, GRAMMAR_NONE: no MPI
   function) has offset 1, the next one 2. What comes when the table is full is one place. Under session.lock. */
static uint64_t define_code(uint32_t function, uint64_t address)
{
    enum { PLACES = 1024 };
    static struct { uint64_t address; uint32_t function, generation; } known[PLACES];
    uint64_t number = 1;
    uint32_t i = 0;
    for (; i < PLACES && known[i].generation == session.generation; i++) {
        if (known[i].function == function && known[i].address == address)
            return number;
        number += known[i].function == function;
    }
    if (i < PLACES) {
        known[i].address = address;
        known[i].function = function;
        known[i].generation = session.generation;
    }
    return number;
}

static uint64_t define_offset(uint32_t function, const struct base_place *place)
{
    return place->module == BASE_MODULE_NONE && place->offset ? define_code(function, place->offset) : place->offset;
}

static uint32_t define_frames(uint32_t function, const struct base_place *places, uint32_t count)
{
    enum { MOST = 64 };
    struct job_frame defined[MOST];
    if (count > MOST)
        count = MOST;
    for (uint32_t i = 0; i < count; i++)
        defined[i] = (struct job_frame){.module = define_module(places[i].module),
                                        .offset = define_offset(function, &places[i])};
    return job_callsite(session.job, defined, count);
}

/* The callsite of an outlined function. */
static uint32_t define_region(uintptr_t fn)
{
    struct base_place entry;
    entry.module = base_modules_find((void *)fn, &entry.offset);
    return define_frames(GRAMMAR_NONE, &entry, 1);
}

static uint32_t define_callsite(const struct session_stream *s, const struct session_key *key, uint32_t function)
{
    if (key->kind == JOB_REGION)
        return define_region((uintptr_t)key->region);
    if (key->callsite == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    const struct session_callsite *site = &s->callsites.sites[key->callsite];
    return define_frames(function, s->callsites.places + site->first, site->count);
}

uint32_t session_define_path(struct session_stream *s, uint32_t path)
{
    const struct session_callsite *site = &s->paths.sites[path];
    uint32_t number = GRAMMAR_NONE;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job)
        number = define_frames(GRAMMAR_NONE, s->paths.places + site->first, site->count);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return number;
}

uint32_t session_define(struct session_stream *s, const struct session_entry *entry, enum job_phase phase)
{
    const struct session_key *key = &entry->key;
    uint32_t function = job_string(session.job, key->function);
    struct job_terminal t = {
        .kind = key->kind,
        .phase = (uint8_t)phase,
        .call_kind = key->call_kind,
        .peer_class = key->peer_class,
        .blocking = key->blocking,
        .function = function,
        .callsite = define_callsite(s, key, function),
        .comm = key->comm,
    };
    if (t.function == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    session.regions |= key->kind == JOB_REGION;
    return job_terminal(session.job, &t);
}

uint32_t session_define_place(struct job *job, uint64_t address)
{
    struct job_frame entry = {0};
    struct base_place place;
    struct base_module m = {.path = ""};
    place.module = base_modules_find((void *)(uintptr_t)address, &place.offset);
    (void)base_modules_get(place.module, &m);
    entry.offset = define_offset(GRAMMAR_NONE, &place);
    entry.module = job_module(job, m.path, m.build_id);
    return entry.module == GRAMMAR_NONE ? GRAMMAR_NONE : job_callsite(job, &entry, 1);
}

int session_add_region(struct job *job, uint64_t function, uint64_t where, const struct job_region *r)
{
    struct job_region own = *r;
    own.callsite = session_define_place(job, function);
    own.where = where ? session_define_place(job, where) : GRAMMAR_NONE;
    return own.callsite == GRAMMAR_NONE ? PYTHIA_ENOMEM : job_add_region(job, &own);
}

int session_add_threads(struct job *job, uint64_t function, const struct job_threads *t)
{
    struct job_threads own = *t;
    own.ranks = 1;
    own.rank = function ? GRAMMAR_NONE : session.world.rank;
    own.callsite = function ? session_define_place(job, function) : GRAMMAR_NONE;
    if (!function && job_threads_of_rank(job, own.rank))
        own.ranks = 0;
    if (function && own.callsite == GRAMMAR_NONE)
        return PYTHIA_ENOMEM;
    return job_threads_add(job, &own);
}

uint32_t session_comm(const char *name, uint32_t size)
{
    uint32_t comm = GRAMMAR_NONE;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job)
        comm = job_comm(session.job, name, size);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return comm;
}

void session_comm_members(uint32_t comm, struct session_members own, const struct session_members *remote)
{
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job && comm != GRAMMAR_NONE) /* best effort: without it peers have no ranks of the world */
        (void)job_comm_add_members(session.job, comm, own.runs, own.count, remote ? remote->runs : NULL,
                                   remote ? remote->count : 0);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
}

const char *session_comm_name(uint32_t comm)
{
    const char *name = "";
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job && comm < session.job->comm_count)
        name = job_text(session.job, session.job->comms[comm].name);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return name;
}

void session_define_program(struct job *job)
{
    struct base_module m;
    char arguments[4096];
    watch_process_command(arguments, sizeof arguments); /* nobody gave us argv */
    job->info.arguments = job_string(job, arguments);
    if (base_modules_program(&m))
        return;
    job->info.program = job_string(job, m.path);
    job->info.program_id = job_string(job, m.build_id);
}

/* --- Tasks: what the hooks counted --- */

void session_task_add(uintptr_t fn, const struct job_task *task)
{
    struct job_task t = *task;
    t.callsite = define_region(fn);
    if (t.callsite != GRAMMAR_NONE)
        (void)job_task_add(session.job, &t); /* without memory for a statistic the job goes on without it */
}

double session_task_gain(const struct job_task *t)
{
    return (double)t->at_once * (double)t->cost_ns * 1e-9;
}

void session_task_count(struct job *job)
{
    if (!job->oracle.present)
        return;
    for (uint32_t i = 0; i < job->task_count; i++) {
        job->oracle.actions += job->tasks[i].at_once;
        job->oracle.gain_seconds += session_task_gain(&job->tasks[i]);
    }
}
