/* SPDX-License-Identifier: MIT */
/* Calls that found nothing, by function and callsite. Threads: owner.  Hook-safe: no. */
#ifndef PYTHIA_VIEWS_POLLS_H
#define PYTHIA_VIEWS_POLLS_H

#include "views/views.h"

struct report_polls {
    uint32_t function; /* string */
    uint32_t callsite, terminal;
    struct job_count count; /* how many, ns */
};

/* Most calls first; the caller frees it. */
struct report_polls *report_polls_create(const struct job *j, uint32_t *count);
/* Of the view of callsites: nothing where there are none. */
void report_print_polls(struct report *r, FILE *out);

#endif
