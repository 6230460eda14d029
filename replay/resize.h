/* SPDX-License-Identifier: MIT */
/*
 * A job's rules taken to another number of ranks: which recorded rank each new one is like, and whom it talks to.
 *
 *   recorded   0  1 2  3                 rules by rank: head, a pattern that repeats, tail
 *   new        0  1 2 1 2 1 2  3         4 -> 8 ranks of a chain: its first and its last rank stay what they are
 *
 * Two ranks have the same rules when they are of one class, turn as often, and are of the same variants of whom
 * they talk to; head, tail and pattern are the shortest ones that say so of all ranks, the pattern being there twice. A
 * peer is where the relation of its variant puts it: so many ranks on (modulo the ranks), rank xor 1, or always
 * the same.
 *
 * What a rank computes, and what it sends at a time, is what the rank that it is like had: the same work for each (weak
 * scaling). What the rules do not say is refused: other communicators than the world, peers that vary, go through all
 * ranks or are found by xor in more than pairs.
 *
 * Cost: O(ranks + variants x their ranges).  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPLAY_RESIZE_H
#define PYTHIA_REPLAY_RESIZE_H

#include <stddef.h>

#include "job/job.h"

struct replay_resize {
    uint32_t from, to;         /* ranks, recorded and new */
    uint32_t head, tail, step; /* ranks; of the pattern between them */
    uint32_t *like;            /* of each new rank */
};

/* 0, or PYTHIA_EINVAL: the rules do not allow it, `why` says so. */
int replay_resize_create(const struct job *j, uint32_t ranks, struct replay_resize **resize, char *why, size_t size);
void replay_resize_destroy(struct replay_resize *z); /* NULL is legal */

/* The peer of new rank `rank`, where `peer` is that of the rank that it is like, by the variant's relation. */
int64_t replay_resize_peer(const struct replay_resize *z, const struct job_variant *v, uint32_t rank, int64_t peer);

#endif
