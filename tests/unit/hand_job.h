/* SPDX-License-Identifier: MIT */
/*
 * Jobs made by hand, for tests of the report: a call, a region or a word is a terminal; appended events become the
 * stream of a rank.
 *
 *     struct job *j = job_create();
 *     uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
 *     struct grammar *g = grammar_create(1 << 20);
 *     hand_append(g, barrier, 10, 2);
 *     hand_stream(j, g, 0, 12, 2);
 */
#pragma once

#include "grammar/grammar.h"
#include "job/job.h"

/* At `offset` in a module that is nowhere; calls are on a communicator of 4 ranks. */
uint32_t hand_call(struct job *j, const char *function, uint64_t offset, uint8_t call_kind);
uint32_t hand_region(struct job *j, uint64_t offset);
uint32_t hand_word(struct job *j, const char *word);

void hand_append(struct grammar *g, uint32_t terminal, uint64_t gap_us, uint64_t duration_us);
/* Freezes `g` into the stream of a rank, and destroys it. */
void hand_stream(struct job *j, struct grammar *g, uint32_t rank, uint64_t wall_us, uint64_t mpi_us);

/* Each of these once, 10 us before it and 1 in it, as the stream of rank 0. */
void hand_once(struct job *j, const uint32_t *terminal, uint32_t count);

/* A loop in a loop, like LU in the paper on the reading view: 5 turns of 124 x Send and 3 x (Recv, Allreduce). */
struct job *hand_nested(void);
