/* SPDX-License-Identifier: MIT */
/*
 * Values of a class's attributes, of a member.
 *
 * Threads: any, while nobody changes the job.  Hook-safe: yes.
 */
#pragma once

#include "job/class.h"

struct job;

#define JOB_SOMEWHERE UINT64_MAX /* it is not known which event of the terminal */

/* Value of `channel` at node `node` for a member, of the `nth` event of its terminal in the member's stream, from 0.
   Returns 0 with *value; 1: varies without a rule ("*"); 2: there is none. */
int job_attr_value(const struct job *j, const struct job_class *c, uint32_t node, enum grammar_channel channel,
                   uint32_t rank, uint32_t thread, uint64_t nth, int64_t *value);
/* The variants of a node and channel: the first one, and how many. */
const struct job_variant *job_variants(const struct job_class *c, uint32_t node, enum grammar_channel channel,
                                       uint32_t *count);
/* The variant that covers a member, NULL without. */
const struct job_variant *job_variant(const struct job_class *c, uint32_t node, enum grammar_channel channel,
                                      uint32_t rank, uint32_t thread);
/* The variant that covers most members, of the first few; NULL without. */
const struct job_variant *job_variant_most(const struct job_class *c, uint32_t node, enum grammar_channel channel);
/* Mean of a model's values, 0 without any. */
double job_attr_mean(const struct grammar_attr *a);
/* A value of the variant's sample, taken to the member `rank`. */
int64_t job_variant_value(const struct job_variant *v, uint32_t rank, int64_t value);
