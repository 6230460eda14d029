/* SPDX-License-Identifier: MIT */
/*
 * What is known of a job, printed: for people (text) and for scripts (JSON, CSV), all from one model.
 *
 *   struct report *r = report_create(job);
 *   views_print_text(r, VIEWS_SUMMARY, &how, stdout);
 *   report_destroy(r);
 *
 * Nothing here fails; who opened `out` sees whether all of it was written.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include <cjson/cJSON.h>

#include "findings/report.h"

enum views_view {
    VIEWS_SUMMARY,
    VIEWS_CALLSITES,
    VIEWS_STRUCTURE,
    VIEWS_CALLTREE,
    VIEWS_RANKS,
    VIEWS_OMP,
    VIEWS_COMM,
    VIEWS_WAITS, /* and the critical path */
    VIEWS_PREDICTED,
    VIEWS_NAMED, /* regions that the program names */
    VIEWS_MACHINE,
    VIEWS_CALLS,
    VIEWS_DATA,
    VIEWS_REGIONS
};

/* Of VIEWS_STRUCTURE and VIEWS_CALLTREE: levels, 0: all; everything, else what takes most time, 40 lines of it. Of
   VIEWS_SUMMARY, CALLSITES, NAMED and CALLTREE: only what is in the region of that name, which there is; NULL: all. */
struct views_tree_how { uint32_t depth; bool all; const char *region; };

/* `how` counts for these only. The summary fits 80 columns and 40 lines. */
void views_print_text(struct report *r, enum views_view view, const struct views_tree_how *how, FILE *out);

/* One JSON object with everything but the grammars; doc/EVENTS.md lists the keys. */
void views_print_json(struct report *r, const char *region, FILE *out); /* region: as above */

/* Everything that `--format json` prints. The caller deletes it. */
cJSON *views_json(struct report *r);
/* Adds a text, or null for NULL. Bytes that are no UTF-8 become '?'. */
void views_json_text(cJSON *object, const char *key, const char *text);
/* An array of numbers, to the object. */
void views_json_numbers(cJSON *object, const char *key, const uint32_t *number, uint32_t count);
/* A text as a JSON string, with its quotes; the caller frees it. */
char *views_json_quoted(const char *text);
/* A new object at the end of an array, which owns it. */
cJSON *views_json_object(cJSON *array);
/* Prints `root`, and deletes it. */
void views_json_write(cJSON *root, FILE *out);

/* As RFC 4180: callsites, calls rank by rank, sizes of their data, call paths. */
void views_print_csv(struct report *r, FILE *out);
void views_print_calls_csv(struct report *r, FILE *out);
void views_print_sizes_csv(struct report *r, FILE *out);
void views_print_calltree_csv(struct report *r, FILE *out);

/* --- Two or more jobs --- */
struct contracts_comparison;
struct contract;
void views_print_comparison(struct contracts_comparison *c, FILE *out);
/* The caller's. doc/EVENTS.md lists its keys. */
cJSON *views_comparison_json(struct contracts_comparison *c);
/* A line a broken promise, and one with the count. Text, one JSON object (doc/EVENTS.md lists the keys), JUnit's XML
   with a test case a rule. */
void contract_print(const struct contract *c, FILE *out);
void contract_print_json(const struct contract *c, FILE *out);
void contract_print_junit(const struct contract *c, FILE *out);

/* --- Between the views --- */
void views_print_calls(struct report *r, FILE *out);
void views_print_sizes(struct report *r, FILE *out);
void views_print_summary(struct report *r, FILE *out);
/* Of a run that died: where its ranks stood, and who held them up. Nothing of another. */
void views_print_ended(struct report *r, FILE *out);
void views_print_loops(struct report *r, const struct views_tree_how *how, FILE *out);
void views_print_calltree(struct report *r, const struct views_tree_how *how, FILE *out);
void views_print_predicted(struct report *r, FILE *out);
void views_print_callsites(struct report *r, FILE *out);
void views_print_ranks(struct report *r, FILE *out);
/* Part of it: where one rank computes longer than the others. */
void views_print_own(struct report *r, FILE *out);
/* Where threads computed (inside.c): which functions a finding's work is, NULL where it is none or that is not known;
   where they computed most; all of it. */
struct finding;
const char *views_inside_text(struct report *r, const struct finding *f);
void views_print_inside_most(struct report *r, FILE *out);
void views_print_inside(struct report *r, FILE *out);
void views_print_omp(struct report *r, FILE *out);
/* Regions by name; those with most time, for the summary. */
void views_print_named(struct report *r, FILE *out);
void views_print_named_top(struct report *r, FILE *out);
/* One of them, with so many of its calls. */
void views_print_region(struct report *r, const char *name, uint32_t most, FILE *out);
/* Of a region whose team was changed, the size that it mostly had then; else NULL. */
const struct job_region_size *views_usual_size(const struct job_region *g);
/* Regions and tasks as predicted runs have seen them, all that is known; nothing before one. */
void views_print_learned(struct report *r, FILE *out);
/* Parts of it, of the recording or of what was learned. The oracle's knowledge of a region; nothing for NULL.
   `why`: where it says why the others are left alone. */
void views_print_known(const struct report *r, const struct job_region *g, FILE *out);
void views_print_reading(const struct report *r, const struct job_region *g, uint32_t count, const char *why,
                         FILE *out);
void views_print_tasks(struct report *r, const struct job_task *tasks, uint32_t count, FILE *out);
void views_print_machine(struct report *r, FILE *out);
/* What of the placement costs time, two lines each; nothing where all is well or nothing is known (machine.c). */
void views_print_placement(struct report *r, FILE *out);
void views_print_comm(struct report *r, FILE *out);
void views_print_waits(struct report *r, FILE *out);
/* At most so many lines of what is lost, until they have nine tenths of it, and how many more there are; UINT32_MAX:
   twenty, and what has no peer by callsite. */
void views_print_findings(struct report *r, uint32_t most, FILE *out);
/* "parallel efficiency 75.0 % = load balance 83.3 % x communication 90.0 %", of a job with teams two lines more. */
void views_print_efficiency(const struct findings_efficiency *e, FILE *out);
void views_print_split(const struct findings_efficiency *e, FILE *out); /* serialisation and transfer, where known */
/* Of a callsite that terminals use; else NAN. */
double views_site_number(const struct report *r, uint32_t callsite);
/* A line for each, at most `most` and one that says how many more there are. */
void views_print_unmatched(struct report *r, struct replay_analysis *a, uint32_t most, FILE *out);
/* To the object, an array "unmatched_calls" of { function, where, reason, count }, empty where all are matched. */
void views_json_unmatched(struct report *r, struct replay_analysis *a, cJSON *object);

/* --- Between the parts of the JSON report --- */
/* Adds "tasks", an array of these rows (tasks.c). */
void views_add_tasks(struct report *r, const struct job_task *tasks, uint32_t count, cJSON *root);
/* What changing a region's team gained, estimated by executions at its own size, ns: no more than it took when it was
   recorded. NAN: these were less than five, which tell nothing. */
double views_gain(const struct report *r, const struct job_region *g);
/* Adds "choice": what is known of changing a region's team, and was done; NULL: worker threads begin it (omp.c). */
void views_add_choice(const struct report *r, const struct job_region *g, cJSON *region);
/* Why a region is not changed, in a word, and what would lift that; NULL: it is, or may be. `g` NULL: worker threads
   begin it (regions.c). */
const char *views_why_kept(const struct job_region *g, bool predicted, const char **lift);
void views_print_regions(struct report *r, FILE *out);
/* Adds "efficiency", nothing where it is not known (json.c); "user_regions" (named.c). */
void views_add_efficiency(const struct findings_efficiency *e, cJSON *to);
struct findings_named;
void views_add_named(struct report *r, const struct findings_named *one, cJSON *root); /* NULL: all */
/* Adds "sizes": an array of what views_print_sizes prints (by_rank.c). */
void views_add_sizes(struct report *r, cJSON *root);
/* Adds "oracle": the last predicted run, and what predicted runs learned; nothing before one (predicted.c). */
void views_add_oracle(struct report *r, cJSON *root);
/* Adds "polls", an array (callsites.c). */
void views_add_polls(struct report *r, cJSON *root);
/* Adds "inside", an array, and "inside_unknown" (inside.c). */
void views_add_inside(struct report *r, cJSON *root);
struct findings_inside_part;
struct contracts_grown;
/* Adds the functions of a part as "inside" has them; "functions", those that a time is longer for (compare_json.c). */
void views_add_functions(const struct report *r, const struct findings_inside_part *p, cJSON *array);
void views_json_grown(cJSON *o, const struct contracts_grown *grown, uint32_t count);
/* Adds "series": how each rank's time goes by (ranks.c). */
void views_add_series(const struct report *r, cJSON *root);
/* Adds "own": each rank's mean time before the calls that matter (own.c). */
void views_add_own(struct report *r, cJSON *root);
/* Adds "loops" and "main_loop" (loops.c). */
void views_json_loops(struct report *r, cJSON *root);
/* Adds "calltree" (calltree.c). */
void views_json_calltree(struct report *r, const char *region, cJSON *root);
/* Adds "ended"; null of a run that ended well (ended.c). */
void views_add_ended(struct report *r, cJSON *root);
/* Adds "machine", where the job says what it ran on, "clock", where the times of all nodes are on one, and "run_delay"
   (machine.c). */
void views_add_machine(struct report *r, cJSON *root);
