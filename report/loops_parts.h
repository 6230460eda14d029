/* SPDX-License-Identifier: MIT */
/* Between the parts of loops.h.  Threads: any.  Hook-safe: no. */
#ifndef PYTHIA_REPORT_LOOPS_PARTS_H
#define PYTHIA_REPORT_LOOPS_PARTS_H

#include "job/job.h"

/* Stops and hops as the grammars tell them, of jobs that have none: exact, with each terminal one stop. */
void report_hops_of_grammars(const struct job *j, struct job_hops *out);

#endif
