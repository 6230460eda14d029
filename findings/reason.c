/* SPDX-License-Identifier: MIT */
/* Why a region keeps its team, as its code says: "calls a function that is not known at lulesh.cc:2491". */
#include <inttypes.h>
#include <stdio.h>

#include "base/clean.h"
#include "findings/report.h"

void report_reason(const struct report *r, const struct job_region *g, char *text, size_t size)
{
    const char *what = job_proof_text(g->proof);
    if (g->where == GRAMMAR_NONE) {
        snprintf(text, size, "%s", what);
        return;
    }
    const struct report_place *p = report_resolve(r->resolver, g->where, 0, REPORT_ENTRY);
    if (p->file && p->line && p->function)
        snprintf(text, size, "%s at %s:%" PRIu32 " in %s", what, p->file, p->line, p->function);
    else if (p->function)
        snprintf(text, size, "%s in %s, %s+0x%" PRIx64, what, p->function, p->module, p->offset);
    else
        snprintf(text, size, "%s at %s+0x%" PRIx64, what, p->module, p->offset);
    base_clean(text);
}
