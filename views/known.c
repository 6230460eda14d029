/* SPDX-License-Identifier: MIT */
/* What is known of changing the teams of regions, and was done: when recorded, or as predicted runs learned. */
#include <inttypes.h>
#include <math.h>

#include "findings/units.h"
#include "views/json.h"
#include "views/table.h"
#include "views/views.h"

/* The i-th reason to leave a team alone; NULL: that is none. `text`: room for it. */
static const char *left_alone(const struct report *r, const struct job_region *g, int i, char text[320])
{
    if (i < JOB_FIXED_REASONS)
        return g->fixed & 1u << i ? job_fixed_text(1u << i) : NULL;
    if (job_proof_reason(g->proof) == JOB_PROOF_HARMLESS || (g->proof == JOB_PROOF_NONE && g->team <= 1))
        return NULL;
    report_reason(r, g, text, 320);
    return text;
}

/* What the oracle knows of changing this team, and did: "  oracle: 3 of 50 with another size, …". */
void report_print_known(const struct report *r, const struct job_region *g, FILE *out)
{
    char room[320];

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
    for (int i = 0; i <= JOB_FIXED_REASONS; i++)
        if (left_alone(r, g, i, room))
            fprintf(out, "  oracle: %s: %s\n", left, left_alone(r, g, i, room));
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

void report_add_choice(const struct report *r, const struct job_region *g, cJSON *region)
{
    char room[320];

    if (!g)
        return;
    cJSON *o = cJSON_AddObjectToObject(region, "choice"), *kept = cJSON_AddArrayToObject(o, "kept");
    for (int i = 0; i <= JOB_FIXED_REASONS; i++)
        if (left_alone(r, g, i, room))
            cJSON_AddItemToArray(kept, cJSON_CreateString(left_alone(r, g, i, room)));
    ADD(o, BOOL("proven", job_proof_reason(g->proof) == JOB_PROOF_HARMLESS), TIME("proof_seconds", g->proof_ns),
        NUMBER("own_size", g->team), COUNT("executions", g->executions), COUNT("changed", g->changed),
        COUNT("trials", g->trials), TIME("gain_seconds", g->gain_ns), COUNT("controls", g->controls),
        TIME("control_seconds", g->control_ns), TIME("control_chosen_seconds", g->chosen_ns));
    cJSON *sizes = cJSON_AddArrayToObject(o, "sizes");
    for (uint32_t i = 0; i < g->size_count && i < JOB_REGION_SIZES; i++)
        ADD(sizes, NUMBER("size", g->size[i].size), COUNT("count", g->size[i].count),
            TIME("time_seconds", g->size[i].ns));
}
