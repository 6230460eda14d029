/* SPDX-License-Identifier: MIT */
/* What Pythia itself took of the run (job/run.h), for every form of the report. */
#pragma once

#include "findings/report.h"

extern const char *const findings_own_cost_names[JOB_TOOK_PARTS];
/* ns, without loading: of all ranks, and no rank took more than `most`. Not known: not each rank that is in the job
   said it. */
struct findings_own_cost { bool known; double all, most; };
struct findings_own_cost findings_own_cost(const struct job *j);
/* In two lines at most, as findings/units.h has texts. */
char *findings_own_cost_text(const struct report *r);
