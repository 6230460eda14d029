/* SPDX-License-Identifier: MIT */
/*
 * Where a stream stopped, by which path it came there, and where it went next: exact counts, whatever the grammar's
 * nodes share.
 *
 *     stop   terminal, path           -> events, ns before them, ns in them      of all streams together
 *     hop    stop, the stop after it  -> how often                               of each stream of a set
 *
 *     main ─ solve ─ halo ─ Sendrecv   480   ──480──>  main ─ solve ─ Allreduce   480
 *
 * A path is a callsite with all of its frames up to main, whatever the terminal's own has. Streams that do the same
 * share a row, as their ranks do in job/flow.h. Where one hop would have more than HOP_COUNTS different counts, they
 * become a mean: one row, with the sum over all of its streams.
 *
 *   1. stops in the order of terminal and path, hops in that of from, to, count; a stream is in one row of a hop
 *   2. a hop from nowhere (GRAMMAR_NONE) begins a stream, or another thread's part of it
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>

#include "job/ranges.h"

struct job;
struct job_maps;

struct job_stop {
    uint32_t terminal, path; /* a callsite, GRAMMAR_NONE: not known */
    uint64_t count, gap_ns, duration_ns;
};
struct job_hop {
    uint32_t from, to; /* stops; from GRAMMAR_NONE: nowhere */
    uint32_t mean;     /* 1: count is the sum over the streams */
    uint32_t range_first, range_count; /* the streams */
    uint64_t count;
};
struct job_hops {
    struct job_stop *stop;
    struct job_hop *hop;
    struct job_ranges ranges;
    uint32_t stop_count, stop_room, hop_count, hop_room;
};

/* One stream's, to a job that has its terminals and paths: stops in any order, hops by their numbers; the ranges of the
   hops are not looked at. 0 or PYTHIA_E… */
int job_hops_add(struct job *j, uint32_t rank, uint32_t thread, const struct job_hops *own);

/* --- Between the parts of a job --- */
void job_hops_free(struct job_hops *h);
int job_hops_check(const struct job *j, char *why, size_t size); /* 0 or PYTHIA_EFORMAT */
/* `made` gets the rows of both, those of `from` renumbered. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT: some of them. */
int job_hops_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made);
