/* SPDX-License-Identifier: MIT */
/*
 * Questions from within: the program asks the oracle that follows its own thread (pythia_oracle_self of pythia.h).
 *
 * The oracle belongs to the stream. A question takes the stream as an append does, so that finish and checkpoints wait
 * for it, holds the floating-point state and keeps errno; what the program asks is no event.
 *
 * Threads: owner.  Hook-safe: the first question of a thread allocates.
 */
#ifndef PYTHIA_SESSION_SELF_H
#define PYTHIA_SESSION_SELF_H

struct session_stream;

/* What a stream lent ends with it. */
void session_self_close(struct session_stream *s);

#endif
