/* SPDX-License-Identifier: MIT */
/*
 * Between the parts of the comparison of two jobs (compare.h): which terminals belong together (compare_match.c), the
 * rows made of them (compare.c), classes and loops (compare_classes.c, compare_loops.c), times (compare_times.c).
 *
 * Terminals that belong together are one set of numbers: those of A's terminals, then those of B's.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "contracts/compare.h"

/* Joins what belongs together; set[i] is i for both jobs' terminals. how[i]: enum contracts_match. Fills c->matched,
   only_b and gave_up. */
void contracts_match_terminals(struct contracts_comparison *c, uint32_t *set, uint8_t *how);

/* Phases and communicators of one call are one. `base`: the number of this job's first terminal. */
void contracts_match_sites(const struct findings_model *m, uint32_t *set, uint32_t base);

/* The number that stands for the set of number i. */
uint32_t contracts_match_root(uint32_t *set, uint32_t i);

/* Fill loops, and classes; terminal[side][t] is a number that those of A and B that belong together share. */
void contracts_compare_loops(struct contracts_comparison *c, uint32_t *const terminal[2]);
void contracts_compare_classes(struct contracts_comparison *c, uint32_t *const terminal[2]);

/* Fills and judges the times of all rows, and the totals; row[side][t] is the row of a terminal. */
void contracts_compare_times(struct contracts_comparison *c, uint32_t *const row[2]);

/* What is usual (job/extremes.h): the mean of one, ns, and its variance. */
struct contracts_usual { double mean, variance; };
struct contracts_usual_event { struct contracts_usual gap, duration; };

/* By terminal; the caller's. */
struct contracts_usual_event *contracts_usual_events(const struct job *j, const struct job *other);
