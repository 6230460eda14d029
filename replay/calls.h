/* SPDX-License-Identifier: MIT */
/*
 * What an MPI function is to the replay, by its name: which operations it is made of, whose data go to whom, and what
 * timing decides of it. All that stands in the table of MPI calls (pmpi/mpi_calls.def), from which emit_calls.awk makes
 * this one. Threads: any.  Hook-safe: no.
 */
#pragma once

#include "job/define.h"
#include "job/job.h"
#include "replay/bind.h"

/* How many calls there are, which of several completes first, differ from run to run. */
enum replay_chance { REPLAY_CERTAIN, REPLAY_ORDER, REPLAY_NUMBER };

struct replay_call {
    uint8_t what;   /* enum bind_what */
    uint8_t shape;  /* of a collective, also one that makes a communicator: enum replay_shape */
    uint8_t chance; /* enum replay_chance */
};

struct replay_call replay_call_of(const struct job *j, const struct job_terminal *t);

/* Of each function of which there is something to say; the last one has no name. BIND_NOTHING: what its kind is. */
struct replay_call_row {
    const char *name;
    struct replay_call is;
};
extern const struct replay_call_row replay_calls[];
