/* SPDX-License-Identifier: MIT */
/*
 * Simulated ranks: what a program of a known shape would have recorded, without MPI, as one job a rank.
 *
 * Each event is remembered as it was appended, so that what comes out of a merge can be compared with what went in.
 */
#pragma once

#include "grammar/grammar.h"
#include "job/job.h"

enum simulate_shape {
    SIMULATE_RING,      /* peer = rank + 1 mod P: one class, one formula */
    SIMULATE_BUTTERFLY, /* peer = rank xor 2^k */
    SIMULATE_STENCIL,   /* 3-D, no wrap: boundary ranks lack neighbours */
    SIMULATE_MASTER,    /* rank 0 receives from anybody, the others send to 0; two threads on some */
    SIMULATE_RANDOM,    /* every rank does what it likes, some with the same structure and other values */
    SIMULATE_SHAPES
};

struct simulate_event {
    struct job_terminal terminal; /* numbers as in the rank's own job */
    struct grammar_event event;
};

/* One stream as it was appended; its grammar before any merge. */
struct simulate_stream {
    uint32_t rank, thread, count;
    struct grammar_hash *hash;   /* of each event's terminal */
    struct grammar_event *event;
    struct grammar_flat *alone;  /* the frozen grammar, terminals numbered as in the rank's own job */
};

struct simulate_rank {
    struct job *job;
    uint32_t stream_count;
    struct simulate_stream stream[2];
};

/* Makes one rank; `seed` decides times and, for SIMULATE_RANDOM, everything. */
void simulate_rank(struct simulate_rank *r, enum simulate_shape shape, uint32_t rank, uint32_t ranks, uint64_t seed);
void simulate_clear(struct simulate_rank *r);

/* Compares a stream of a merged job with what was appended; aborts the test (ck_assert) where it differs. */
void simulate_compare(const struct job *merged, const struct simulate_stream *s);
/* Values so far that no node's formula gave, but the order of the stream. */
extern uint64_t simulate_courses;

/* --- simulate_merge.c: several ranks; what fails aborts the test --- */

extern const char *const simulate_names[SIMULATE_SHAPES];

/* Ranks 0 to ranks - 1 of as many. */
void simulate_all(struct simulate_rank *r, enum simulate_shape shape, uint32_t ranks, uint64_t seed);
void simulate_clear_all(struct simulate_rank *r, uint32_t ranks);

/* One job of `count` ranks of `r`, each merged into it in order; the caller owns it. */
struct job *simulate_from_left(const struct simulate_rank *r, uint32_t first, uint32_t count);

/* A job of all ranks, of seed 11; the caller owns it. */
struct job *simulate_job(enum simulate_shape shape, uint32_t ranks);

void simulate_check(const struct job *j); /* its invariants hold */
void simulate_same_bytes(const struct job *a, const struct job *b, const char *what); /* packed they are the same */

uint64_t simulate_random(uint64_t *state);
