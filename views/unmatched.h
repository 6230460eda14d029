/* SPDX-License-Identifier: MIT */
/*
 * Operations that a replay could not match, by callsite and reason: what their waits are for is not known.
 *
 *      57  MPI_Recv at main@exchange.c:40: no message is left for it
 *
 * Most first. Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_VIEWS_UNMATCHED_H
#define PYTHIA_VIEWS_UNMATCHED_H

#include <stdio.h>

#include <cJSON.h>

#include "replay/analysis.h"
#include "views/views.h"

/* A line for each, at most `most` and one that says how many more there are. */
void report_print_unmatched(struct report *r, struct replay_analysis *a, uint32_t most, FILE *out);
/* To the object, an array "unmatched_calls" of { function, where, reason, count }, empty where all are matched. */
void report_json_unmatched(struct report *r, struct replay_analysis *a, cJSON *object);

#endif
