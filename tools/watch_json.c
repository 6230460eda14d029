/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tools/tool.h"
#include "tools/watch.h"
#include "views/table.h"
#include "views/views.h"

static void add_rank(cJSON *ranks, const struct watch_row *r)
{
    const struct watch_board *b = &r->sight->board;
    uint64_t entries = 0;
    cJSON *o = ADD(ranks, NUMBER("rank", b->rank), TEXT("node", b->node), NUMBER("pid", b->pid),
                   TEXT("region", watch_region(r, &entries)),
                   NUMBER("region_entries", views_known(entries, (double)entries)),
                   TEXT("place", watch_place(r)), TEXT("call", watch_call(r)), TIME("since_seconds", r->since_ns),
                   COUNT("events", b->events));
    cJSON *turns = (b->noted ? cJSON_AddArrayToObject : cJSON_AddNullToObject)(o, "turns");
    if (b->noted && b->turns > 1)
        ADD(turns, COUNT("loop", b->turns), COUNT("turn", b->turn));
    cJSON *threads = cJSON_AddArrayToObject(o, "threads");
    for (uint32_t i = 0; i < WATCH_THREADS; i++) {
        uint64_t since;
        const struct watch_named *call = watch_thread_waits(r->sight, i, &since);
        if (call)
            ADD(threads, NUMBER("thread", i + 1), TEXT("call", call->function), TEXT("place", watch_thread_place(r, i)),
                TIME("since_seconds", since));
    }
    ADD(o, TIME("age_seconds", r->since_ns), TIME("seen_seconds", r->sight->age_ns));
}

static void add_verdict(cJSON *job, const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    BASE_OWN char *text = watch_sentence(j);
    cJSON *o = cJSON_AddObjectToObject(job, "verdict");
    ADD(o, TEXT("kind", watch_kind_text[v->kind]));
    views_json_numbers(o, "ranks", v->rank, v->rank_count);
    ADD(o, TEXT("place", watch_verdict_place(j)));
    views_json_numbers(o, "waiting", v->waiting, v->waiting_count);
    ADD(o, TEXT("text", text), TIME("since_seconds", views_known(v->rank_count, (double)v->since_ns)),
        RATIO("factor", views_known(v->kind == WATCH_SLOW, v->slowest.factor)));
    cJSON *stacks = cJSON_AddArrayToObject(o, "stacks");
    for (uint32_t i = 0; i < v->rank_count; i++)
        ADD(stacks, NUMBER("rank", v->rank[i]), TEXT("stack", watch_way(&j->rows[v->rank[i]])));
}

static void add_job(cJSON *o, const struct watch_job *j)
{
    const struct watch_board *b = &j->sight[0]->board;
    const struct watch_numbers *n = &j->numbers;
    ADD(o, TEXT("file", b->file), TEXT("command", b->command), NUMBER("ranks", j->ranks), NUMBER("nodes", j->nodes),
        TEXT("state", watch_job_state_text[watch_job_state(j)]), NUMBER("started", b->started),
        RATIO("progress", n->progress), NUMBER("eta_seconds", n->eta), NUMBER("eta_low_seconds", n->eta_low),
        NUMBER("eta_high_seconds", n->eta_high), NUMBER("limit_seconds", views_known(j->limited, j->limit_seconds)),
        BOOL("fits_limit", views_known(j->limited && !isnan(n->eta), j->fits)),
        RATIO("mpi_efficiency", n->whole.mpi), RATIO("load_balance", n->whole.load_balance),
        RATIO("mpi_efficiency_lately", n->lately.mpi), RATIO("load_balance_lately", n->lately.load_balance),
        NUMBER("last_rank", views_known(n->last_rank != WATCH_NOBODY_LAST, n->last_rank)));
    cJSON *ranks = cJSON_AddArrayToObject(o, "ranks_state");
    for (uint32_t i = 0; i < j->ranks; i++)
        if (j->rows[i].sight)
            add_rank(ranks, &j->rows[i]);
    add_verdict(o, j);
    if (j->stacks)
        cJSON_AddItemToObject(o, "stacks_now", stacks_json(j->stacks));
}

char *watch_json(const struct watch_job *j)
{
    cJSON *o = cJSON_CreateObject();
    add_job(o, j);
    char *text = tool_need(cJSON_PrintUnformatted(o));
    cJSON_Delete(o);
    return text;
}

void watch_print_json(FILE *out, const struct watch_jobs *jobs, bool one_line)
{
    cJSON *all = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(all, "jobs");
    for (uint32_t i = 0; i < jobs->count; i++)
        add_job(views_json_object(list), &jobs->job[i]);
    BASE_OWN char *text = tool_need(one_line ? cJSON_PrintUnformatted(all) : cJSON_Print(all));
    fprintf(out, "%s\n", text);
    cJSON_Delete(all);
}
