/* SPDX-License-Identifier: MIT */
/*
 * Regions that the program names: pythia_region_begin(), pythia_region_end() (include/pythia_region.h).
 *
 *     context 0   nothing is open           parent, name, sums
 *     context 1   solve                     0        "solve"
 *     context 2   halo within solve         1        "halo"
 *
 * A begin is an opening event, an end a closing one (kind JOB_NAMED), so that the grammar, the oracle and the merge
 * have them for nothing. What they are within is a number, the context; stops inside have its names behind their path
 * (job/named.h). Sums are by context: time, calls, parallel regions.
 *
 *   1. a region ends before what it is within does: an end that names an outer one ends all inside first, and so does
 *      the end of a parallel region or of the thread; they are counted as not ended by themselves
 *   2. an end without a begin does nothing; nor does that of a region begun outside of the parallel region at hand
 *   3. beyond NAMED_DEEPEST regions open at once, and NAMED_CONTEXTS contexts, regions are not recorded
 *
 * Cost: bench/RESULTS.md, "Regions by name"; a load for events outside of them, a look-up inside. Memory: 12 KiB a
 * stream that has any.
 * Threads: the stream's.  Hook-safe: yes, first sight aside.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/named.h"
#include "pythia.h"

struct session_stream;

enum { NAMED_DEEPEST = 64, NAMED_CONTEXTS = 1024, NAMED_RECENT = 64, NAMED_WAYS = 256 };

struct session_context {
    const char *name;       /* of all contexts of this name the same text, the stream's */
    uint32_t parent, entry; /* entry: of the name, in the stream's keys */
    uint32_t terminal[2];   /* of its begin and end, the stream's: GRAMMAR_NONE until used */
    uint32_t board;         /* its region on a board; of one that has no room there that around it */
    struct job_named sum;   /* but for rank and thread; of times, while it is open, what they were when it began is
                               taken off already */
};

struct session_named {
    struct session_context **context; /* the first is that of nothing */
    uint32_t contexts, room;
    uint32_t count;                  /* open ones */
    uint32_t beyond;                 /* begun, and not recorded */
    uint64_t strays;                 /* ends without a begin */
    struct { const char *given; uint32_t context, spans; } open[NAMED_DEEPEST];
    struct { const char *name; uint32_t parent, context; } recent[NAMED_RECENT];
    struct { uint32_t path, context, both; } way[NAMED_WAYS]; /* context 0: free */
};

/* What programs call, by their own weak references. */
PYTHIA_API void pythia_region_begin(const char *name);
PYTHIA_API void pythia_region_end(const char *name);

/* Of an event inside: its path with the names behind it, as a callsite of session.job. */
uint32_t session_named_way(struct session_stream *s, uint32_t path);
/* Regions that were begun with so many spans around them, or more, end now, not by themselves. */
void session_named_close(struct session_stream *s, uint32_t spans);
/* Its thread had teams. */
void session_named_teams(struct session_stream *s, const struct job_threads *t);
/* The recording begins anew: what is open begins now, where it `goes_on`; else nothing is. */
void session_named_restart(struct session_stream *s, bool goes_on);
/* The run is over, and so is what is open. */
void session_named_finish(struct session_stream *s);
/* What there is, with what is open: rows, to be freed, of *count; NULL where there are none, or out of memory. */
struct job_named *session_named_rows(const struct session_stream *s, uint32_t *count);
void session_named_free(struct session_stream *s);
