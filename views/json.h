/* SPDX-License-Identifier: MIT */
/* The JSON report as a tree, for those who add to it. Threads: owner.  Hook-safe: no. */
#ifndef PYTHIA_VIEWS_JSON_H
#define PYTHIA_VIEWS_JSON_H

#include <cjson/cJSON.h>

#include "views/views.h"

/* Everything that `--format json` prints. The caller deletes it. */
cJSON *report_json(struct report *r);
/* Adds "tasks", an array of these rows (tasks.c). */
void report_add_tasks(struct report *r, const struct job_task *tasks, uint32_t count, cJSON *root);
/* Adds "choice": what is known of changing a region's team, and was done. Nothing for NULL (known.c). */
void report_add_choice(const struct report *r, const struct job_region *g, cJSON *region);
/* Adds "sizes": an array of what report_print_sizes prints (by_rank.c). */
void report_add_sizes(struct report *r, cJSON *root);
/* Adds "oracle": the last predicted run, and what predicted runs learned; nothing before one (predicted.c). */
void report_add_oracle(struct report *r, cJSON *root);
/* Adds "polls", an array (callsites.c). */
void report_add_polls(struct report *r, cJSON *root);
/* Adds "series": how each rank's time goes by (ranks.c). */
void report_add_series(const struct report *r, cJSON *root);
/* Adds "own": each rank's mean time before the calls that matter (own.c). */
void report_add_own(struct report *r, cJSON *root);
/* Adds "loops" and "main_loop" (loops.c). */
void report_json_loops(struct report *r, cJSON *root);
/* Adds "machine", where the job says what it ran on, "clock", where the times of all nodes are on one, and "run_delay"
   (machine.c). */
void report_add_machine(struct report *r, cJSON *root);
/* Adds a text, or null for NULL. Bytes that are no UTF-8 become '?'. */
void report_json_text(cJSON *object, const char *key, const char *text);
/* A text as a JSON string, with its quotes; the caller frees it. */
char *report_json_quoted(const char *text);
/* A new object at the end of an array, which owns it. */
cJSON *report_json_object(cJSON *array);
/* Prints `root`, and deletes it. */
void report_json_write(cJSON *root, FILE *out);

#endif
