/* SPDX-License-Identifier: MIT */
/* What the two forms of a trace share: trace.c (folded, all) and trace_replay.c (event by event). */
#pragma once

#include "page/export.h"

struct trace {
    struct report *r;
    const struct page_export *how;
    /* by terminal, quoted for JSON: "name":"Isend3","cat":"p2p","args":{"callsite":"halo@app.c:12" */
    char **name;
    uint64_t done, left; /* events of the trace written; slices that may still be */
    bool first;
    int64_t launch; /* where the replay begins in the trace, ns */
    FILE *out;
};

/* Begins an event of that phase ("X", "s", …); `process`, `thread`: as the viewer shows them. */
void page_trace_event(struct trace *t, const char *phase, uint32_t process, uint32_t thread);
/* What a process is called; `index`: where it is shown. */
void page_trace_process(struct trace *t, uint32_t process, const char *name);
void page_trace_thread(struct trace *t, uint32_t process, uint32_t thread);

/* Each event of each rank as the replay runs them, and of further threads by their own times. */
void page_trace_ranks(struct trace *t);
