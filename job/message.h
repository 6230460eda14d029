/* SPDX-License-Identifier: MIT */
/*
 * One message of one occurrence of a node: partner, bytes and tag together.
 *
 * The channels of a call between two ranks have a value at each occurrence, so those with one number belong together. A
 * call that sends and receives (MPI_Sendrecv) has two halves. What several ranks, or all turns, of a call have in sum
 * is in flow.h.
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_MESSAGE_H
#define PYTHIA_JOB_MESSAGE_H

#include <stdint.h>

struct job;
struct job_class;

enum job_half { JOB_OUT /* what it sends; of a call that only receives, what it receives */, JOB_IN /* of Sendrecv */ };
enum { JOB_MESSAGE_PARTNER = 1, JOB_MESSAGE_BYTES = 2, JOB_MESSAGE_TAG = 4 };

struct job_message {
    int64_t partner; /* rank of the world, or GRAMMAR_PEER_ANY, _NULL, _NONE (not known) */
    int64_t bytes;   /* of a receive what came, where the call itself received it; else what was posted */
    int64_t tag;
    unsigned exact;  /* JOB_MESSAGE_…: what is that of this occurrence; else bytes are the mean, the others not known
                        (tag 0) */
};

/* Of occurrence `i` of the node for a member. 0; 2: the node has no partner in that half. */
int job_message_at(const struct job *j, const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread,
                   uint64_t i, enum job_half half, struct job_message *m);

#endif
