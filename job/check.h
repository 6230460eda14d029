/* SPDX-License-Identifier: MIT */
/* Audit of a job. Private to job/.  Threads: any.  Hook-safe: no. */
#pragma once

#include "job/job.h"

/* Writes a line into `why`; returns PYTHIA_EFORMAT. */
__attribute__((format(printf, 3, 4))) int job_refuse(char *why, size_t size, const char *format, ...);

/* job_check(); with `message`, classes may lack their bodies. Time and memory are bounded by the size of the job. */
int job_check_parts(const struct job *j, int message, char *why, size_t size);

/* The same of a class that is read later, in `c`. */
int job_check_class(const struct job *j, uint32_t class_index, const struct job_class *c, char *why, size_t size);
