/* SPDX-License-Identifier: MIT */
/*
 * Rules of a grammar at rest, bottom up: every rule after those that it uses (their numbers do not say: a rule that was
 * entered early may use a later one and the other way round).
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_ORDER_H
#define PYTHIA_REPORT_ORDER_H

#include "grammar/flat.h"

/* Rule numbers, rule_count of them, R last. The caller frees them. O(grammar), no recursion. */
uint32_t *report_bottom_up(const struct grammar_flat *g);

#endif
