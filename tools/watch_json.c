/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "tools/tool.h"
#include "tools/watch.h"

static void add_text(cJSON *to, const char *name, const char *text)
{
    cJSON_AddItemToObject(to, name, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static void add_number(cJSON *to, const char *name, bool known, double value)
{
    cJSON_AddItemToObject(to, name, known ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

static cJSON *ranks_of(const uint32_t *rank, uint32_t count)
{
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(rank[i]));
    return list;
}

static cJSON *rank_of(const struct watch_row *r)
{
    const struct watch_board *b = &r->sight->board;
    cJSON *o = cJSON_CreateObject(), *turns = cJSON_AddArrayToObject(o, "turns");
    cJSON_AddNumberToObject(o, "rank", b->rank);
    add_text(o, "node", b->node);
    cJSON_AddNumberToObject(o, "pid", b->pid);
    add_text(o, "place", watch_place(r));
    add_text(o, "call", watch_call(r));
    cJSON_AddNumberToObject(o, "since_seconds", (double)r->since_ns * 1e-9);
    cJSON_AddNumberToObject(o, "events", (double)b->events);
    if (b->noted && b->turns > 1) {
        cJSON *turn = cJSON_CreateObject();
        cJSON_AddNumberToObject(turn, "loop", (double)b->turns);
        cJSON_AddNumberToObject(turn, "turn", (double)b->turn);
        cJSON_AddItemToArray(turns, turn);
    }
    cJSON_AddNumberToObject(o, "age_seconds", (double)r->moved_ns * 1e-9);
    cJSON_AddNumberToObject(o, "seen_seconds", (double)r->sight->age_ns * 1e-9);
    return o;
}

static cJSON *verdict_of(const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    bool any = v->rank_count > 0;
    char *text = watch_sentence(j);
    cJSON *o = cJSON_CreateObject();
    add_text(o, "kind", watch_kind_text[v->kind]);
    cJSON_AddItemToObject(o, "ranks", ranks_of(v->rank, v->rank_count));
    add_text(o, "place", watch_verdict_place(j));
    cJSON_AddItemToObject(o, "waiting", ranks_of(v->waiting, v->waiting_count));
    add_text(o, "text", text);
    add_number(o, "since_seconds", any, (double)v->since_ns * 1e-9);
    add_number(o, "factor", v->kind == WATCH_SLOW, v->slowest.factor);
    free(text);
    return o;
}

static cJSON *job_of(const struct watch_job *j)
{
    const struct watch_board *b = &j->sight[0]->board;
    const struct watch_numbers *n = &j->numbers;
    cJSON *o = cJSON_CreateObject();
    add_text(o, "file", b->file);
    add_text(o, "command", b->command);
    cJSON_AddNumberToObject(o, "ranks", j->ranks);
    cJSON_AddNumberToObject(o, "nodes", j->nodes);
    add_text(o, "state", watch_job_state_text[watch_job_state(j)]);
    cJSON_AddNumberToObject(o, "started", (double)b->started);
    add_number(o, "progress", n->progress >= 0, n->progress);
    add_number(o, "eta_seconds", n->eta >= 0, n->eta);
    add_number(o, "eta_low_seconds", n->eta_low >= 0, n->eta_low);
    add_number(o, "eta_high_seconds", n->eta_high >= 0, n->eta_high);
    add_number(o, "limit_seconds", j->limited, j->limit_seconds);
    cJSON_AddItemToObject(o, "fits_limit", j->limited && n->eta >= 0 ? cJSON_CreateBool(j->fits) : cJSON_CreateNull());
    add_number(o, "parallel_efficiency", n->whole.parallel >= 0, n->whole.parallel);
    add_number(o, "load_balance", n->whole.load_balance >= 0, n->whole.load_balance);
    add_number(o, "parallel_efficiency_lately", n->lately.parallel >= 0, n->lately.parallel);
    add_number(o, "load_balance_lately", n->lately.load_balance >= 0, n->lately.load_balance);
    cJSON *ranks = cJSON_AddArrayToObject(o, "ranks_state");
    for (uint32_t i = 0; i < j->ranks; i++)
        if (j->rows[i].sight)
            cJSON_AddItemToArray(ranks, rank_of(&j->rows[i]));
    cJSON_AddItemToObject(o, "verdict", verdict_of(j));
    return o;
}

char *watch_json(const struct watch_job *j)
{
    cJSON *o = job_of(j);
    char *text = tool_need(cJSON_PrintUnformatted(o));
    cJSON_Delete(o);
    return text;
}

void watch_print_json(FILE *out, const struct watch_jobs *jobs, bool one_line)
{
    cJSON *all = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(all, "jobs");
    for (uint32_t i = 0; i < jobs->count; i++)
        cJSON_AddItemToArray(list, job_of(&jobs->job[i]));
    char *text = tool_need(one_line ? cJSON_PrintUnformatted(all) : cJSON_Print(all));
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(all);
}
