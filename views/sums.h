/* SPDX-License-Identifier: MIT */
/*
 * What plugins counted in the CPU bursts before each call (pythia_sum_add), by callsite.
 *
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_VIEWS_SUMS_H
#define PYTHIA_VIEWS_SUMS_H

#include <stdio.h>

#include "views/views.h"

/* The sums by function and callsite, over all communicators and peers there. */
struct report_sums;

/* NULL when there are none. */
struct report_sums *report_sums_create(const struct job *j);
void report_sums_destroy(struct report_sums *s); /* NULL is legal */

/* Names of the sums, 0 to count - 1, in the order of their first appearance in the job. */
uint32_t report_sums_names(const struct report_sums *s);
const char *report_sums_name(const struct report_sums *s, uint32_t name);
/* Of one site; samples 0 where nothing was counted. */
struct job_count report_sums_of(const struct report_sums *s, const struct report_site *site, uint32_t name);
/* Instructions a cycle of a site; negative where one of them was not counted. */
double report_sums_ipc(const struct report_sums *s, const struct report_site *site);

/* A table of the sites that have sums; nothing where the job has none. */
void report_print_sums(struct report *r, FILE *out);

#endif
