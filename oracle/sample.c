/* SPDX-License-Identifier: MIT */
/*
 * The oracle asks itself, and learns from what comes. At distance 1 it does so at each event: on the fast path by
 * counting, off it by asking before the event. The other distances have their turn one after the other, and the times,
 * at random intervals so that no period of the program falls in step with them. One answer serves the score, and what
 * the votes and their voters are worth.
 */
#include <math.h>

#include "oracle/internal.h"

/* A short run has few events: the first ones are sampled often, so that it gets figures too. A sample counts for the
   events until the next one of its distance: what is often at first is not more. */
enum { DOUBTED = 8, /* events between answers at distance 1 */
       EARLY = 512, YOUNG = 4096, EARLY_INTERVAL = 2, YOUNG_INTERVAL = 8, INTERVAL = 32,
       ASLEEP_INTERVAL = 128 };

static const uint32_t sampled_at[ORACLE_BUCKETS] = { 1, 4, 16, 64, 128 };
static const int score_of[ORACLE_BUCKETS] = { 0, -1, 1, 2, 3 }; /* which distance of the score that is */

/* --- When --- */

static uint32_t interval(struct oracle *o)
{
    uint32_t mean = o->score.events < EARLY ? EARLY_INTERVAL : o->score.events < YOUNG ? YOUNG_INTERVAL
                    : o->mixer.past && !o->mixer.asleep ? INTERVAL : ASLEEP_INTERVAL;

    return mean / 2 + oracle_random_below(&o->random, mean);
}

/* The next event that must not take the fast path. */
static void schedule(struct oracle *o)
{
    uint64_t next = o->sample_at;

    for (int b = 1; b < ORACLE_BUCKETS; b++)
        if (o->first[b] < o->last[b] && o->pending[b][o->first[b] % ORACLE_PENDING].at < next)
            next = o->pending[b][o->first[b] % ORACLE_PENDING].at;
    if (!oracle_sure(o) && o->ask_at + 1 < next)
        next = o->ask_at + 1;
    o->countdown = next > o->score.events ? next - o->score.events : 1;
}

/* --- What came --- */

/* What is said of an event that came but was not followed yet: nothing of it is known so far. Asking one event earlier
   would say the same and measure something else: the gap after that, with cold caches. */
static void count_time(struct oracle *o, uint64_t gap)
{
    struct oracle_answer answer;

    o->mixer.gap.errors = NULL;
    if (gap == 0 || oracle_predict(o, 1, &answer) != 0 || answer.until < 0)
        return;
    oracle_mixer_judge_gap(&o->mixer, gap);
    o->score.time_error[oracle_time_bucket(fabs(answer.until - (double)gap) / (double)gap)] += o->sample_weight;
}

static void judge(struct oracle *o, int bucket, const struct oracle_pending *p, uint32_t terminal)
{
    uint32_t said = p->opinion.said[ORACLE_SAID];

    oracle_mixer_judge(o, sampled_at[bucket], &p->opinion, terminal);
    if (score_of[bucket] >= 0 && said == GRAMMAR_NONE)
        oracle_count_unknown(o, score_of[bucket], p->weight);
    else if (score_of[bucket] >= 0)
        oracle_count_answer(o, score_of[bucket], (double)p->probability, said == terminal, p->weight);
}

static struct oracle_pending ask(struct oracle *o, int bucket, uint32_t weight, bool all)
{
    struct oracle_pending p = { .at = o->score.events + sampled_at[bucket], .weight = weight };
    struct oracle_answer answer;

    p.opinion.all = all;
    oracle_ask(o, sampled_at[bucket], &answer, &p.opinion);
    p.probability = (float)answer.probability;
    return p;
}

/* The position answers without a doubt: its hits count on the fast path, its misses here; what the past says of them is
   of interest now and then. Otherwise events are chosen to be asked about before they come, and stand for those that
   were not. */
static void ask_before(struct oracle *o, uint32_t terminal)
{
    bool sure = oracle_sure(o);

    if (!sure && o->score.events < o->ask_at) {
        o->unasked++;
        return;
    }
    uint32_t pause = sure || o->score.events < EARLY ? 0 : oracle_random_below(&o->random, 2 * DOUBTED);
    o->ask_at = o->score.events + 1 + pause;
    struct oracle_pending next = ask(o, 0, 1 + o->unasked, !sure || oracle_random_below(&o->random, DOUBTED) == 0);
    o->unasked = 0;
    judge(o, 0, &next, terminal);
}

void oracle_sample_event(struct oracle *o, uint32_t terminal, uint64_t gap)
{
    if (o->score.events + 1 >= o->sample_at)
        count_time(o, gap);
    ask_before(o, terminal);
    oracle_mixer_foreseen(o, oracle_foreseen(o, terminal));
    o->score.events++;
    o->score.known += oracle_known(o, terminal);
    for (int b = 1; b < ORACLE_BUCKETS; b++)
        for (; o->first[b] < o->last[b]; o->first[b]++) {
            const struct oracle_pending *p = &o->pending[b][o->first[b] % ORACLE_PENDING];
            if (p->at > o->score.events)
                break;
            judge(o, b, p, terminal);
        }
}

/* --- Asking --- */

static void sample(struct oracle *o)
{
    int b = 1 + (int)(o->sample_turn++ % (ORACLE_BUCKETS - 1));

    oracle_drift(o, o->sample_weight);
    o->sample_weight = interval(o);
    o->sample_at = o->score.events + o->sample_weight;
    o->stands_for[b] += (ORACLE_BUCKETS - 1) * o->sample_weight;
    if (o->last[b] - o->first[b] == ORACLE_PENDING)
        return;
    o->pending[b][o->last[b]++ % ORACLE_PENDING] = ask(o, b, o->stands_for[b], true);
    o->stands_for[b] = 0;
}

void oracle_sample(struct oracle *o)
{
    if (o->score.events >= o->sample_at)
        sample(o);
    schedule(o);
}

void oracle_sample_start(struct oracle *o)
{
    o->sample_at = 1;
    o->countdown = o->sample_at;
}
