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

#include "findings/report.h"

enum report_view {
    REPORT_SUMMARY,
    REPORT_CALLSITES,
    REPORT_STRUCTURE,
    REPORT_RANKS,
    REPORT_OMP,
    REPORT_COMM,
    REPORT_WAITS,
    REPORT_PATH,
    REPORT_PREDICTED,
    REPORT_CALLS,
    REPORT_DATA
};

/* Of REPORT_STRUCTURE: levels of loops, 0: all; everything, else what takes most time, 40 lines of it. */
struct report_loops_how { uint32_t depth; bool all; };

/* `how` counts for REPORT_STRUCTURE only. The summary fits 80 columns and 40 lines. */
void report_print_text(struct report *r, enum report_view view, const struct report_loops_how *how, FILE *out);

/* One JSON object with everything but the grammars; doc/EVENTS.md lists the keys. */
void report_print_json(struct report *r, FILE *out);

/* As RFC 4180: callsites, calls rank by rank, sizes of their data. */
void report_print_csv(struct report *r, FILE *out);
void report_print_calls_csv(struct report *r, FILE *out);
void report_print_sizes_csv(struct report *r, FILE *out);

/* --- Two or more jobs --- */
struct report_comparison;
struct report_contract;
void report_print_comparison(struct report_comparison *c, FILE *out);
/* The caller's. doc/EVENTS.md lists its keys. */
struct cJSON *report_comparison_json(struct report_comparison *c);
/* A line a broken promise, and one with the count. Text, one JSON object (doc/EVENTS.md lists the keys), JUnit's XML
   with a test case a rule. */
void report_contract_print(const struct report_contract *c, FILE *out);
void report_contract_print_json(const struct report_contract *c, FILE *out);
void report_contract_print_junit(const struct report_contract *c, FILE *out);

/* --- Between the views --- */
void report_print_calls(struct report *r, FILE *out);
void report_print_sizes(struct report *r, FILE *out);
void report_print_summary(struct report *r, FILE *out);
void report_print_loops(struct report *r, const struct report_loops_how *how, FILE *out);
void report_print_predicted(struct report *r, FILE *out);
void report_print_callsites(struct report *r, FILE *out);
void report_print_ranks(struct report *r, FILE *out);
/* Part of it: where one rank computes longer than the others. */
void report_print_own(struct report *r, FILE *out);
void report_print_omp(struct report *r, FILE *out);
/* Parts of it, of the recording or of what was learned. The oracle's knowledge of a region; nothing for NULL. */
void report_print_known(const struct report *r, const struct job_region *g, FILE *out);
void report_print_reading(const struct job_region *g, uint32_t count, FILE *out);
void report_print_tasks(struct report *r, const struct job_task *tasks, uint32_t count, FILE *out);
void report_print_machine(struct report *r, FILE *out);
void report_print_comm(struct report *r, FILE *out);
void report_print_waits(struct report *r, FILE *out);
void report_print_path(struct report *r, FILE *out);
/* At most so many lines of what is lost, until they have nine tenths of it, and how many more there are; UINT32_MAX:
   twenty, and what has no peer by callsite. */
void report_print_findings(struct report *r, uint32_t most, FILE *out);
/* "parallel efficiency 75.0 % = load balance 83.3 % x communication 90.0 %", of a job with teams two lines more. */
void report_print_efficiency(const struct report_efficiency *e, FILE *out);
/* Of a callsite that terminals use; else NAN. */
double views_site_number(const struct report *r, uint32_t callsite);

#endif
