/* SPDX-License-Identifier: MIT */
/* What the oracle knows of its own quality: sums over the events of the fast path and over samples (sample.c). */
#include <math.h>

#include "oracle/internal.h"

const uint32_t oracle_score_distances[ORACLE_DISTANCES] = { 1, 16, 64, 128 };

void oracle_count_answer(struct oracle *o, int which, double probability, bool hit, uint64_t n)
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

void oracle_count_unknown(struct oracle *o, int which, uint64_t n)
{
    o->score.at[which].predictions += n;
    o->score.at[which].unknown += n;
}

void oracle_flush(struct oracle *o)
{
    if (o->fast == 0)
        return;
    double n = (double)o->fast, probability = oracle_mixer_hits(o, o->fast);
    if (oracle_sure(o)) {
        oracle_count_answer(o, 0, probability, true, o->fast);
    } else {
        o->unasked += (uint32_t)o->fast;
    }
    o->score.events += o->fast;
    o->score.known += o->fast;
    o->window += n;
    if (o->window > 1024) {
        o->misses *= 1024 / o->window;
        o->window = 1024;
    }
    oracle_dead_reckoning_foreseen(o, o->fast < 64 ? (uint32_t)o->fast : 64);
    for (uint32_t i = 0; i < o->count; i++)
        o->now[i].age += (uint32_t)o->fast;
    o->agreed += (uint32_t)o->fast;
    o->fast = 0;
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
        if (2 * (below + histogram[i]) >= all) /* the bucket's errors lie evenly in it */
            return i == 0 ? 0 : exp2((i - 1 + ((double)all / 2 - (double)below) / (double)histogram[i]) / 4 - 10);
        below += histogram[i];
    }
    return -1;
}
