/* SPDX-License-Identifier: MIT */
/* What has to hold of a grammar that grows and of an oracle, whatever came: 0, or PYTHIA_EFORMAT with the reason. */
#ifndef PYTHIA_TESTS_UNIT_AUDIT_H
#define PYTHIA_TESTS_UNIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

struct grammar;
struct oracle;
struct oracle_intervals;

int audit_grammar(struct grammar *g, char *why, size_t size); /* its pending steps are done first */
/* Frames inside their rules, weights that sum to 1, matches whose past is the present's. */
int audit_oracle(const struct oracle *o, char *why, size_t size);
bool audit_intervals(const struct oracle_intervals *v);

#endif
