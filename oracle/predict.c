/* SPDX-License-Identifier: MIT */
/*
 * The questions. From the terminal just seen climb: what remains of this node's turns, of this rule, of the turns of
 * the frame above …, until the distance fits; then go down by division (turns) and binary search (nodes). Times are
 * added on the same way as lengths. A rule's times are means over all its places: below a frame they are scaled to the
 * frame's own mean.
 *
 * Where a partial hypothesis runs off its top, it goes on at the heaviest use, as if that were half done.
 *
 * Where several say something, they vote first, without times; then the way that won is gone again with them.
 */
#include <math.h>
#include <string.h>

#include "oracle/internal.h"

struct vote {
    uint32_t terminal, hypothesis;
    double weight, best; /* best: the heaviest contribution, which the rest is from */
};

/* The way of one contribution to the event. */
struct walk {
    struct vote vote;
    uint32_t node;                  /* of the event */
    uint64_t turn;
    struct oracle_time time, scale; /* until the event; what its node's mean is to be multiplied by */
};

struct question {
    struct oracle *oracle;
    const struct oracle_index *index; /* of the hypothesis that is asked */
    const struct oracle_reference *reference;
    uint64_t distance;
    bool timed;                       /* one way is gone, that of vote[0], with times: `walk` is its end */
    uint32_t count;
    double all;
    struct walk walk;
    struct vote vote[ORACLE_VOTES];
};

static void add_scaled(struct oracle_time *to, const struct oracle_time *t, double n, const struct oracle_time *scale)
{
    to->gap += n * t->gap * scale->gap;
    to->duration += n * t->duration * scale->duration;
    to->variance += n * t->variance * scale->variance;
}

static double ratio(double a, double b)
{
    return a > 0 && b > 0 ? a / b : 1;
}

/* The scale below `node`, a rule's: its own mean over that of its rule. */
static struct oracle_time narrow(const struct oracle_index *x, uint32_t node)
{
    const struct oracle_time *own = oracle_mean(x, node);
    const struct oracle_time rule = oracle_rule_time(x, x->grammar->nodes[node].symbol & ~GRAMMAR_RULE);
    double gap = ratio(own->gap, rule.gap), duration = ratio(own->duration, rule.duration);

    return (struct oracle_time){ gap, duration, ratio(own->variance, rule.variance) };
}

static void cast(struct question *q, const struct vote *v)
{
    q->all += v->weight;
    for (uint32_t i = 0; i < q->count; i++) {
        struct vote *w = &q->vote[i];
        if (w->terminal != v->terminal)
            continue;
        double weight = w->weight + v->weight;
        if (v->weight > w->best)
            *w = *v;
        w->weight = weight;
        return;
    }
    if (q->count < ORACLE_VOTES)
        q->vote[q->count++] = *v;
}

static void predict_arrive(struct question *q, struct walk *w, uint32_t terminal)
{
    w->vote.terminal = terminal;
    if (q->timed)
        q->walk = *w;
    else
        cast(q, &w->vote);
}

/* The last node of the rule, from `low` on, that begins at or before event `at` of the rule. */
static uint32_t predict_find_node(const struct oracle_index *x, uint32_t low, uint64_t at)
{
    const struct grammar_flat_rule *r = &x->grammar->rules[x->rule[low]];
    uint32_t high = r->first + r->length;

    if (low + 1 == high || x->before[low + 1] > at)
        return low;
    return oracle_node_between(x, low, high, at);
}

/* The event `at` events into the turns of `node`, of which `turn` were before. */
static void land(struct question *q, uint32_t node, uint64_t turn, uint64_t at, struct walk *w)
{
    const struct oracle_index *x = q->index;

    for (;;) {
        uint32_t symbol = x->grammar->nodes[node].symbol;
        uint64_t length = oracle_length(x, symbol), turns = at < length ? 0 : at / length;
        if (q->timed)
            add_scaled(&w->time, oracle_mean(x, node), (double)turns, &w->scale);
        turn += turns;
        at -= turns * length;
        if (at == 0 && !q->timed)
            symbol = oracle_first(x, symbol);
        if (!grammar_is_rule(symbol)) {
            w->node = node;
            w->turn = turn;
            predict_arrive(q, w, symbol == GRAMMAR_LOST ? GRAMMAR_NONE : symbol);
            return;
        }
        if (q->timed)
            w->scale = narrow(x, node);
        node = predict_find_node(x, x->grammar->rules[symbol & ~GRAMMAR_RULE].first, at);
        if (q->timed)
            add_scaled(&w->time, oracle_elapsed(x, node), 1, &w->scale);
        at -= x->before[node];
        turn = 0;
    }
}

/* From the end of node `n`'s turns on: `until` what is given, less what is before that end. */
static void add_rest(const struct oracle_index *x, uint32_t n, const struct oracle_time *until, struct walk *w)
{
    add_scaled(&w->time, until, 1, &w->scale);
    add_scaled(&w->time, oracle_elapsed(x, n), -1, &w->scale);
    add_scaled(&w->time, oracle_mean(x, n), -(double)x->grammar->nodes[n].exponent, &w->scale);
}

/* Climbs from the bottom frame; `distance` events remain to go. False: it ran off the top, this is what remains. */
static bool climb(struct question *q, const struct oracle_frame *frames, uint32_t depth, uint64_t *distance,
                  struct walk *w)
{
    const struct oracle_index *x = q->index;

    for (uint32_t i = depth; i-- > 0;) {
        uint32_t n = frames[i].node, rule = x->rule[n];
        uint64_t length = oracle_length(x, x->grammar->nodes[n].symbol), turns = frames[i].turn + 1;
        uint64_t effective = oracle_turns(q->reference, n), left = effective > turns ? effective - turns : 0;
        uint64_t end = x->before[n] + x->grammar->nodes[n].exponent * length;
        if (q->timed)
            w->scale = i > 0 ? narrow(x, frames[i - 1].node) : (struct oracle_time){ 1, 1, 1 };
        q->oracle->steps++;
        if (left > 0 && (*distance - 1) / length < left) {
            land(q, n, turns, *distance - 1, w);
            return true;
        }
        *distance -= left * length;
        if (q->timed)
            add_scaled(&w->time, oracle_mean(x, n), (double)left, &w->scale);
        if (*distance <= x->length[rule] - end) {
            uint64_t at = end + *distance - 1;
            uint32_t node = predict_find_node(x, n + 1, at);
            if (q->timed)
                add_rest(x, n, oracle_elapsed(x, node), w);
            land(q, node, 0, at - x->before[node], w);
            return true;
        }
        *distance -= x->length[rule] - end;
        if (q->timed) {
            struct oracle_time whole = oracle_rule_time(x, rule);
            add_rest(x, n, &whole, w);
        }
    }
    return false;
}

/* From a hypothesis to its top, and, where what is around that is not known, on at the heaviest use. */
static void climb_on(struct question *q, const struct oracle_hypothesis *h, struct walk *w)
{
    const struct oracle_index *x = q->index;
    const struct oracle_frame *frames = h->frames;
    struct oracle_frame above;
    uint64_t distance = q->distance;

    for (uint32_t depth = h->depth, level = 0; !climb(q, frames, depth, &distance, w); depth = 1, level++) {
        uint32_t rule = x->rule[frames[0].node];
        const uint32_t *use;
        if (rule == 0 || level == ORACLE_DEPTH || oracle_index_uses(x, GRAMMAR_RULE | rule, &use) == 0) {
            predict_arrive(q, w, GRAMMAR_NONE);
            return;
        }
        uint64_t half = x->grammar->nodes[use[0]].exponent / 2;
        above = (struct oracle_frame){ use[0], 1, half > 0 ? half - 1 : 0 };
        frames = &above;
    }
}

static void ask_hypothesis(struct question *q, uint32_t number)
{
    const struct oracle_hypothesis *h = &q->oracle->now[number];
    struct walk w = { .vote = { .hypothesis = number, .weight = h->weight, .best = h->weight }, .scale = { 1, 1, 1 } };

    q->index = oracle_of(q->oracle, h);
    q->reference = &q->oracle->reference[h->reference];
    if (h->depth > 0) {
        climb_on(q, h, &w);
    } else if (q->distance <= q->index->length[0]) {
        uint32_t node = predict_find_node(q->index, 0, q->distance - 1);
        if (q->timed)
            add_scaled(&w.time, oracle_elapsed(q->index, node), 1, &w.scale);
        land(q, node, 0, q->distance - 1 - q->index->before[node], &w);
    } else {
        predict_arrive(q, &w, GRAMMAR_NONE);
    }
}

void oracle_clear(struct oracle_answer *a)
{
    *a = (struct oracle_answer){ .terminal = GRAMMAR_NONE, .until = -1, .until_deviation = -1, .duration = -1,
                                 .duration_deviation = -1, .until_low = -1, .until_high = -1, .duration_low = -1,
                                 .duration_high = -1, .node = GRAMMAR_NONE };
}

/* The gap before the event itself: what this run showed at this place, else the reference's mean, rescaled. */
static double own_gap(const struct oracle_reference *ref, const struct walk *w, double factor)
{
    const struct oracle_gap_median *typical = &ref->gap_median[w->node][w->turn > 0];
    const struct oracle_turn_gaps *turn = oracle_turn_of(ref, w->node, w->turn);

    typical = turn ? oracle_turn_choose(turn, typical) : typical;
    return typical->step > 0 ? (double)typical->gap : oracle_mean(ref->index, w->node)->gap * w->scale.gap * factor;
}

static void fill_times(const struct oracle *o, const struct oracle_reference *ref, const struct walk *w,
                       struct oracle_answer *a)
{
    const struct oracle_time *mean = oracle_mean(ref->index, w->node);
    const struct grammar_stats *s = &ref->index->grammar->stats[w->node];
    double gap = oracle_gap_factor(o), duration = oracle_duration_factor(o);

    a->until = w->time.gap * gap + w->time.duration * duration + own_gap(ref, w, gap);
    if (a->until < 0) /* round-off of differences of prefix sums */
        a->until = 0;
    double own = grammar_moments_deviation(&s->gap, s->count);
    a->until_deviation = sqrt(fmax(w->time.variance, 0) + own * own) * gap;
    a->duration = mean->duration * w->scale.duration * duration;
    a->duration_deviation = grammar_moments_deviation(&s->duration, s->count) * duration;
}

/* Goes the way of `v` with times. */
static void go_again(struct question *q, const struct vote *v)
{
    q->timed = true;
    q->vote[0] = *v;
    ask_hypothesis(q, v->hypothesis);
}

/* From the way that was gone with times. */
static void predict_fill(const struct question *q, struct oracle_answer *a)
{
    const struct vote *v = &q->walk.vote;
    const struct oracle_hypothesis *h = &q->oracle->now[v->hypothesis];

    *a = (struct oracle_answer){ .terminal = v->terminal, .reference = h->reference, .node = q->walk.node,
                                 .turn = q->walk.turn };
    fill_times(q->oracle, &q->oracle->reference[h->reference], &q->walk, a);
}

static void start(struct question *q, struct oracle *o, uint64_t distance)
{
    q->oracle = o;
    q->distance = distance;
    q->timed = false;
    q->count = 0;
    q->all = 0;
}

/* There is one hypothesis and one way. */
static double ask_only(struct question *q, bool timed, struct oracle_answer *answer)
{
    q->timed = timed;
    ask_hypothesis(q, 0);
    const struct vote *v = timed ? &q->walk.vote : &q->vote[0];
    if (v->terminal == GRAMMAR_NONE)
        return 0;
    answer->terminal = v->terminal;
    if (timed)
        predict_fill(q, answer);
    return 1;
}

/* The reference's answer: the terminals' votes are summed. `timed`: with its times, else the terminal only. Returns its
   share of the weight. */
static double ask_reference(struct oracle *o, uint64_t distance, bool timed, struct oracle_answer *answer)
{
    struct question q;
    const struct vote *best = NULL;

    start(&q, o, distance);
    oracle_clear(answer);
    if (o->count == 1 && oracle_rooted(o, &o->now[0]))
        return ask_only(&q, timed, answer);
    double lightest = o->count ? ORACLE_MATTERS * oracle_heaviest(o)->weight : 0;
    for (uint32_t i = 0; i < o->count; i++)
        if (o->now[i].weight >= lightest)
            ask_hypothesis(&q, i);
    for (uint32_t i = 0; i < q.count; i++)
        if (!best || q.vote[i].weight > best->weight)
            best = &q.vote[i];
    if (!best || best->terminal == GRAMMAR_NONE)
        return 0;
    double share = best->weight / q.all;
    answer->terminal = best->terminal;
    if (timed) {
        go_again(&q, best);
        predict_fill(&q, answer);
    }
    return share;
}

int oracle_ask(struct oracle *o, uint64_t distance, struct oracle_answer *answer, struct oracle_opinion *opinion)
{
    oracle_clear(answer);
    if (distance == 0)
        return 1;
    double share = ask_reference(o, distance, opinion->timed, answer);
    oracle_mix(o, distance, share, answer, opinion);
    return answer->terminal == GRAMMAR_NONE;
}

int oracle_predict(struct oracle *o, uint64_t distance, struct oracle_answer *answer)
{
    struct oracle_opinion opinion = { .timed = true };
    return oracle_ask(o, distance, answer, &opinion);
}

void oracle_bound(struct oracle *o, uint64_t distance, struct oracle_answer *answer)
{
    if (answer->terminal != GRAMMAR_NONE)
        oracle_interval_answer(&o->intervals, distance, answer);
}

const struct oracle_index *oracle_reference(const struct oracle *o, uint32_t reference)
{
    return reference < o->references ? o->reference[reference].index : NULL;
}

/* --- The answer of some --- */

int oracle_ask_some(struct oracle *o, uint64_t distance, const uint64_t *at, const uint8_t *set,
                    struct oracle_answer *answer, double *weight)
{
    struct question q;
    const struct vote *best = NULL;

    start(&q, o, distance);
    for (uint32_t i = 0; i < o->count; i++)
        if (at[i] == distance)
            ask_hypothesis(&q, i);
    for (uint32_t i = 0; i < q.count; i++)
        if (q.vote[i].terminal < o->terminals && set[q.vote[i].terminal] && (!best || q.vote[i].weight > best->weight))
            best = &q.vote[i];
    if (!best)
        return 1;
    *weight = best->weight;
    go_again(&q, best);
    predict_fill(&q, answer);
    return 0;
}
