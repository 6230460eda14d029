/* SPDX-License-Identifier: MIT */
/*
 * The job run as a machine: a discrete-event simulation with the semantics of LogGOPSim (Hoefler, Schneider, Lumsdaine,
 * HPDC 2010), event for event, ties included, in which loops are not walked turn by turn.
 *
 *   heap   what happens next
 *   host   a rank: its clocks, its position (feed.h), open requests, posted and unexpected messages
 *
 * A send occupies its rank for o + (s - 1) O and the link for g + (s - 1) G; its message arrives L + o later and
 * occupies the receiver, who may be busy until then, for o + (s - 1) max(O, G). A message longer than S lets its sender
 * go when it is received. A rank does one thing after the other; a request is begun when its operation starts.
 *
 * Skipping (skip.c): the state is what decides all that follows: positions, clocks less the present time, messages
 * under way. Where a loop's state after a turn (or after several) is that of an earlier turn, all turns that are left
 * for every rank repeat it (max-plus: all clocks have advanced by the same amount), so the time and the counters
 * advance by as many periods at once. States are compared, not their hashes: the result is exact, unless the caller's
 * exact_steps were over before that. Ranks that did nothing in between may stand still. Periods of any length are
 * found (Brent 1980).
 *
 * When: a loop repeats once its slowest cycle of dependences has overtaken all others. Where that one is slower by d ns
 * a turn than the next one, the work of neighbours differs by up to s ns and ranks are up to h messages apart, this
 * takes up to about h s / d turns (Hartmann, Arguelles 1999), and the period is as long as the cycle: up to as many
 * turns as ranks in a dissemination. 1024 ranks that reduce repeated within 400 turns; 1024 ranks in a ring whose
 * slowest pairs differ by half a ns would after a million. Such loops are for the caller's limit and exact_steps.
 *
 * Whatever the program is the replay ends: where nothing can happen and ranks are not at their end, a receive gets the
 * first message of its source and communicator, whatever the tags are, for some may not be known; where there is none
 * either, the rank that is earliest goes on without its message, which counts as unmatched.
 *
 * Cost: O(log(ranks)) an event that is walked; an event of a loop is walked a few times, however often the loop turns.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/program.h"

struct replay_blame;
struct replay_host;

/* A message that a rank received, when its receive or the wait for it was over. */
struct replay_delivery {
    uint32_t from, to, place; /* place: of the sender's operation */
    uint64_t bytes;
    int64_t sent, arrived, received; /* arrived: when it met its receive; received: when its rank went on */
};

/* Is told what happens while it happens, in the order of events; see replay/schedule.h. Functions may be NULL. */
struct replay_watch {
    void *context;
    /* The rank comes to an operation (a collective's are its messages), with the requests that a wait is for. */
    void (*comes)(void *context, uint32_t rank, const struct replay_host *host);
    /* The rank's time until `until` went to `op`, or with `late` to waiting for that rank at `op`. Nothing new where
       `until` is not later than before. */
    void (*spent)(void *context, uint32_t rank, int64_t until, const struct replay_op *op, uint32_t late);
    void (*delivered)(void *context, const struct replay_delivery *d);
    /* The rank's request of that number got a message of that one. */
    void (*matched)(void *context, uint32_t rank, uint64_t request, uint32_t from, uint64_t tag);
    bool done; /* the replay ends here */
};

struct replay_how {
    bool walk;                  /* every turn: for comparing */
    uint64_t limit;             /* steps, 0: as many as it takes */
    uint64_t exact_steps;         /* steps after which periods need no longer be exact (skip.c), 0: they always are */
    struct replay_blame *blame; /* gets the account of each rank's time; may be NULL */
    struct replay_watch *watch; /* may be NULL */
};

struct replay_result {
    int64_t *end;       /* ns, of each rank; free() */
    int64_t longest;    /* of them */
    double events;      /* that the programs have, of all ranks */
    uint64_t walked;    /* simulation steps that were taken */
    uint64_t skips;     /* times that turns were skipped */
    uint64_t unmatched; /* operations that went on without their message */
    double off;         /* by how much of its time what was skipped may be off; 0: exact */
    uint64_t left;      /* messages that nobody received */
};

/* 0, or PYTHIA_ELIMIT: it would take more steps. */
int replay_run(const struct replay_source *s, const struct replay_model *m, const struct replay_how *how,
               struct replay_result *out);
