/* SPDX-License-Identifier: MIT */
#include "findings/ended.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "findings/report.h"
#include "findings/units.h"
#include "watch/kept.h"

static void judge(struct findings_ended *e, const struct job *j)
{
    const struct job_ends *ends = &j->ends;
    BASE_OWN struct watch_sight **sight = calloc((size_t)ends->count + 1, sizeof *sight);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ends->count; i++) {
        const struct job_end *end = &ends->of[i];
        if (end->thread)
            continue;
        sight[count] = watch_kept_sight(job_text(j, end->board), end->rank, j->info.ranks, job_text(j, end->function),
                                    end->inside, end->since_ns);
        base_must(!sight[count]);
        count++;
    }
    struct watch_row *rows = watch_rows(sight, count, j->info.ranks);
    base_must(!rows);
    watch_judge(rows, j->info.ranks, &e->verdict);
    watch_rows_free(rows, j->info.ranks);
    for (uint32_t i = 0; i < count; i++)
        free(sight[i]);
}

static const char *place_of(struct report *r, const struct job_end *end)
{
    char *text = findings_text("%s", "");
    if (end->callsite != GRAMMAR_NONE)
        findings_callsite_text(r->resolver, end->callsite, FINDINGS_CALL, text, FINDINGS_TEXT);
    return text;
}

/* Those that stood where this one did are told with the first of them. */
static struct findings_ended_in *find(struct findings_ended *e, const struct job *j, const struct job_end *end,
                                      const char *place)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (e->in[i].thread == end->thread && e->in[i].inside == end->inside &&
            !strcmp(e->in[i].call, job_text(j, end->function)) && !strcmp(e->in[i].place, place))
            return &e->in[i];
    return NULL;
}

static void add(struct findings_ended *e, struct report *r, const struct job_end *end)
{
    const struct job *j = r->job;
    const char *place = place_of(r, end);
    struct findings_ended_in *in = find(e, j, end, place);
    if (!in) {
        in = &e->in[e->count++];
        in->thread = end->thread;
        in->call = job_text(j, end->function);
        in->place = strdup(place);
        in->inside = end->inside;
        in->rank = calloc((size_t)j->ends.count, sizeof *in->rank);
    }
    in->rank[in->count++] = end->rank;
    in->since_ns = end->since_ns > in->since_ns ? end->since_ns : in->since_ns;
}

struct findings_ended *findings_ended(struct report *r)
{
    if (!r->job->ends.count)
        return NULL;
    struct findings_ended *e = calloc(1, sizeof *e);
    e->in = calloc(r->job->ends.count, sizeof *e->in);
    for (uint32_t i = 0; i < r->job->ends.count; i++)
        add(e, r, &r->job->ends.of[i]);
    judge(e, r->job);
    return e;
}

void findings_ended_destroy(struct findings_ended *e)
{
    for (uint32_t i = 0; e && i < e->count; i++) {
        free((void *)(uintptr_t)e->in[i].place);
        free(e->in[i].rank);
    }
    if (!e)
        return;
    watch_verdict_free(&e->verdict);
    free(e->in);
    free(e);
}
