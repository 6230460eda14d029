/* SPDX-License-Identifier: MIT */
/* Which operations an MPI function is made of. Threads: any.  Hook-safe: no. */
#ifndef PYTHIA_REPLAY_CALLS_H
#define PYTHIA_REPLAY_CALLS_H

#include "job/define.h"
#include "job/job.h"
#include "replay/bind.h"

enum bind_what replay_call_what(const struct job *j, const struct job_terminal *t);
/* Of a collective, also one that makes a communicator. */
enum replay_shape replay_call_shape(const struct job *j, const struct job_terminal *t);

#endif
