/* SPDX-License-Identifier: MIT */
/*
 * What is known of a job, printed: for people (text) and for scripts (JSON, CSV), all from one model.
 *
 *   struct report *r = report_create(job);
 *   report_print_text(r, REPORT_SUMMARY, &how, stdout);
 *   report_destroy(r);
 *
 * Nothing here fails; who opened `out` sees whether all of it was written.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_VIEWS_VIEWS_H
#define PYTHIA_VIEWS_VIEWS_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "findings/report.h"

enum report_view {
    REPORT_SUMMARY,
    REPORT_CALLSITES,
    REPORT_STRUCTURE,
    REPORT_CALLTREE,
    REPORT_RANKS,
    REPORT_OMP,
    REPORT_COMM,
    REPORT_WAITS, /* and the critical path */
    REPORT_PREDICTED,
    REPORT_NAMED, /* regions that the program names */
    REPORT_MACHINE,
    REPORT_CALLS,
    REPORT_DATA,
    REPORT_REGIONS
};

/* Of REPORT_STRUCTURE and REPORT_CALLTREE: levels, 0: all; everything, else what takes most time, 40 lines of it. Of
   REPORT_SUMMARY, CALLSITES, NAMED and CALLTREE: only what is in the region of that name, which there is; NULL: all. */
struct report_tree_how { uint32_t depth; bool all; const char *region; };

/* `how` counts for these only. The summary fits 80 columns and 40 lines. */
void report_print_text(struct report *r, enum report_view view, const struct report_tree_how *how, FILE *out);

/* One JSON object with everything but the grammars; doc/EVENTS.md lists the keys. */
void report_print_json(struct report *r, const char *region, FILE *out); /* region: as above */

/* Everything that `--format json` prints. The caller deletes it. */
cJSON *report_json(struct report *r);
/* Adds a text, or null for NULL. Bytes that are no UTF-8 become '?'. */
void report_json_text(cJSON *object, const char *key, const char *text);
/* A text as a JSON string, with its quotes; the caller frees it. */
char *report_json_quoted(const char *text);
/* A new object at the end of an array, which owns it. */
cJSON *report_json_object(cJSON *array);
/* Prints `root`, and deletes it. */
void report_json_write(cJSON *root, FILE *out);

/* As RFC 4180: callsites, calls rank by rank, sizes of their data, call paths. */
void report_print_csv(struct report *r, FILE *out);
void report_print_calls_csv(struct report *r, FILE *out);
void report_print_sizes_csv(struct report *r, FILE *out);
void report_print_calltree_csv(struct report *r, FILE *out);

/* --- Two or more jobs --- */
struct report_comparison;
struct report_contract;
void report_print_comparison(struct report_comparison *c, FILE *out);
/* The caller's. doc/EVENTS.md lists its keys. */
cJSON *report_comparison_json(struct report_comparison *c);
/* A line a broken promise, and one with the count. Text, one JSON object (doc/EVENTS.md lists the keys), JUnit's XML
   with a test case a rule. */
void report_contract_print(const struct report_contract *c, FILE *out);
void report_contract_print_json(const struct report_contract *c, FILE *out);
void report_contract_print_junit(const struct report_contract *c, FILE *out);

/* --- Between the views --- */
void report_print_calls(struct report *r, FILE *out);
void report_print_sizes(struct report *r, FILE *out);
void report_print_summary(struct report *r, FILE *out);
/* Of a run that died: where its ranks stood, and who held them up. Nothing of another. */
void report_print_ended(struct report *r, FILE *out);
void report_print_loops(struct report *r, const struct report_tree_how *how, FILE *out);
void report_print_calltree(struct report *r, const struct report_tree_how *how, FILE *out);
void report_print_predicted(struct report *r, FILE *out);
void report_print_callsites(struct report *r, FILE *out);
void report_print_ranks(struct report *r, FILE *out);
/* Part of it: where one rank computes longer than the others. */
void report_print_own(struct report *r, FILE *out);
/* Where threads computed (inside.c): which functions a finding's work is, NULL where it is none or that is not known;
   where they computed most; all of it. */
struct report_finding;
const char *views_inside_text(struct report *r, const struct report_finding *f);
void report_print_inside_most(struct report *r, FILE *out);
void report_print_inside(struct report *r, FILE *out);
void report_print_omp(struct report *r, FILE *out);
/* Regions by name; those with most time, for the summary. */
void report_print_named(struct report *r, FILE *out);
void report_print_named_top(struct report *r, FILE *out);
/* One of them, with so many of its calls. */
void report_print_region(struct report *r, const char *name, uint32_t most, FILE *out);
/* Of a region whose team was changed, the size that it mostly had then; else NULL. */
const struct job_region_size *report_usual_size(const struct job_region *g);
/* Regions and tasks as predicted runs have seen them, all that is known; nothing before one. */
void report_print_learned(struct report *r, FILE *out);
/* Parts of it, of the recording or of what was learned. The oracle's knowledge of a region; nothing for NULL.
   `why`: where it says why the others are left alone. */
void report_print_known(const struct report *r, const struct job_region *g, FILE *out);
void report_print_reading(const struct report *r, const struct job_region *g, uint32_t count, const char *why,
                          FILE *out);
void report_print_tasks(struct report *r, const struct job_task *tasks, uint32_t count, FILE *out);
void report_print_machine(struct report *r, FILE *out);
/* What of the placement costs time, two lines each; nothing where all is well or nothing is known (machine.c). */
void report_print_placement(struct report *r, FILE *out);
void report_print_comm(struct report *r, FILE *out);
void report_print_waits(struct report *r, FILE *out);
/* At most so many lines of what is lost, until they have nine tenths of it, and how many more there are; UINT32_MAX:
   twenty, and what has no peer by callsite. */
void report_print_findings(struct report *r, uint32_t most, FILE *out);
/* "parallel efficiency 75.0 % = load balance 83.3 % x communication 90.0 %", of a job with teams two lines more. */
void report_print_efficiency(const struct report_efficiency *e, FILE *out);
void report_print_split(const struct report_efficiency *e, FILE *out); /* serialisation and transfer, where known */
/* Of a callsite that terminals use; else NAN. */
double views_site_number(const struct report *r, uint32_t callsite);
/* A line for each, at most `most` and one that says how many more there are. */
void report_print_unmatched(struct report *r, struct replay_analysis *a, uint32_t most, FILE *out);
/* To the object, an array "unmatched_calls" of { function, where, reason, count }, empty where all are matched. */
void report_json_unmatched(struct report *r, struct replay_analysis *a, cJSON *object);

/* --- Between the parts of the JSON report --- */
/* Adds "tasks", an array of these rows (tasks.c). */
void report_add_tasks(struct report *r, const struct job_task *tasks, uint32_t count, cJSON *root);
/* What changing a region's team gained, estimated by executions at its own size, ns: no more than it took when it was
   recorded. NAN: these were less than five, which tell nothing. */
double report_gain(const struct report *r, const struct job_region *g);
/* Adds "choice": what is known of changing a region's team, and was done; NULL: worker threads begin it (omp.c). */
void report_add_choice(const struct report *r, const struct job_region *g, cJSON *region);
/* Why a region is not changed, in a word, and what would lift that; NULL: it is, or may be. `g` NULL: worker threads
   begin it (regions.c). */
const char *report_why_kept(const struct job_region *g, bool predicted, const char **lift);
void report_print_regions(struct report *r, FILE *out);
/* Adds "efficiency", nothing where it is not known (json.c); "user_regions" (named.c). */
void report_add_efficiency(const struct report_efficiency *e, cJSON *to);
struct report_named;
void report_add_named(struct report *r, const struct report_named *one, cJSON *root); /* NULL: all */
/* Adds "sizes": an array of what report_print_sizes prints (by_rank.c). */
void report_add_sizes(struct report *r, cJSON *root);
/* Adds "oracle": the last predicted run, and what predicted runs learned; nothing before one (predicted.c). */
void report_add_oracle(struct report *r, cJSON *root);
/* Adds "polls", an array (callsites.c). */
void report_add_polls(struct report *r, cJSON *root);
/* Adds "inside", an array, and "inside_unknown" (inside.c). */
void report_add_inside(struct report *r, cJSON *root);
struct report_inside_part;
struct report_grown;
/* Adds the functions of a part as "inside" has them; "functions", those that a time is longer for (compare_json.c). */
void report_add_functions(const struct report *r, const struct report_inside_part *p, cJSON *array);
void report_json_grown(cJSON *o, const struct report_grown *grown, uint32_t count);
/* Adds "series": how each rank's time goes by (ranks.c). */
void report_add_series(const struct report *r, cJSON *root);
/* Adds "own": each rank's mean time before the calls that matter (own.c). */
void report_add_own(struct report *r, cJSON *root);
/* Adds "loops" and "main_loop" (loops.c). */
void report_json_loops(struct report *r, cJSON *root);
/* Adds "calltree" (calltree.c). */
void report_json_calltree(struct report *r, const char *region, cJSON *root);
/* Adds "ended"; null of a run that ended well (ended.c). */
void report_add_ended(struct report *r, cJSON *root);
/* Adds "machine", where the job says what it ran on, "clock", where the times of all nodes are on one, and "run_delay"
   (machine.c). */
void report_add_machine(struct report *r, cJSON *root);

#endif
