/* SPDX-License-Identifier: MIT */
/* What Pythia itself took of the run (job/run.h), for every form of the report. */
#ifndef PYTHIA_FINDINGS_TOOK_H
#define PYTHIA_FINDINGS_TOOK_H

#include "findings/report.h"

extern const char *const findings_took_names[JOB_TOOK_PARTS];
/* ns, without loading: of all ranks, and no rank took more than `most`. Not known: not each rank that is in the job
   said it. */
struct findings_took { bool known; double all, most; };
struct findings_took findings_took(const struct job *j);
/* In two lines at most, as findings/units.h has texts. */
char *findings_took_text(const struct report *r);

#endif
