/* SPDX-License-Identifier: MIT */
/*
 * What the program's own regions cost (job/named.h): each metric of the whole job for a name.
 *
 *     rows by path and rank     ──inside each other by one name: once──>   entries, seconds, efficiency of its ranks
 *     stops with its name       ──share of each call's time in it──────>   waits, findings
 *
 * The efficiency is the job's (efficiency.h), as if there were nothing but the region: capacity is the ranks that enter
 * it x threads x the longest rank's time in it. What a call waits, and what a finding costs at a call, is the region's
 * as far as that call's time is in it. Transfer: of each rank's time what its calls take longer than in the replay with
 * an ideal network (replay/analysis.h) is taken off; what the longest one then has, over what it had.
 *
 * Times are those of the ranks' first threads.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/efficiency.h"
#include "findings/findings.h"

struct findings_named_call { uint32_t terminal; double count, ns, wait_ns; };
struct findings_named_loss { const struct finding *finding; double seconds; };

/* A rank that enters it, or in large jobs the mean of a block; ns in all, and outside of calls. */
struct findings_named_rank { uint32_t rank, ranks; double ns, useful_ns; };

struct findings_named {
    const char *name;
    uint32_t module;           /* of the job, that stands for it */
    uint32_t ranks;            /* whose first threads enter it */
    uint64_t entries, unended; /* of all threads; unended: closed by what was around */
    double ns, longest_ns;     /* of all these ranks; of the longest one */
    double call_ns, wait_ns;   /* of it in calls; in these for others, where that is known */
    struct findings_efficiency efficiency;
    uint32_t call_count, loss_count;
    struct findings_named_call *calls; /* most waits first, then most time */
    struct findings_named_loss *losses; /* most first */
    struct findings_named_rank *of;
    uint32_t of_count;
};

struct findings_named_list {
    struct findings_named *of; /* most time first */
    uint32_t count;
    bool waits;              /* known: the job could be replayed */
};

/* Made once; the report's. */
const struct findings_named_list *findings_named_of(struct report *r);
void findings_named_destroy(struct findings_named_list *l); /* NULL is legal */
/* The region of that name; NULL: there is none. */
const struct findings_named *findings_named_find(struct report *r, const char *name);
