/* SPDX-License-Identifier: MIT */
/*
 * Joining two jobs. First everything that can fail, aside: definitions are interned (and taken back on failure),
 * classes joined into unions or copied, room made for streams. Then the commit, which can't.
 */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/class.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/intern.h"
#include "job/starts.h"
#include "job/streams.h"
#include "merge/union.h"
#include "merge/merge.h"

/* What a number of `from` is called in `into`. */
struct maps {
    uint32_t *string, *module, *callsite, *comm, *terminal, *class_index;
};

/* What becomes of each class of `from`. */
struct plan {
    struct job_class copy; /* a class that `into` did not have; grammar NULL: joined */
    struct merge_union both;
};

struct merge {
    struct job *into;
    const struct job *from;
    struct maps map;
    struct plan *plan;
    uint32_t new_classes;
    struct job_groups groups;
    struct job_flows flows;
    struct job_hops hops;
    struct job_starts starts;
    struct job_series_list series;
    struct job_extremes_list extremes;
    struct job_own_list own;
};

static void maps_free(struct maps *m)
{
    free(m->string);
    free(m->module);
    free(m->callsite);
    free(m->comm);
    free(m->terminal);
    free(m->class_index);
}

static uint32_t *map_create(uint32_t count)
{
    return malloc(((size_t)count + 1) * sizeof(uint32_t));
}

static int maps_create(struct maps *m, const struct job *j)
{
    m->string = map_create(j->string_count);
    m->module = map_create(j->module_count);
    m->callsite = map_create(j->callsite_count);
    m->comm = map_create(j->comm_count);
    m->terminal = map_create(j->terminal_count);
    m->class_index = map_create(j->class_count);
    return m->string && m->module && m->callsite && m->comm && m->terminal && m->class_index ? 0 : PYTHIA_ENOMEM;
}

/* --- Definitions --- */

static int map_callsite(struct merge *m, uint32_t i)
{
    const struct job_callsite *c = &m->from->callsites[i];
    struct job_frame some[32], *frames = some;
    if (c->count > 32 && !(frames = malloc(c->count * sizeof *frames)))
        return PYTHIA_ENOMEM;
    for (uint32_t k = 0; k < c->count; k++) {
        frames[k] = m->from->frames[c->first + k];
        frames[k].module = m->map.module[frames[k].module];
    }
    m->map.callsite[i] = job_callsite(m->into, frames, c->count);
    if (frames != some)
        free(frames);
    return m->map.callsite[i] == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}

static int map_terminal(struct merge *m, uint32_t i)
{
    struct job_terminal t = m->from->terminals[i];
    t.function = m->map.string[t.function];
    if (t.callsite != GRAMMAR_NONE)
        t.callsite = m->map.callsite[t.callsite];
    if (t.comm != GRAMMAR_NONE)
        t.comm = m->map.comm[t.comm];
    m->map.terminal[i] = job_terminal(m->into, &t);
    return m->map.terminal[i] == GRAMMAR_NONE ? PYTHIA_ENOMEM : 0;
}

static int map_definitions(struct merge *m)
{
    const struct job *f = m->from;
    for (uint32_t i = 0; i < f->string_count; i++)
        if ((m->map.string[i] = job_string(m->into, f->strings[i])) == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < f->module_count; i++)
        if ((m->map.module[i] = job_module(m->into, job_text(f, f->modules[i].path),
                                           job_text(f, f->modules[i].build_id))) == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < f->callsite_count; i++)
        if (map_callsite(m, i))
            return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < f->comm_count; i++)
        if ((m->map.comm[i] = job_comm(m->into, job_text(f, f->comms[i].name), f->comms[i].size)) == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < f->terminal_count; i++)
        if (map_terminal(m, i))
            return PYTHIA_ENOMEM;
    return 0;
}

/* --- Classes --- */

static int plan_class(struct merge *m, uint32_t i)
{
    const struct job_class *c = &m->from->classes[i];
    uint32_t at = job_table_find(&m->into->index->table[JOB_INTERNED_CLASS], c->hash);
    if (at == GRAMMAR_NONE) {
        if (job_class_bodiless(c))
            return PYTHIA_EINVAL; /* a body was left out that this job does not have */
        m->map.class_index[i] = m->into->class_count + m->new_classes++;
        return job_class_copy(&m->plan[i].copy, c, m->map.terminal, m->into->terminal_count);
    }
    m->map.class_index[i] = at;
    return merge_class_join(&m->into->classes[at], c, &m->plan[i].both);
}

static int plan_classes(struct merge *m)
{
    struct job_index *x = m->into->index;
    int error = 0;
    m->plan = calloc((size_t)m->from->class_count + 1, sizeof *m->plan);
    if (!m->plan)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < m->from->class_count && !error; i++)
        error = plan_class(m, i);
    if (!error)
        error = base_array_room(&m->into->classes, &x->class_room, (uint64_t)m->into->class_count + m->new_classes,
                           sizeof *m->into->classes);
    return error ? error : job_table_reserve(&x->table[JOB_INTERNED_CLASS], m->new_classes);
}

static void plan_free(struct merge *m)
{
    for (uint32_t i = 0; m->plan && i < m->from->class_count; i++) {
        merge_union_clear(&m->plan[i].both);
        job_class_clear(&m->plan[i].copy);
    }
    free(m->plan);
}

static void commit_classes(struct merge *m)
{
    struct job *j = m->into;
    for (uint32_t i = 0; i < m->from->class_count; i++) {
        uint32_t at = m->map.class_index[i];
        if (m->plan[i].copy.grammar) {
            j->classes[at] = m->plan[i].copy;
            job_table_put(&j->index->table[JOB_INTERNED_CLASS], j->classes[at].hash, at);
            memset(&m->plan[i].copy, 0, sizeof m->plan[i].copy);
        } else {
            merge_class_commit(&j->classes[at], &m->from->classes[i], &m->plan[i].both);
        }
    }
    j->class_count += m->new_classes;
    for (uint32_t i = 0; i < j->class_count; i++)
        j->classes[i].grammar->terminals = j->terminal_count;
}

static void commit_sums(struct merge *m)
{
    for (uint32_t i = 0; i < m->from->sum_count; i++) {
        struct job_sum sum = m->from->sums[i];
        sum.terminal = m->map.terminal[sum.terminal];
        sum.name = m->map.string[sum.name];
        job_sum_add(m->into, sum);
    }
}

static void commit_digrams(struct merge *m)
{
    for (uint32_t i = 0; i < m->from->digrams.count; i++) {
        struct job_digram d = m->from->digrams.of[i];
        d.terminal = m->map.terminal[d.terminal];
        d.before = d.before == GRAMMAR_NONE ? d.before : m->map.terminal[d.before];
        job_digram_add(m->into, &d);
    }
}

/* --- Regions --- */

static int plan_regions(struct merge *m)
{
    return base_array_room(&m->into->regions, &m->into->index->region_room,
                      (uint64_t)m->into->region_count + m->from->region_count, sizeof *m->into->regions);
}

static void commit_regions(struct merge *m)
{
    for (uint32_t i = 0; i < m->from->region_count; i++) {
        struct job_region r = m->from->regions[i];
        r.callsite = m->map.callsite[r.callsite];
        (void)job_add_region(m->into, &r); /* there is room */
    }
}

static void commit_threads(struct merge *m)
{
    for (uint32_t i = 0; i < m->from->threads.count; i++) {
        struct job_threads t = m->from->threads.of[i];
        t.callsite = t.callsite == GRAMMAR_NONE ? t.callsite : m->map.callsite[t.callsite];
        (void)job_threads_add(m->into, &t); /* there is room */
    }
    job_threads_coarsen(m->into);
}

/* --- Communicators, messages, hops, starts, series, extremes: what both have, made anew --- */

static int plan_traffic(struct merge *m)
{
    int error = job_groups_join(m->into, m->from, m->map.comm, &m->groups);
    if (!error)
        error = job_flows_join(m->into, m->from, m->map.terminal, &m->flows);
    if (!error)
        error = job_hops_join(m->into, m->from, m->map.terminal, m->map.callsite, &m->hops);
    if (!error)
        error = job_starts_join(m->into, m->from, &m->starts);
    if (!error)
        error = job_series_join(m->into, m->from, &m->series);
    if (!error)
        error = job_extremes_join(m->into, m->from, m->map.terminal, &m->extremes);
    return error ? error : job_own_join(m->into, m->from, m->map.class_index, &m->own);
}

static void free_traffic(struct merge *m)
{
    job_groups_free(&m->groups);
    job_flows_free(&m->flows);
    job_hops_free(&m->hops);
    job_starts_free(&m->starts);
    free(m->series.of);
    free(m->extremes.of);
    free(m->own.row);
}

/* What the job had goes into the plan, which is freed. */
static void commit_traffic(struct merge *m)
{
    struct job_groups groups = m->into->groups;
    struct job_flows flows = m->into->flows;
    struct job_hops hops = m->into->hops;
    struct job_starts starts = m->into->starts;
    struct job_series_list series = m->into->series;
    struct job_extremes_list extremes = m->into->extremes;
    struct job_own_list own = m->into->own;
    m->into->groups = m->groups;
    m->into->flows = m->flows;
    m->into->hops = m->hops;
    m->into->starts = m->starts;
    m->into->series = m->series;
    m->into->extremes = m->extremes;
    m->into->own = m->own;
    m->groups = groups;
    m->flows = flows;
    m->hops = hops;
    m->starts = starts;
    m->series = series;
    m->extremes = extremes;
    m->own = own;
}

/* --- What the job is --- */

static uint32_t either_string(const struct merge *m, uint32_t own, uint32_t other)
{
    if (*job_text(m->into, own) || other == GRAMMAR_NONE)
        return own;
    return own == GRAMMAR_NONE || *job_text(m->from, other) ? m->map.string[other] : own;
}

static void commit_info(struct merge *m)
{
    struct job_info *a = &m->into->info;
    const struct job_info *b = &m->from->info;
    a->program = either_string(m, a->program, b->program);
    a->program_id = either_string(m, a->program_id, b->program_id);
    a->arguments = either_string(m, a->arguments, b->arguments);
    a->mpi = either_string(m, a->mpi, b->mpi);
    a->ranks = a->ranks > b->ranks ? a->ranks : b->ranks;
    a->threads = a->threads > b->threads ? a->threads : b->threads;
    a->missing += b->missing;
    a->runs = a->runs > b->runs ? a->runs : b->runs;
    a->wall_ns = a->wall_ns > b->wall_ns ? a->wall_ns : b->wall_ns;
    if (!a->start_time || (b->start_time && b->start_time < a->start_time))
        a->start_time = b->start_time;
}

static void commit_machine(struct merge *m)
{
    struct job_machine *a = &m->into->machine;
    const struct job_machine *b = &m->from->machine;
    a->present |= b->present;
    a->tree = either_string(m, a->tree, b->tree);
    a->energy = either_string(m, a->energy, b->energy);
    a->nodes += b->nodes;
    a->joules += b->joules;
}

/* Parts of one run agree; of several runs, what holds for each of them. */
static void commit_clock(struct merge *m)
{
    struct job_clock *a = &m->into->clock;
    const struct job_clock *b = &m->from->clock;
    a->nodes = a->nodes > b->nodes ? a->nodes : b->nodes;
    a->error_ns = a->error_ns > b->error_ns ? a->error_ns : b->error_ns;
}

static void commit_delay(struct job_delay *a, const struct job_delay *b)
{
    if (__builtin_add_overflow(a->wall_ns, b->wall_ns, &a->wall_ns)) { /* forged */
        *a = (struct job_delay){ 0 };
        return;
    }
    a->ranks += b->ranks;
    a->ready_ns += b->ready_ns;
    a->most_ns = a->most_ns > b->most_ns ? a->most_ns : b->most_ns;
}

static void commit_tasks(struct merge *m)
{
    for (uint32_t i = 0; i < m->from->task_count; i++) {
        struct job_task t = m->from->tasks[i];
        t.callsite = m->map.callsite[t.callsite];
        (void)job_task_add(m->into, &t); /* there is room */
    }
}

static void commit_oracle(struct job_oracle *a, const struct job_oracle *b)
{
    if (!b->present)
        return;
    a->present = 1;
    a->ranks += b->ranks;
    oracle_score_add(&a->score, &b->score);
    a->actions += b->actions;
    a->gain_seconds += b->gain_seconds;
    a->cost_seconds += b->cost_seconds;
    a->wall_ns = a->wall_ns > b->wall_ns ? a->wall_ns : b->wall_ns;
}

struct merge_body merge_body_of(const struct job *j, uint32_t class_index)
{
    const struct job_class *c = &j->classes[class_index];
    return (struct merge_body){ c->hash, grammar_flat_hash(c->grammar, j->terminal_hash, NULL) };
}

bool merge_knows(const struct job *j, const struct merge_body *body)
{
    uint32_t i = job_table_find(&j->index->table[JOB_INTERNED_CLASS], body->shape);
    return i != GRAMMAR_NONE && !job_hash_none(body->exact) && job_hash_equal(merge_body_of(j, i).exact, body->exact);
}

int merge_job(struct job *into, const struct job *from)
{
    struct merge m = { .into = into, .from = from };
    struct job_mark mark = job_mark(into);
    int error = job_streams_plan(into, from);
    if (!error)
        error = job_sums_reserve(into, from->sum_count);
    if (!error)
        error = job_digrams_reserve(into, from->digrams.count);
    if (!error)
        error = job_threads_reserve(into, from->threads.count);
    if (!error)
        error = maps_create(&m.map, from);
    if (!error)
        error = map_definitions(&m);
    if (!error)
        error = plan_classes(&m);
    if (!error)
        error = plan_regions(&m);
    if (!error)
        error = job_task_room(into, from->task_count);
    if (!error)
        error = plan_traffic(&m);
    if (error) {
        job_rollback(into, mark);
    } else {
        commit_classes(&m);
        job_streams_commit(into, from, m.map.class_index);
        commit_sums(&m);
        commit_digrams(&m);
        commit_regions(&m);
        commit_threads(&m);
        commit_tasks(&m);
        commit_machine(&m);
        commit_clock(&m);
        commit_delay(&into->delay, &from->delay);
        commit_traffic(&m);
        commit_info(&m);
        commit_oracle(&into->oracle, &from->oracle);
    }
    plan_free(&m);
    free_traffic(&m);
    maps_free(&m.map);
    return error;
}
