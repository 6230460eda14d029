/* SPDX-License-Identifier: MIT */
/*
 * Where the blocks of the statistics begin: what the rule of a block's first node takes before that node, so that times
 * along a rule are known without reading all of it. A function of the statistics; stored since it takes all of them.
 *
 * Private to file/.  Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_FILE_TIMES_H
#define PYTHIA_FILE_TIMES_H

#include "grammar/flat.h"

/* For the nodes of `g`, whose statistics are records `first` on: times[k] of each record k * per. */
void file_times_fill(const struct grammar_flat *g, uint64_t first, uint32_t per, struct grammar_time *times);
/* Whether it can be one: not negative, not beyond what sums of 64 bits give. */
int file_times_sane(const struct grammar_time *t);

#endif
