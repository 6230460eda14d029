/* SPDX-License-Identifier: MIT */
/* Tasks: how many of each construct and nesting depth, how long they take, and how many were run at once. */
#include <inttypes.h>

#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

/* Depths of one construct are lines below it, which has the sums. */
static void print_row(const char *name, const struct job_task *t, const char *where, FILE *out)
{
    fprintf(out, "%-14s %10s %10s %10s %10s %10s %7.2f%%  %s\n", name, report_count(t->created),
            t->timed ? report_time(report_mean(t->time_ns, t->timed)) : "-",
            t->timed ? report_time((double)t->max_ns) : "-", t->subtree_ns ? report_time((double)t->subtree_ns) : "-",
            t->cost_ns ? report_time((double)t->cost_ns) : "-",
            report_percent((double)t->at_once, (double)t->created), where);
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
            time += report_mean(t->time_ns, t->timed) * (double)t->created;
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
    return report_text("estimated from a sample: %s of %s were timed", report_count(timed), report_count(created));
}

void report_print_tasks(struct report *r, const struct job_task *tasks, uint32_t count, FILE *out)
{
    if (!count)
        return;
    fprintf(out, "\n%-14s %10s %10s %10s %10s %10s %8s  %s\n", "tasks", "created", "mean", "max", "subtree",
            "deferring", "at once", "place");
    for (uint32_t first = 0, end; first < count; first = end) {
        char where[256];
        end = end_of(tasks, count, first);
        struct job_task sum = sum_of(tasks, first, end);
        report_callsite_text(r->resolver, sum.callsite, REPORT_ENTRY, where, sizeof where);
        print_row(sum.loops ? "omp taskloop" : "omp task", &sum, where, out);
        for (uint32_t i = first; end - first > 1 && i < end; i++)
            print_row(report_text("  depth %" PRIu32 "%s", tasks[i].depth, tasks[i].depth == 31 ? "+" : ""),
                      &tasks[i], "", out);
    }
    fprintf(out,
            "\nmean, max: with the tasks that one ran at once itself, without those it "
            "waited for,\n%s; subtree: with all that it creates run at once;\ndeferring: what that costs; at once: run "
            "by its creator although the program would have deferred it\n",
            timed_text(tasks, count));
}

void report_add_tasks(struct report *r, const struct job_task *tasks, uint32_t count, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "tasks");

    for (uint32_t i = 0; i < count; i++) {
        const struct job_task *t = &tasks[i];
        const struct report_place *p = report_resolve(r->resolver, t->callsite, 0, REPORT_ENTRY);
        cJSON *o = report_json_object(array);
        cJSON_AddStringToObject(o, "construct", t->loops ? "taskloop" : "task");
        report_json_text(o, "function", p ? p->function : NULL);
        report_json_text(o, "file", p ? p->file : NULL);
        cJSON_AddNumberToObject(o, "line", p ? p->line : 0);
        report_json_text(o, "module", p ? p->module : NULL);
        cJSON_AddNumberToObject(o, "offset", p ? (double)p->offset : 0);
        cJSON_AddNumberToObject(o, "depth", t->depth);
        cJSON_AddNumberToObject(o, "created", (double)t->created);
        cJSON_AddNumberToObject(o, "at_once", (double)t->at_once);
        cJSON_AddNumberToObject(o, "undeferred", (double)t->undeferred);
        cJSON_AddNumberToObject(o, "loops", (double)t->loops);
        cJSON_AddNumberToObject(o, "timed", (double)t->timed);
        cJSON_AddNumberToObject(o, "time_seconds", (double)t->time_ns / 1e9);
        cJSON_AddNumberToObject(o, "min_seconds", (double)t->min_ns / 1e9);
        cJSON_AddNumberToObject(o, "max_seconds", (double)t->max_ns / 1e9);
        cJSON_AddNumberToObject(o, "wait_seconds", (double)t->wait_ns / 1e9);
        cJSON_AddNumberToObject(o, "subtree_seconds", (double)t->subtree_ns / 1e9);
        cJSON_AddNumberToObject(o, "deferring_seconds", (double)t->cost_ns / 1e9);
    }
}
