/* SPDX-License-Identifier: MIT */
/*
 * The set of hypotheses after an event. One hypothesis that matches costs an advance and a compare; everything else
 * takes the slow road, where those that match go on and the others are repaired, the best K stay, and weights are
 * brought to 1. Repairs are paid from an account (dead_reckoning.c).
 *
 *     reference R -> L^3, L -> x A^5 y c z, A -> a b; this run: x a b a b a b a b y c z, a turn of A less
 *
 *     before y   A's 4th turn, at b                           1          expects a
 *     after y    y: A left early (ORACLE_EXIT)                15/17      c
 *                A's 4th, b: y too much (INSERTED)             1/17      a
 *                A's 5th, a: y instead of it (SUBSTITUTED)     1/17      b
 *     after c    c: the others do not match                   1          z          (tests/unit/test_oracle.c)
 */

#include "base/fpu.h"
#include "oracle/internal.h"

enum {
    ALIKE = 8,  /* events that have to be alike to be taken for a position */
    SETTLED = 4, /* events after which a CLEAR hypothesis is the only one */
    AGREED = 2   /* events in agreement after which a few are kept */
};
#define CLEAR 0.98
#define LIGHTEST 1e-4 /* hypotheses below are dropped */

static double miss_rate(const struct oracle *o)
{
    double rate = (o->misses + 1) / (o->window + 20);
    return rate < 1e-3 ? 1e-3 : rate > 0.5 ? 0.5 : rate;
}

static void drop(struct oracle *o, uint32_t i)
{
    oracle_swap(&o->now[i], &o->now[--o->count]);
}

/* Whether two end at the same terminal in the same turn: few do that are not equal. */
static inline bool end_alike(const struct oracle_hypothesis *a, const struct oracle_hypothesis *b)
{
    if (a->depth == 0 || b->depth == 0)
        return a->depth == b->depth;
    const struct oracle_frame *x = &a->frames[a->depth - 1], *y = &b->frames[b->depth - 1];
    return x->node == y->node && x->turn == y->turn;
}

static void join_equal(struct oracle *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        for (uint32_t j = i + 1; j < o->count;) {
            struct oracle_hypothesis *a = &o->now[i], *b = &o->now[j];
            o->steps++;
            if (!end_alike(a, b) || !oracle_same(a, b)) {
                j++;
                continue;
            }
            struct oracle_hypothesis likely = b->weight > a->weight ? *b : *a; /* whose repair it was */
            double weight = a->weight + b->weight;
            if (b->depth > a->depth)
                oracle_swap(a, b);
            a->kind = likely.kind;
            a->age = likely.age;
            a->extended = likely.extended;
            a->weight = weight;
            drop(o, j);
        }
}

static void normalise(struct oracle *o)
{
    double all = 0, best = 0;

    for (uint32_t i = 0; i < o->count; i++)
        best = o->now[i].weight > best ? o->now[i].weight : best;
    for (uint32_t i = 0; i < o->count;) {
        if (o->now[i].weight < best * LIGHTEST) {
            drop(o, i);
        } else {
            all += o->now[i].weight;
            i++;
        }
    }
    for (uint32_t i = 0; i < o->count; i++)
        o->now[i].weight /= all;
}

/* It is sure now that a loop went on: it is expected to go on. (Earlier, an event of noise would be taken for that.) */
static void settle_extension(struct oracle *o, const struct oracle_hypothesis *h)
{
    struct oracle_reference *ref = &o->reference[h->reference];

    for (uint32_t i = 0; i < h->depth; i++) {
        const struct oracle_frame *f = &h->frames[i];
        if (f->node == h->extended && !f->guessed && ref->index->grammar->nodes[f->node].exponent > 1 &&
            f->turn >= oracle_turns(ref, f->node))
            oracle_extended(&ref->trip[f->node], f->turn + 1);
    }
}

static void heaviest_first(struct oracle *o)
{
    oracle_swap(&o->now[0], &o->now[oracle_heaviest(o) - o->now]);
}

static void keep_best(struct oracle *o, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < o->count; j++)
            if (o->now[j].weight > o->now[i].weight)
                oracle_swap(&o->now[i], &o->now[j]);
    o->count = n;
    normalise(o);
}

/* Repairs that stood the test make their kind cheaper. */
static void follow_settle(struct oracle *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        struct oracle_hypothesis *h = &o->now[i];
        if (h->kind != ORACLE_HIT && h->weight > 0.75 && (h->age >= 4 || o->count == 1)) {
            o->won[h->kind] += 1;
            if (h->kind == ORACLE_EXTEND)
                settle_extension(o, h);
            h->kind = ORACLE_HIT;
            if (o->won[ORACLE_EXIT] + o->won[ORACLE_EXTEND] + o->won[ORACLE_SKIPPED] + o->won[ORACLE_INSERTED] +
                    o->won[ORACLE_SUBSTITUTED] > 256)
                for (int k = 0; k < ORACLE_KINDS; k++)
                    o->won[k] = o->won[k] / 2 + 0.25;
        }
        h->age++;
    }
    if (o->count > 1) {
        heaviest_first(o);
        if (o->now[0].weight > CLEAR && o->now[0].age >= SETTLED) {
            o->now[0].weight = 1;
            o->count = 1;
        } else if (o->agreed >= AGREED && o->count > ORACLE_AGREEING) {
            keep_best(o, ORACLE_AGREEING);
        }
    }
}

static bool all_match(const struct oracle *o, uint32_t terminal)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (oracle_peek(o, &o->now[i]) != terminal)
            return false;
    return terminal != GRAMMAR_NONE;
}

static void keep_match(struct oracle *o, struct oracle_hypothesis *h, uint32_t terminal, double weight)
{
    struct oracle_hypothesis *s = oracle_slot(o, h->reference, weight, h->kind);

    if (!s)
        return;
    s->age = h->age;
    s->extended = h->extended;
    oracle_copy(s, h);
    oracle_advance(o, s, terminal, h->weight > 0.5);
}

static void repair_all(struct oracle *o, uint32_t terminal)
{
    double miss = miss_rate(o), lost = 0;
    uint64_t until = o->steps + ORACLE_AT_ONCE;

    o->spare_count = 0;
    o->found = 0;
    heaviest_first(o);
    for (uint32_t i = 0; i < o->count; i++) {
        struct oracle_hypothesis *h = &o->now[i];
        uint32_t expected = oracle_peek(o, h);
        if (expected == terminal && terminal != GRAMMAR_NONE) {
            keep_match(o, h, terminal, h->weight * (1 - miss));
            continue;
        }
        lost += h->weight;
        if (i > 0 && o->steps > until)
            continue; /* the heaviest was repaired, those that match go on */
        if (expected == GRAMMAR_NONE && terminal != GRAMMAR_NONE && !oracle_rooted(o, h))
            oracle_expand(o, h, terminal, h->weight * (1 - miss), ORACLE_HIT);
        oracle_recover(o, h, terminal, h->weight * miss);
    }
    if (lost > 0.5) {
        oracle_relocate_by_history(o, lost * miss, ALIKE);
        oracle_relocate(o, terminal, lost * miss);
    }
    oracle_swap_sets(o);
}

bool oracle_foreseen(const struct oracle *o, uint32_t terminal)
{
    return o->count > 0 && terminal != GRAMMAR_NONE && oracle_peek(o, oracle_heaviest(o)) == terminal;
}

static void follow_set(struct oracle *o, uint32_t terminal)
{
    bool foreseen = oracle_foreseen(o, terminal);
    uint64_t before = o->steps;

    oracle_dead_reckoning_judge(o, foreseen);
    o->window++;
    if (!foreseen)
        o->misses++;
    if (o->window > 1024) {
        o->window /= 2;
        o->misses /= 2;
    }
    if (all_match(o, terminal)) {
        o->agreed++;
        for (uint32_t i = 0; i < o->count; i++)
            oracle_advance(o, &o->now[i], terminal, o->now[i].weight > 0.5);
    } else {
        o->agreed = 0;
        repair_all(o, terminal);
        normalise(o); /* before they are compared: the lightest are many */
        join_equal(o);
    }
    if (o->count > 1 && o->score.events % 8 == 0)
        join_equal(o); /* different paths into one place; rarely, as it costs K^2 */
    follow_settle(o);
    o->account -= (int64_t)(o->steps - before);
}

/* What this run's times are, against those of the reference. An event that the position did not expect says nothing of
   this place. */
static void compare_times(struct oracle *o, const struct oracle_hypothesis *h, uint32_t terminal, uint64_t gap,
                          uint64_t duration)
{
    const struct oracle_reference *ref = &o->reference[h->reference];
    if (h->depth == 0)
        return;
    const struct oracle_frame *frame = &h->frames[h->depth - 1];
    if (ref->index->grammar->nodes[frame->node].symbol != terminal)
        return;
    const struct oracle_time *mean = oracle_mean(ref->index, frame->node);
    struct oracle_gap_median *typical = &ref->gap_median[frame->node][frame->turn > 0];
    struct oracle_turn_gaps *turn = oracle_turn_of(ref, frame->node, frame->turn);
    if (turn)
        oracle_turn_learn(turn, typical, gap);
    oracle_gap_learn(typical, gap);
    o->seen.gap += (double)gap;
    o->seen.duration += (double)duration;
    o->said.gap += mean->gap;
    o->said.duration += mean->duration;
}

static void remember(struct oracle *o, uint32_t terminal)
{
    o->run = terminal == o->previous ? o->run + 1 : 1;
    o->previous = terminal;
}

/* Steps for each event since the last time. */
static void earn(struct oracle *o)
{
    uint64_t events = o->score.events - o->earned_at;

    o->earned_at = o->score.events;
    o->account += (int64_t)(events < ORACLE_SAVED ? events * ORACLE_EARNED : ORACLE_SAVED);
    o->account = o->account < ORACLE_SAVED ? o->account : ORACLE_SAVED;
}

static void follow_slowly(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    oracle_flush(o);
    oracle_sample_event(o, terminal, gap);
    earn(o);
    if (o->mixer.past)
        oracle_mixer_store(o, terminal, gap, duration);
    if (o->references && !o->dead_reckoning && o->account <= 0 && !all_match(o, terminal))
        oracle_dead_reckoning_begin(o);
    if (o->dead_reckoning) {
        oracle_dead_reckon(o, terminal);
        oracle_dead_reckoning_end(o);
    } else if (o->references) {
        follow_set(o, terminal);
    }
    if (o->references) {
        compare_times(o, oracle_heaviest(o), terminal, gap, duration);
        remember(o, terminal);
    }
    oracle_mixer_follow(o);
    oracle_sample(o);
}

/* An event of which nothing is asked. */
static void dead_reckon(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    o->score.events++;
    o->score.known += oracle_known(o, terminal);
    o->unasked++;
    oracle_dead_reckon(o, terminal);
    compare_times(o, &o->now[0], terminal, gap, duration);
    remember(o, terminal);
    if (o->mixer.past)
        oracle_past_store(o->mixer.past, terminal, gap, duration);
}

/* All hypotheses go on with `terminal`. False: nothing changed. */
static inline bool go_on(struct oracle *o, uint32_t terminal)
{
    if (o->count == 1)
        return oracle_advance(o, &o->now[0], terminal, true);
    if (o->count > ORACLE_AGREEING || o->count == 0 || !all_match(o, terminal))
        return false;
    for (uint32_t i = 0; i < o->count; i++)
        oracle_advance(o, &o->now[i], terminal, i == 0);
    return true;
}

/* --- What is expected --- */

/* Whether the hypothesis goes on to `terminal` where no loop is left or entered but the innermost rule's own: its next
   turn, its next node, or the first node of the rule's next turn. */
static inline bool go_on_inside(const struct oracle_reference *ref, struct oracle_hypothesis *h, uint32_t terminal)
{
    const struct oracle_index *x = ref->index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    struct oracle_frame *f = &h->frames[h->depth - 1], next = *f;
    next.turn++;
    if (next.turn >= oracle_turns(ref, f->node)) {
        if (nodes[f->node].exponent > 1)
            return false;
        next = (struct oracle_frame){ f->node + 1, 0, 0 };
        if (!oracle_has_next(x, f->node)) {
            if (h->depth < 2 || f[-1].turn + 1 >= oracle_turns(ref, f[-1].node))
                return false;
            next.node = x->grammar->rules[x->rule[f->node]].first;
            if (nodes[next.node].symbol == terminal)
                f[-1].turn++;
        }
    }
    if (nodes[next.node].symbol != terminal)
        return false;
    *f = next;
    return true;
}

/* A median that moves by a few per cent learns as much from some events as from all. */
static bool settled(const struct oracle_gap_median *m)
{
    static const float most = 0.041f; /* oracle_gap_learn() lets it fall to 0.04 */
    uint32_t step, bound;
    memcpy(&step, &m->step, sizeof step); /* as bits: a comparison of fractions may set a flag of the program's */
    memcpy(&bound, &most, sizeof bound);
    return step && step < bound;
}

static __attribute__((noinline)) void compare_sometimes(struct oracle *o, uint32_t terminal, uint64_t gap,
                                                        uint64_t duration)
{
    enum { SOMETIMES = 4 }; /* below it, at random: no period falls in step */
    base_fpu_t kept = base_fpu_hold();
    compare_times(o, &o->now[0], terminal, gap, duration);
    o->uncompared = oracle_random_below(&o->pause, SOMETIMES);
    base_fpu_give_back(kept);
}

bool oracle_follow_expected(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    struct oracle_hypothesis *h = &o->now[0];
    if (o->countdown <= o->slow_from)
        return false;
    const struct oracle_reference *ref = &o->reference[h->reference];
    if (!go_on_inside(ref, h, terminal))
        return false;
    const struct oracle_frame *f = &h->frames[h->depth - 1];
    o->countdown--;
    o->fast++;
    if (o->uncompared-- == 0 || !settled(&ref->gap_median[f->node][f->turn > 0]))
        compare_sometimes(o, terminal, gap, duration);
    oracle_interval_event(&o->intervals, terminal, gap, duration);
    remember(o, terminal);
    if (o->mixer.past)
        oracle_past_store(o->mixer.past, terminal, gap, duration);
    return true;
}

static void follow_unexpected(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    oracle_interval_event(&o->intervals, terminal, gap, duration);
    --o->countdown;
    if (o->countdown > 0 && o->dead_reckoning) {
        dead_reckon(o, terminal, gap, duration);
        return;
    }
    if (o->countdown > 0 && terminal != GRAMMAR_NONE && go_on(o, terminal)) {
        o->fast++;
        compare_times(o, &o->now[0], terminal, gap, duration);
        remember(o, terminal);
        if (o->mixer.past)
            oracle_past_store(o->mixer.past, terminal, gap, duration);
        return;
    }
    follow_slowly(o, terminal, gap, duration);
}

void oracle_follow(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    if (oracle_follow_expected(o, terminal, gap, duration))
        return;
    follow_unexpected(o, terminal >= GRAMMAR_LOST ? GRAMMAR_NONE : terminal, gap, duration);
    o->slow_from = !o->dead_reckoning && o->count == 1 && o->now[0].depth ? 1 : UINT64_MAX;
}
