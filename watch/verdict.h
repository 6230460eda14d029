/* SPDX-License-Identifier: MIT */
/*
 * Who holds a job up: a verdict from a table of boards. No clock, no process, no MPI.
 *
 *     boards ──waits.c──> rows: where each rank is, whom it waits for ──verdict.c──> kind, ranks
 *
 *     stopped        a rank that does not run: its process is gone or halted; or others wait for it, and it sleeps; or
 *                    nothing comes from its node
 *     deadlock       ranks wait for each other in a circle, or for each other's messages, and nobody computes for them;
 *                    so do those in collectives of one communicator that are not the same
 *     missing_rank   others wait, and this rank is elsewhere: it computes, or is in MPI_Finalize
 *     slow           all go on, but this rank computes longer than before, at the same places
 *
 * Who waits for whom. A receive waits for its source, a send for its destination, a completion for the sources of the
 * open requests (the destinations where they are all sends), a collective for all members of the communicator that have
 * neither been through it nor are in it: each rank counts the collectives on each communicator. A wait for any of
 * several ends when one of them comes.
 *
 * How long is too long: LONGER times the longest pause of this run so far, an event after MPI_Init with the gap before
 * it, on any rank, at least SHORTEST. A circle does not end. A wait for who computes may: what is known of it is how
 * often, n, the rank that waits has been through this call, at this place, and the others have come back from where
 * they are. If these times come in no particular order, the next of n + 1 is the longest one with a chance of
 * 1 / (n + 1), and LONGER times as long with less: that is the bound on a false alarm, a pause. Below ENOUGH it has to
 * be ENOUGH / (n + 1) times as long. Where n is 0, as in a first reading of input or a new phase, nothing is known:
 * then it is told who waits for whom, and there is no verdict. Of a recording, its own n and its longest pause there
 * count, too.
 *
 * Nothing is said of who could have run and had next to no processor time (less than a hundredth) between two looks,
 * unless it waits in a call: then it has nothing to do but to ask, and many such ranks give their processor away.
 *
 * Who is slow: of each place that a rank comes back to, the time before its calls since a season ended
 * (watch/board.h) is compared with what as many took until then, and the sum over all places with how that has
 * changed on the median rank, if that is more: so a phase that is longer for all, or new, is none. It must be twice
 * as long, half as much again as the others compute, and a fifth of the time. Of a rank that could have run and had no
 * processor for a part of the time, as on a busy machine, so much is left out: as the looks have seen it, and before
 * the first one as much as it may have been.
 *
 * Cost: ranks that wait in one call have one list of whom they wait for, a group: what is looked at is lists, ranks and
 * groups, not ranks by ranks.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "watch/read.h"

enum { WATCH_LONGER = 3 /* also of how often a node's boards are copied */, WATCH_ENOUGH = 100 };
#define WATCH_SHORTEST UINT64_C(4000000000) /* ns */

enum watch_state {
    WATCH_ABSENT,   /* no board */
    WATCH_COMPUTES, /* or reads and writes files, or is in a call that waits for nobody */
    WATCH_ASKS,     /* in polls */
    WATCH_WAITS,
    WATCH_HALTED,   /* by a signal or a debugger */
    WATCH_SILENT,   /* its node's boards should have been copied long ago */
    WATCH_ENDED     /* its process is gone */
};

/* A rank, and whom it waits for: all of `peer`, or any of them. */
struct watch_row {
    const struct watch_sight *sight; /* NULL: absent */
    const struct watch_sight *last;  /* of who is absent: as it was seen last, for who tells it; NULL: never */
    enum watch_state state;
    uint64_t since_ns;    /* it is in that call, or out of the last one; of polls: since its last event */
    uint64_t known;       /* how often it ended before what it is in: this call, or what comes after its last one */
    uint64_t usual_ns;    /* the longest such pause of a recording, whose number is in `known`, too; 0: not known */
    bool any;
    bool unknown;         /* it waits, and it cannot be said for whom */
    uint32_t peer_count, group;
    uint32_t *peer;       /* ranks of the world; of all rows of a group the same, and may have their own ranks in it */
    uint64_t comm, collective; /* of a collective that it waits in: identity, number; else 0 */
};
#define WATCH_END UINT64_MAX /* `comm` in MPI_Finalize */

/* Rows of a job of so many ranks, from the boards that there are; the caller frees them. NULL: out of memory. */
struct watch_row *watch_rows(struct watch_sight *const *sights, uint32_t count, uint32_t ranks);
void watch_rows_free(struct watch_row *rows, uint32_t ranks);

/* Why there is no verdict. */
enum watch_why {
    WATCH_WELL,         /* nobody waits for too long */
    WATCH_UNKNOWN_TIME, /* it is not known how long `rank` takes */
    WATCH_NO_PROCESSOR, /* `rank` holds others up, and one of these could have run and had no processor */
    WATCH_ALL_THERE,    /* `rank` are in a collective for too long in which all are that take part */
    WATCH_FOR_WHOM      /* `rank` wait for too long, and it cannot be said for whom */
};

enum watch_kind { WATCH_NONE, WATCH_DEADLOCK, WATCH_MISSING_RANK, WATCH_STOPPED, WATCH_SLOW };
extern const char *const watch_kind_text[]; /* "none", "deadlock", … */

struct watch_verdict {
    enum watch_kind kind;
    enum watch_why why;  /* of WATCH_NONE */
    uint32_t rank_count, waiting_count;
    uint32_t *rank;      /* who holds it up; of WATCH_NONE: see there */
    uint32_t *waiting;   /* for them, directly or not */
    uint64_t since_ns;   /* how long the longest of these wait; of who waits for nobody: how long it is where it is */
    struct watch_slowest {
        double factor;   /* times as long as before; 0: nobody is slow */
        uint32_t rank;
        uint64_t from;   /* where most of that is: before calls there, as boards have it */
    } slowest;           /* of WATCH_SLOW */
};

void watch_judge(const struct watch_row *rows, uint32_t ranks, struct watch_verdict *v);
/* Which ranks are slow, and the one that is most; watch_delayed() comes first, of each sight at each look. */
void watch_delayed(struct watch_sight *sight);
struct watch_slowest watch_slow(const struct watch_row *rows, uint32_t ranks, bool *slow);
void watch_verdict_free(struct watch_verdict *v);
