/* SPDX-License-Identifier: MIT */
/*
 * Where the main loop stands in the source, by a call of its turns.
 *
 * Threads: any, each report by one at a time.
 */
#ifndef PYTHIA_REPORT_LOOP_PLACE_H
#define PYTHIA_REPORT_LOOP_PLACE_H

#include "report/report.h"

/* How many frames around a call are looked at. */
enum { REPORT_LOOP_DEPTH = 8 };

/* What a function is called, with its module: the same of the same one. */
uint64_t report_function_hash(const struct report_place *p);
/* The frame of the call that is in that function is the loop's place; without one it stays as it is. */
void report_place_loop(struct report *r, uint32_t terminal, uint64_t function, struct report_loop *l);
/* Where no function has a name: the innermost frame that all calls of a turn pass (calls[] of terminals) led into the
   function of the loop; the one inside it is there. */
void report_place_loop_by_frames(struct report *r, uint32_t terminal, const double *calls, struct report_loop *l);

#endif
