/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay after a turn of a loop, to be compared with later ones: private to state.c and skip.c.
 *
 * It is all that decides what follows: of each rank its place in the grammar without the turns, its clocks from now on,
 * requests and lists of messages; then the heap. Turns, and how often a node's operations changed, are kept beside it:
 * by them turns are skipped.
 *
 * Invariant: states are compared word by word, not by hash. A rank whose version is the same has done nothing since.
 * Cost: to save, and to find equal, the whole of it; to find different, little: the first difference ends it.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/machine.h"

struct replay_words { uint64_t *word; uint32_t count, room; };

/* An event of the heap, comparable: times from now on, requests from the rank's last one back. */
struct replay_due { int64_t in; uint64_t order, request, bytes, tag; uint32_t host, source, message; };

/* Where a rank's part of a saved state is. */
struct replay_part { uint32_t words, word_count, turns, seen; uint64_t version, events, clock[3]; };

struct replay_state {
    int64_t now;
    struct replay_words words, turns, at, seen;
    struct replay_part *part;
    struct replay_due *due, *due_now; /* the heap's; room for what it is when states are compared */
    uint32_t due_count, due_room, now_room;
};

/* By how much clocks may differ in states that are taken for equal, ns, and by how much they do. */
struct replay_slack { uint64_t allowed, most; };

void replay_state_create(struct replay_state *s, uint32_t ranks);
void replay_state_destroy(struct replay_state *s);
void replay_state_save(struct replay_machine *m, struct replay_state *s);
/* Whether the machine's state is that one, clocks as `slack` allows. */
bool replay_state_same(struct replay_machine *m, struct replay_state *s, struct replay_slack *slack);
/* `most` gets by how much a clock may differ, and how much one does. */
bool replay_state_near(uint64_t a, uint64_t b, struct replay_slack *slack);

/* Whether the rank has done nothing since. */
static inline bool replay_state_still(const struct replay_machine *m, const struct replay_state *s, uint32_t rank)
{
    return m->host[rank].version == s->part[rank].version;
}

/* How deep the rank was in its grammar; node and turn of a frame there. */
static inline uint32_t replay_state_depth(const struct replay_state *s, uint32_t rank)
{
    return (uint32_t)(s->words.word[s->part[rank].words] >> 32);
}

static inline uint64_t replay_state_node(const struct replay_state *s, uint32_t rank, uint32_t depth)
{
    return s->words.word[s->part[rank].words + 1 + depth];
}

static inline uint64_t replay_state_turn(const struct replay_state *s, uint32_t rank, uint32_t depth)
{
    return s->turns.word[s->part[rank].turns + depth];
}
