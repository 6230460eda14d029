/* SPDX-License-Identifier: MIT */
/*
 * What is known of each parallel region beside its events: whether its team may be changed, which sizes it ran with,
 * and what that gained. One record an outlined function; ranks add up.
 *
 *   recorded run    executions, sizes, fixed, verified              what the next run may rely on
 *   predicted run   the same and chosen sizes, trials, controls    stand beside it (learned.h)
 *
 * Where the time of its threads goes is in job/threads.h.
 *
 * Ownership: part of struct job. Threads: as there.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/proofs.h"

struct job;

/* Why a region's team is left alone, beside what reading its code said (proofs.h): bits. */
enum job_fixed {
    JOB_FIXED_LISTED = 1,        /* PYTHIA_OMP_KEEP names it */
    JOB_FIXED_CALLS = 2,         /* MPI calls or other regions inside */
    JOB_FIXED_TEAM = 4,          /* its team was not what was to be expected */
    JOB_FIXED_CLAUSE = 8,        /* num_threads, or if */
    JOB_FIXED_BIND = 16,         /* proc_bind */
    JOB_FIXED_TEAMS = 32,        /* a league of teams or a target region, inside one, or (libomp) after a league */
    JOB_FIXED_LEVELS = 64,       /* more than one level of parallelism is active */
    JOB_FIXED_TASKS = 128,       /* tasks inside: in a team of one they are other tasks (tasks/task.h) */
    JOB_FIXED_SECTIONS = 256,    /* parallel sections: libgomp gives them a team of at most their number */
    JOB_FIXED_SETTINGS = 512,    /* the environment: cancellation; of libomp how it shares work, or that nobody watches */
    JOB_FIXED_REASONS = 10
};

enum { JOB_REGION_SIZES = 6 };

struct job_region_size { uint32_t size, reserved; uint64_t count, ns; };

struct job_region {
    uint32_t callsite;    /* one frame: the outlined function */
    uint32_t size_count;
    uint32_t proof;       /* enum job_proof, and what it rests on: what reading its code said, in this build */
    uint32_t where;       /* callsite of one frame: the instruction that is the reason; GRAMMAR_NONE: none */
    uint64_t proof_ns;    /* that this took, on the rank where it took longest */
    uint64_t changed;     /* executions with another size than the program's */
    uint64_t trials;      /* of them in order to learn */
    uint64_t controls;    /* executions at the program's own size where another one is chosen … */
    uint64_t control_ns;  /* … what they took … */
    uint64_t chosen_ns;   /* … and what the chosen size was expected to take there */
    int64_t gain_ns;      /* estimated, of all changed ones */
    struct job_region_size size[JOB_REGION_SIZES];        /* ascending; what does not fit counts at the largest */
    /* What each execution needs, together. */
    uint32_t team;        /* the program's own size, as last seen */
    uint32_t fixed;       /* enum job_fixed, or-ed: why it is the program's */
    uint64_t executions;  /* on threads that may act */
    uint64_t verified;    /* of them at the program's size, with nothing suspicious */
};

/* Counts `count` executions of `ns` in all at a size. */
void job_region_add_size(struct job_region *r, uint32_t size, uint64_t count, uint64_t ns);
/* The record of a callsite, NULL without. */
const struct job_region *job_find_region(const struct job *j, uint32_t callsite);
/* Adds a record, to the one of its callsite where there is one. 0, or a negative PYTHIA_E…. */
int job_add_region(struct job *j, const struct job_region *r);
/* What a reason (a single bit) means, for people. */
const char *job_fixed_text(uint32_t bit);

/* What comes before two rows are added (job/schema.h). */
void job_region_join(void *into, const void *from);
