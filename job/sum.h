/* SPDX-License-Identifier: MIT */
/* What plug-ins counted, by terminal and name, and the exclusive time of spans.  Threads: owner.  Hook-safe: no. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;

/* What a plugin counted at the calls of one function at one callsite: over all streams, of samples. */
struct job_count { uint64_t samples, total; };
/* The sum of this name is Pythia's: of an opening terminal's spans the time without what is inside them, ns. The gaps
   of the events inside say it, too, but a rule that is also used outside of the span has one mean for both places. */
#define JOB_EXCLUSIVE_NS "exclusive_ns"
/* So is this: of calls that found nothing, which are no events, how many there were, and ns in them. */
#define JOB_POLLS_NS "polls_ns"

struct job_sum { uint32_t terminal, name; /* string */ struct job_count count; };

/* Adds to the sum `name` of a terminal. 0, PYTHIA_ENOMEM, or PYTHIA_EINVAL: no such terminal. */
int job_count(struct job *j, uint32_t terminal, const char *name, struct job_count count);
/* NULL: none. */
struct job_sum *job_find_sum(const struct job *j, uint32_t terminal, const char *name);
bool job_is_exclusive(const struct job *j, const struct job_sum *s);
bool job_is_polls(const struct job *j, const struct job_sum *s);
