/* SPDX-License-Identifier: MIT */
/*
 * The peers of a predicted stream's messages: what the recording says of them, at whatever number of ranks this run
 * has, beside what oracle/peers.h learns; and the score of that.
 *
 *   recorded on rank 3 of 8, peer 4         run on 27 ranks, rank 13, at the same node
 *   rank + 1 modulo 8                       rank + 1 modulo 27: 14
 *   rank xor 7                              10
 *   always 4                                4
 *   neighbour 1 of the communicator         its neighbour 1
 *   4 3 6 4 3 6 … in turn, at this call     the same rank of as many: what comes next (job/follow.h)
 *
 * Only peers that the program chooses are foretold, not the sources of messages from anyone.
 * Threads: owner.  Hook-safe: yes, but for the first peer of a stream.
 */
#pragma once

#include "job/follow.h"
#include "oracle/peers.h"
#include "session/stream.h"

/* Asked, foretold, right. `late`: from event number SESSION_PEERS_SETTLED of the stream on. */
enum { SESSION_PEERS_SETTLED = 200, SESSION_PEERS_FOUND = 256 };
struct session_peers_found { uint64_t place; const struct job_variant *variant; };
struct session_peers {
    struct oracle_peers *learned;  /* NULL until the stream has a peer */
    struct job_follow *follow;     /* the recording's courses; NULL: of another rank */
    struct session_role *role;     /* of the oracle's references */
    struct session_peers_found *found; /* of some nodes and channels, by a hash: a node may have many variants */
    uint32_t references;
    bool own;                      /* the one reference is this stream's own class, at the same number of ranks */
    bool off;                      /* no memory for it */
    struct oracle_score_peers score, late;
    uint32_t random, unasked; /* unasked: events with a peer until the next one that is asked about */
    /* From session_peers_before to session_peers_after: what was foretold of the coming event. */
    bool asked;
    int source;
    uint32_t terminal; /* in the reference's numbers */
    struct oracle_peers_said said;
};

/* Before and after the oracle follows an event whose key has this enum job_peer_class; `terminal` in the reference's
   numbers. One event in a few is asked about; with PYTHIA_VERBOSE=2 each. */
void session_peers_before(struct session_stream *s, uint32_t peer_class, const struct grammar_event *event);
void session_peers_after(struct session_stream *s, uint32_t peer_class, uint32_t terminal,
                         const struct grammar_event *event);
bool session_peers_unasked(const struct session_peers *p, uint32_t peer_class, const struct grammar_event *event);
void session_peers_after_quick(struct session_peers *p, uint32_t peer_class, uint32_t terminal,
                               const struct grammar_event *event);
/* Whether an event is neither asked about nor learned from: then it only passes, once it is followed. */
static inline bool session_peers_idle(const struct session_peers *p, uint32_t peer_class,
                                      const struct grammar_event *event)
{
    return !(event->channels & 1u << GRAMMAR_PEER) || session_peers_unasked(p, peer_class, event);
}
static inline void session_peers_pass(struct session_peers *p, uint32_t peer_class, uint32_t terminal,
                                      const struct grammar_event *event)
{
    if (p->learned)
        session_peers_after_quick(p, peer_class, terminal, event);
}
void session_peers_close(struct session_peers *p);
