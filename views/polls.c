/* SPDX-License-Identifier: MIT */
/*
 * Calls that found nothing: tests and probes of what had not come yet, and of requests that were null. They are no
 * events; what they took is in the gap, or in the poll that found something. A row each function and callsite, most
 * calls first.
 */
#include "views/polls.h"

#include <stdlib.h>

#include "base/order.h"
#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

static int by_site(const void *a, const void *b)
{
    const struct report_polls *x = a, *y = b;

    return BASE_ORDER(x->function, y->function) ?: BASE_ORDER(x->callsite, y->callsite);
}

static int by_calls(const void *a, const void *b)
{
    const struct report_polls *x = a, *y = b;

    return BASE_ORDER(y->count.samples, x->count.samples) ?: by_site(a, b);
}

struct report_polls *report_polls_create(const struct job *j, uint32_t *count)
{
    struct report_polls *p = calloc((size_t)j->sum_count + 1, sizeof *p);
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < j->sum_count; i++)
        if (job_is_polls(j, &j->sums[i])) {
            const struct job_terminal *t = &j->terminals[j->sums[i].terminal];
            p[n++] = (struct report_polls){ t->function, t->callsite, j->sums[i].terminal, j->sums[i].count };
        }
    qsort(p, n, sizeof *p, by_site);
    for (uint32_t i = 0; i < n; i++)
        if (kept && by_site(&p[kept - 1], &p[i]) == 0) {
            p[kept - 1].count.samples += p[i].count.samples;
            p[kept - 1].count.total += p[i].count.total;
        } else {
            p[kept++] = p[i];
        }
    qsort(p, kept, sizeof *p, by_calls);
    *count = kept;
    return p;
}

void report_print_polls(struct report *r, FILE *out)
{
    uint32_t count;
    struct report_polls *p = report_polls_create(r->job, &count);

    if (count)
        fprintf(out, "\n# calls that found nothing, beside the events: their time is in the gap, or in the call "
                "that found something\n%6s  %-22s %10s %8s %8s  %s\n", "number", "call", "calls", "total", "mean",
                "callsite");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t site = report_site_number(r->names, p[i].callsite);
        fprintf(out, "%6s  ", site != GRAMMAR_NONE ? report_text("%u", site) : "-");
        report_print_column(report_line(job_text(r->job, p[i].function), 40), 22, out);
        fprintf(out, " %10s %8s %8s  %s\n", report_count(p[i].count.samples),
                report_time((double)p[i].count.total), report_time(report_mean(p[i].count.total, p[i].count.samples)),
                report_where(r, p[i].terminal, 255));
    }
    free(p);
}

void report_add_polls(struct report *r, cJSON *root)
{
    uint32_t count;
    struct report_polls *p = report_polls_create(r->job, &count);
    cJSON *all = cJSON_AddArrayToObject(root, "polls");

    for (uint32_t i = 0; i < count; i++) {
        cJSON *poll = report_json_object(all);
        report_json_text(poll, "function", job_text(r->job, p[i].function));
        report_json_text(poll, "place", report_where(r, p[i].terminal, 255));
        cJSON_AddNumberToObject(poll, "count", (double)p[i].count.samples);
        cJSON_AddNumberToObject(poll, "seconds", (double)p[i].count.total * 1e-9);
    }
    free(p);
}
