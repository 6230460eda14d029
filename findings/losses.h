/* SPDX-License-Identifier: MIT */
/*
 * What stands between 100 % and the parallel efficiency, largest first: the findings (findings/findings.h) and, of what
 * they do not have, a line for each other way to lose time.
 *
 *   a call's time = waits with a cause   those of findings
 *                 + transfer             the shortest of its executions times how many there were, and what the replay
 *                                        has it wait for other ranks' calls: latency. At the end: idle ranks
 *                 + no processor         what is left, up to what ranks were ready without one: an upper bound
 *                 + not explained        what is left then
 *
 *   a region's time = work + uneven threads + waiting for each other + fork and join   job/threads.h
 *
 * Calls of MPI I/O, those that make communicators, and MPI_Finalize are a line each, whatever their time is; MPI_Init
 * is no part of the run.
 * Seconds are those of all ranks together, the share is of their wall time, as of findings; `lost` is what the lines
 * and those left out for being under 1 % each (`minor`) add up to.
 *
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_FINDINGS_LOSSES_H
#define PYTHIA_FINDINGS_LOSSES_H

#include "findings/findings.h"

struct report_losses { struct report_findings lines; double lost; };

/* The report's until it is destroyed; NULL where no efficiency is known. */
const struct report_losses *report_losses(struct report *r);
void report_losses_destroy(struct report_losses *l); /* NULL is legal */

#endif
