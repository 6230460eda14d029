/* SPDX-License-Identifier: MIT */
/* What hooks ask: options, the reference of regions and tasks, what this thread did. */
#include "session/ask.h"

#include <string.h>

#include "base/array.h"
#include "base/lock.h"
#include "base/modules.h"
#include "session/internal.h"
#include "watch/board.h"

/* --- Options --- */

bool session_acts(const char *what)
{
    bool first = session_mode() == SESSION_RECORD && !strcmp(session.options.mode, "auto");
    return (first || session_mode() == SESSION_PREDICT) && base_options_list_has(session.options.act, what);
}

bool session_proves(bool many_regions)
{
    return session.world.rank == 0 && (many_regions || atomic_load(&session.team) > 1);
}

uint32_t session_records(void)
{
    return session.records;
}

uint32_t session_depth(void)
{
    return (uint32_t)session.options.depth;
}

uint32_t session_ranks(void)
{
    return session.world.ranks;
}

const char *session_plugins(void)
{
    return session.options.plugin;
}

const char *session_kept(void)
{
    return session.options.omp_keep;
}

/* --- This thread --- */

uint64_t session_events(void)
{
    return base_here.stream && base_here.generation == session.generation ? base_here.stream->events : 0;
}

bool session_was_reset(void)
{
    return atomic_load(&session.resets) != 0;
}

uint64_t session_calls_here(void)
{
    const struct session_stream *s = base_here.generation == session.generation ? base_here.stream : NULL;
    return s && s->call_ns > s->adopted_calls ? s->call_ns - s->adopted_calls : 0;
}

uint32_t session_stream_here(void)
{
    const struct session_stream *s = base_here.generation == session.generation ? base_here.stream : NULL;
    return s ? s->thread : UINT32_MAX;
}

void session_threads_add(struct session_stream *s, const struct job_threads *t)
{
    if (stream_take(s)) {
        job_threads_sum(&s->threads, t);
        session_named_teams(s, t);
    }
    stream_release(s);
}

uint64_t session_call_ns(const struct session_stream *s)
{
    return s->call_ns;
}

void session_count_action(struct session_stream *s, double gain_ns)
{
    s->actions++;
    s->gain_ns += gain_ns;
}

uint32_t session_identify(struct session_stream *s, const struct session_key *key)
{
    return session_keys_find(&s->keys, key);
}

bool session_contains(const struct session_stream *s, const struct session_span *span)
{
    return s->open_count > span->level && s->open[span->level].opened;
}

uint32_t session_thread(const struct session_stream *s)
{
    return s->thread;
}

uint32_t session_callsite(struct session_stream *s, void *const *frames, uint32_t count)
{
    return session_callsites_find(&s->callsites, frames, count, UINT32_MAX);
}

uint64_t session_from(const struct session_stream *s, const struct session_key *key)
{
    const struct session_callsite *site = key->callsite == GRAMMAR_NONE ? NULL : &s->callsites.sites[key->callsite];
    return key->kind == JOB_REGION ? key->region | WATCH_OF_REGION
           : site ? (uint64_t)(uintptr_t)s->callsites.addresses[site->first] : 0;
}

uint32_t session_path(struct session_stream *s, void *const *frames, uint32_t count)
{
    uint32_t known = s->paths.table.used;
    if (!s->grammar || base_array_room(&s->path_number, &s->path_room, known + 1u, sizeof *s->path_number))
        return GRAMMAR_NONE;
    uint32_t n = session_callsites_find(&s->paths, frames, count, SESSION_PATHS);
    if (n == known) /* it is new: one that cannot be defined is GRAMMAR_NONE from now on */
        s->path_number[n] = session_define_path(s, n);
    return n == GRAMMAR_NONE ? n : s->path_number[n];
}

struct session_here session_here(const struct session_stream *s)
{
    uint64_t unopened = 0;
    while (unopened < s->open_count && !s->open[s->open_count - 1 - unopened].opened)
        unopened++;
    return (struct session_here){(uint64_t)s->thread << 48 | (s->passed + s->events + unopened), s->events + unopened};
}

/* --- The reference --- */

/* Whether the callsite of an outlined function is the code at that offset. */
static bool is_at(const struct job *j, uint32_t callsite, const char *build_id, uint64_t offset)
{
    const struct job_frame *f = &j->frames[j->callsites[callsite].first];
    return j->callsites[callsite].count == 1 && f->offset == offset &&
           !strcmp(job_text(j, j->modules[f->module].build_id), build_id);
}

/* Where code is now that stood in the same module as `function`; 0 elsewhere. */
static uint64_t address_now(const struct job *j, uint32_t callsite, uint32_t place, uint64_t function)
{
    if (place == GRAMMAR_NONE)
        return 0;
    const struct job_frame *f = &j->frames[j->callsites[callsite].first], *p = &j->frames[j->callsites[place].first];
    return f->module == p->module ? function - f->offset + p->offset : 0;
}

static const struct job_region *region_at(const struct job *j, const struct job_region *r, uint32_t count,
                                          const char *build_id, uint64_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_at(j, r[i].callsite, build_id, offset))
            return &r[i];
    return NULL;
}

int session_region(uint64_t function, struct job_region *r, uint64_t *where)
{
    const struct job *j = session.reference;
    uint64_t offset;
    struct base_module m;
    uint32_t module = j ? base_modules_find((void *)(uintptr_t)function, &offset) : BASE_MODULE_NONE;
    if (module == BASE_MODULE_NONE || base_modules_get(module, &m))
        return 1;
    const struct job_region *known = region_at(j, j->learned.regions, j->learned.region_count, m.build_id, offset);
    if (!known)
        known = region_at(j, j->regions, j->region_count, m.build_id, offset);
    if (!known)
        return 1;
    *r = *known;
    *where = address_now(j, r->callsite, r->where, function);
    return 0;
}

bool session_proven(bool (*holds)(uint32_t proof))
{
    const struct job *j = session.reference;
    bool all = j != NULL, again = j && j->learned.region_count + j->learned.task_count;
    const struct job_region *r = again ? j->learned.regions : all ? j->regions : NULL;
    const struct job_task *t = again ? j->learned.tasks : all ? j->tasks : NULL;
    for (uint32_t i = 0; all && i < (again ? j->learned.region_count : j->region_count); i++)
        all = holds(r[i].proof);
    for (uint32_t i = 0; all && i < (again ? j->learned.task_count : j->task_count); i++)
        all = holds(t[i].proof);
    return all;
}

static uint32_t tasks_at(const struct job *j, const struct job_task *from, uint32_t n, const char *build_id,
                         uint64_t offset, struct job_task *tasks, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n && count < most; i++)
        if (is_at(j, from[i].callsite, build_id, offset))
            tasks[count++] = from[i];
    return count;
}

uint32_t session_task_reference(uintptr_t fn, struct job_task *tasks, uint32_t most)
{
    struct base_module m;
    uint64_t offset;
    uint32_t count = 0, module = base_modules_find((void *)fn, &offset);
    if (module == BASE_MODULE_NONE || base_modules_get(module, &m))
        return 0;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    const struct job *r = session.reference;
    if (r)
        count = tasks_at(r, r->learned.tasks, r->learned.task_count, m.build_id, offset, tasks, most);
    if (r && !count)
        count = tasks_at(r, r->tasks, r->task_count, m.build_id, offset, tasks, most);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return count;
}
