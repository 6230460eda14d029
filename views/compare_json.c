/* SPDX-License-Identifier: MIT */
/* A comparison of two jobs as JSON: all of it, what did not change too. Pairs are arrays of A's and B's value. */
#include <stdlib.h>

#include "base/clean.h"
#include "contracts/compare.h"
#include "views/table.h"
#include "views/views.h"

static void add_pair(cJSON *o, const char *key, double a, double b)
{
    const double pair[2] = { a, b };

    cJSON_AddItemToObject(o, key, cJSON_CreateDoubleArray(pair, 2));
}

/* "function", and "callsites" as the report resolves them; null where the job has it not. */
static void add_call(const struct contracts_comparison *c, const uint32_t terminal[2], cJSON *o)
{
    cJSON *sites = cJSON_CreateArray();
    int named = terminal[0] == GRAMMAR_NONE;

    views_json_text(o, "function", terminal[named] == GRAMMAR_NONE ? NULL :
                    job_text(c->report[named]->job, c->report[named]->job->terminals[terminal[named]].function));
    for (int side = 0; side < 2; side++) {
        char *where = terminal[side] == GRAMMAR_NONE ? NULL : findings_where(c->report[side], terminal[side], 255);
        if (where)
            base_clean_utf8(where);
        cJSON_AddItemToArray(sites, where ? cJSON_CreateString(where) : cJSON_CreateNull());
    }
    cJSON_AddItemToObject(o, "callsites", sites);
}

static void add_law(const struct contracts_comparison *c, const double value[2], cJSON *o)
{
    double exponent;
    enum contracts_law law = contracts_law(c, value, &exponent);

    if (!c->scaled || !(value[0] > 0) || !(value[1] > 0)) {
        cJSON_AddNullToObject(o, "scales");
        return;
    }
    ADD(o, TEXT("scales", contracts_law_name(law)), NUMBER("exponent", exponent));
}

void views_json_grown(cJSON *o, const struct contracts_grown *grown, uint32_t count)
{
    cJSON *array = cJSON_AddArrayToObject(o, "functions");

    for (uint32_t i = 0; i < count; i++) {
        const struct contracts_grown *g = &grown[i];
        const struct findings_place *p = g->place;
        cJSON *x = ADD(array, TEXT("function", p ? p->full : NULL), TEXT("file", p ? p->file : NULL),
                       NUMBER("line", views_known(p && p->line, p ? p->line : 0)),
                       TEXT("inlined", p ? p->inlined : NULL), TEXT("module", p ? p->module : NULL));
        add_pair(x, "share", g->share[0], g->share[1]);
        add_pair(x, "seconds", g->ns[0] / 1e9, g->ns[1] / 1e9);
        ADD(x, TIME("change_seconds", g->change), TIME("change_low_seconds", g->low),
            TIME("change_high_seconds", g->high));
    }
}

static void add_shift(const struct contracts_comparison *c, const struct contracts_row *r, cJSON *o, const char *key,
                      const struct contracts_shift *s)
{
    cJSON *x = cJSON_AddObjectToObject(o, key);
    uint32_t count;
    BASE_OWN struct contracts_grown *grown = contracts_row_grown(c, r, s == &r->gap, &count);

    add_pair(x, "mean_seconds", s->mean[0] / 1e9, s->mean[1] / 1e9);
    add_pair(x, "deviation_seconds", s->deviation[0] / 1e9, s->deviation[1] / 1e9);
    ADD(x, BOOL("moved", views_known(s->known, s->moved)));
    views_json_grown(x, grown, count);
}

static void add_teams(cJSON *o, const struct contracts_row *r)
{
    cJSON *both = cJSON_AddArrayToObject(o, "team_sizes");

    for (int side = 0; side < 2; side++) {
        cJSON *sizes = cJSON_CreateArray();
        for (uint32_t i = 0; i < r->team_count[side]; i++)
            ADD(sizes, NUMBER("size", r->teams[side][i].size), COUNT("count", r->teams[side][i].count));
        cJSON_AddItemToArray(both, sizes);
    }
}

static void add_row(const struct contracts_comparison *c, const struct contracts_row *r, cJSON *o)
{
    static const char *const match[] = { "none", "same", "frame", "order" };
    const double value[2] = { findings_mean(r->count[0], r->streams[0]), findings_mean(r->count[1], r->streams[1]) };

    ADD(o, TEXT("kind", r->region ? "region" : "call"));
    add_call(c, r->terminal, o);
    bool changed = contracts_row_changed(c, r) || r->teams_differ;
    ADD(o, TEXT("mapped_by", match[r->match & 3]),
        TEXT("change", contracts_change_text(r->count[0] > 0, r->count[1] > 0, changed)));
    add_pair(o, "count", (double)r->count[0], (double)r->count[1]);
    add_pair(o, "streams", (double)r->streams[0], (double)r->streams[1]);
    add_law(c, value, o);
    add_shift(c, r, o, "gap", &r->gap);
    add_shift(c, r, o, "duration", &r->own);
    if (r->region)
        add_teams(o, r);
}

static double known(uint64_t turns)
{
    return views_known(turns, (double)turns);
}

static void add_loop(const struct contracts_comparison *c, const struct contracts_turns *l, cJSON *o)
{
    static const struct findings_loop none = { .turns_least = 0 };
    const struct findings_loop *a = l->loop[0] ?: &none, *b = l->loop[1] ?: &none;
    const double value[2] = { contracts_loop_bound(l, 0), contracts_loop_bound(l, 1) };

    add_call(c, l->terminal, o);
    ADD(o, TEXT("change", contracts_change_text(l->loop[0], l->loop[1], contracts_loop_changed(c, l))));
    add_pair(o, "turns", value[0], value[1]);
    add_pair(o, "turns_min", known(a->turns_least), known(b->turns_least));
    add_pair(o, "turns_max", known(a->turns_most), known(b->turns_most));
    add_pair(o, "executions", (double)a->entries.sum, (double)b->entries.sum);
    add_pair(o, "events", l->events[0], l->events[1]);
    add_law(c, value, o);
}

static void add_classes(const struct contracts_comparison *c, cJSON *root)
{
    static const char *const sides[2] = { "removed", "added" };
    const struct contracts_shapes *s = &c->classes;
    cJSON *o = ADD(cJSON_AddObjectToObject(root, "classes"), NUMBER("common", s->common),
                   NUMBER("of_other_ranks", s->moved));

    for (int side = 0; side < 2; side++) {
        cJSON *array = cJSON_AddArrayToObject(o, sides[side]);
        for (uint32_t i = 0; i < s->count[side]; i++) {
            const struct contracts_shape *x = &s->only[side][i];
            const uint32_t terminal[2] = { side ? GRAMMAR_NONE : x->terminal, side ? x->terminal : GRAMMAR_NONE };
            add_call(c, terminal, ADD(array, NUMBER("class", x->class_index), NUMBER("events", x->length),
                                      NUMBER("streams", x->members)));
        }
    }
}

static void add_jobs(const struct contracts_comparison *c, cJSON *root)
{
    cJSON *jobs = cJSON_AddArrayToObject(root, "jobs");

    for (int i = 0; i < 2; i++) {
        const struct job *j = c->report[i]->job;
        ADD(jobs, TEXT("file", c->file[i]), TEXT("program", job_text(j, j->info.program)),
            TEXT("arguments", job_arguments(j)), NUMBER("ranks", j->info.ranks), NUMBER("threads", j->info.threads),
            NUMBER("events", c->report[i]->model->events));
    }
}

static void add_totals(const struct contracts_comparison *c, cJSON *root)
{
    cJSON *totals = cJSON_AddArrayToObject(root, "totals");

    for (int i = 0; i < CONTRACTS_TOTALS; i++) {
        const struct contracts_total *t = &c->totals[i];
        cJSON *o = ADD(totals, TEXT("name", t->name));
        add_pair(o, "seconds", t->ns[0] / 1e9, t->ns[1] / 1e9);
        ADD(o, TIME("spread_seconds", t->spread), BOOL("moved", views_known(!c->other_arguments, t->moved)));
    }
}

cJSON *views_comparison_json(struct contracts_comparison *c)
{
    cJSON *root = cJSON_CreateObject();

    ADD(root, NUMBER("version", 1), BOOL("equal", !c->structure_differs && !c->times_differ),
        BOOL("structure_equal", !c->structure_differs),
        BOOL("times_equal", views_known(!c->other_arguments, !c->times_differ)));
    add_jobs(c, root);
    ADD(cJSON_AddObjectToObject(root, "mapping"), NUMBER("same", c->matched[CONTRACTS_SAME]),
        NUMBER("frame", c->matched[CONTRACTS_PLACE]), NUMBER("order", c->matched[CONTRACTS_ORDER]),
        NUMBER("only_a", c->matched[CONTRACTS_ONLY]), NUMBER("only_b", c->only_b), BOOL("gave_up", c->gave_up),
        BOOL("by_timing", contracts_by_timing(c)));
    cJSON *calls = cJSON_AddArrayToObject(root, "calls"), *loops = cJSON_AddArrayToObject(root, "loops");
    for (uint32_t i = 0; i < c->row_count; i++)
        add_row(c, &c->rows[i], views_json_object(calls));
    for (uint32_t i = 0; i < c->loop_count; i++)
        add_loop(c, &c->loops[i], views_json_object(loops));
    add_classes(c, root);
    add_totals(c, root);
    return root;
}
