/* SPDX-License-Identifier: MIT */
/*
 * Part files of a run that died before MPI_Finalize, FILE.parts/node-WHICH.pythia (session/part.c) or a file for each
 * rank: joined into one job in memory, in the order of the ranks. A part that cannot be read is told and counts as
 * missing: what is there is worth having.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "job/job.h"

/* TOOL_OK with *whole, the caller's, which says how many ranks are missing; TOOL_INPUT after a complaint. */
int parts_join(const char *directory, struct job **whole);
/* The ranks without a stream as "missing: ranks 1-3,7", to a stream (NULL: nowhere); returns how many there are. */
uint32_t parts_print_missing(const struct job *j, FILE *out);
