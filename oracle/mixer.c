/* SPDX-License-Identifier: MIT */
/*
 * One answer of many voters: the position in a reference, the matches, and the last few events of each order (past.h).
 *
 * What a vote is worth is learned in one table: how often such votes were right lately, by voter, by distance and by
 * how sure it was. Its log odds count for the terminal that it says, times a weight of its voter at that distance. The
 * weights are learned where voters differ, by the gradient of how likely their sum made what came (as PAQ mixes models:
 * Mahoney, "Adaptive Weighing of Context Models for Lossless Data Compression", 2005): voters that know the same count
 * half, and one that is mostly right where all are right counts for little. How often the answer was right, by the
 * best vote for it and its share of all, is one more row of the table: that is the probability that is said.
 *
 * While the position is nearly always right, the past is not asked; while it has been for long, or from the start, the
 * past sleeps. A silent one is judged too, so it can come back.
 */
#include <math.h>
#include <string.h>

#include "oracle/internal.h"

enum {
    LATELY = 512,  /* judgements that an entry remembers */
    PRIOR = 4,     /* judgements that it begins with */
    ASLEEP = 1024, /* events in a row that the reference foresaw: enough to sleep */
    STREAKS = 10,  /* the position by events foreseen in a row: 0-1, 2-3, 4-7, … */
    STRENGTHS = 16 /* an answer by the evidence of the best vote for it */
};
/* The position answers alone from here on. At distance 1 that is the fast path, worth a little accuracy. */
static const double sure[ORACLE_BUCKETS] = { 0.97, 0.98, 0.98, 0.98, 0.98 };
#define LEAST_ODDS 5e-4f   /* nothing is surer, or less sure */
#define NOTHING -2.0f      /* log odds that are no evidence */
#define MOST_EVIDENCE 10.0f /* more than there is */
#define WEIGHT 0.6f        /* of a voter at first … */
#define WEIGHT_POSITION 0.8f
#define WEIGHT_CONTEXT 0.2f /* … of which there are several that know much the same */
#define LEAST_WEIGHT 0.02f
#define STEP 0.015f        /* of the weights up the gradient, at first; … */
#define STEPS 64.0f        /* … after so many they get shorter, as the root of their number */

static uint32_t bucket_of(uint64_t distance)
{
    return distance == 1 ? 0 : distance < 8 ? 1 : distance < 32 ? 2 : distance < 96 ? 3 : 4;
}

/* --- The table --- */

static double worth(const struct oracle_trust *t)
{
    return (double)t->right / (double)t->total;
}

static struct oracle_trust trust_of(float right, float total)
{
    float p = right / total, yes = p > LEAST_ODDS ? p : LEAST_ODDS, no = 1 - p > LEAST_ODDS ? 1 - p : LEAST_ODDS;
    float evidence = logf(yes / no) - NOTHING;

    return (struct oracle_trust){ right, total, evidence > 0 ? evidence : 0 };
}

static void mixer_learn(struct oracle_trust *t, double n, bool right)
{
    float total = t->total + (float)n, sum = t->right + (right ? (float)n : 0);
    float keep = total > LATELY ? LATELY / 2 / total : 1;

    *t = trust_of(sum * keep, total * keep);
}

static uint32_t position_state(const struct oracle *o, double share)
{
    uint32_t streak = oracle_log_class((o->mixer.streak + o->fast) / 2, STREAKS);

    return streak * ORACLE_SHARES + oracle_share_class(share);
}

static double position_prior(uint32_t state)
{
    const double share[ORACLE_SHARES] = { 0.2, 0.45, 0.7, 1 };
    double n = (double)(1u << state / ORACLE_SHARES);

    return share[state % ORACLE_SHARES] * (1 - 0.3 / (1 + n / 16));
}

static double said_prior(uint32_t state)
{
    const double share[ORACLE_SHARES] = { 0.6, 0.7, 0.8, 1 };
    double odds = (state / ORACLE_SHARES + 0.5) * (double)MOST_EVIDENCE / STRENGTHS + (double)NOTHING;

    return share[state % ORACLE_SHARES] / (1 + exp(-odds));
}

static double prior(uint32_t source, uint32_t state)
{
    return source == ORACLE_POSITION ? position_prior(state) : source == ORACLE_SAID ? said_prior(state)
                                                             : oracle_past_prior((int)source - ORACLE_PAST, state);
}

void oracle_mixer_create(struct oracle *o)
{
    struct oracle_mixer *m = &o->mixer;

    for (uint32_t b = 0; b < ORACLE_BUCKETS; b++) {
        for (uint32_t v = 0; v < ORACLE_SOURCES; v++)
            for (uint32_t s = 0; s < ORACLE_STATES; s++)
                m->trust[v][b][s] = trust_of(PRIOR * (float)prior(v, s), PRIOR);
        for (uint32_t v = 0; v < ORACLE_VOTERS; v++)
            m->weight[b][v] = v == ORACLE_POSITION ? WEIGHT_POSITION : v < ORACLE_CONTEXTS ? WEIGHT : WEIGHT_CONTEXT;
    }
    m->streak = o->references ? ASLEEP : 0; /* trusted until its first miss */
    oracle_mixer_follow(o);
}

/* --- Asking --- */

double oracle_position_worth(const struct oracle *o, uint64_t distance, double share)
{
    return share > 0 ? worth(&o->mixer.trust[ORACLE_POSITION][bucket_of(distance)][position_state(o, share)]) : 0;
}

/* Terminals that were voted for: what counts for each, the best vote, and who was the first. */
struct ballot { uint32_t terminal; float sum, best; int voter; };

/* Of the first `voters`. */
static int count_votes(const struct oracle_mixer *m, uint32_t bucket, const struct oracle_opinion *p, int voters,
                       struct ballot ballot[ORACLE_VOTERS])
{
    int count = 0;

    for (int v = 0; v < voters; v++) {
        int c = 0;
        if (p->said[v] == GRAMMAR_NONE)
            continue;
        float evidence = m->trust[v][bucket][p->state[v]].evidence;
        while (c < count && ballot[c].terminal != p->said[v])
            c++;
        if (c == count)
            ballot[count++] = (struct ballot){ p->said[v], 0, 0, v };
        ballot[c].sum += m->weight[bucket][v] * evidence;
        ballot[c].best = evidence > ballot[c].best ? evidence : ballot[c].best;
    }
    return count;
}

/* The first voter of those that say what counts most, -1: nobody knows; its state as an answer. */
static int elect(const struct oracle_mixer *m, uint32_t bucket, const struct oracle_opinion *p, int voters,
                 uint32_t *state)
{
    struct ballot ballot[ORACLE_VOTERS];
    int count = count_votes(m, bucket, p, voters, ballot), best = 0;
    float all = 0;

    if (count == 0)
        return -1;
    for (int c = 1; c < count; c++)
        if (ballot[c].sum > ballot[best].sum)
            best = c;
    for (int c = 0; c < count; c++)
        all += ballot[c].sum;
    *state = (uint32_t)(ballot[best].best / MOST_EVIDENCE * STRENGTHS) * ORACLE_SHARES +
             oracle_share_class(all > 0 ? (double)(ballot[best].sum / all) : 0);
    return ballot[best].voter;
}

static void ask_past(struct oracle *o, uint64_t distance, struct oracle_opinion *p)
{
    struct oracle_past *past = o->mixer.past;

    if (past->here.next != past->history.count)
        oracle_past_follow(past);
    for (int v = 0; v < ORACLE_PAST_VOTERS; v++) {
        struct oracle_vote vote = oracle_past_vote(past, v, distance);
        p->said[ORACLE_PAST + v] = vote.terminal;
        p->state[ORACLE_PAST + v] = (uint8_t)vote.state;
    }
}

/* Times of a reference are rescaled as those of the position are. */
static void answer_past(const struct oracle *o, int voter, uint64_t distance, struct oracle_answer *answer)
{
    const struct oracle_past_time t = oracle_past_time(o->mixer.past, voter - ORACLE_PAST, distance, answer->terminal);
    double until = t.fixed ? oracle_gap_factor(o) : 1, duration = t.fixed ? oracle_duration_factor(o) : 1;

    *answer = (struct oracle_answer){ .terminal = answer->terminal, .until = t.until * until, .until_deviation = -1,
                                      .duration = t.duration * duration, .duration_deviation = -1,
                                      .reference = GRAMMAR_NONE, .node = GRAMMAR_NONE };
}

/* The time until the next event is the gap in contexts like this one, where that was nearer lately. */
static void answer_gap(struct oracle *o, int voter, struct oracle_answer *answer)
{
    struct oracle_mixer *m = &o->mixer;
    const struct oracle_gap_answer context = oracle_past_gap(m->past, answer->terminal);

    if (context.gap < 0)
        return;
    m->gap.errors = &m->gap_errors[voter == ORACLE_POSITION && o->dead_reckoning ? ORACLE_VOTERS : voter];
    m->gap.own = answer->until;
    m->gap.context = context.gap;
    if (oracle_gap_context_wins(m->gap.errors, &context))
        answer->until = context.gap;
}

void oracle_mix(struct oracle *o, uint64_t distance, double share, struct oracle_answer *answer,
                struct oracle_opinion *opinion)
{
    uint32_t bucket = bucket_of(distance), state;
    bool awake = o->mixer.past && !o->mixer.asleep;
    bool past = awake && oracle_position_worth(o, distance, share) < sure[bucket];

    memset(opinion->said, 0xff, sizeof opinion->said);
    opinion->said[ORACLE_POSITION] = answer->terminal;
    opinion->state[ORACLE_POSITION] = (uint8_t)position_state(o, share);
    if (past || (opinion->all && awake))
        ask_past(o, distance, opinion);
    int winner = elect(&o->mixer, bucket, opinion, past ? ORACLE_VOTERS : 1, &state);
    if (winner < 0)
        return;
    opinion->said[ORACLE_SAID] = answer->terminal = opinion->said[winner];
    opinion->state[ORACLE_SAID] = (uint8_t)state;
    if (winner != ORACLE_POSITION && opinion->timed)
        answer_past(o, winner, distance, answer);
    if (past && opinion->timed && distance == 1 && answer->until >= 0)
        answer_gap(o, winner, answer);
    answer->probability = worth(&o->mixer.trust[ORACLE_SAID][bucket][state]);
}

/* --- Learning --- */

/* One step up the gradient of the log of the share that what came had. */
static void learn_weights(struct oracle_mixer *m, uint32_t bucket, const struct oracle_opinion *p, uint32_t terminal)
{
    struct ballot ballot[ORACLE_VOTERS];
    int count = count_votes(m, bucket, p, ORACLE_VOTERS, ballot);
    float all = 1, share[ORACLE_VOTERS], step = STEP;

    if (count < 2)
        return;
    if (m->steps[bucket]++ > (uint32_t)STEPS)
        step *= sqrtf(STEPS / (float)m->steps[bucket]);
    for (int c = 0; c < count; c++)
        all += share[c] = expf(ballot[c].sum < 40 ? ballot[c].sum : 40);
    for (int v = 0; v < ORACLE_VOTERS; v++) {
        float *w = &m->weight[bucket][v];
        int c = 0;
        if (p->said[v] == GRAMMAR_NONE)
            continue;
        while (ballot[c].terminal != p->said[v])
            c++;
        float error = (p->said[v] == terminal) - share[c] / all;
        *w += step * error * m->trust[v][bucket][p->state[v]].evidence;
        *w = *w > LEAST_WEIGHT ? *w : LEAST_WEIGHT;
    }
}

void oracle_mixer_judge(struct oracle *o, uint64_t distance, const struct oracle_opinion *p, uint32_t terminal)
{
    uint32_t bucket = bucket_of(distance);

    learn_weights(&o->mixer, bucket, p, terminal);
    for (int s = 0; s < ORACLE_SOURCES; s++)
        if (p->said[s] != GRAMMAR_NONE)
            mixer_learn(&o->mixer.trust[s][bucket][p->state[s]], 1, p->said[s] == terminal);
}

void oracle_mixer_judge_gap(struct oracle_mixer *m, uint64_t gap)
{
    if (m->gap.errors)
        oracle_gap_errors_learn(m->gap.errors, m->gap.own, m->gap.context, gap);
}

void oracle_mixer_foreseen(struct oracle *o, bool foreseen)
{
    o->mixer.streak = foreseen ? o->mixer.streak + 1 : 0;
}

double oracle_mixer_hits(struct oracle *o, uint64_t n)
{
    const struct oracle_opinion p = { .said = { 0 }, .state = { (uint8_t)position_state(o, 1) } };
    uint32_t state;

    elect(&o->mixer, 0, &p, 1, &state);
    struct oracle_trust *said = &o->mixer.trust[ORACLE_SAID][0][state];
    double probability = worth(said);
    if (oracle_sure(o)) {
        mixer_learn(said, (double)n, true);
        mixer_learn(&o->mixer.trust[ORACLE_POSITION][0][p.state[ORACLE_POSITION]], (double)n, true);
    }
    o->mixer.streak += n;
    return probability;
}

void oracle_mixer_store(struct oracle *o, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    struct oracle_past *past = o->mixer.past;

    oracle_past_store(past, terminal, gap, duration);
    if (!o->mixer.asleep && past->history.preloaded < past->history.fixed)
        oracle_preload_more(o);
    if (o->mixer.streak == 0)
        oracle_past_follow(past);
}

void oracle_mixer_follow(struct oracle *o)
{
    static const uint64_t distance[ORACLE_BUCKETS] = { 1, 4, 16, 64, 128 };
    struct oracle_mixer *m = &o->mixer;

    m->sure = !m->past || oracle_position_worth(o, 1, 1) >= sure[0];
    m->asleep = m->streak >= ASLEEP;
    for (uint32_t b = 0; m->asleep && b < ORACLE_BUCKETS; b++)
        m->asleep = oracle_position_worth(o, distance[b], 1) >= sure[b];
    m->sure |= m->asleep;
}
