/* SPDX-License-Identifier: MIT */
/* The machine that the job ran on, and the energy that it used. */
#include <string.h>

#include "findings/findings.h"
#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

/* Of all executions of regions that were long enough to be measured; returns how many. */
static uint64_t region_energy(const struct job *j, double *joules)
{
    uint64_t samples = 0;

    *joules = 0;
    for (uint32_t i = 0; i < j->sum_count; i++)
        if (!strcmp(job_text(j, j->sums[i].name), "energy_uj")) {
            samples += j->sums[i].count.samples;
            *joules += (double)j->sums[i].count.total * 1e-6;
        }
    return samples;
}

void report_print_machine(struct report *r, FILE *out)
{
    const struct job_machine *m = &r->job->machine;
    double inside;
    uint64_t samples = region_energy(r->job, &inside);

    if (!m->present)
        return;
    if (*job_text(r->job, m->tree))
        fprintf(out, "\nmachine of the first rank:\n%s", job_text(r->job, m->tree));
    if (m->nodes)
        fprintf(out, "\nenergy: %.4g J on %u node%s, %.3g W\n", m->joules, m->nodes, m->nodes == 1 ? "" : "s",
                r->job->info.wall_ns ? m->joules / ((double)r->job->info.wall_ns * 1e-9) : 0.0);
    else
        fprintf(out, "\nenergy: not available here: %s\n", job_text(r->job, m->energy));
    if (r->job->clock.nodes > 1)
        fprintf(out, "clocks of %u nodes brought together, at most %.3g us wrong\n", r->job->clock.nodes,
                (double)r->job->clock.error_ns * 1e-3);
    if (samples)
        fprintf(out, "energy of %llu executions of regions of 5 ms and more: %.4g J, %.3g J each\n",
                (unsigned long long)samples, inside, inside / (double)samples);
}

void report_add_machine(struct report *r, cJSON *root)
{
    const struct job_machine *m = &r->job->machine;
    cJSON *o = m->present ? cJSON_AddObjectToObject(root, "machine") : NULL;

    if (!o)
        return;
    report_json_text(o, "tree", m->tree == GRAMMAR_NONE ? NULL : job_text(r->job, m->tree));
    report_json_text(o, "energy", m->energy == GRAMMAR_NONE ? NULL : job_text(r->job, m->energy));
    cJSON_AddNumberToObject(o, "energy_nodes", m->nodes);
    if (m->nodes)
        cJSON_AddNumberToObject(o, "joules", m->joules);
}

void report_add_clock(struct report *r, cJSON *root)
{
    const struct job_clock *c = &r->job->clock;
    cJSON *o = c->nodes ? cJSON_AddObjectToObject(root, "clock") : NULL;

    if (!o)
        return;
    cJSON_AddNumberToObject(o, "nodes", c->nodes);
    cJSON_AddNumberToObject(o, "error_seconds", (double)c->error_ns * 1e-9);
}

void report_add_delay(struct report *r, cJSON *root)
{
    const struct job_delay *d = &r->job->delay;

    if (!d->ranks) {
        cJSON_AddNullToObject(root, "run_delay");
        return;
    }
    cJSON *o = cJSON_AddObjectToObject(root, "run_delay");
    cJSON_AddNumberToObject(o, "ranks", (double)d->ranks);
    cJSON_AddNumberToObject(o, "seconds", (double)d->ready_ns * 1e-9);
    cJSON_AddNumberToObject(o, "share", report_delay_share(r));
    cJSON_AddNumberToObject(o, "most_seconds", (double)d->most_ns * 1e-9);
}
