/* SPDX-License-Identifier: MIT */
#include "report/loop_place.h"

#include <string.h>

#include <xxhash.h>

uint64_t report_function_hash(const struct report_place *p)
{
    return XXH64(p->function, strlen(p->function), XXH64(p->module, strlen(p->module), 0));
}

void report_place_loop(struct report *r, uint32_t terminal, uint64_t function, struct report_loop *l)
{
    const struct job_terminal *t = &r->job->terminals[terminal];

    for (uint32_t depth = 0; depth < REPORT_LOOP_DEPTH; depth++) {
        const struct report_place *p =
            report_resolve(r->resolver, t->callsite, depth, t->kind == JOB_REGION ? REPORT_ENTRY : REPORT_CALL);
        if (p && p->function && report_function_hash(p) == function)
            l->place = p;
        if (p && p->in_main)
            return;
    }
}

static bool passes(const struct job *j, uint32_t callsite, const struct job_frame *f)
{
    const struct job_callsite *c = callsite < j->callsite_count ? &j->callsites[callsite] : NULL;

    for (uint32_t i = 0; c && i < c->count; i++)
        if (j->frames[c->first + i].module == f->module && j->frames[c->first + i].offset == f->offset)
            return true;
    return false;
}

static bool all_pass(const struct job *j, const double *calls, const struct job_frame *f)
{
    for (uint32_t t = 0; t < j->terminal_count; t++)
        if (calls[t] > 0 && !passes(j, j->terminals[t].callsite, f))
            return false;
    return true;
}

void report_place_loop_by_frames(struct report *r, uint32_t terminal, const double *calls, struct report_loop *l)
{
    const struct job *j = r->job;
    uint32_t callsite = j->terminals[terminal].callsite, depth = 1;
    if (callsite >= j->callsite_count)
        return;
    const struct job_callsite *c = &j->callsites[callsite];
    while (depth < c->count && !all_pass(j, calls, &j->frames[c->first + depth]))
        depth++;
    const struct report_place *p = depth > 1 && depth < c->count
                                       ? report_resolve(r->resolver, callsite, depth - 1, REPORT_CALL)
                                       : report_place_of(r, terminal);
    if (p && !p->function)
        l->place = p;
}
