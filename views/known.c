/* SPDX-License-Identifier: MIT */
/* What is known of changing the teams of regions, and was done: when recorded, or as predicted runs learned. */
#include <inttypes.h>
#include <math.h>

#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

/* What the oracle knows of changing this team, and did: "  oracle: 3 of 50 with another size, …". */
void report_print_known(const struct report *r, const struct job_region *g, FILE *out)
{
    char reason[320];

    if (!g)
        return;
    const char *left = g->changed ? "otherwise left alone" : "left alone"; /* it has got a proof since, or lost one */
    if (g->changed) {
        const struct job_region_size *most = &g->size[0];
        for (uint32_t i = 1; i < g->size_count && i < JOB_REGION_SIZES; i++)
            if (g->size[i].size != g->team && (g->size[i].count > most->count || most->size == g->team))
                most = &g->size[i];
        fprintf(out, "  oracle: %s of %s executions with another team than the program's %u, mostly %u (mean %s); "
                "estimated %s %.3g s\n", report_count(g->changed), report_count(g->executions), g->team, most->size,
                report_time(report_mean(most->ns, most->count)), g->gain_ns < 0 ? "loss" : "gain",
                fabs((double)g->gain_ns / 1e9));
    }
    if (g->controls)
        fprintf(out, "  oracle: %s control turns with %u: mean %s, where the chosen size takes %s\n",
                report_count(g->controls), g->team, report_time(report_mean(g->control_ns, g->controls)),
                report_time(report_mean(g->chosen_ns, g->controls)));
    for (int i = 0; i < JOB_FIXED_REASONS; i++)
        if (g->fixed & 1u << i)
            fprintf(out, "  oracle: %s: %s\n", left, job_fixed_text(1u << i));
    if (job_proof_reason(g->proof) != JOB_PROOF_HARMLESS && (g->proof != JOB_PROOF_NONE || g->team > 1)) {
        report_reason(r, g, reason, sizeof reason);
        fprintf(out, "  oracle: %s: %s\n", left, reason);
    }
}

/* How many regions fewer threads may run, as their code says, and what reading it took. */
void report_print_reading(const struct job_region *g, uint32_t count, FILE *out)
{
    uint64_t ns = 0;
    uint32_t proven = 0;

    for (uint32_t i = 0; i < count; i++) {
        ns += g[i].proof_ns;
        proven += job_proof_reason(g[i].proof) == JOB_PROOF_HARMLESS;
    }
    if (count)
        fprintf(out, "fewer threads may do the work of %u of %u regions; reading their code took %s\n", proven, count,
                report_time((double)ns));
}

/* What is known of changing the team, and was done. */
void report_add_choice(const struct report *r, const struct job_region *g, cJSON *region)
{
    if (!g)
        return;
    cJSON *o = cJSON_AddObjectToObject(region, "choice"), *kept = cJSON_AddArrayToObject(o, "kept");
    for (int i = 0; i < JOB_FIXED_REASONS; i++)
        if (g->fixed & 1u << i)
            cJSON_AddItemToArray(kept, cJSON_CreateString(job_fixed_text(1u << i)));
    if (job_proof_reason(g->proof) != JOB_PROOF_HARMLESS && (g->proof != JOB_PROOF_NONE || g->team > 1)) {
        char reason[320];
        report_reason(r, g, reason, sizeof reason);
        cJSON_AddItemToArray(kept, cJSON_CreateString(reason));
    }
    cJSON_AddBoolToObject(o, "proven", job_proof_reason(g->proof) == JOB_PROOF_HARMLESS);
    report_json_seconds(o, "proof_seconds", g->proof_ns);
    cJSON_AddNumberToObject(o, "own_size", g->team);
    cJSON_AddNumberToObject(o, "executions", (double)g->executions);
    cJSON_AddNumberToObject(o, "changed", (double)g->changed);
    cJSON_AddNumberToObject(o, "trials", (double)g->trials);
    cJSON_AddNumberToObject(o, "gain_seconds", (double)g->gain_ns / 1e9);
    cJSON_AddNumberToObject(o, "controls", (double)g->controls);
    cJSON_AddNumberToObject(o, "control_seconds", (double)g->control_ns / 1e9);
    cJSON_AddNumberToObject(o, "control_chosen_seconds", (double)g->chosen_ns / 1e9);
    cJSON *sizes = cJSON_AddArrayToObject(o, "sizes");
    for (uint32_t i = 0; i < g->size_count && i < JOB_REGION_SIZES; i++) {
        cJSON *row = report_json_object(sizes);
        cJSON_AddNumberToObject(row, "size", g->size[i].size);
        cJSON_AddNumberToObject(row, "count", (double)g->size[i].count);
        report_json_seconds(row, "time_seconds", g->size[i].ns);
    }
}
