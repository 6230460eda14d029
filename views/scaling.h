/* SPDX-License-Identifier: MIT */
/*
 * How a program scales: several jobs of it side by side, by processors used (ranks x threads).
 *
 *   speed-up       wall time of the first over that of the job        efficiency      speed-up over more processors
 *   computation    useful time of the first over that of the job      global          parallel efficiency x computation
 *
 * as POP defines them for a problem that stays the same: useful time is that of all threads (findings/efficiency.h),
 * and what needs it is null where the threads' time in regions was not measured. Calls are put together by function
 * and caller, main loops by their turns, so that a bound that grows with the ranks is seen.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdio.h>

#include "views/views.h"

enum { VIEWS_SCALING_JOBS = 16 };

struct views_scaling {
    uint32_t count;
    const char *file[VIEWS_SCALING_JOBS];
    struct report *report[VIEWS_SCALING_JOBS];
};

/* Both sort the jobs by processors. */
void views_print_scaling(struct views_scaling *s, FILE *out);
/* The caller's. */
cJSON *views_scaling_json(struct views_scaling *s);
