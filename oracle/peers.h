/* SPDX-License-Identifier: MIT */
/*
 * Peers: with whom the next message of a stream is exchanged.
 *
 * Several sources each say a rank, or nothing. Those of a recording are computed by who knows the job
 * (session/peers.c); those of this run are learned here, in constant memory:
 *
 *   recorded   OWN      this very rank, at the same number of ranks   REPLY   who the last message from anyone came from
 *              COURSE   what comes next of this very rank's peers at the call
 *              PLACE    the same neighbour of a communicator          OFFSET  own rank + k        XOR   own rank xor k
 *              SAME     the same rank
 *   learned    TURN     the peer of the same turn at the same node, when it was here last
 *              AFTER    what followed the last two peers of this call
 *              CONTEXT  what followed the last three events and their peers
 *
 * The source that was right most often answers: lately, at this node and, where little is known of the node, in
 * general. So a rule that holds in a job of another shape is used at once, one that does not is dropped after a few
 * misses, and what a mesh of another size makes of the neighbours is known after one turn of its loops. Where none was
 * right more often than not, no peer is foretold.
 *
 * Cost: judging an event takes some 200 ns. So where nothing but right answers was given lately, one in many is judged
 * and the others only pass, in 10 ns. Memory: about 60 KiB a stream that has peers at all. Tables are direct-mapped:
 * what collides is forgotten.
 * Threads: owner.  Hook-safe: all but creation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum oracle_peers_source {
    ORACLE_PEERS_OWN, ORACLE_PEERS_COURSE, ORACLE_PEERS_REPLY, ORACLE_PEERS_PLACE, ORACLE_PEERS_OFFSET,
    ORACLE_PEERS_XOR, ORACLE_PEERS_SAME,
    ORACLE_PEERS_TURN, ORACLE_PEERS_AFTER, ORACLE_PEERS_CONTEXT,
    ORACLE_PEERS_SOURCES
};

/* An event: its terminal, and where it stands, as in struct oracle_answer (reference GRAMMAR_NONE: not known). */
struct oracle_peers_event { uint32_t terminal, reference, node; uint64_t turn; };

/* What the sources say: those in `mask` (1 << source). Of REPLY 1: it is that one, of PLACE what GRAMMAR_PLACE counts,
   of all others a rank. */
struct oracle_peers_said { uint32_t mask; int64_t value[ORACLE_PEERS_SOURCES]; };

/* What came: -1 where an event has no such channel. */
struct oracle_peers_actual { int64_t peer, place, reply; };

struct oracle_peers;
struct oracle_peers *oracle_peers_create(void); /* NULL when out of memory */
void oracle_peers_destroy(struct oracle_peers *p);

/* Adds to `said` what the learned sources say. */
void oracle_peers_ask(const struct oracle_peers *p, const struct oracle_peers_event *e, struct oracle_peers_said *said);
/* The source to believe, -1: none. *chance (may be NULL): of the answers of which as much was thought, so many were
   right. */
int oracle_peers_choose(const struct oracle_peers *p, const struct oracle_peers_event *e,
                        const struct oracle_peers_said *said, double *chance);
bool oracle_peers_right(const struct oracle_peers_said *said, int source, const struct oracle_peers_actual *actual);
/* The event came, and all that was said of it (also by what oracle_peers_ask adds) is judged. Then it has to pass. */
void oracle_peers_learn(struct oracle_peers *p, const struct oracle_peers_event *e,
                        const struct oracle_peers_said *said, const struct oracle_peers_actual *actual);
/* An event came; `peer` -1: it has no peer. */
void oracle_peers_pass(struct oracle_peers *p, uint32_t terminal, int64_t peer);
/* Whether the answers have all been right for so long that not each event needs to be judged. */
bool oracle_peers_calm(const struct oracle_peers *p);
