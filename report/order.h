/* SPDX-License-Identifier: MIT */
/*
 * Rules of a grammar at rest, bottom up: every rule stands after those that it uses. Numbers of rules do not say that:
 * a rule may use rules with greater and with smaller numbers.
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_ORDER_H
#define PYTHIA_REPORT_ORDER_H

#include "grammar/flat.h"

/* Rule numbers, rule_count of them, R last. The caller frees them. O(grammar), no recursion. */
uint32_t *report_bottom_up(const struct grammar_flat *g);

#endif
