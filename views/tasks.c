/* SPDX-License-Identifier: MIT */
/* Tasks: how many of each construct and nesting depth, how long they take, and how many were run at once. */
#include <inttypes.h>

#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

/* Depths of one construct are lines below it, which has the sums. */
static void print_row(const char *name, const struct job_task *t, const char *where, struct views_table *table)
{
    ROW(table, TEXT("", name, "tasks", -14), COUNT("", t->created, "created", 10),
        TIME("", views_known(t->timed, findings_mean(t->time_ns, t->timed)), "mean", 10),
        TIME("", views_known(t->timed, (double)t->max_ns), "max", 10),
        TIME("", views_known(t->subtree_ns, (double)t->subtree_ns), "subtree", 10),
        TIME("", views_known(t->cost_ns, (double)t->cost_ns), "deferring", 10),
        PERCENT2("", findings_percent((double)t->at_once, (double)t->created), "at once", 8),
        TEXT("", where, " place", 0));
}

/* Depths are sampled at rates of their own: each counts by the tasks that it had, not by those that were timed. */
static struct job_task sum_of(const struct job_task *tasks, uint32_t first, uint32_t end)
{
    struct job_task sum = tasks[first];
    double time = 0;

    sum.created = sum.at_once = sum.timed = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct job_task *t = &tasks[i];
        sum.created += t->created;
        sum.at_once += t->at_once;
        if (t->timed) {
            sum.timed += t->created;
            time += findings_mean(t->time_ns, t->timed) * (double)t->created;
        }
        sum.max_ns = sum.max_ns > t->max_ns ? sum.max_ns : t->max_ns;
    }
    sum.time_ns = (uint64_t)time;
    if (end - first > 1)
        sum.subtree_ns = 0;
    return sum;
}

static uint32_t end_of(const struct job_task *tasks, uint32_t count, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < count && tasks[end].callsite == tasks[first].callsite)
        end++;
    return end;
}

/* Which tasks the times are of. Task loops are timed as a whole, and some not at all: these say nothing here. */
static const char *timed_text(const struct job_task *tasks, uint32_t count)
{
    uint64_t created = 0, timed = 0;

    for (uint32_t i = 0; i < count; i++) {
        created += tasks[i].loops ? 0 : tasks[i].created;
        timed += tasks[i].loops ? 0 : tasks[i].timed;
    }
    if (timed >= created)
        return "of all tasks";
    return findings_text("estimated from a sample: %s of %s were timed", findings_count(timed),
                         findings_count(created));
}

void views_print_tasks(struct report *r, const struct job_task *tasks, uint32_t count, FILE *out)
{
    struct views_table t = { .out = out };

    if (!count)
        return;
    fputc('\n', out);
    print_row("", tasks, "", &t);
    for (uint32_t first = 0, end; first < count; first = end) {
        char where[256];
        end = end_of(tasks, count, first);
        struct job_task sum = sum_of(tasks, first, end);
        findings_callsite_text(r->resolver, sum.callsite, FINDINGS_ENTRY, where, sizeof where);
        print_row(sum.loops ? "omp taskloop" : "omp task", &sum, where, &t);
        for (uint32_t i = first; end - first > 1 && i < end; i++)
            print_row(findings_text("  depth %" PRIu32 "%s", tasks[i].depth, tasks[i].depth == 31 ? "+" : ""),
                      &tasks[i], "", &t);
    }
    fprintf(out,
            "\nmean, max: with the tasks that one ran at once itself, without those it "
            "waited for,\n%s; subtree: with all that it creates run at once;\ndeferring: what that costs; at once: run "
            "by its creator although the program would have deferred it\n",
            timed_text(tasks, count));
}

void views_add_tasks(struct report *r, const struct job_task *tasks, uint32_t count, cJSON *root)
{
    static const struct findings_place nowhere;
    cJSON *array = cJSON_AddArrayToObject(root, "tasks");

    for (uint32_t i = 0; i < count; i++) {
        const struct job_task *t = &tasks[i];
        const struct findings_place *p = findings_resolve(r->resolver, t->callsite, 0, FINDINGS_ENTRY) ?: &nowhere;
        ADD(array, TEXT("construct", t->loops ? "taskloop" : "task"), TEXT("function", p->function),
            TEXT("file", p->file), NUMBER("line", p->line), TEXT("module", p->module), NUMBER("offset", p->offset),
            NUMBER("depth", t->depth), COUNT("created", t->created), COUNT("at_once", t->at_once),
            COUNT("undeferred", t->undeferred), COUNT("loops", t->loops), COUNT("timed", t->timed),
            TIME("time_seconds", t->time_ns), TIME("min_seconds", t->min_ns), TIME("max_seconds", t->max_ns),
            TIME("wait_seconds", t->wait_ns), TIME("subtree_seconds", t->subtree_ns),
            TIME("deferring_seconds", t->cost_ns));
    }
}
