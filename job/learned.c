/* SPDX-License-Identifier: MIT */
#include "job/learned.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/intern.h"

int job_learned_reserve(struct job_learned *l, uint32_t regions, uint32_t tasks)
{
    l->regions = calloc((size_t)regions + 1, sizeof *l->regions);
    l->tasks = calloc((size_t)tasks + 1, sizeof *l->tasks);
    if (!l->regions || !l->tasks) {
        job_learned_free(l);
        return PYTHIA_ENOMEM;
    }
    l->region_count = regions;
    l->task_count = tasks;
    return 0;
}

void job_learned_free(struct job_learned *l)
{
    free(l->regions);
    free(l->tasks);
    *l = (struct job_learned){ 0 };
}

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

/* The record in terms of `into`; its callsite is GRAMMAR_NONE when out of memory. */
static struct job_region region_in(struct job *into, const struct job *from, const struct job_region *r)
{
    struct job_region own = *r;
    own.callsite = callsite_in(into, from, r->callsite);
    own.where = callsite_in(into, from, r->where);
    return own;
}

static bool has_region(const struct job_learned *l, uint32_t callsite)
{
    for (uint32_t i = 0; i < l->region_count; i++)
        if (l->regions[i].callsite == callsite)
            return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    return job_task_before(a, b) ? -1 : job_task_before(b, a);
}

/* Its tasks; those that were learned before where it has none. */
static int learn_tasks(struct job *into, const struct job *from, struct job_learned *l)
{
    l->task_count = 0;
    for (uint32_t i = 0; i < from->task_count; i++) {
        l->tasks[l->task_count] = from->tasks[i];
        l->tasks[l->task_count].callsite = callsite_in(into, from, from->tasks[i].callsite);
        if (l->tasks[l->task_count++].callsite == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    }
    for (uint32_t i = 0; !from->task_count && i < into->learned.task_count; i++)
        l->tasks[l->task_count++] = into->learned.tasks[i];
    qsort(l->tasks, l->task_count, sizeof *l->tasks, by_place);
    return 0;
}

static int learn_regions(struct job *into, const struct job *from, struct job_learned *l)
{
    l->region_count = 0;
    for (uint32_t i = 0; i < from->region_count; i++) {
        l->regions[l->region_count] = region_in(into, from, &from->regions[i]);
        if (l->regions[l->region_count++].callsite == GRAMMAR_NONE)
            return PYTHIA_ENOMEM;
    }
    for (uint32_t i = 0; i < into->learned.region_count; i++)
        if (!has_region(l, into->learned.regions[i].callsite))
            l->regions[l->region_count++] = into->learned.regions[i];
    return 0;
}

int job_learn(struct job *into, const struct job *from)
{
    struct job_learned l;
    if (job_learned_reserve(&l, from->region_count + into->learned.region_count,
                            from->task_count + into->learned.task_count))
        return PYTHIA_ENOMEM;
    int error = learn_regions(into, from, &l);
    error = error ? error : learn_tasks(into, from, &l);
    if (error) {
        job_learned_free(&l);
        return error;
    }
    job_learned_free(&into->learned);
    into->learned = l;
    return 0;
}

static int inherit_regions(struct job *into, const struct job *from, const struct job_region *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct job_region own = region_in(into, from, &r[i]);
        if (own.callsite == GRAMMAR_NONE || (!job_find_region(into, own.callsite) && job_add_region(into, &own)))
            return PYTHIA_ENOMEM;
    }
    return 0;
}

int job_inherit(struct job *into, const struct job *from)
{
    const struct job_learned *l = &from->learned;
    const struct job_task *tasks = l->task_count ? l->tasks : from->tasks;
    uint32_t count = into->task_count ? 0 : l->task_count ? l->task_count : from->task_count;
    int error = inherit_regions(into, from, l->regions, l->region_count);
    error = error ? error : inherit_regions(into, from, from->regions, from->region_count);
    for (uint32_t i = 0; i < count && !error; i++) {
        struct job_task t = tasks[i];
        t.callsite = callsite_in(into, from, t.callsite);
        error = t.callsite == GRAMMAR_NONE ? PYTHIA_ENOMEM : job_task_add(into, &t);
    }
    return error;
}

int job_learned_check(const struct job *j)
{
    const struct job_learned *l = &j->learned;
    unsigned char *seen = calloc((size_t)j->callsite_count + 1, 1);
    int error = seen ? job_task_check(j, l->tasks, l->task_count) : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < l->region_count && !error; i++)
        if (!job_region_check(j, &l->regions[i]) || seen[l->regions[i].callsite]++)
            error = PYTHIA_EFORMAT;
    free(seen);
    return error;
}
