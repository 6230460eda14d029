/* SPDX-License-Identifier: MIT */
/*
 * A job for other tools.
 *
 *   Perfetto, chrome://tracing   Trace Event Format: a process a rank, a thread a thread, a slice a call or region,
 *                                a flow a message
 *   Graphviz                     the rules of each class: who uses whom, how often
 *   flame graphs                 own times of the call paths (findings/calltree.h), in ns
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "findings/report.h"

struct page_export {
    uint64_t limit;  /* slices, or edges of the graph, at most */
    bool folded;     /* a slice a node of the grammar, not an event */
    void (*step)(void *context, uint64_t done); /* after each event; may be NULL */
    void *context;
};

/* Events of all streams, by what they expand to: what an expanded trace has. Where exponents are too many to look at
   each, no fewer. */
uint64_t page_trace_events(const struct job *j);

/* Why the trace is folded; NULL: it is not. */
const char *page_trace_folds(struct report *r, const struct page_export *how);

/*
 * Every event of each rank on the job's one clock, as the replay runs them from the ranks' own mean times, with
 * messages as flows and waits as slices. Or folded: a process is a class of ranks, a slice stands for all turns of a
 * node, with its body inside as long as its parts are in all, down to where `limit` is reached; each rank's own time is
 * a counter.
 */
void page_print_trace(struct report *r, const struct page_export *how, FILE *out);
/* What each rank does, as GOAL for LogGOPSim, every turn of it: the operations that the replay runs, by the model that
   is fitted to the job, in whole ns. A job that cannot be replayed has no ranks there. */
void page_print_goal(struct report *r, FILE *out);
/* "main;solve;MPI_Allreduce loops.c:31 1234567", a line a path. */
void page_print_folded(struct report *r, FILE *out);
/* The same run as an OTF2 archive in a new directory. NULL, or why not. */
const char *page_write_otf2(struct report *r, const char *dir);
/* Beyond `limit` edges a rule's further parts are one node "…". */
void page_print_dot(struct report *r, const struct page_export *how, FILE *out);
