/* SPDX-License-Identifier: MIT */
/* The programs of a job, of which its ranks may run several (mpirun ./a : ./b). Threads: any.  Hook-safe: no. */
#pragma once

#include "job/job.h"

/* The command line of a job of both, as a string of `into`, goes to *arguments: "./a 1 : ./b 2", each program once, as
   the first of its ranks was started; what does not fit into 4 KiB is left out. 0, or PYTHIA_ENOMEM. */
int merge_programs(struct job *into, const struct job *from, uint32_t *arguments);
