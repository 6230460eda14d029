/* SPDX-License-Identifier: MIT */
/* The machine that the job ran on, and the energy that it used. */
#include <string.h>

#include "findings/findings.h"
#include "views/table.h"
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
    const struct job *j = r->job;
    const struct job_machine *m = &j->machine;

    if (m->present) {
        cJSON *o = ADD(cJSON_AddObjectToObject(root, "machine"),
                       TEXT("tree", m->tree == GRAMMAR_NONE ? NULL : job_text(j, m->tree)),
                       TEXT("energy", m->energy == GRAMMAR_NONE ? NULL : job_text(j, m->energy)),
                       NUMBER("energy_nodes", m->nodes));
        if (m->nodes)
            ADD(o, NUMBER("joules", m->joules));
    }
    if (j->clock.nodes)
        ADD(cJSON_AddObjectToObject(root, "clock"), NUMBER("nodes", j->clock.nodes),
            TIME("error_seconds", j->clock.error_ns));
    if (j->delay.ranks)
        ADD(cJSON_AddObjectToObject(root, "run_delay"), NUMBER("ranks", j->delay.ranks),
            TIME("seconds", j->delay.ready_ns), NUMBER("share", report_delay_share(r)),
            TIME("most_seconds", j->delay.most_ns));
    else
        cJSON_AddNullToObject(root, "run_delay");
}
