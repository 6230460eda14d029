/* SPDX-License-Identifier: MIT */
/*
 * Joining two jobs. First everything that can fail, aside: definitions are interned (and taken back on failure),
 * classes joined into unions or copied, room made for streams. Then the commit, which can't.
 */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/class.h"
#include "job/intern.h"
#include "job/schema.h"
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
    struct job_maps maps; /* the same, for tables */
    struct plan *plan;
    uint32_t new_classes;
    struct job_rows rows[JOB_TABLES]; /* of keyed tables: those of both */
    struct job_groups groups;
    struct job_flows flows;
    struct job_hops hops;
    struct job_starts starts;
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

/* --- What stands beside the grammars: what both have, made anew --- */

/* What was learned is not merged; stops are, with their hops. */
static bool is_keyed(enum job_tables t)
{
    return job_schemas[t].keyed && t != JOB_TABLE_STOPS && t < JOB_TABLE_LEARNED_REGIONS;
}

static int plan_tables(struct merge *m)
{
    m->maps = (struct job_maps){ { [JOB_OF_STRINGS] = m->map.string,     [JOB_OF_MODULES] = m->map.module,
                                   [JOB_OF_CALLSITES] = m->map.callsite, [JOB_OF_COMMS] = m->map.comm,
                                   [JOB_OF_TERMINALS] = m->map.terminal, [JOB_OF_CLASSES] = m->map.class_index } };
    int error = job_groups_join(m->into, m->from, m->map.comm, &m->groups);
    if (!error)
        error = job_flows_join(m->into, m->from, m->map.terminal, &m->flows);
    if (!error)
        error = job_hops_join(m->into, m->from, m->map.terminal, m->map.callsite, &m->hops);
    if (!error)
        error = job_starts_join(m->into, m->from, &m->starts);
    for (enum job_tables t = 0; t < JOB_TABLES && !error; t++)
        if (is_keyed(t))
            error = job_rows_join(m->into, m->from, t, &m->maps, &m->rows[t]);
    return error;
}

static void free_tables(struct merge *m)
{
    job_groups_free(&m->groups);
    job_flows_free(&m->flows);
    job_hops_free(&m->hops);
    job_starts_free(&m->starts);
    for (enum job_tables t = 0; t < JOB_TABLES; t++)
        free(m->rows[t].row);
}

/* What is there once. */
static void commit_single(struct merge *m, enum job_tables t)
{
    union { struct job_info info; struct job_oracle oracle; struct job_machine machine; struct job_delay delay; } row;
    uint32_t there, had;
    const void *theirs = job_rows_of(m->from, t, &there);
    void *own = job_rows_of(m->into, t, &had);
    if (!there)
        return;
    memcpy(&row, theirs, job_schemas[t].size);
    job_row_rename(t, &row, &m->maps);
    job_row_join(m->into, t, own, &row);
    job_rows_counted(m->into, t, 1);
}

#define SWAP(a, b)                                                                                                     \
    do {                                                                                                               \
        __auto_type a_ = a;                                                                                            \
        a = b;                                                                                                         \
        b = a_;                                                                                                        \
    } while (0)

/* What the job had goes into the plan, which is freed. */
static void commit_tables(struct merge *m)
{
    SWAP(m->into->groups, m->groups);
    SWAP(m->into->flows, m->flows);
    SWAP(m->into->hops, m->hops);
    SWAP(m->into->starts, m->starts);
    for (enum job_tables t = 0; t < JOB_TABLES; t++)
        if (job_schemas[t].single)
            commit_single(m, t);
        else if (is_keyed(t))
            job_rows_swap(m->into, t, &m->rows[t]);
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
        error = maps_create(&m.map, from);
    if (!error)
        error = map_definitions(&m);
    if (!error)
        error = plan_classes(&m);
    if (!error)
        error = plan_tables(&m);
    if (error) {
        job_rollback(into, mark);
    } else {
        commit_classes(&m);
        job_streams_commit(into, from, m.map.class_index);
        commit_tables(&m);
    }
    plan_free(&m);
    free_tables(&m);
    maps_free(&m.map);
    return error;
}
