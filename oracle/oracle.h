/* SPDX-License-Identifier: MIT */
/*
 * The oracle: where am I in the reference grammar, what is next, when, and how sure.
 *
 * Position is a set of at most K weighted hypotheses. Each is a path from the terminal just seen up through its
 * enclosing rules, with the turn in each exponent:
 *
 *     R -> A B^2 A      after  a b b c b          frames, bottom first:  (node b of B, turn 0)
 *     A -> a b                                                           (node B^2 of R, turn 1)
 *     B -> b c
 *
 * A hypothesis is rooted when its top frame is in R, partial when the context above is not known (after a loss); then
 * the next level is chosen among the uses of the rule when the path runs off its top.
 *
 * On an event: advance what matches; where nothing does, in order of cost: leave or go on with a loop against its
 * count, skip expected events, take the event as inserted or as substituted, relocate. Weights and penalties are
 * learned. Always bounded: an update or a query is O(K x depth x log rule length) whatever the stream, and what
 * surprises cost in the mean is a few steps an event (ORACLE_EARNED); where they cost more, what is left of the
 * position advances with the events, whatever these are.
 *
 * What the reference does not know is learned as the run goes (past.h), and predicted from its second turn on. The
 * position and what is learned vote (mixer.c), by how often such votes were right so far in this run; so is the
 * probability of an answer how often such answers were.
 *
 * Questions jump over whole rules with precomputed lengths and mean times; nothing is replayed.
 *
 * Threads: an index: any, read-only; an oracle: owner.
 * Hook-safe: oracle_follow and the questions (no malloc, lock or system call); creation is not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/flat.h"

struct oracle_index;
struct oracle;

/* Precomputes what the questions need; O(grammar) time and memory. `g` must outlive the index. NULL when out of
   memory. `g` has passed grammar_flat_check. */
struct oracle_index *oracle_index_create(const struct grammar_flat *g);
void oracle_index_destroy(struct oracle_index *x);
const struct grammar_flat *oracle_index_grammar(const struct oracle_index *x);

struct oracle_options {
    uint32_t hypotheses; /* K, 1 to 64; 0: 16 */
    /* Bytes for what this run shows itself (at least 64 KiB are used), 0: nothing is learned of it. It answers where
       the reference does not know, or was right less often lately; terminals that no reference has are then predicted
       too, if they are told apart: any number below GRAMMAR_LOST. */
    size_t learn;
};

/* Follows one stream against `count` references (the classes that the stream may belong to), all with the same terminal
   numbers; `weight` (may be NULL: equal) are prior weights. The position is rooted at the start of each. Without a
   reference (`count` 0) only what the run shows itself is predicted. */
struct oracle *oracle_create(const struct oracle_index *const *index, const double *weight, uint32_t count,
                             const struct oracle_options *options);
void oracle_destroy(struct oracle *o);

/* The stream's next event happened, `gap` ns after the one before and `duration` ns long. Terminal GRAMMAR_NONE: an
   event that the reference does not know. */
void oracle_follow(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration);
/* The same where the position expected it in its innermost rule, and nothing else is due. False: nothing was done.
   The caller's floating-point state stays as it is. */
bool oracle_follow_expected(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration);

struct oracle_answer {
    uint32_t terminal;      /* GRAMMAR_NONE: unknown */
    double probability;     /* calibrated, that `terminal` is right */
    double until;           /* ns, from the end of the last event to the begin of this one; < 0: not known. Means, but
                               for the gap before this one: the typical one of this run where it was here before */
    double until_deviation; /* ns, as recorded; from oracle_bound() on, both: root mean square of such answers' errors.
                               < 0: not known */
    double duration;        /* ns, mean of this event in this context, rescaled by what this run showed */
    double duration_deviation;
    double until_low, until_high, duration_low, duration_high; /* filled by oracle_bound(): 8 of 10 lie between; < 0:
                                                                  not known */
    uint32_t reference;     /* which index, and the node in its grammar, of the heaviest hypothesis: for attributes.
                               GRAMMAR_NONE, both: the answer comes from this run, its times are those of the last time,
                               before oracle_bound() its deviations < 0 */
    uint32_t node;
    uint64_t turn;          /* turn within the node's exponent, from 0 */
};

/* The event `distance` >= 1 ahead. Returns 0, or 1 ("no prediction", terminal is GRAMMAR_NONE). */
int oracle_predict(struct oracle *o, uint64_t distance, struct oracle_answer *answer);

/* Gives the answer to oracle_predict() or oracle_next() at this distance its bounds, which have learned from how far
   off the answers of such places were that were bounded before. `until` and `duration` become the typical times where
   these were nearer lately than the means. */
void oracle_bound(struct oracle *o, uint64_t distance, struct oracle_answer *answer);

/* The next occurrence of any terminal t < count with set[t] != 0, at most `horizon` events ahead (0: any); its distance
   in *distance. Same returns. */
int oracle_next(struct oracle *o, const uint8_t *set, uint32_t count, uint64_t horizon, uint64_t *distance,
                struct oracle_answer *answer);

/* Events and ns that remain of the run, and of the innermost loop around the position; < 0 where unknown. Of a run that
   is longer than recorded nothing is known but that its progress is 1. */
struct oracle_remaining { double events, ns, loop_events, loop_ns, progress; };
void oracle_remaining(struct oracle *o, struct oracle_remaining *r);

/* Where the run is: which part of R, and the turn of the outermost loop (turns 0: in none). Returns 0; 1 where the
   position is not rooted, which oracle_remaining tells as unknown. */
struct oracle_phase { uint32_t part, parts; uint64_t turn, turns; };
int oracle_phase(const struct oracle *o, struct oracle_phase *p);

/* Where the event that was just followed stands, as in an answer, if it is `terminal` that stands there. 0, or 1: not
   known, nothing is set. */
int oracle_here(const struct oracle *o, uint32_t terminal, uint32_t *reference, uint32_t *node, uint64_t *turn);
/* The reference that answers name by its number, NULL beyond the last one. */
const struct oracle_index *oracle_reference(const struct oracle *o, uint32_t reference);

/* What the oracle knows of its own quality. All sums, so that ranks can be added. */
enum { ORACLE_DISTANCES = 4, ORACLE_TIME_BUCKETS = 64, ORACLE_DECILES = 10 };
extern const uint32_t oracle_score_distances[ORACLE_DISTANCES]; /* 1, 16, 64, 128 */
struct oracle_score_peers { uint64_t asked, foretold, right; };
struct oracle_score {
    uint64_t events;                 /* followed */
    uint64_t known;                  /* of them, terminals that the reference has */
    struct {
        uint64_t predictions, hits, unknown;
        double brier;                                    /* sum of (probability - hit)^2 */
        uint64_t answers[ORACLE_DECILES], right[ORACLE_DECILES]; /* by stated probability */
    } at[ORACLE_DISTANCES];          /* distance 1 for each event; the others by samples, each counted for the events
                                        that it stands for */
    uint64_t time_error[ORACLE_TIME_BUCKETS]; /* |predicted - actual| / actual of the time until the next event, in
                                                 logarithmic buckets: oracle_time_bucket() */
    uint64_t cost_ns;                /* filled by the session: time spent in the oracle, estimated by sampling */
    struct oracle_score_peers peers; /* filled by the session: peers of messages, of a sample of the events that have
                                        one */
};
const struct oracle_score *oracle_score(const struct oracle *o);
uint32_t oracle_time_bucket(double relative_error);
/* Median relative error of a histogram, < 0 when empty. */
double oracle_time_median(const uint64_t histogram[ORACLE_TIME_BUCKETS]);
