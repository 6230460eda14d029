/* SPDX-License-Identifier: MIT */
/*
 * Collectives as messages: their dependence structure, in as many rounds as a usual algorithm has.
 *
 *   ALL, GROW   dissemination (Hensgen, Finkel, Manber 1988): in round k to me + 2^k, from me - 2^k, modulo the size
 *               of more than COLLECTIVE_FEW ranks up and down a binomial tree: messages by the ranks, not by ranks x
 *               rounds
 *   FROM, TO    binomial tree, rotated so that the root is 0
 *   PREFIX      the dissemination without the wrap: Hillis and Steele 1986
 *
 * One that is only begun is its dependence alone: a message between each two ranks that depend on each other, of more
 * than 32 ranks between those of the rounds above. Its requests are the event's.
 *
 * Cost: O(log size) steps of O(1).  Threads: any.  Hook-safe: yes.
 */
#pragma once

#include "replay/program.h"

enum { COLLECTIVE_FEW = 64 };

uint32_t replay_collective_rounds(uint32_t size); /* ld size, rounded up; at most 31 */

/*
 * The next primitive of collective `op` for its rank `op->me` of `op->size`, from step *step (0 at first), which
 * advances. out->peer is a rank within the group; waits are for REPLAY_BACK_OWN. False: there is none any more.
 */
bool replay_collective_step(const struct replay_op *op, uint32_t *step, struct replay_op *out);
