/* SPDX-License-Identifier: MIT */
/* Between the parts of findings: see findings.h. */
#ifndef PYTHIA_REPORT_FINDINGS_PARTS_H
#define PYTHIA_REPORT_FINDINGS_PARTS_H

#include "pythia.h"
#include "report/findings.h"

#define LEAST_SHARE 0.01 /* of the ranks' wall time */
#define LEAST_PART (LEAST_SHARE / 16) /* the same of a part: a finding's line may be called from several places */

struct findings {
    struct report *report;
    struct report_findings *all;
    struct replay_analysis *analysis;
    struct replay_bind *bind;
    uint32_t ranks;
    double total; /* s, the ranks' wall time together */
    bool *in;     /* of each finding, of each rank: whose work it is */
};

/* Each adds what it finds. */
void findings_of_waits(struct findings *f);    /* findings_waits.c */
void findings_of_regions(struct findings *f);  /* findings_regions.c */
void findings_of_messages(struct findings *f);

/* Adds `one`, in which the ranks r with in[r] take part. Findings of the same kind and the same lines become one: a
   line may be called from several places. */
void findings_add(struct findings *f, const struct report_finding *one, const bool *in);
/* "function@file:line" of a site. */
void findings_place(struct findings *f, uint32_t site, char *text, size_t size);

#endif
