/* SPDX-License-Identifier: MIT */
/* The tree of call paths as other tools read stacks; see export.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "findings/calltree.h"
#include "page/export.h"
#include "views/table.h"
#include "views/views.h"

void report_print_folded(struct report *r, FILE *out)
{
    struct report_calltree *t = report_calltree_create(r);

    for (uint32_t i = 0; i < t->paths; i++) {
        char *stack = t->path[i].own_ns ? report_path_stack(t, i) : NULL;
        if (stack)
            fprintf(out, "%s %" PRIu64 "\n", stack, t->path[i].own_ns);
        free(stack);
    }
    report_calltree_destroy(t);
}

/* A frame a node: viewers join those of one name and file themselves. */
static void add_frame(cJSON *frames, const struct report_path *p)
{
    bool call = p->terminal != GRAMMAR_NONE;
    cJSON *o = ADD(frames, TEXT("name", call ? p->name : report_path_text(p)));

    if (p->place && p->place->path)
        ADD(o, TEXT("file", p->place->path));
    if (call && p->place && p->place->line)
        ADD(o, NUMBER("line", p->place->line));
}

static void add_sample(const struct report_calltree *t, uint32_t i, cJSON *samples)
{
    cJSON *stack = cJSON_CreateArray();

    for (uint32_t at = i; at; at = (uint32_t)t->path[at].parent)
        cJSON_InsertItemInArray(stack, 0, cJSON_CreateNumber(at));
    cJSON_AddItemToArray(samples, stack);
}

void report_print_speedscope(struct report *r, FILE *out)
{
    struct report_calltree *t = report_calltree_create(r);
    const char *program = job_text(r->job, r->job->info.program);
    cJSON *root = cJSON_CreateObject(), *frames;

    ADD(root, TEXT("$schema", "https://www.speedscope.app/file-format-schema.json"), TEXT("name", program),
        TEXT("exporter", "pythia"));
    frames = cJSON_AddArrayToObject(cJSON_AddObjectToObject(root, "shared"), "frames");
    cJSON *profile = ADD(cJSON_AddArrayToObject(root, "profiles"), TEXT("type", "sampled"),
                         TEXT("name", "all ranks and threads"), TEXT("unit", "nanoseconds"), NUMBER("startValue", 0),
                         NUMBER("endValue", t->path[0].ns));
    cJSON *samples = cJSON_AddArrayToObject(profile, "samples"), *weights = cJSON_AddArrayToObject(profile, "weights");
    for (uint32_t i = 0; i < t->paths; i++) {
        add_frame(frames, &t->path[i]);
        if (!t->path[i].own_ns)
            continue;
        add_sample(t, i, samples);
        cJSON_AddItemToArray(weights, cJSON_CreateNumber((double)t->path[i].own_ns));
    }
    report_json_write(root, out);
    report_calltree_destroy(t);
}
