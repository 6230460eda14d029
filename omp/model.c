/* SPDX-License-Identifier: MIT */
#include "omp/model.h"

#include <string.h>

enum { MEMORY = 16, FIRST_BACKOFF = 16, LAST_BACKOFF = 4096 };
static const double margin = 0.05; /* a change of size must promise that much */
static const double foreign = 4;   /* a reference that far off was recorded under other circumstances: forgotten */
static const double outlier = 8;   /* an observation that many times larger is not typical */

static double blend(double mean, double x, uint32_t n)
{
    return n == 0 ? x : mean + (x - mean) / (n < MEMORY ? n + 1 : MEMORY);
}

static void mean_add(struct omp_hook_mean *m, double x)
{
    if (m->count == 0 && m->prior && (x > foreign * m->value || m->value > foreign * x))
        m->prior = 0;
    uint32_t n = m->count + m->prior;
    /* If it stays so long, what is typical follows within a few turns. */
    double usual = n >= 3 && x > outlier * m->typical ? outlier * m->typical : x;
    m->value = blend(m->value, x, n);
    m->typical = blend(m->typical, usual, n);
    if (m->count < UINT32_MAX)
        m->count++;
}

static void mean_prior(struct omp_hook_mean *m, double x)
{
    m->value = m->typical = x > 0 ? x : 0;
    m->prior = 1;
}

static bool seen(const struct omp_hook_mean *m)
{
    return m->count + m->prior > 0;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Work that a region can have had at most that took `time` with `size` threads, when its team cost `overhead`. */
static double work_bound(const struct omp_hook_model *m, double time, double size, double overhead)
{
    return smaller(size, m->cost->processors) * larger(time - overhead, 0);
}

/* Durations by size that the reference recorded: exact for 1 and N, a bound of the work from any other size. */
static void take_sizes(struct omp_hook_model *m, const struct grammar_attr *a)
{
    for (uint32_t i = 0; i < a->length && i < GRAMMAR_ATTR_KEYS; i++) {
        const struct grammar_attr_key *k = &a->key[i];
        if (k->count == 0 || k->value < 1)
            continue;
        double mean = (double)k->sum / (double)k->count;
        if (k->value == 1) {
            mean_prior(&m->mean[OMP_HOOK_ONE], mean);
            m->bound = larger(mean - m->cost->one, 0);
        } else if (k->value == (int64_t)m->size) {
            mean_prior(&m->mean[OMP_HOOK_HOT], mean);
            m->recorded = mean;
        } else if (m->bound < 0) {
            m->bound = work_bound(m, mean, (double)k->value, m->cost->hot);
        }
    }
}

void omp_hook_model_start(struct omp_hook_model *m, uint32_t size, const struct omp_hook_cost *cost,
                          const struct grammar_attr *by_size, double duration)
{
    memset(m, 0, sizeof *m);
    m->size = size;
    m->bound = m->recorded = -1;
    m->cost = cost;
    if (by_size && by_size->kind == GRAMMAR_ATTR_KEYED)
        take_sizes(m, by_size);
    else if (duration >= 0)
        mean_prior(&m->mean[OMP_HOOK_HOT], duration);
}

static double expect_full(const struct omp_hook_model *m, bool cold)
{
    const struct omp_hook_mean *same = &m->mean[cold ? OMP_HOOK_COLD : OMP_HOOK_HOT];
    const struct omp_hook_mean *other = &m->mean[cold ? OMP_HOOK_HOT : OMP_HOOK_COLD];
    double difference = cold ? m->cost->cold - m->cost->hot : m->cost->hot - m->cost->cold;
    if (seen(same) && (same->count || !other->count))
        return same->value;
    if (seen(other))
        return larger(other->value + difference, 0);
    if (m->bound >= 0)
        return m->bound / smaller(m->size, m->cost->processors) + (cold ? m->cost->cold : m->cost->hot);
    return -1;
}

/*
 * With one thread, at most. Long exceptions are left out: a single thread is delayed by others only as any program is.
 * Those of a full team count, for it waits for whichever of its threads is delayed, and on crowded processors that is
 * where its time goes (8 ms a stall).
 */
static double expect_one(const struct omp_hook_model *m, double full, bool cold)
{
    const struct omp_hook_mean *one = &m->mean[OMP_HOOK_ONE];
    if (seen(one))
        return one->typical;
    if (m->bound >= 0)
        return m->bound + m->cost->one;
    return work_bound(m, full, m->size, cold ? m->cost->cold : m->cost->hot) + m->cost->one;
}

/* What all threads would take by the costs of this machine, for a region that takes `one` with one. */
static double machine_full(const struct omp_hook_model *m, double one, bool cold)
{
    return larger(one - m->cost->one, 0) / smaller(m->size, m->cost->processors) + (cold ? m->cost->cold : m->cost->hot);
}

/* What running the other size loses at worst. With one thread it is no more than the work that the time with all leaves
   room for, however bad it was long ago. */
static double trial_loss(const struct omp_hook_model *m, const struct omp_hook_choice *c, bool cold)
{
    double overhead = cold ? m->cost->cold : m->cost->hot;
    if (m->lowering) {
        const struct omp_hook_mean *mean = &m->mean[cold ? OMP_HOOK_COLD : OMP_HOOK_HOT];
        return smaller(mean->count ? mean->typical : c->full, c->credit) - c->one;
    }
    return smaller(c->one, work_bound(m, c->full, m->size, overhead) + m->cost->one) - c->full;
}

/* Rare stalls are left out: seen in a few trials, they would be counted for every region that was lowered since. */
static double credit(const struct omp_hook_model *m, double one, bool cold)
{
    const struct omp_hook_mean *mean = &m->mean[cold ? OMP_HOOK_COLD : OMP_HOOK_HOT];
    double now = mean->count ? mean->typical : smaller(expect_full(m, cold), machine_full(m, one, cold));
    return m->recorded >= 0 ? smaller(now, m->recorded) : now;
}

void omp_hook_model_choose(struct omp_hook_model *m, struct omp_hook_patience *p, unsigned workers, double budget,
                           struct omp_hook_choice *choice)
{
    bool cold = (workers & OMP_HOOK_ASLEEP) != 0;
    double full = expect_full(m, cold);
    memset(choice, 0, sizeof *choice);
    choice->full = choice->hot = choice->credit = full;
    choice->one = -1;
    if (full < 0)
        return; /* nothing is known: the program's size, and see */
    double one = choice->one = expect_one(m, full, cold);
    choice->hot = expect_full(m, false);
    choice->credit = credit(m, one, (workers & OMP_HOOK_ASLEEP_ANYWAY) != 0);
    double favour = m->lowering ? 1 + margin : 1 - margin;
    m->lowering = one < full * favour;
    choice->lower = m->lowering;
    if (p->backoff == 0)
        p->backoff = FIRST_BACKOFF;
    bool due = p->since++ >= p->backoff || (!m->lowering && !seen(&m->mean[OMP_HOOK_ONE]));
    if (due && trial_loss(m, choice, cold) <= budget) {
        choice->trial = true;
        choice->lower = !m->lowering;
    }
}

/*
 * The size that is not chosen was seen. The next time is twice as far away, whatever this one showed: a team that is fast
 * nearly always and stalls now and then would lure us back after each stall.
 */
static void learn_trial(struct omp_hook_patience *p, struct omp_hook_mean *mean, double took, double chosen)
{
    p->since = 0;
    if (p->backoff < LAST_BACKOFF)
        p->backoff *= 2;
    if (took < chosen * (1 - margin))
        memset(mean, 0, sizeof *mean); /* better than what is chosen: what was known of it is out of date */
}

bool omp_hook_model_learn(struct omp_hook_model *m, struct omp_hook_patience *p, bool lowered, bool cold, double took)
{
    double full = expect_full(m, cold);
    struct omp_hook_mean *mean = &m->mean[lowered ? OMP_HOOK_ONE : cold ? OMP_HOOK_COLD : OMP_HOOK_HOT];
    if (lowered != m->lowering && full >= 0 && p->backoff)
        learn_trial(p, mean, took, lowered ? full : m->mean[OMP_HOOK_ONE].typical);
    mean_add(mean, took);
    if (!lowered || !m->lowering || full < 0)
        return false;
    bool slower = m->mean[OMP_HOOK_ONE].count >= 2 && m->mean[OMP_HOOK_ONE].typical > full * (1 + margin);
    m->lowering = !slower;
    return slower;
}
