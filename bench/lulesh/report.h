/* SPDX-License-Identifier: MIT */
/*
 * What the program prints, all of it on standard output of rank 0.
 */
#pragma once

#include "domain.h"

void report_start(const struct domain *d, const struct options *o, int threads);
void report_cycle(const struct domain *d);

/* The final block that users know: size, iterations, origin energy, symmetry, elapsed and grind time, figure of
   merit. */
void report_end(const struct domain *d, double seconds);

/* One line of key=value with every digit: the state in a form that a test can compare. Collective: all ranks call
   it. */
void report_state(const struct domain *d);
