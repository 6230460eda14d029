/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "pythia.h"
#include "job/schema.h"

/* A callsite of one frame of `from`, defined in `into`; GRAMMAR_NONE when out of memory. */
static uint32_t callsite_in(struct job *into, const struct job *from, uint32_t callsite)
{
    if (callsite == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    struct job_frame frame = from->frames[from->callsites[callsite].first];
    const struct job_module *m = &from->modules[frame.module];
    frame.module = job_module(into, job_text(from, m->path), job_text(from, m->build_id));
    return frame.module == GRAMMAR_NONE ? GRAMMAR_NONE : job_callsite(into, &frame, 1);
}

/* Rows of `from` in terms of `into`, added to those that `to` does not have. */
static int learned_take(struct job *into, const struct job *from, enum job_tables t, struct job *to, enum job_tables as)
{
    union { struct job_region region; struct job_task task; } row;
    const struct job_schema *s = &job_schemas[t];
    uint32_t count;
    const char *rows = job_rows_of(from, t, &count);
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        memcpy(&row, rows + s->size * (size_t)i, s->size);
        for (const struct job_field *f = s->field; f < s->field + s->fields; f++) {
            uint32_t theirs = (uint32_t)job_field_get(f, &row, 0);
            uint32_t ours = f->refers ? callsite_in(into, from, theirs) : theirs;
            if (f->refers)
                job_field_put(f, &row, 0, ours);
            if (ours == GRAMMAR_NONE && ours != theirs)
                return PYTHIA_ENOMEM;
        }
        error = job_rows_find(to, as, &row) ? 0 : job_rows_add(to, as, &row);
    }
    return error;
}

int job_learn(struct job *into, const struct job *from)
{
    struct job l = { 0 };
    int error = learned_take(into, from, JOB_TABLE_REGIONS, &l, JOB_TABLE_LEARNED_REGIONS);
    error = error ?: learned_take(into, into, JOB_TABLE_LEARNED_REGIONS, &l, JOB_TABLE_LEARNED_REGIONS);
    if (!error)
        error = from->task_count ? learned_take(into, from, JOB_TABLE_TASKS, &l, JOB_TABLE_LEARNED_TASKS)
                                 : learned_take(into, into, JOB_TABLE_LEARNED_TASKS, &l, JOB_TABLE_LEARNED_TASKS);
    struct job_learned before = into->learned;
    if (!error) {
        into->learned = l.learned;
        l.learned = before;
    }
    job_rows_free(&l);
    return error;
}

int job_inherit(struct job *into, const struct job *from)
{
    enum job_tables tasks = from->learned.task_count ? JOB_TABLE_LEARNED_TASKS : JOB_TABLE_TASKS;
    int error = learned_take(into, from, JOB_TABLE_LEARNED_REGIONS, into, JOB_TABLE_REGIONS);
    error = error ?: learned_take(into, from, JOB_TABLE_REGIONS, into, JOB_TABLE_REGIONS);
    return error || into->task_count ? error : learned_take(into, from, tasks, into, JOB_TABLE_TASKS);
}
