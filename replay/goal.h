/* SPDX-License-Identifier: MIT */
/*
 * A program written out as GOAL (Hoefler, Siebert, Lumsdaine, ICPP 2009), for LogGOPSim: each operation of each rank
 * with what it requires. What the replay runs and what is written are the same primitives, so that both take equally
 * long. A wait is a calculation of no length that requires its requests.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "replay/program.h"

/* Every turn is written, in memory first. */
void replay_goal_write(const struct replay_source *s, const struct replay_model *m, FILE *out);
