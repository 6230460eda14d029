/* SPDX-License-Identifier: MIT */
/*
 * Who sends how much to whom, relative to the rank where that is a rule: the rows of job/flow.h, joined over the calls
 * of a communicator. A row stands for a communicator, a direction and a peer ("rank + 1"), whatever the number of
 * ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/model.h"

BASE_COMPARISON(key_order, struct findings_peer, BASE_UP(comm) ?: BASE_UP(receives) ?: BASE_UP(onesided) ?:
                BASE_UP(relation) ?: BASE_UP(value))

/* One row of the file, of all of its ranks. */
static void add_flow(struct findings_model *m, const struct job_flow *f)
{
    const struct job_range *r = m->job->flows.ranges.range + f->range_first;
    uint64_t ranks = 0;
    uint32_t size = m->job->info.ranks;
    struct findings_peer row = { .comm = m->job->terminals[f->terminal].comm,
                                 .receives = f->receives,
                                 .onesided = m->job->terminals[f->terminal].call_kind == JOB_ONESIDED,
                                 .relation = FINDINGS_VARIES };

    for (uint32_t k = 0; k < f->range_count; k++)
        ranks += job_range_size(&r[k]);
    row.messages = f->mean ? f->messages : f->messages * ranks;
    row.bytes = f->mean ? f->bytes : f->bytes * ranks;
    if (f->value != GRAMMAR_NONE) {
        row.relation = f->relation == JOB_ABSOLUTE ? FINDINGS_RANK
                       : f->relation == JOB_OFFSET ? FINDINGS_OFFSET
                                                   : FINDINGS_XOR;
        row.value = f->value;
        if (f->relation == JOB_OFFSET && 2 * (uint64_t)f->value > size) /* "rank - 1", not "rank + 7" */
            row.value -= size;
    }
    BASE_ADD(m->peers, m->peer_count, row); /* equal ones are joined at the end: there may be ranks x communicators */
}

bool findings_model_moves_data(const struct job *j, uint32_t terminal, bool *receives)
{
    const struct job_terminal *t = &j->terminals[terminal];
    const char *function = job_text(j, t->function);
    bool send = strcasestr(function, "send") != NULL, receive = strcasestr(function, "recv") != NULL;

    if (t->call_kind == JOB_ONESIDED) {
        send = strstr(function, "Put") || strcasestr(function, "accumulate");
        receive = strstr(function, "Get") || strstr(function, "Fetch") || strstr(function, "Compare");
    } else if (t->call_kind != JOB_P2P) {
        return false;
    }
    *receives = !send; /* the peer and the bytes of Sendrecv are those of its send */
    return (send || receive) && t->phase != JOB_OPEN;
}

BASE_COMPARISON(peer_order, struct findings_peer, BASE_DOWN(bytes) ?: BASE_DOWN(messages) ?: key_order(a, b))

void findings_model_add_peers(struct findings_model *m)
{
    for (uint32_t i = 0; i < m->job->flows.count; i++)
        add_flow(m, &m->job->flows.row[i]);
    m->peer_count = BASE_ARRAY_JOIN(m->peers, m->peer_count, key_order, into, from,
                                    (into->messages += from->messages, into->bytes += from->bytes));
    BASE_SORT(m->peers, m->peer_count, peer_order);
}
