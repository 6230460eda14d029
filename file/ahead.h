/* SPDX-License-Identifier: MIT */
/*
 * Values of events that are ahead: with whom, how much, which tag.
 *
 * The oracle says which event comes and at which node it stands. Where the recording has one value at that node for
 * this member it is that; else the terminal's course has it, after as many of the terminal's events as there are in
 * between (job/follow.h).
 * Cost: a question of the oracle; where a course is asked as many as the event is ahead.
 * Threads: owner.  Hook-safe: yes, but for a node's first question of an opened job.
 */
#pragma once

#include "grammar/attr.h"

struct job;
struct job_follow;
struct oracle;
struct oracle_answer;

/* A stream of a job, and where it is; `follow` NULL: no course is known. */
struct file_stream { const struct job *job; uint32_t class_index, rank, thread; struct job_follow *follow; };

/* The event so far ahead, in *answer, and its value; chance: that it is that where the event comes. 1: not known. */
int file_value_ahead(const struct file_stream *s, struct oracle *o, uint64_t distance,
                     enum grammar_channel channel, struct oracle_answer *answer, int64_t *value, double *chance);
