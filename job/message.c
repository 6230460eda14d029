/* SPDX-License-Identifier: MIT */
#include "job/message.h"

#include "job/group.h"
#include "job/job.h"

/* Mean of what varies; 0 where there is nothing. */
static int64_t mean_of(const struct job_class *c, uint32_t node, enum grammar_channel channel, uint32_t rank,
                       uint32_t thread)
{
    const struct job_variant *v = job_variant(c, node, channel, rank, thread);
    return v && v->attr.sum > 0 ? (int64_t)job_attr_mean(&v->attr) : 0;
}

int job_message_at(const struct job *j, const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread,
                   uint64_t i, enum job_half half, struct job_message *m)
{
    enum grammar_channel peer = half == JOB_OUT ? GRAMMAR_PEER : GRAMMAR_SOURCE;
    enum grammar_channel bytes = half == JOB_OUT ? GRAMMAR_BYTES : GRAMMAR_RECEIVED;
    enum grammar_channel tag = half == JOB_OUT ? GRAMMAR_INDEX : GRAMMAR_SOURCE_TAG;
    uint32_t terminal = c->grammar->nodes[node].symbol;
    int64_t value;
    int status = job_attr_value(j, c, node, peer, rank, thread, i, &value);
    if (status == 2 || terminal >= j->terminal_count)
        return 2;
    *m = (struct job_message){ .partner = GRAMMAR_PEER_NONE };
    if (status == 0) {
        m->partner = job_comm_world(j, j->terminals[terminal].comm, rank, value);
        m->exact = m->partner == GRAMMAR_PEER_NONE ? 0 : JOB_MESSAGE_PARTNER;
    }
    if (job_attr_value(j, c, node, bytes, rank, thread, i, &m->bytes) == 0)
        m->exact |= JOB_MESSAGE_BYTES;
    else
        m->bytes = mean_of(c, node, bytes, rank, thread);
    if (job_attr_value(j, c, node, tag, rank, thread, i, &m->tag) == 0)
        m->exact |= JOB_MESSAGE_TAG;
    else
        m->tag = 0;
    return 0;
}
