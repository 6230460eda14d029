/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML file without anything outside it: timeline, loops, call paths, calls, regions,
 * ranks, communication and the quality of predictions, from the JSON report. At most about 2 MB, whatever the job.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include <cjson/cJSON.h>

#include "views/views.h"

void page_print_html(struct report *r, FILE *out);
/* Several jobs as a page: of views_scaling_json() or views_comparison_json(), which it takes. */
void page_print_jobs_html(cJSON *root, FILE *out);

/* --- Between the parts: html.c (all of it), html_turn.c (a turn replayed) --- */
/* One turn of the main loop. */
void html_add_turn(struct report *r, cJSON *turn);
