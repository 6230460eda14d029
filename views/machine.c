/* SPDX-License-Identifier: MIT */
/* The machine that the job ran on, and the energy that it used. */
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "findings/hardware.h"
#include "findings/placement.h"
#include "findings/ranges.h"
#include "findings/units.h"
#include "job/job.h"
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

/* Of the first rank's node, a line a level, as older recordings had it, too; NULL: not known. */
static const char *tree_text(const struct job *j)
{
    bool older = j->machine.present && j->machine.tree != GRAMMAR_NONE;

    return findings_hardware_tree(j) ?: older ? job_text(j, j->machine.tree) : NULL;
}

static const char *ranks_text(const struct job_ranges *all, uint32_t first, uint32_t count)
{
    BASE_OWN char *text = findings_ranges_text(all->range + first, count);
    const char *line = findings_line(text, 100);

    return line;
}

/* A line a kind of node, where there are several nodes. */
static void print_hosts(const struct report *r, FILE *out)
{
    const struct job *j = r->job;
    struct findings_hardware h;

    for (uint32_t i = 0; i < j->hosts.count && findings_hardware_of_host(j, i, &h); i++) {
        const struct job_host *host = &j->hosts.row[i];
        const char *ranks = ranks_text(&j->hosts.ranges, host->range_first, host->range_count);
        fprintf(out, "%snode%s of %s: %u cores, %u memory node%s\n", i ? "" : "\n", strchr(ranks, 's') ? "s" : "",
                ranks, h.cores, h.nodes, h.nodes == 1 ? "" : "s");
        findings_hardware_free(&h);
    }
}

/* A line a binding: "ranks 0,4: processors 0-3, 4 threads". */
static void print_bindings(const struct report *r, FILE *out)
{
    const struct job *j = r->job;

    for (uint32_t i = 0; i < j->bindings.count; i++) {
        const struct job_binding *b = &j->bindings.row[i];
        const char *ranks = ranks_text(&j->bindings.ranges, b->range_first, b->range_count);
        fprintf(out, "%s%s: processors %s", i ? "" : "\n", ranks, findings_line(job_text(j, b->processors), 60));
        if (b->threads > 1)
            fprintf(out, ", %u threads", b->threads);
        if (b->each != GRAMMAR_NONE)
            fprintf(out, ", one by one on %s", findings_line(job_text(j, b->each), 60));
        fputc('\n', out);
    }
}

void views_print_placement(struct report *r, FILE *out)
{
    struct findings_placements p;

    findings_placements_of(r, &p);
    for (uint32_t i = 0; i < p.count; i++)
        fprintf(out, "%splacement: %s\n           %s; Slurm: %s\n", i ? "" : "\n",
                findings_line(findings_placement_text(&p.of[i]), 68), p.of[i].mend, p.of[i].slurm);
}

static void add_placement(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "placement");
    struct findings_placements p;

    findings_placements_of(r, &p);
    for (uint32_t i = 0; i < p.count; i++)
        ADD(array, TEXT("kind", findings_placement_name(p.of[i].kind)), TEXT("ranks", p.of[i].ranks),
            NUMBER("cores", p.of[i].cores), NUMBER("of", p.of[i].of), NUMBER("threads", p.of[i].threads),
            TEXT("text", findings_placement_text(&p.of[i])), TEXT("advice", p.of[i].mend),
            TEXT("slurm", p.of[i].slurm));
}

void views_print_machine(struct report *r, FILE *out)
{
    const struct job_machine *m = &r->job->machine;
    double inside;
    uint64_t samples = region_energy(r->job, &inside);

    const char *tree = tree_text(r->job);
    if (tree)
        fprintf(out, "\nmachine of the first rank:\n%s", tree);
    print_hosts(r, out);
    print_bindings(r, out);
    views_print_placement(r, out);
    if (!m->present)
        return;
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

void views_add_machine(struct report *r, cJSON *root)
{
    const struct job *j = r->job;
    const struct job_machine *m = &j->machine;
    struct findings_crowd crowd = findings_crowd_of(r);

    add_placement(r, root);
    if (m->present) {
        cJSON *o = ADD(cJSON_AddObjectToObject(root, "machine"), TEXT("tree", tree_text(j)),
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
            TIME("seconds", j->delay.ready_ns), NUMBER("share", findings_delay_share(r)),
            TIME("most_seconds", j->delay.most_ns), NUMBER("others_share", views_known(crowd.known, crowd.others)),
            NUMBER("threads", views_known(crowd.known, crowd.threads)),
            NUMBER("processors", views_known(crowd.known, crowd.processors)));
    else
        cJSON_AddNullToObject(root, "run_delay");
}
