/* SPDX-License-Identifier: MIT */
/*
 * The registers by which a function meets its caller: masks of those that a call may change.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_LIVE_H
#define PYTHIA_TEAMS_LIVE_H

#include "teams/flow.h"

/* Written at all; in *reads all that are read, also those that no call may change. */
uint64_t teams_live_changes(const struct teams_flow *f, uint64_t *reads);
/* Read before they are written, in a function with these changes. */
uint64_t teams_live_arguments(const struct teams_flow *f, uint64_t changes);
/* Whether flags may be looked at that the function's caller or what it called has left: the address of its entry, of
   that call; 0: none are. */
uintptr_t teams_live_flags(const struct teams_flow *f);

#endif
