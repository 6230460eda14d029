/* SPDX-License-Identifier: MIT */
/*
 * What is interned in a job, by content.
 *
 * Every definition has a 128-bit hash of its content, and only of its content: the hash of a callsite is made of the
 * hashes of its modules, never of their numbers. Equal hashes mean equal definitions on any rank, in any job.
 *
 *   "MPI_Send" --string--> 3f..        terminal = H(kind, phase, ..., H(function), H(callsite), H(comm))
 *
 * One table a kind (base/hash.h): hash -> number. Insertion in two steps, reserve (may fail) and put (can't), so that
 * a caller can do all that may fail before it changes anything.
 *
 * Private to job/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "job/job.h"

enum job_interned { JOB_INTERNED_STRING, JOB_INTERNED_MODULE, JOB_INTERNED_CALLSITE, JOB_INTERNED_COMM,
                    JOB_INTERNED_TERMINAL, JOB_INTERNED_CLASS, JOB_INTERNED_KINDS };

/* Numbers stay clear of GRAMMAR_NONE and of GRAMMAR_RULE. */
#define JOB_LIMIT BASE_ARRAY_LIMIT

struct job_entry {
    struct grammar_hash hash;
    uint32_t number;
};

/* Numbers by 128-bit hash. All 0 is an empty one. */
struct job_table {
    struct base_hash entries; /* counts the entries */
    struct job_entry *entry;  /* in the order of insertion */
    uint32_t room;
};

struct job_index {
    struct job_table table[JOB_INTERNED_KINDS];
    struct grammar_hash *hash[JOB_INTERNED_TERMINAL]; /* of the strings, modules, callsites and communicators, by
                                                         number */
    uint32_t hash_room[JOB_INTERNED_TERMINAL];
    uint32_t string_room, module_room, frame_room, callsite_room, comm_room, terminal_room, terminal_hash_room;
    uint32_t class_room;
    struct job_match *match; /* match.c's, from the first question on; NULL: none */
};

void job_match_free(struct job_match *m); /* NULL is legal */

/* Number for a hash, GRAMMAR_NONE when absent. */
uint32_t job_table_find(const struct job_table *t, struct grammar_hash hash);
/* Makes room for `extra` more; 0 or PYTHIA_ENOMEM. */
int job_table_reserve(struct job_table *t, uint32_t extra);
/* Room was reserved and the hash is absent. */
void job_table_put(struct job_table *t, struct grammar_hash hash, uint32_t number);
void job_table_free(struct job_table *t);

static inline int job_hash_equal(struct grammar_hash a, struct grammar_hash b)
{
    return a.low == b.low && a.high == b.high;
}

/* What grammar_flat_hash() gives when it is out of memory. */
static inline int job_hash_none(struct grammar_hash a)
{
    return !a.low && !a.high;
}

/* H(a, b, number), with a seed that keeps kinds apart. */
struct grammar_hash job_hash_pair(uint64_t seed, struct grammar_hash a, struct grammar_hash b, uint64_t number);
struct grammar_hash job_hash_bytes(uint64_t seed, const void *data, size_t size);

/* Where a job's definitions end: to take back what was interned since. */
struct job_mark {
    uint32_t strings, modules, frames, callsites, comms, terminals;
};
struct job_mark job_mark(const struct job *j);
void job_rollback(struct job *j, struct job_mark mark);
