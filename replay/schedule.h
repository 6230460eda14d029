/* SPDX-License-Identifier: MIT */
/*
 * Who does what when: the replay of one turn of a loop, or of a whole short job, as pieces of time and messages on the
 * job's one clock.
 *
 *   rank 0   | compute     |c|          pieces: of a rank, end to end, each with its place and, of a wait, with whom
 *   rank 1   | compute |wait 0 |c|      the rank waits for
 *                      ^ \              a message: sent, and received when the receive or the wait for it is over
 *
 * A turn is that of one rank, the *pace*: from when it comes to the turn to when it comes to the next one. All ranks
 * are shown between these times, in whatever turn they are. Where there are at least four turns the fourth is taken:
 * in the first ones a pipeline may still be filling.
 *
 * Invariants:
 *   1. pieces are by rank, then by time; those of a rank do not overlap and lie within [begin, end]
 *   2. a message is sent before it is received
 *
 * Ownership: replay_schedule_free().  Cost: a replay up to that turn.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/engine.h"

#define SCHEDULE_NOBODY UINT32_MAX
enum { SCHEDULE_NONE = 1 };

struct schedule_piece {
    int64_t begin, end; /* ns since the begin of the job */
    uint32_t rank, place;
    uint32_t late;      /* the rank is waiting for this one; SCHEDULE_NOBODY: it is not */
    bool computes;      /* the program's own work, not time in a call */
};

struct schedule_message {
    uint32_t from, to, place; /* place: of the send */
    uint64_t bytes;
    int64_t sent, received;
};

struct replay_schedule {
    int64_t begin, end;
    uint64_t turn; /* from 0 */
    struct schedule_piece *piece;
    struct schedule_message *message;
    uint32_t pieces, messages;
};

/* Which loop: from one event of terminal `mark` to the next one, on rank `pace`, of `turns`; GRAMMAR_NONE: the whole
   job. */
struct schedule_wish { uint32_t pace, mark; uint64_t turns; uint32_t most; /* pieces, at most */ };

/* 0; PYTHIA_ELIMIT: more pieces than wished for, or more steps until that turn than a second allows;
   SCHEDULE_NONE: the loop has no turn. `out` is set on success only. */
int replay_schedule(const struct replay_source *s, const struct replay_model *m, const struct schedule_wish *wish,
                    struct replay_schedule *out);
void replay_schedule_free(struct replay_schedule *s);
