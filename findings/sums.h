/* SPDX-License-Identifier: MIT */
/*
 * What plugins counted in the CPU bursts before each call (pythia_sum_add), by callsite; and calls that found nothing:
 * tests and probes of what had not come yet, and of requests that were null. These are no events; what they took is in
 * the gap, or in the poll that found something.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/report.h"

/* Over all communicators and peers of a site. */
struct findings_sum {
    uint32_t function, callsite, terminal; /* terminal: one that stands for it */
    uint32_t name;                         /* 0 to names - 1 */
    struct job_count count;                /* of polls: how many, ns */
};

struct findings_sums {
    const struct job *job;
    uint32_t count, names;
    struct findings_sum *of;
    uint32_t *name; /* strings of the job, in the order in which they first appear there */
};

/* What plugins counted, by site; polls, most calls first. NULL: there are none. */
struct findings_sums *findings_sums_create(const struct job *j);
struct findings_sums *findings_polls_create(const struct job *j);
void findings_sums_destroy(struct findings_sums *s); /* NULL is legal */

/* Of one site; samples 0 where nothing was counted. */
struct job_count findings_sums_of(const struct findings_sums *s, const struct findings_site *site, uint32_t name);
/* Instructions a cycle of a site; negative where one of them was not counted. */
double findings_sums_ipc(const struct findings_sums *s, const struct findings_site *site);
