/* SPDX-License-Identifier: MIT */
/*
 * Questions from within: the program asks the oracle that follows its own thread (pythia_oracle_self of pythia.h).
 *
 * The oracle belongs to the stream. A question takes the stream as an append does, so that finish and checkpoints wait
 * for it, holds the floating-point state and keeps errno; what the program asks is no event.
 *
 * Threads: owner.  Hook-safe: yes, but for a thread's first question, which allocates.
 */
#pragma once

struct session_stream;

/* The stream ends: the oracle that it lent to the program is destroyed. */
void session_self_close(struct session_stream *s);
