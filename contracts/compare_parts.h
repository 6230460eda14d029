/* SPDX-License-Identifier: MIT */
/*
 * Between the parts of the comparison of two jobs (compare.h): which terminals belong together (compare_match.c), the
 * rows made of them (compare.c), classes and loops (compare_classes.c, compare_loops.c), times (compare_times.c).
 *
 * Terminals that belong together are one set of numbers: those of A's terminals, then those of B's.
 *
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_CONTRACTS_COMPARE_PARTS_H
#define PYTHIA_CONTRACTS_COMPARE_PARTS_H

#include "contracts/compare.h"

/* Joins what belongs together; set[i] is i for both jobs' terminals. how[i]: enum report_match. Fills c->matched,
   only_b and gave_up. */
void report_match_terminals(struct report_comparison *c, uint32_t *set, uint8_t *how);

/* Phases and communicators of one call are one. `base`: the number of this job's first terminal. */
void report_match_sites(const struct report_model *m, uint32_t *set, uint32_t base);

/* The number that stands for the set of number i. */
uint32_t report_match_root(uint32_t *set, uint32_t i);

/* Fill loops, and classes; terminal[side][t] is a number that those of A and B that belong together share. */
void report_compare_loops(struct report_comparison *c, uint32_t *const terminal[2]);
void report_compare_classes(struct report_comparison *c, uint32_t *const terminal[2]);

/* Fills and judges the times of all rows, and the totals; row[side][t] is the row of a terminal. */
void report_compare_times(struct report_comparison *c, uint32_t *const row[2]);

/* What is usual (job/extremes.h): the mean of one, ns, and its variance. */
struct report_usual { double mean, variance; };
struct report_usual_event { struct report_usual gap, duration; };

/* By terminal; the caller's. */
struct report_usual_event *report_usual_events(const struct job *j, const struct job *other);

#endif
