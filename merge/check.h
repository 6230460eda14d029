/* SPDX-License-Identifier: MIT */
/* Audit of a job. Private to merge/.  Threads: any.  Hook-safe: no. */
#ifndef PYTHIA_MERGE_CHECK_H
#define PYTHIA_MERGE_CHECK_H

#include "merge/job.h"

/* job_check(); with `message`, classes may lack their bodies. Time and memory are bounded by the size of the job. */
int merge_check(const struct job *j, int message, char *why, size_t size);

/* The sets and variants of one class, in `c`; the rest of it is the job's. Same returns. */
int merge_check_values(const struct job *j, uint32_t class_index, const struct job_class_entry *c, char *why, size_t size);

#endif
