/* SPDX-License-Identifier: MIT */
/*
 * What in a function is not run by all threads alike: loops that turn by bounds of a shared loop, and branches that
 * depend on who a thread is, or on what it did before (struct teams_control).
 *
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_SHARED_H
#define PYTHIA_TEAMS_SHARED_H

#include "teams/follow.h"

/* Each needs the states at the ends of blocks; the third one what the others found. */
void teams_shared_find_loops(struct teams_reading *r);
void teams_shared_find_controls(struct teams_reading *r);
void teams_shared_find_context(struct teams_reading *r);

#endif
