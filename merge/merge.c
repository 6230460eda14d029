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
#include "merge/programs.h"
#include "merge/union.h"
#include "merge/merge.h"

/* What becomes of each class of `from`. */
struct plan {
    struct job_class copy; /* a class that `into` did not have; grammar NULL: joined */
    struct merge_union both;
};

struct merge {
    struct job *into;
    const struct job *from;
    uint32_t *map[JOB_REFERS]; /* what a number of `from` is called in `into` … */
    struct job_maps maps;      /* … the same */
    struct plan *plan;
    uint32_t new_classes;
    uint32_t arguments; /* of `into`, with both */
    struct job made; /* tables of both */
};

static int maps_create(struct merge *m)
{
    for (enum job_refers what = JOB_OF_STRINGS; what <= JOB_OF_CLASSES; what++) {
        m->map[what] = malloc(((size_t)job_rows_named(m->from, what) + 1) * sizeof *m->map[what]);
        m->maps.of[what] = m->map[what];
        if (!m->map[what])
            return PYTHIA_ENOMEM;
    }
    return 0;
}

static void maps_free(struct merge *m)
{
    for (enum job_refers what = 0; what < JOB_REFERS; what++)
        free(m->map[what]);
}

/* --- Definitions --- */

static int map_rows(struct merge *m, enum job_tables t, enum job_refers what, const struct job_frame *frames)
{
    union { struct job_module module; struct job_callsite callsite; struct job_comm comm; struct job_terminal t; } row;
    uint32_t count;
    const char *rows = job_rows_of(m->from, t, &count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&row, rows + i * (size_t)job_schemas[t].size, job_schemas[t].size);
        job_row_rename(t, &row, &m->maps);
        if ((m->map[what][i] = job_define(m->into, t, &row, frames)) == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    }
    return 0;
}

static int map_callsites(struct merge *m)
{
    const struct job *f = m->from;
    BASE_OWN struct job_frame *frames = malloc(((size_t)f->frame_count + 1) * sizeof *frames);
    for (uint32_t i = 0; frames && i < f->frame_count; i++) {
        frames[i] = f->frames[i];
        job_row_rename(JOB_TABLE_FRAMES, &frames[i], &m->maps);
    }
    return frames ? map_rows(m, JOB_TABLE_CALLSITES, JOB_OF_CALLSITES, frames) : PYTHIA_ENOMEM;
}

static int map_definitions(struct merge *m)
{
    const struct job *f = m->from;
    for (uint32_t i = 0; i < f->string_count; i++)
        if ((m->map[JOB_OF_STRINGS][i] = job_string(m->into, f->strings[i])) == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    int error = map_rows(m, JOB_TABLE_MODULES, JOB_OF_MODULES, NULL);
    error = error ?: map_callsites(m);
    error = error ?: map_rows(m, JOB_TABLE_COMMS, JOB_OF_COMMS, NULL);
    return error ?: map_rows(m, JOB_TABLE_TERMINALS, JOB_OF_TERMINALS, NULL);
}

/* --- Classes --- */

static int plan_class(struct merge *m, uint32_t i)
{
    const struct job_class *c = &m->from->classes[i];
    uint32_t at = job_table_find(&m->into->index->table[JOB_INTERNED_CLASS], c->hash);
    if (at == GRAMMAR_NONE) {
        if (job_class_bodiless(c))
            return PYTHIA_EINVAL; /* a body was left out that this job does not have */
        m->map[JOB_OF_CLASSES][i] = m->into->class_count + m->new_classes++;
        return job_class_copy(&m->plan[i].copy, c, m->map[JOB_OF_TERMINALS], m->into->terminal_count);
    }
    m->map[JOB_OF_CLASSES][i] = at;
    return merge_class_join(&m->made.starts, &m->into->classes[at], c, &m->plan[i].both);
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
    error = error ?: base_array_room(&m->into->classes, &x->class_room, (uint64_t)m->into->class_count + m->new_classes,
                                sizeof *m->into->classes);
    return error ?: job_table_reserve(&x->table[JOB_INTERNED_CLASS], m->new_classes);
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
        uint32_t at = m->map[JOB_OF_CLASSES][i];
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

/* Those that are made of both: what was learned is not merged. */
static bool is_made(enum job_tables t)
{
    return t > JOB_TABLE_TERMINALS && !job_schemas[t].single && t != JOB_TABLE_LEARNED_REGIONS &&
           t != JOB_TABLE_LEARNED_TASKS;
}

/* Tables that belong together; join NULL: by their keys. */
struct side { enum job_tables first, last; job_joins *join; };

static bool is_left_out(const struct merge *m, enum job_tables t)
{
    for (uint32_t i = 0; i < m->made.left.count; i++)
        if (!strcmp(job_text(m->into, m->made.left.of[i].table), job_schemas[t].name))
            return true;
    return false;
}

/* What cannot be joined is left out, alone, and named: nor has anyone it who joins that later, for of some ranks alone
   it would be taken for all that there is. */
static int plan_side(struct merge *m, const struct side *s)
{
    bool out = is_left_out(m, s->first);
    if (!out && (s->join ? s->join(m->into, m->from, &m->maps, &m->made)
                         : job_rows_join(m->into, m->from, s->first, &m->maps, &m->made))) {
        struct job_left row = { job_string(m->into, job_schemas[s->first].name) };
        int error = row.table == GRAMMAR_NONE ? PYTHIA_ENOMEM : job_rows_add(&m->made, JOB_TABLE_LEFT, &row);
        if (error)
            return error;
        out = true;
    }
    for (enum job_tables t = s->first; t <= s->last && out; t++)
        job_rows_counted(&m->made, t, 0);
    return 0;
}

static int plan_tables(struct merge *m)
{
    static const struct side sides[] = {
        { JOB_TABLE_GROUPS, JOB_TABLE_GROUP_RANGES, job_groups_join },
        { JOB_TABLE_FLOWS, JOB_TABLE_FLOW_RANGES, job_flows_join },
        { JOB_TABLE_STOPS, JOB_TABLE_HOP_RANGES, job_hops_join },
    };
    m->made.info.block = job_streams_block(m->into, m->from);
    int error = job_rows_join(m->into, m->from, JOB_TABLE_STREAMS, &m->maps, &m->made);
    error = error ?: job_rows_join(m->into, m->from, JOB_TABLE_LEFT, &m->maps, &m->made);
    for (unsigned i = 0; i < sizeof sides / sizeof *sides && !error; i++)
        error = plan_side(m, &sides[i]);
    for (enum job_tables t = JOB_TABLE_STREAMS + 1; t < JOB_TABLE_LEFT && !error; t++)
        if (is_made(t) && job_schemas[t].keyed)
            error = plan_side(m, &(struct side){ t, job_schemas[t].sets ?: t, NULL });
    return error;
}

/* What is there once. */
static void commit_single(struct merge *m, enum job_tables t)
{
    union { struct job_info info; struct job_oracle oracle; struct job_machine machine; struct job_delay delay;
            struct job_took took; } row;
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

/* What the job had goes into the plan, which is freed. */
static void commit_tables(struct merge *m)
{
    for (enum job_tables t = 0; t < JOB_TABLES; t++)
        if (job_schemas[t].single)
            commit_single(m, t);
        else if (is_made(t))
            job_rows_swap(m->into, &m->made, t);
    m->into->info.block = m->made.info.block;
    if (*job_text(m->into, m->arguments))
        m->into->info.arguments = m->arguments;
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
    int error = job_streams_disjoint(into, from);
    error = error ?: maps_create(&m);
    error = error ?: map_definitions(&m);
    error = error ?: merge_programs(into, from, &m.arguments);
    error = error ?: job_starts_join(into, from, &m.maps, &m.made);
    error = error ?: plan_classes(&m);
    error = error ?: plan_tables(&m);
    BASE_OWN uint8_t *named = error ? NULL : calloc((size_t)m.made.starts.count + 1, 1);
    error = error ?: named ? 0 : PYTHIA_ENOMEM;
    if (error) {
        job_rollback(into, mark);
    } else {
        commit_classes(&m);
        commit_tables(&m);
        job_starts_prune(into, named);
    }
    plan_free(&m);
    job_rows_free(&m.made);
    maps_free(&m);
    return error;
}
