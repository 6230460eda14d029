/* SPDX-License-Identifier: MIT */
/*
 * The oracle's insides, shared by its files.
 *
 *   index.c      what is precomputed for a grammar
 *   stack.c      one hypothesis: advance, descend, compare
 *   recover.c    what an unexpected event may mean
 *   follow.c     the set of hypotheses after an event
 *   dead_reckoning.c   where no position is right for long
 *   predict.c    the questions: climb what remains, descend to the answer
 *   pace.c       how the times of this run compare
 *   history.c, past.c    what happened before in places like this one
 *   preload.c    what of the references it knows
 *   mixer.c      the votes, and what they are worth
 *   sample.c     the oracle asks itself, and learns from what comes
 *   score.c      what it knows of its own quality
 *
 * Nothing is allocated after creation. Hypotheses own a slice of `frames` each; sets are swapped, never copied.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "oracle/interval.h"
#include "oracle/gap_median.h"
#include "oracle/oracle.h"
#include "oracle/past.h"

enum {
    ORACLE_DEPTH = 128,      /* frames of a hypothesis; one that is deeper forgets its top and becomes partial */
    ORACLE_HYPOTHESES = 64,  /* the largest K */
    ORACLE_VOTES = 64,       /* answers that are told apart in one question */
    ORACLE_SKIP = 8,         /* expected events that may be missing in a row */
    ORACLE_PLACES = 32,      /* occurrences looked at to relocate */
    ORACLE_BRANCHES = 6,     /* uses tried where a partial hypothesis runs off its top */
    ORACLE_AGREEING = 4,     /* hypotheses that take the fast path together */
    ORACLE_SETS = 4,         /* sets remembered for oracle_next */
    ORACLE_PENDING = 32,     /* answers at one distance that wait for their event */
    ORACLE_BUCKETS = 5,      /* distances by which the sources are weighed: near 1, 4, 16, 64, 128 */
    /* What recovery may take, in steps of 20 to 30 ns where caches are warm: an event adds some to the account, which
       holds so many, and only the first ones of an event are for all hypotheses. Of 8, 12 and 16 an event and 1000 to
       4000 in all, 8 and 2000 cost least and lost nowhere a point (bench/RESULTS.md, "Surprises"). */
    ORACLE_EARNED = 8, ORACLE_SAVED = 2000, ORACLE_AT_ONCE = 150
};

/* Of the weight of the best explanation, or hypothesis: lighter ones are neither looked for nor asked. */
#define ORACLE_MATTERS 0.03

struct oracle_time { double gap, duration, variance; }; /* ns, ns, ns^2 */

/*
 * What is precomputed for a grammar. Its structure and times are when it is created, its uses when a position is first
 * lost: oracle_index_uses().
 * Threads: any, once it is created; at first sight they take its lock.
 */
struct oracle_index {
    const struct grammar_flat *grammar;
    uint32_t depth;               /* frames of the deepest path */
    uint32_t *order;              /* rules, users before what they use */
    uint64_t *length;             /* of rules: events */
    uint64_t *uses;               /* of rules: expansions in all */
    uint32_t *first;              /* of rules: first terminal */
    uint32_t *rule;               /* of nodes, and one past the last: the rule that it stands in */
    uint64_t *before;             /* of nodes: events of the rule before it */
    uint8_t *known;               /* of terminals: whether they occur */
    struct oracle_time *mean;     /* of nodes: one expansion in this place; oracle_mean */
    struct oracle_time *elapsed;  /* of nodes: mean time of the rule before it; oracle_elapsed */
    pthread_mutex_t lock;
    _Atomic bool sorted;          /* uses are here (release, acquire) */
    uint32_t *use_terminal;       /* terminal t is used by use[use_terminal[t]] … up to t + 1's */
    uint32_t *use_rule;           /* the same of rules */
    uint32_t *use;
};

static inline const struct oracle_time *oracle_mean(const struct oracle_index *x, uint32_t node)
{
    return &x->mean[node];
}

static inline const struct oracle_time *oracle_elapsed(const struct oracle_index *x, uint32_t node)
{
    return &x->elapsed[node];
}

/* Mean of one expansion of a rule. */
static inline struct oracle_time oracle_rule_time(const struct oracle_index *x, uint32_t rule)
{
    const struct grammar_flat_rule *r = &x->grammar->rules[rule];
    uint32_t last = r->first + r->length - 1;

    if (r->length == 0)
        return (struct oracle_time){ 0, 0, 0 };
    const struct oracle_time *before = oracle_elapsed(x, last), *mean = &x->mean[last];
    double turns = (double)x->grammar->nodes[last].exponent;
    return (struct oracle_time){ before->gap + turns * mean->gap, before->duration + turns * mean->duration,
                                 before->variance + turns * mean->variance };
}

struct oracle_frame {
    uint32_t node;
    uint32_t guessed; /* the turn is a guess: nothing is learned from it */
    uint64_t turn;
};

/* What an event that was not expected may mean. */
enum oracle_kind { ORACLE_HIT, ORACLE_EXIT, ORACLE_EXTEND, ORACLE_SKIPPED, ORACLE_INSERTED, ORACLE_SUBSTITUTED,
                   ORACLE_RELOCATED, ORACLE_KINDS };

struct oracle_hypothesis {
    struct oracle_frame *frames; /* top first; [depth - 1] is the terminal just seen; empty: before the first event */
    uint32_t depth, reference;
    uint32_t kind, age;          /* the last repair, and the events since */
    uint32_t extended;           /* ORACLE_EXTEND: the node that went on */
    double weight;
};

/* Trip count of a node as this run shows it: a count seen twice running replaces the recorded one. A loop that went on
   against its count is expected to go on (last 0) as long again, until it is left: that count holds then. */
struct oracle_trip { uint64_t effective, last; /* 0, 0: as recorded, nothing was learned */ };

struct oracle_reference {
    const struct oracle_index *index;
    struct oracle_gap_median (*gap_median)[2];     /* of nodes: first turn, later turns */
    struct oracle_turn_gaps (*turn)[ORACLE_GAP_TURNS]; /* of loops over a terminal */
    uint16_t *loop;                      /* of nodes: which of these, from 1; 0: none */
    struct oracle_trip *trip;            /* of nodes */
    uint32_t *next[ORACLE_SETS];         /* of nodes: the next one in its rule, itself included, that contains the
                                            set */
};

static inline uint64_t oracle_turns(const struct oracle_reference *ref, uint32_t node)
{
    uint64_t effective = ref->trip[node].effective;

    return effective ? effective : ref->index->grammar->nodes[node].exponent;
}

/* How often votes like this were right lately; evidence: the log odds of that, above what says nothing. */
struct oracle_trust { float right, total, evidence; };

/* Who votes: the position in a reference, the voters of the past; and the answer, which is judged as they are. */
enum { ORACLE_POSITION, ORACLE_PAST, ORACLE_CONTEXTS = ORACLE_PAST + 1,
       ORACLE_VOTERS = ORACLE_PAST + ORACLE_PAST_VOTERS, ORACLE_SAID = ORACLE_VOTERS, ORACLE_SOURCES,
       ORACLE_STATES = 80 };

/* What they say of one event, GRAMMAR_NONE: nothing, and how sure they are. */
struct oracle_opinion {
    uint32_t said[ORACLE_SOURCES];
    uint8_t state[ORACLE_SOURCES];
    bool timed; /* given: times are wanted */
    bool all;   /* given: what the past says is wanted, too, where the position alone answers */
};

/* An answer that waits for its event. weight: the events that the sample stands for. */
struct oracle_pending {
    uint64_t at;
    uint32_t weight;
    float probability;
    struct oracle_opinion opinion;
};

struct oracle_mixer {
    struct oracle_past *past; /* NULL: nothing is learned of new code */
    bool asleep, sure;  /* the past is not asked; the position answers for the next event, whatever the past says */
    uint64_t streak;    /* events in a row that the reference foresaw */
    struct oracle_trust trust[ORACLE_SOURCES][ORACLE_BUCKETS][ORACLE_STATES];
    float weight[ORACLE_BUCKETS][ORACLE_VOTERS]; /* of a voter's evidence */
    uint32_t steps[ORACLE_BUCKETS]; /* that the weights have made */
    struct oracle_gap_errors gap_errors[ORACLE_VOTERS + 1]; /* by who answers; the last one: by dead reckoning */
    struct { struct oracle_gap_errors *errors; double own, context; } gap; /* last asked for; NULL: not both known */
};

struct oracle {
    /* What an expected event touches, together. */
    struct oracle_hypothesis *now;         /* count of them */
    struct oracle_reference *reference;
    uint64_t countdown;                    /* events until the next sample or check */
    uint64_t slow_from;                    /* with so few left none is followed quickly: 1; UINT64_MAX: there is no one
                                              position */
    uint64_t fast;                         /* events on the fast path that the score does not know yet */
    uint64_t run;                          /* how often the last event was there in a row, … */
    uint32_t previous;                     /* … which is this one */
    uint32_t uncompared;                   /* expected events until the next one whose times are compared */

    uint32_t count;
    bool dead_reckoning;
    struct base_arena room;                          /* where this structure and all that is learned are */
    struct oracle_mixer mixer;
    struct oracle_hypothesis *spare;       /* both have room for `limit` */
    uint32_t spare_count, limit;
    uint32_t references, capacity;         /* capacity: frames of a hypothesis */
    uint32_t terminals;                    /* terminal numbers of the references are below */
    double alphabet;                       /* different terminals an unexpected event may be, about */

    double prior_gap, prior_duration;      /* ns: what a few mean events of the reference take */
    double misses, window;                 /* recent events that were not expected, of how many */
    double won[ORACLE_KINDS];              /* repairs that turned out right */
    double found;                          /* the heaviest in the spare set so far */
    uint32_t lightest;                     /* which one in it is, where it is full */
    float trouble;                         /* share of the last events that the position did not foresee */
    uint64_t ask_at;                       /* event number before which the next event is asked about, where in doubt */
    uint32_t unasked;                      /* events of which nothing was said: the next answer stands for them */
    uint32_t agreed;                       /* events in a row that all hypotheses foresaw */
    struct oracle_time seen, said;         /* recent times, observed and predicted */

    uint64_t random;
    uint64_t pause;                        /* random, for this alone: samples do not depend on it */
    uint64_t sample_at;                    /* event number of the next sample */
    uint32_t sample_weight;                /* events until the next sample: what this one stands for */
    uint32_t sample_turn, stands_for[ORACLE_BUCKETS];
    uint64_t first[ORACLE_BUCKETS], last[ORACLE_BUCKETS]; /* of the answers that wait, in order */
    struct oracle_pending pending[ORACLE_BUCKETS][ORACLE_PENDING];

    uint8_t *set[ORACLE_SETS]; uint64_t set_used[ORACLE_SETS], set_clock;
    struct oracle_score score;
    struct oracle_intervals intervals;
    uint64_t steps;                        /* work done off the fast path */
    int64_t account;                       /* steps that recovery may take */
    uint64_t earned_at;                    /* event number up to which steps were earned */
    struct oracle_frame *frames;
};

static inline uint32_t oracle_first(const struct oracle_index *x, uint32_t symbol)
{
    return grammar_is_rule(symbol) ? x->first[symbol & ~GRAMMAR_RULE] : symbol;
}

static inline uint64_t oracle_length(const struct oracle_index *x, uint32_t symbol)
{
    return grammar_is_rule(symbol) ? x->length[symbol & ~GRAMMAR_RULE] : 1;
}

/* Whether `node` has another after it in its rule. */
static inline bool oracle_has_next(const struct oracle_index *x, uint32_t node)
{
    return x->rule[node + 1] == x->rule[node];
}

/* The last node from `low` on, and before `high`, of one rule, that begins at or before event `at` of the rule; low
   does. */
static inline uint32_t oracle_node_between(const struct oracle_index *x, uint32_t low, uint32_t high, uint64_t at)
{
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (x->before[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline const struct oracle_index *oracle_of(const struct oracle *o, const struct oracle_hypothesis *h)
{
    return o->reference[h->reference].index;
}

/* Uses of a symbol; returns their number. The first ORACLE_PLACES are the heaviest, in order, the others stand in the
   order of the nodes. The first call of all takes some ns a node. */
uint32_t oracle_index_uses(const struct oracle_index *x, uint32_t symbol, const uint32_t **use);

/* The medians of one of the later turns of a loop, NULL: it has none of its own. */
static inline struct oracle_turn_gaps *oracle_turn_of(const struct oracle_reference *ref, uint32_t node, uint64_t turn)
{
    return turn > 0 && turn < ORACLE_GAP_TURNS && ref->loop[node] ? &ref->turn[ref->loop[node] - 1][turn] : NULL;
}

/* Whether the position answers for the next event, whatever the past says. */
static inline bool oracle_sure(const struct oracle *o)
{
    return !o->dead_reckoning && o->mixer.sure;
}

/* --- follow.c --- */
bool oracle_foreseen(const struct oracle *o, uint32_t terminal); /* by the heaviest hypothesis */

/* Frames belong to the slot's owner: swap, never overwrite. */
static inline void oracle_swap(struct oracle_hypothesis *a, struct oracle_hypothesis *b)
{
    struct oracle_hypothesis h = *a;
    *a = *b;
    *b = h;
}

/* What was found is the position. */
static inline void oracle_swap_sets(struct oracle *o)
{
    struct oracle_hypothesis *set = o->now;
    o->now = o->spare;
    o->spare = set;
    o->count = o->spare_count;
}

/* A frame below the others. Where there is no room the top half is forgotten: partial from here on. */
static inline void oracle_push(const struct oracle *o, struct oracle_hypothesis *h, struct oracle_frame frame)
{
    if (h->depth == o->capacity) {
        h->depth = o->capacity / 2;
        memmove(h->frames, h->frames + o->capacity - h->depth, h->depth * sizeof *h->frames);
    }
    h->frames[h->depth++] = frame;
}

/* --- stack.c --- */
bool oracle_rooted(const struct oracle *o, const struct oracle_hypothesis *h);
/* The terminal expected next; GRAMMAR_NONE at the end of the run or where a partial hypothesis runs off its top. */
uint32_t oracle_peek(const struct oracle *o, const struct oracle_hypothesis *h);
/* Advances by one event, if it is `terminal` (GRAMMAR_NONE: whatever it is). False: nothing changed. */
bool oracle_advance(struct oracle *o, struct oracle_hypothesis *h, uint32_t terminal, bool learn);
/* Puts `node` at depth `depth` and goes down to its first terminal. */
void oracle_enter(const struct oracle *o, struct oracle_hypothesis *h, uint32_t depth, struct oracle_frame frame);
/* A loop is in its turn number `turns`, one more than was expected. */
void oracle_extended(struct oracle_trip *trip, uint64_t turns);
/* Learns the trip counts of the loops at depth `from` and below, which end here. */
void oracle_left(struct oracle_reference *ref, const struct oracle_hypothesis *h, uint32_t from);
void oracle_copy(struct oracle_hypothesis *to, const struct oracle_hypothesis *from);
/* Same position, or the shorter one is the lower part of the longer. */
bool oracle_same(const struct oracle_hypothesis *a, const struct oracle_hypothesis *b);
const struct oracle_hypothesis *oracle_heaviest(const struct oracle *o); /* of at least one */
/* A slot in the spare set for a hypothesis of this weight, NULL where all K are heavier. */
struct oracle_hypothesis *oracle_slot(struct oracle *o, uint32_t reference, double weight, enum oracle_kind kind);

/* --- recover.c --- */
/* Where partial `h` runs off its top: the uses whose continuation is `terminal`, into the spare set. */
void oracle_expand(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight,
                   enum oracle_kind kind);
/* What `terminal` may mean for `h`, into the spare set: kind after kind, as long as the next one could still matter
   beside what was found. */
void oracle_recover(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, double weight);
void oracle_relocate(struct oracle *o, uint32_t terminal, double weight);
/* Where the past says that this is, in a reference; false: it does not know. */
bool oracle_relocate_by_history(struct oracle *o, double weight, uint64_t length);
bool oracle_known(const struct oracle *o, uint32_t terminal);

/* --- dead_reckoning.c --- */
void oracle_dead_reckoning_judge(struct oracle *o, bool foreseen); /* after each event off the fast path */
void oracle_dead_reckoning_foreseen(struct oracle *o, uint32_t events); /* so many were */
void oracle_dead_reckoning_begin(struct oracle *o);
void oracle_dead_reckon(struct oracle *o, uint32_t terminal);   /* an event */
void oracle_dead_reckoning_end(struct oracle *o);                  /* if it is time to */

/* --- pace.c --- */
double oracle_gap_factor(const struct oracle *o);
double oracle_duration_factor(const struct oracle *o);
void oracle_drift(struct oracle *o, uint32_t events); /* forgets slowly: so many have come since the last call */

/* --- preload.c --- */
/* Puts a hypothesis at event number `event` < length of its reference: rooted, as if it had just been followed. */
void oracle_seek(const struct oracle *o, struct oracle_hypothesis *h, uint64_t event);
void oracle_preload(struct oracle *o);      /* once, before the first event: what is to be listed */
void oracle_preload_more(struct oracle *o); /* some of it */

/* --- mixer.c --- */
void oracle_mixer_create(struct oracle *o); /* once `past` is there, or NULL */
/* How often answers of the position alone, which had such a share of the weight, were right lately. */
double oracle_position_worth(const struct oracle *o, uint64_t distance, double share);
/* The position's answer (terminal GRAMMAR_NONE: none) becomes that of all voters, with its probability; opinion: empty
   but for what is given. */
void oracle_mix(struct oracle *o, uint64_t distance, double share, struct oracle_answer *answer,
                struct oracle_opinion *opinion);
/* What was said of this event. */
void oracle_mixer_judge(struct oracle *o, uint64_t distance, const struct oracle_opinion *p, uint32_t terminal);
void oracle_mixer_judge_gap(struct oracle_mixer *m, uint64_t gap); /* what was last said of the next event's */
void oracle_mixer_foreseen(struct oracle *o, bool foreseen); /* by the position */
/* The position was right n times on the fast path; the probability that was said. */
double oracle_mixer_hits(struct oracle *o, uint64_t n);
void oracle_mixer_store(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration);
void oracle_mixer_follow(struct oracle *o);

/* --- predict.c, next.c, remain.c, score.c --- */
/* As oracle_predict, with what each voter says. */
int oracle_ask(struct oracle *o, uint64_t distance, struct oracle_answer *answer, struct oracle_opinion *opinion);
/* The answer, of the terminals in `set`, of those hypotheses whose `at` is the distance, and its weight. 1: none. */
int oracle_ask_some(struct oracle *o, uint64_t distance, const uint64_t *at, const uint8_t *set,
                    struct oracle_answer *answer, double *weight);
void oracle_clear(struct oracle_answer *a); /* "I do not know" */
void oracle_flush(struct oracle *o);  /* brings the score up to date with the fast path */
void oracle_count_answer(struct oracle *o, int which, double probability, bool hit, uint64_t n);
void oracle_count_unknown(struct oracle *o, int which, uint64_t n);

/* --- sample.c --- */
/* Before and after an event off the fast path. */
void oracle_sample_event(struct oracle *o, uint32_t terminal, uint64_t gap);
void oracle_sample(struct oracle *o);
void oracle_sample_start(struct oracle *o);
