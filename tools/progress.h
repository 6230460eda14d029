/* SPDX-License-Identifier: MIT */
/*
 * How far long work is: one line on standard error, drawn again in place, and gone when the work is done.
 *
 *     struct progress p;
 *     progress_begin(&p, "merging", parts);            pythia: merging  37 %  2.1 s left
 *     for (i = 0; i < parts; i++)
 *         progress_at(&p, i), merge(i);
 *     progress_end(&p);
 *
 * Only on a terminal: piped, redirected or with TERM=dumb nothing at all is written. Only for work that is long:
 * nothing in the first half second, and at most ten times a second afterwards. A command that prints its result
 * meanwhile passes PROGRESS_NONE: both would go to the same terminal. tool_complain() wipes the line away before it
 * writes.
 *
 * progress_at costs a comparison; the clock is read every few tens of ms, whatever a step of the work costs.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* the caller's */
    uint64_t total;   /* steps; 0: not known, the line then counts them */
    uint64_t next;    /* the clock is not looked at before this step */
    uint64_t begin_ns, drawn_ns;
    bool on;
};

#define PROGRESS_NONE UINT64_MAX /* a total: this work is not shown */

/* `what` is a word or two, such as "merging"; it must live until progress_end(). */
void progress_begin(struct progress *p, const char *what, uint64_t total);
void progress_look(struct progress *p, uint64_t done);
/* `done` steps are done now. It never falls. */
static inline void progress_at(struct progress *p, uint64_t done)
{
    if (__builtin_expect(done >= p->next, 0))
        progress_look(p, done);
}
void progress_end(struct progress *p);

/* Wipes the line away; the next progress_at() may draw it again. */
void progress_hide(void);
