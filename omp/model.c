/* SPDX-License-Identifier: MIT */
#include "omp/model.h"

#include <string.h>

enum { MEMORY = 16, FIRST_BACKOFF = 16, LAST_BACKOFF = 4096 };
static const double margin = 0.05; /* a change of size must promise that much */
static const double outlier = 8;   /* one observation moves a mean as if it were at most that many times larger */

static void mean_add(struct omp_hook_mean *m, double x)
{
    uint32_t n = m->count + m->prior;
    if (n >= 3 && x > outlier * m->value)
        x = outlier * m->value; /* preempted, most likely; if it stays so, the mean follows within a few turns */
    m->value = n == 0 ? x : m->value + (x - m->value) / (n < MEMORY ? n + 1 : MEMORY);
    if (m->count < UINT32_MAX)
        m->count++;
}

static void mean_prior(struct omp_hook_mean *m, double x)
{
    m->value = x > 0 ? x : 0;
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
    m->bound = -1;
    m->cost = cost;
    m->backoff = FIRST_BACKOFF;
    m->since = FIRST_BACKOFF;
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

/* With one thread, at most. */
static double expect_one(const struct omp_hook_model *m, double full, bool cold)
{
    const struct omp_hook_mean *one = &m->mean[OMP_HOOK_ONE];
    if (seen(one))
        return one->value;
    if (m->bound >= 0)
        return m->bound + m->cost->one;
    return work_bound(m, full, m->size, cold ? m->cost->cold : m->cost->hot) + m->cost->one;
}

void omp_hook_model_choose(struct omp_hook_model *m, bool cold, double budget, struct omp_hook_choice *choice)
{
    double full = expect_full(m, cold);
    memset(choice, 0, sizeof *choice);
    choice->full = full;
    choice->one = -1;
    if (full < 0)
        return; /* nothing is known: the program's size, and see */
    double one = choice->one = expect_one(m, full, cold);
    double favour = m->lowering ? 1 + margin : 1 - margin;
    m->lowering = one < full * favour;
    choice->lower = m->lowering;
    if (m->since++ < m->backoff)
        return;
    /* The other size: what it loses at worst is what it was seen to lose; with one thread no more than the work that the
       time with all leaves room for, however bad it was long ago. */
    double bound = work_bound(m, full, m->size, cold ? m->cost->cold : m->cost->hot) + m->cost->one;
    double loss = m->lowering ? full - one : smaller(one, bound) - full;
    if (loss <= budget) {
        choice->trial = true;
        choice->lower = !m->lowering;
    }
}

bool omp_hook_model_learn(struct omp_hook_model *m, bool lowered, bool cold, double took)
{
    double full = expect_full(m, cold);
    struct omp_hook_mean *mean = &m->mean[lowered ? OMP_HOOK_ONE : cold ? OMP_HOOK_COLD : OMP_HOOK_HOT];
    if (lowered != m->lowering) { /* the other size was seen: wait longer next time */
        double chosen = lowered ? full : m->mean[OMP_HOOK_ONE].value;
        m->since = 0;
        m->backoff = m->backoff < LAST_BACKOFF ? 2 * m->backoff : LAST_BACKOFF;
        /* Better than what is chosen now: what was known of it is out of date. */
        if (took < chosen * (1 - margin))
            memset(mean, 0, sizeof *mean);
    }
    mean_add(mean, took);
    if (!lowered || !m->lowering || full < 0)
        return false;
    bool slower = m->mean[OMP_HOOK_ONE].count >= 2 && m->mean[OMP_HOOK_ONE].value > full * (1 + margin);
    m->lowering = !slower;
    return slower;
}
