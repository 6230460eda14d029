/* SPDX-License-Identifier: MIT */
/* What has to hold of a job that Pythia made, of a grammar that grows and of an oracle, whatever came: 0, or
   PYTHIA_EFORMAT with the reason. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct grammar;
struct grammar_flat;
struct job;
struct oracle;
struct oracle_intervals;

/* job_check(), and figures agree: counts and events with what the members expand, a rule's times with its uses'. */
int audit_job(const struct job *j, char *why, size_t size);
int audit_times(const struct grammar_flat *g, char *why, size_t size);  /* of a grammar, the latter */
int audit_counts(const struct grammar_flat *g, char *why, size_t size); /* of one stream's, the former */
int audit_grammar(struct grammar *g, char *why, size_t size); /* its pending steps are done first */
/* Frames inside their rules, weights that sum to 1, matches whose past is the present's. */
int audit_oracle(const struct oracle *o, char *why, size_t size);
bool audit_intervals(const struct oracle_intervals *v);
