/* SPDX-License-Identifier: MIT */
/*
 * Where the ranks of a run that died stood, and who held them up: the verdict that pythia watch would have given
 * (watch/verdict.h), from what their parts keep.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "watch/verdict.h"

struct report;

/* Ranks that stood in the same place; of several threads a rank is in several. */
struct findings_ended_in {
    uint32_t thread;   /* 0: the one that began MPI, or the first one */
    const char *call;  /* "": before the first one */
    const char *place; /* "": not known */
    bool inside;       /* in it, or after it */
    uint64_t since_ns; /* the longest of them */
    uint32_t *rank, count;
};
struct findings_ended {
    struct findings_ended_in *in; /* in the order of their first ranks */
    uint32_t count;
    struct watch_verdict verdict;
};

/* NULL: nothing is known, as of a run that ended well. The caller frees it. */
struct findings_ended *findings_ended(struct report *r);
void findings_ended_destroy(struct findings_ended *e);
