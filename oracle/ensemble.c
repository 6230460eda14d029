/* SPDX-License-Identifier: MIT */
/*
 * Several sources, one answer. The reference answers from a position; the past from the places that resemble the
 * present, and from what usually follows. How much each is worth is learned: a table of how often its first choice was
 * right lately, by distance, by how sure it was and by how long it has held (the position: events in a row that it
 * foresaw, and whether a loop ends before; matches: their length). Those that know the past vote by it,
 * and what they agree on is a source of its own; so it is known whether it or the position is better here. Where
 * neither is good, all vote. A silent one is learned about too, so it can come back.
 *
 * While the reference has been right for long, or from the start, the past sleeps and is not asked.
 */
#include "oracle/internal.h"

enum {
    LATELY = 512,                        /* judgements that an entry remembers */
    DIFFERENCES = 48,                    /* … that rivals remember: the program may change */
    LONG = 256,                          /* events in a row that the reference foresaw: not by chance */
    JUST = 4,                            /* events since the position missed */
    ASLEEP = 1024                        /* events in a row that the reference foresaw: enough to sleep */
};
/* The reference answers alone from here on. At distance 1 that is the fast path, worth a little accuracy. */
static const double sure[ORACLE_BUCKETS] = { 0.95, 0.98, 0.98, 0.98, 0.98 };
#define MARGIN 0.02     /* among equals the first one stays: worths are estimates */
#define USUAL_TOO 0.3   /* what the second source of what is usual adds */
#define PRESUMED 2      /* differences that the rivals' worths stand for, before there are any */

static const struct oracle_said certain = { 1, false };

static uint32_t bucket_of(uint64_t distance)
{
    return distance == 1 ? 0 : distance < 8 ? 1 : distance < 32 ? 2 : distance < 96 ? 3 : 4;
}

static uint32_t share_class(double share)
{
    return share < 0.4 ? 0 : share < 0.7 ? 1 : share < 0.95 ? 2 : 3;
}

static uint32_t log_class(uint64_t n, uint32_t classes)
{
    uint32_t log = n ? 64 - (uint32_t)__builtin_clzll(n) : 0;
    return log < classes ? log : classes - 1;
}

static double worth(const struct oracle_trust *t)
{
    return (double)t->right / (double)t->total;
}

static void learn(struct oracle_trust *t, double n, bool right)
{
    t->total += (float)n;
    t->right += right ? (float)n : 0;
    if (t->total > LATELY) {
        float keep = LATELY / 2 / t->total;
        t->total *= keep;
        t->right *= keep;
    }
}

static struct oracle_trust *trust_position(const struct oracle *o, uint32_t bucket, const struct oracle_said *said)
{
    struct oracle_ensemble *m = o->ensemble;
    return &m->position[said->left][bucket][share_class(said->share)]
                       [log_class((m->streak + o->fast) / 2, ORACLE_STREAKS)];
}

/* `source`: any but the position. */
static struct oracle_trust *trust_past(const struct oracle *o, int source, uint32_t bucket,
                                       const struct oracle_match_answer *a)
{
    struct oracle_ensemble *m = o->ensemble;
    uint32_t share = (uint32_t)(a->share * ORACLE_SHARES_USUAL);

    if (source == ORACLE_MATCH)
        return &m->match[bucket][share_class(a->share)][log_class(a->length, ORACLE_LENGTHS)];
    return &m->usual[source - ORACLE_USUAL][bucket][share < ORACLE_SHARES_USUAL ? share : ORACLE_SHARES_USUAL - 1];
}

/* --- Life --- */

static void set_priors(struct oracle_ensemble *m)
{
    const float share[ORACLE_SHARES] = { 0.2f, 0.45f, 0.7f, 0.9f };

    for (int b = 0; b < ORACLE_BUCKETS; b++) {
        for (int s = 0; s < ORACLE_SHARES; s++) {
            for (int i = 0; i < ORACLE_STREAKS; i++)
                m->position[0][b][s][i] = m->position[1][b][s][i] = (struct oracle_trust){ 2 * share[s], 2 };
            for (int i = 0; i < ORACLE_LENGTHS; i++) { /* a past of 64 events and more is hardly chance */
                float likely = i < 7 ? 0.3f + 0.07f * (float)i : 1.04f;
                m->match[b][s][i] = (struct oracle_trust){ 4 * share[s] * likely, 4 };
            }
        }
        for (int s = 0; s < ORACLE_SHARES_USUAL; s++)
            for (int agreed = 0; agreed < 2; agreed++)
                for (int missed = 0; missed < 2; missed++) {
                    float likely = ((float)s + 0.5f) / ORACLE_SHARES_USUAL * (missed ? 0.8f : 1);
                    m->together[b][missed][agreed][s] = (struct oracle_trust){ 4 * likely, 4 };
                }
        for (int w = 0; w < ORACLE_MATCH_FREQUENCIES; w++)
            for (int s = 0; s < ORACLE_SHARES_USUAL; s++)
                m->usual[w][b][s] = (struct oracle_trust){ 1.6f * ((float)s + 0.25f) / ORACLE_SHARES_USUAL, 2 };
    }
}

size_t oracle_ensemble_room(size_t memory)
{
    return sizeof(struct oracle_ensemble) + oracle_match_room(memory);
}

struct oracle_ensemble *oracle_ensemble_create(struct base_arena *room, size_t memory, uint64_t events)
{
    struct oracle_ensemble *m = base_arena_take(room, sizeof *m);

    if (!m)
        return NULL;
    m->past = oracle_match_create(room, memory > sizeof *m ? memory - sizeof *m : 0, events);
    m->missed = events == 0;
    m->asleep = m->sure = events > 0; /* trusted until its first miss */
    set_priors(m);
    return m->past ? m : NULL;
}

/* --- Asking --- */

/* Times of a reference are rescaled as those of the position are. */
static void answer_match(const struct oracle *o, struct oracle_answer *answer, const struct oracle_match_answer *match)
{
    double until = match->fixed ? oracle_gap_factor(o) : 1, duration = match->fixed ? oracle_duration_factor(o) : 1;

    *answer = (struct oracle_answer){ .terminal = match->terminal, .until = match->until * until, .until_deviation = -1,
                                      .duration = match->duration * duration, .duration_deviation = -1,
                                      .reference = GRAMMAR_NONE, .node = GRAMMAR_NONE };
}

static int ask_past(struct oracle_matcher *past, int source, uint64_t distance, struct oracle_match_answer *match)
{
    return source == ORACLE_MATCH ? oracle_match_ask(past, distance, match)
                                  : oracle_match_frequent(past, source - ORACLE_USUAL, distance, match);
}

/* What the sources that say the same as source `s` are worth together: the sum of the cubes, so that a good one
   outweighs two that are not; those that ask what is usual know much the same, so that a second one adds less. */
static double together(const struct oracle_opinion *opinion, const double *value, int s)
{
    double all = 0;
    bool usual = false;

    for (int r = ORACLE_MATCH; r < ORACLE_PAST; r++) {
        if (!opinion->trust[r] || opinion->said[r] != opinion->said[s])
            continue;
        all += value[r] * value[r] * value[r] * (usual ? USUAL_TOO : 1);
        usual = r >= ORACLE_USUAL;
    }
    return all;
}

/* The sources of the past vote. The first of those that win, -1: they know nothing. */
static int elect(const struct oracle_opinion *opinion, const double *value)
{
    double most = 0;
    int winner = -1;

    for (int s = ORACLE_MATCH; s < ORACLE_PAST; s++) {
        double all = opinion->trust[s] ? together(opinion, value, s) : 0;
        if (all > most * (1 + MARGIN)) {
            most = all;
            winner = s;
        }
    }
    return winner;
}

/* The worth of the best of those that say the same as the winner. */
static double best_of(const struct oracle_opinion *opinion, const double *value, int winner)
{
    double best = 0;

    for (int s = 0; s < ORACLE_PAST && winner >= 0; s++)
        if (opinion->trust[s] && opinion->said[s] == opinion->said[winner] && value[s] > best)
            best = value[s];
    return best;
}

/* The sources other than the position make one answer. How much it is worth is learned, by what the best of them is
   worth and whether they agree. */
static int elect_past(struct oracle_ensemble *m, uint32_t bucket, bool missed, struct oracle_opinion *opinion,
                      const double *value)
{
    int winner = elect(opinion, value);
    uint32_t class = (uint32_t)(best_of(opinion, value, winner) * ORACLE_SHARES_USUAL);
    bool agreed = true;

    if (winner < 0)
        return winner;
    for (int s = ORACLE_MATCH; s < ORACLE_PAST; s++)
        agreed &= !opinion->trust[s] || opinion->said[s] == opinion->said[winner];
    class = class < ORACLE_SHARES_USUAL ? class : ORACLE_SHARES_USUAL - 1;
    opinion->said[ORACLE_PAST] = opinion->said[winner];
    opinion->trust[ORACLE_PAST] = &m->together[bucket][missed][agreed][class];
    return winner;
}

/* Whether the past answers, not the position: it knows and the other does not, or was right more often where they
   differed. */
static bool past_wins(struct oracle_ensemble *m, uint32_t bucket, uint64_t streak, struct oracle_opinion *opinion)
{
    const struct oracle_trust *position = opinion->trust[ORACLE_POSITION], *past = opinion->trust[ORACLE_PAST];

    if (!position || !past || opinion->said[ORACLE_POSITION] == opinion->said[ORACLE_PAST])
        return past && !position;
    opinion->rivals = &m->rivals[bucket][streak >= LONG];
    const struct oracle_rivals *r = opinion->rivals;
    return (double)r->past + PRESUMED * worth(past) > (double)r->position + PRESUMED * worth(position);
}

/* The time until the next event is the gap in contexts like this one, where that was nearer lately. */
static void answer_gap(struct oracle *o, int source, struct oracle_answer *answer)
{
    struct oracle_ensemble *m = o->ensemble;
    enum oracle_timing reference = o->dead_reckoning ? ORACLE_TIMED_RECKONING : ORACLE_TIMED_POSITION;
    enum oracle_timing past = source == ORACLE_MATCH ? ORACLE_TIMED_MATCH : ORACLE_TIMED_USUAL;
    const struct oracle_gap_answer context = oracle_match_gap(m->past, answer->terminal);

    if (context.gap < 0)
        return;
    m->gap.errors = &m->gap_errors[source == ORACLE_POSITION ? reference : past];
    m->gap.own = answer->until;
    m->gap.context = context.gap;
    if (oracle_gap_context_wins(m->gap.errors, &context))
        answer->until = context.gap;
}

void oracle_ensemble_ask(struct oracle *o, uint64_t distance, const struct oracle_said *said, bool choose,
                    struct oracle_answer *answer, double *raw, struct oracle_opinion *opinion)
{
    uint32_t bucket = bucket_of(distance);
    struct oracle_match_answer match[ORACLE_PAST];
    double value[ORACLE_PAST] = { 0 };

    opinion->said[ORACLE_POSITION] = answer->terminal;
    if (answer->terminal != GRAMMAR_NONE) {
        opinion->trust[ORACLE_POSITION] = trust_position(o, bucket, said);
        value[ORACLE_POSITION] = worth(opinion->trust[ORACLE_POSITION]);
    }
    if (!choose && !opinion->all)
        return;
    if (o->ensemble->past->here.next != o->ensemble->past->history.count)
        oracle_match_follow(o->ensemble->past, false);
    for (int s = ORACLE_MATCH; s < ORACLE_PAST; s++) {
        if (ask_past(o->ensemble->past, s, distance, &match[s]) != 0)
            continue;
        opinion->said[s] = match[s].terminal;
        opinion->trust[s] = trust_past(o, s, bucket, &match[s]);
        value[s] = worth(opinion->trust[s]);
    }
    uint64_t streak = o->ensemble->streak + o->fast;
    int elected = elect_past(o->ensemble, bucket, streak < JUST, opinion, value);
    bool past = past_wins(o->ensemble, bucket, streak, opinion);
    if (!choose)
        return;
    *raw = best_of(opinion, value, past ? elected : ORACLE_POSITION);
    if (past)
        answer_match(o, answer, &match[elected]);
    if (distance == 1 && answer->until >= 0)
        answer_gap(o, past ? elected : ORACLE_POSITION, answer);
}

double oracle_raw(const struct oracle *o, uint64_t distance, const struct oracle_said *said)
{
    if (said->share <= 0 || !o->ensemble || !o->ensemble->missed)
        return said->share * oracle_stay(o, distance);
    return worth(trust_position(o, bucket_of(distance), said));
}

bool oracle_ensemble_needed(const struct oracle *o, uint64_t distance, const struct oracle_said *said)
{
    uint32_t bucket = bucket_of(distance);

    return o->ensemble && !o->ensemble->asleep &&
           (said->share <= 0 || worth(trust_position(o, bucket, said)) < sure[bucket]);
}

/* --- Learning --- */

static void compare(struct oracle_rivals *r, bool position, bool past)
{
    r->position += position ? 1 : 0;
    r->past += past ? 1 : 0;
    if (r->position + r->past > DIFFERENCES) {
        r->position /= 2;
        r->past /= 2;
    }
}

void oracle_ensemble_judge(const struct oracle_opinion *p, uint32_t terminal)
{
    for (int s = 0; s < ORACLE_SOURCES; s++)
        if (p->trust[s])
            learn(p->trust[s], 1, p->said[s] == terminal);
    if (p->rivals)
        compare(p->rivals, p->said[ORACLE_POSITION] == terminal, p->said[ORACLE_PAST] == terminal);
}

void oracle_ensemble_judge_gap(struct oracle_ensemble *m, uint64_t gap)
{
    if (m->gap.errors)
        oracle_gap_errors_learn(m->gap.errors, m->gap.own, m->gap.context, gap);
}

void oracle_ensemble_foreseen(struct oracle *o, bool foreseen)
{
    o->ensemble->streak = foreseen ? o->ensemble->streak + 1 : 0;
    o->ensemble->missed |= !foreseen;
}

void oracle_ensemble_hits(struct oracle *o, uint64_t n)
{
    const struct oracle_said left = { 1, true };

    if (oracle_sure(o)) {
        learn(trust_position(o, 0, &certain), (double)(n - o->left), true);
        learn(trust_position(o, 0, &left), (double)o->left, true);
    }
    o->ensemble->streak += n;
}

static bool sure_at_all_distances(const struct oracle *o)
{
    for (uint32_t b = 0; b < ORACLE_BUCKETS; b++)
        if (worth(trust_position(o, b, &certain)) < sure[b])
            return false;
    return true;
}

void oracle_ensemble_store(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    struct oracle_ensemble *m = o->ensemble;

    oracle_match_store(m->past, terminal, gap, duration);
    if (m->missed && m->past->history.preloaded < m->past->history.fixed)
        oracle_preload_more(o);
    if (m->streak == 0)
        oracle_match_follow(m->past, true);
}

void oracle_ensemble_follow(struct oracle *o)
{
    struct oracle_ensemble *m = o->ensemble;

    m->asleep = !m->missed || (m->streak >= ASLEEP && sure_at_all_distances(o));
    m->sure = m->asleep || worth(trust_position(o, 0, &certain)) >= sure[0];
}
