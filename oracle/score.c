/* SPDX-License-Identifier: MIT */
/*
 * What the oracle knows of its own quality. Distance 1 is scored at each event: on the fast path by counting, off it by
 * asking before the event. The other distances and the times are scored at samples, at random intervals so that no
 * period of the program falls in step with them.
 */
#include <math.h>

#include "oracle/internal.h"

const uint32_t oracle_score_distances[ORACLE_DISTANCES] = { 1, 16, 64, 128 };

/* A short run has few events: the first ones are sampled often, so that it gets figures too. A sample counts for the
   events until the next one: what is often at first is not more. */
enum { INTERVAL_MIN = 32, INTERVAL = 64, EARLY = 256, EARLY_INTERVAL = 2 };

static void count_answer(struct oracle *o, int which, double probability, bool hit, uint64_t n)
{
    double miss = probability - (hit ? 1 : 0);
    int decile = (int)(probability * ORACLE_DECILES);

    decile = decile < 0 ? 0 : decile >= ORACLE_DECILES ? ORACLE_DECILES - 1 : decile;
    o->score.at[which].predictions += n;
    o->score.at[which].hits += hit ? n : 0;
    o->score.at[which].brier += (double)n * miss * miss;
    o->score.at[which].answers[decile] += n;
    o->score.at[which].right[decile] += hit ? n : 0;
}

static void count_unknown(struct oracle *o, int which, uint64_t n)
{
    o->score.at[which].predictions += n;
    o->score.at[which].unknown += n;
}

void oracle_flush(struct oracle *o)
{
    if (o->fast == 0)
        return;
    double raw = oracle_stay(o, 1), n = (double)o->fast;
    count_answer(o, 0, oracle_calibrated(o, 1, raw), true, o->fast);
    oracle_learn(o, 1, raw, n, true);
    o->score.events += o->fast;
    o->score.known += o->fast;
    o->window += n;
    if (o->window > 1024) {
        o->misses *= 1024 / o->window;
        o->window = 1024;
    }
    if (o->mix)
        oracle_mix_hits(o, o->fast);
    o->fast = 0;
}

static void count_time(struct oracle *o, uint64_t gap)
{
    if (o->sample_until >= 0 && gap > 0)
        o->score.time_error[oracle_time_bucket(fabs(o->sample_until - (double)gap) / (double)gap)] +=
            o->sample_weight;
    o->sample_until = -1;
}

static void count_pending(struct oracle *o, int which, uint32_t terminal)
{
    for (int i = 0; i < ORACLE_PENDING; i++) {
        struct oracle_pending *p = &o->pending[which][i];
        if (p->at != o->score.events)
            continue;
        p->at = 0;
        if (p->terminal == GRAMMAR_NONE) {
            count_unknown(o, which, p->weight);
            continue;
        }
        bool hit = p->terminal == terminal;
        count_answer(o, which, (double)p->probability, hit, p->weight);
        oracle_learn(o, oracle_score_distances[which], (double)p->raw, 1, hit);
    }
}

void oracle_score_event(struct oracle *o, uint32_t terminal, uint64_t gap)
{
    struct oracle_answer answer;
    struct oracle_opinion opinion;
    double raw;

    if (oracle_ask(o, 1, &answer, &raw, &opinion) == 0) {
        bool hit = answer.terminal == terminal;
        count_answer(o, 0, answer.probability, hit, 1);
        oracle_learn(o, 1, raw, 1, hit);
    } else {
        count_unknown(o, 0, 1);
    }
    o->score.events++;
    o->score.known += oracle_known(o, terminal);
    count_time(o, gap);
    for (int which = 1; which < ORACLE_DISTANCES; which++)
        count_pending(o, which, terminal);
    if (o->mix)
        oracle_mix_judge(o, &opinion, terminal);
}

static uint64_t interval(struct oracle *o)
{
    if (o->score.events < EARLY)
        return EARLY_INTERVAL;
    o->random = o->random * 6364136223846793005u + 1442695040888963407u;
    return INTERVAL_MIN + (o->random >> 40) % INTERVAL;
}

static void ask_later(struct oracle *o, int which)
{
    struct oracle_answer answer;
    struct oracle_pending *p = o->pending[which];
    double raw = 0;

    for (int i = 0; p->at != 0 && i < ORACLE_PENDING - 1; i++)
        p++;
    uint32_t weight = o->sample_weight + (p->at != 0 ? p->weight : 0); /* one that gives way is stood for, too */
    oracle_ask(o, oracle_score_distances[which], &answer, &raw, NULL);
    *p = (struct oracle_pending){ o->score.events + oracle_score_distances[which], answer.terminal, weight,
                                  (float)raw, (float)answer.probability };
}

static void sample(struct oracle *o)
{
    struct oracle_answer answer;
    double raw;

    o->sample_weight = (uint32_t)interval(o);
    o->sample_at = o->score.events + o->sample_weight;
    o->sample_until = oracle_ask(o, 1, &answer, &raw, NULL) == 0 ? answer.until : -1;
    for (int which = 1; which < ORACLE_DISTANCES; which++)
        ask_later(o, which);
    oracle_drift(o);
}

void oracle_score_sample(struct oracle *o)
{
    uint64_t next;

    if (o->score.events >= o->sample_at)
        sample(o);
    next = o->sample_at;
    for (int which = 1; which < ORACLE_DISTANCES; which++)
        for (int i = 0; i < ORACLE_PENDING; i++)
            if (o->pending[which][i].at && o->pending[which][i].at < next)
                next = o->pending[which][i].at;
    if (o->sample_until >= 0)
        next = o->score.events + 1;
    if (o->mix)
        next = oracle_mix_next(o, next);
    o->countdown = next > o->score.events ? next - o->score.events : 1;
}

void oracle_score_start(struct oracle *o)
{
    o->sample_until = -1;
    o->sample_at = 1;
    o->countdown = o->sample_at;
}

const struct oracle_score *oracle_score(const struct oracle *o)
{
    oracle_flush((struct oracle *)o); /* only brings the counters up to date: logically const */
    return &o->score;
}

/* Four buckets an octave from 2^-10 on; what is above 2^6 shares the last one. */
uint32_t oracle_time_bucket(double relative_error)
{
    if (!(relative_error > 0))
        return 0;
    double at = 4 * (log2(relative_error) + 10) + 1;
    return at < 0 ? 0 : at >= ORACLE_TIME_BUCKETS ? ORACLE_TIME_BUCKETS - 1 : (uint32_t)at;
}

double oracle_time_median(const uint64_t histogram[ORACLE_TIME_BUCKETS])
{
    uint64_t all = 0, below = 0;

    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        all += histogram[i];
    if (all == 0)
        return -1;
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++) {
        below += histogram[i];
        if (2 * below >= all)
            return i == 0 ? 0 : exp2((i - 0.5) / 4 - 10); /* middle of the bucket */
    }
    return -1;
}

void oracle_score_add(struct oracle_score *into, const struct oracle_score *from)
{
    into->events += from->events;
    into->known += from->known;
    for (int i = 0; i < ORACLE_DISTANCES; i++) {
        into->at[i].predictions += from->at[i].predictions;
        into->at[i].hits += from->at[i].hits;
        into->at[i].unknown += from->at[i].unknown;
        into->at[i].brier += from->at[i].brier;
        for (int d = 0; d < ORACLE_DECILES; d++) {
            into->at[i].answers[d] += from->at[i].answers[d];
            into->at[i].right[d] += from->at[i].right[d];
        }
    }
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        into->time_error[i] += from->time_error[i];
    into->cost_ns += from->cost_ns;
}
