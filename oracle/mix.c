/* SPDX-License-Identifier: MIT */
/*
 * Two sources, one answer. The reference answers from a position, the live past of this run from what it resembles. How
 * much each is worth is learned: a table of how often its first choice was right lately, by distance, by how sure it was
 * and by how long it has held (the reference: events in a row that it foresaw; the past: length of the match). The one
 * whose entry is higher answers; a silent one is learned about too, so it can come back.
 *
 * While the reference has been right for long, or from the start, the past sleeps and is not asked.
 */
#include <stdlib.h>

#include "oracle/internal.h"

enum {
    LATELY = 256,                        /* judgements that an entry remembers */
    ASLEEP = 1024,                       /* events in a row that the reference foresaw: enough to sleep */
    CLOSE = 4, HALFWAY = 8, APART = 32,  /* events between samples: the less is foreseen, the closer */
    UNSETTLED = 64, HELD = 256           /* … where fewer than this were foreseen in a row */
};
/* The reference answers alone from here on. At distance 1 that is the fast path, worth a little accuracy. */
static const double sure[ORACLE_BUCKETS] = { 0.95, 0.98, 0.98, 0.98, 0.98 };
#define MARGIN 0.02 /* the past has to be better by that much: both are estimates */

static const uint32_t trained_at[ORACLE_BUCKETS] = { 1, 4, 16, 64, 128 };

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

static struct oracle_trust *trust_reference(const struct oracle *o, uint32_t bucket, double share)
{
    struct oracle_mix *m = o->mix;
    return &m->reference[bucket][share_class(share)][log_class(m->streak / 2, ORACLE_STREAKS)];
}

static struct oracle_trust *trust_live(const struct oracle *o, uint32_t bucket, double share, uint64_t length)
{
    return &o->mix->live[bucket][share_class(share)][log_class(length, ORACLE_LENGTHS)];
}

/* --- Life --- */

static void set_priors(struct oracle_mix *m)
{
    const float share[ORACLE_SHARES] = { 0.2f, 0.45f, 0.7f, 0.9f };

    for (int b = 0; b < ORACLE_BUCKETS; b++)
        for (int s = 0; s < ORACLE_SHARES; s++) {
            for (int i = 0; i < ORACLE_STREAKS; i++)
                m->reference[b][s][i] = (struct oracle_trust){ 2 * share[s], 2 };
            for (int i = 0; i < ORACLE_LENGTHS; i++)
                m->live[b][s][i] = (struct oracle_trust){ 2 * share[s] * (0.3f + 0.06f * (float)i), 2 };
        }
}

struct oracle_mix *oracle_mix_create(size_t memory, bool reference)
{
    struct oracle_mix *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->past = oracle_live_create(memory > sizeof *m ? memory - sizeof *m : 0);
    m->missed = !reference;
    m->asleep = m->sure = reference; /* trusted until its first miss */
    set_priors(m);
    if (m->past)
        return m;
    free(m);
    return NULL;
}

void oracle_mix_destroy(struct oracle_mix *m)
{
    if (m)
        oracle_live_destroy(m->past);
    free(m);
}

/* --- Asking --- */

static void answer_live(struct oracle_answer *answer, const struct oracle_live_answer *live)
{
    *answer = (struct oracle_answer){ .terminal = live->terminal, .until = live->until, .until_deviation = -1,
                                      .duration = live->duration, .duration_deviation = -1,
                                      .reference = GRAMMAR_NONE, .node = GRAMMAR_NONE };
}

void oracle_mix_ask(struct oracle *o, uint64_t distance, double share, bool choose, struct oracle_answer *answer,
                    double *raw, struct oracle_opinion *opinion)
{
    uint32_t bucket = bucket_of(distance);
    struct oracle_live_answer live;
    double reference = 0, value = 0;

    *opinion = (struct oracle_opinion){ .reference = answer->terminal, .live = GRAMMAR_NONE };
    if (answer->terminal != GRAMMAR_NONE) {
        opinion->reference_trust = trust_reference(o, bucket, share);
        reference = worth(opinion->reference_trust);
    }
    if (oracle_live_ask(o->mix->past, distance, &live) == 0) {
        opinion->live = live.terminal;
        opinion->live_trust = trust_live(o, bucket, live.share, live.length);
        value = worth(opinion->live_trust);
    }
    if (!choose)
        return;
    *raw = value > reference ? value : reference;
    if (live.terminal != answer->terminal && value > reference + MARGIN)
        answer_live(answer, &live);
}

bool oracle_mix_needed(const struct oracle *o, uint64_t distance, double share)
{
    uint32_t bucket = bucket_of(distance);

    return o->mix && !o->mix->asleep && (share <= 0 || worth(trust_reference(o, bucket, share)) < sure[bucket]);
}

/* --- Learning --- */

static void judge(const struct oracle_opinion *p, uint32_t terminal)
{
    if (p->reference_trust)
        learn(p->reference_trust, 1, p->reference == terminal);
    if (p->live_trust)
        learn(p->live_trust, 1, p->live == terminal);
}

/* Before event number `events` is followed: what was said of it. */
void oracle_mix_judge(struct oracle *o, const struct oracle_opinion *now, uint32_t terminal)
{
    struct oracle_mix *m = o->mix;
    bool foreseen = now->reference == terminal && terminal != GRAMMAR_NONE;

    judge(now, terminal);
    m->streak = foreseen ? m->streak + 1 : 0;
    m->missed |= !foreseen;
    for (uint32_t b = 1; b < ORACLE_BUCKETS; b++)
        for (; m->first[b] < m->last[b]; m->first[b]++) {
            const struct oracle_opinion *p = &m->pending[b][m->first[b] % ORACLE_OPINIONS];
            if (p->at > o->score.events)
                break;
            if (p->at == o->score.events)
                judge(p, terminal);
        }
}

void oracle_mix_hits(struct oracle *o, uint64_t n)
{
    learn(trust_reference(o, 0, 1), (double)n, true);
    o->mix->streak += n;
}

/* Asks, to be judged later: one distance at a time. */
static void sample(struct oracle *o)
{
    struct oracle_mix *m = o->mix;
    uint32_t b = 1 + m->turn++ % (ORACLE_BUCKETS - 1);
    struct oracle_answer answer;
    double raw;

    m->sample_at = o->score.events + (m->streak < UNSETTLED ? CLOSE : m->streak < HELD ? HALFWAY : APART);
    if (m->last[b] - m->first[b] == ORACLE_OPINIONS)
        return;
    struct oracle_opinion *p = &m->pending[b][m->last[b]++ % ORACLE_OPINIONS];
    oracle_ask(o, trained_at[b], &answer, &raw, p);
    p->at = o->score.events + trained_at[b];
}

static bool sure_at_all_distances(const struct oracle *o)
{
    for (uint32_t b = 0; b < ORACLE_BUCKETS; b++)
        if (worth(trust_reference(o, b, 1)) < sure[b])
            return false;
    return true;
}

void oracle_mix_follow(struct oracle *o)
{
    struct oracle_mix *m = o->mix;

    m->asleep = !m->missed || (m->streak >= ASLEEP && sure_at_all_distances(o));
    m->sure = m->asleep || worth(trust_reference(o, 0, 1)) >= sure[0];
    if (m->asleep)
        return;
    oracle_live_follow(m->past);
    if (o->score.events >= m->sample_at)
        sample(o);
}

/* The next event that must not take the fast path, if before `next`. */
uint64_t oracle_mix_next(const struct oracle *o, uint64_t next)
{
    const struct oracle_mix *m = o->mix;

    if (!m->asleep && m->sample_at < next)
        next = m->sample_at;
    for (uint32_t b = 1; b < ORACLE_BUCKETS; b++)
        if (m->first[b] < m->last[b] && m->pending[b][m->first[b] % ORACLE_OPINIONS].at < next)
            next = m->pending[b][m->first[b] % ORACLE_OPINIONS].at;
    return next;
}
