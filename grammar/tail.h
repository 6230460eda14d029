/* SPDX-License-Identifier: MIT */
/*
 * The tail of a growing grammar: what the last events are, while they repeat what the grammar has.
 *
 * In a loop that turns, each event extends the rule of "the loop's body so far" by one symbol and shortens the rest of
 * the body by one: six nodes and four pairs change, and at the end of the turn all is as it was before it. The tail
 * does not do it but remembers it:
 *
 *     R -> a A^7          A -> b c d e         events: b c
 *
 *     written out         R -> a A^7 B         A -> B d e      B -> b c
 *     as a tail           R -> a A^7           A -> b c d e    frame (A, at d)
 *                                                    ^^^^^ the times of these two have this turn already
 *
 * A frame is a prefix of a rule's body that stands, as a rule of two uses, at the end of R. Frames nest: an inner one
 * repeats the rule that its outer one expects next. `raw` is one more symbol behind them whose pair with what precedes
 * it is new.
 *
 *     R's ring   |  frame[0]: 3 nodes of A  |  frame[1]: 2 nodes of D, A's 4th  |  raw
 *
 * What stands outside all rings (raw, a frame's head and pending turns) will probably be joined to a node that is
 * there: its values are not written down while they are those that this node's models have next (internal.h). Raw is no
 * node while it may be the first of a rule whose second stands alone: when that comes the rule's nodes count both.
 *
 *   1. what is expected and comes costs O(1): a comparison and a node's statistics
 *   2. written out, the grammar is what it would be without a tail, node for node: the tail is a way to compute the
 *      paper's grammar, not another grammar. A piece costs O(1); there are 2 * GRAMMAR_FRAMES + 1 of them and one for
 *      each GRAMMAR_WALK nodes of a prefix, whose statistics are summed up then: as many events ago they were taken
 *   3. while a frame or raw is there and not being written out, no hint is pending and no structural step is taken
 *   4. no rule is in two frames
 *   5. where that costs nothing it is known beforehand what the next event has to be to be taken, and how
 *
 * Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "grammar/grammar.h"
#include "grammar/tally.h"

enum { GRAMMAR_FRAMES = 16, GRAMMAR_WALK = 16 };

/* A symbol at the end of the stream: an event, or a rule whose turn is complete. */
struct grammar_arrival {
    uint32_t symbol;
    uint64_t gap, duration;
    const struct grammar_event *event; /* NULL: a rule */
};

struct grammar_frame {
    uint32_t rule;    /* GRAMMAR_NONE: its prefix is written out */
    uint32_t at;      /* node of its body that comes next, or whose first turns are in `pending` */
    uint32_t head;    /* outside all rings: the first symbol, until the second one is whole; else GRAMMAR_NONE */
    uint32_t pending; /* outside all rings: turns of `at`, fewer than its exponent; GRAMMAR_NONE: none */
    uint64_t gap, duration; /* ns, of the nodes taken in this turn */
};

/* A prefix that is being summed up, over all expansions of its rule and this turn: only what is written out is. */
struct grammar_prefix {
    uint32_t next;   /* node; GRAMMAR_NONE: it has not begun */
    uint64_t length; /* events */
    struct grammar_tally stats;
    grammar_square_t gap_means, duration_means; /* of sums: sum^2 / exponent */
};

struct grammar_tail {
    uint32_t raw;  /* outside all rings; GRAMMAR_NONE: none. While it is held: the rule's node that it may be */
    bool holds;
    struct grammar_arrival held;
    struct grammar_event event; /* of what is held, unless that is a rule */
    uint32_t depth, written;       /* frames; of them written out, while `flushing` */
    bool flushing;
    bool turned;                   /* `turn` has arrived, and was not taken yet */
    struct grammar_arrival turn;   /* a rule that was complete with the last arrival */
    struct grammar_prefix prefix;  /* of frame[written] */
    struct grammar_frame frame[GRAMMAR_FRAMES];
};

/* Takes what arrives. Returns false where the structural steps have to take it: the tail must be written out before.
   Not to be called while the tail is flushing, nor while `turned` was not asked for (grammar_tail_turn). */
bool grammar_tail_take(struct grammar *g, const struct grammar_arrival *a);
/* Whether the last arrival completed a turn of a rule, which arrives as a whole then: *a is that. True only once. */
bool grammar_tail_turn(struct grammar *g, struct grammar_arrival *a);
/* From now on it is written out: what stands outside all rings has its values. */
void grammar_tail_flush(struct grammar *g);
/* Links the next piece of a tail that is flushing to R and hints at it; the hints are to be drained before the next
   one. Returns false when all is written. */
bool grammar_tail_write(struct grammar *g);
/* A node of its own for what arrives, outside all rings; the same as one more turn of `n`. */
uint32_t grammar_arrival_node(struct grammar *g, const struct grammar_arrival *a);
void grammar_arrival_count(struct grammar *g, uint32_t n, const struct grammar_arrival *a);
/* `n` behind R's last node, with a hint. */
void grammar_link_last(struct grammar *g, uint32_t n);
