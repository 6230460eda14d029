/* SPDX-License-Identifier: MIT */
#include "omp/model.h"

#include <string.h>

enum { FEW = 3, SHOWN = 2, MEMORY = 16, FIRST_BACKOFF = 16, LAST_BACKOFF = 4096, FIRST_CONTROL = 64, LAST_CONTROL = 8192 };
static const double margin = 0.05;  /* a change of size must promise that much */
static const double foreign = 4;    /* a reference that far off was recorded under other circumstances: forgotten */
static const double unlikely = 2;   /* the typical time of what was recorded that far off, by its least one */
static const double outlier = 4;    /* an observation that many times larger is not typical */
static const double least_stall = 100000; /* ns */
static const double bad = 1.5;      /* a size that many times slower is not tried again … */
static const double promising = 2; /* a size that was not seen in this run, and should be no slower than that, is tried at once */
static const double moved = 1.5;    /* … unless the chosen one's time changed by this factor */
static const double crowded = 0.9;  /* of the time with more threads than processors: one thread's, before it was seen */

/* With teams the least stands for all until there are a few: one of them may have been a stall. */
static void mean_add(struct omp_hook_mean *m, double x, bool team)
{
    if (m->count == 0 && m->prior && (x > foreign * m->typical || m->typical > foreign * x))
        m->prior = 0;
    uint32_t n = m->count + m->prior;
    if (m->count == 0 || x < m->least)
        m->least = x;
    if (n == 0 || (n < FEW && team)) {
        m->typical = n == 0 || x < m->typical ? x : m->typical;
    } else {
        /* If it stays so long, what is typical follows within a few turns. */
        double usual = n >= FEW && x > outlier * m->typical ? outlier * m->typical : x;
        m->typical += (usual - m->typical) / (n < MEMORY ? n + 1 : MEMORY);
        m->least += (m->typical - m->least) / (8 * MEMORY); /* what was never seen again is forgotten */
    }
    if (m->count < UINT32_MAX)
        m->count++;
}

static void mean_prior(struct omp_hook_mean *m, double x)
{
    m->typical = m->least = x > 0 ? x : 0;
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

/* --- Costs --- */

/* Of a team; nothing for sizes that were not measured: a bound of the work stays a bound then. */
static double overhead(const struct omp_hook_model *m, uint32_t k, bool cold)
{
    const struct omp_hook_team_cost *team = &m->cost->team[k];
    return larger(cold ? team->cold : team->hot, 0);
}

static bool measured(const struct omp_hook_model *m, uint32_t k)
{
    return m->cost->team[k].hot >= 0;
}

static double worth(const struct omp_hook_model *m, uint32_t k)
{
    return omp_hook_cost_worth(m->cost, m->cost->team[k].size);
}

/* --- Starting --- */

static int team_of(const struct omp_hook_cost *cost, int64_t size)
{
    for (uint32_t k = 0; k < cost->teams; k++)
        if (cost->team[k].size == size)
            return (int)k;
    return -1;
}

static void take_size(struct omp_hook_model *m, int64_t size, double mean)
{
    int k = team_of(m->cost, size);
    if (size == 1)
        mean_prior(&m->one, mean);
    else if (k >= 0)
        mean_prior(&m->team[k][OMP_HOOK_HOT], mean);
    else
        m->bound = larger(m->bound, omp_hook_cost_worth(m->cost, (double)size) * mean);
    if (size == (int64_t)m->cost->size)
        m->recorded = mean;
}

/* Where all had one size, the shortest is known too: no stall is in that. A mean far above it is one of stalls, or of places
   that differ. */
static void take_least(struct omp_hook_model *m, int64_t size, uint64_t least)
{
    int k = team_of(m->cost, size);
    struct omp_hook_mean *mean = k < 0 ? NULL : &m->team[k][OMP_HOOK_HOT];
    if (!mean || !mean->prior || (double)least > mean->typical)
        return;
    mean->least = (double)least;
    if (mean->typical > foreign * mean->least)
        mean->typical = unlikely * mean->least;
}

void omp_hook_model_start(struct omp_hook_model *m, struct omp_hook_cost *cost, const struct grammar_attr *by_size,
                          const struct grammar_stats *all)
{
    memset(m, 0, sizeof *m);
    m->bound = m->recorded = -1;
    m->cost = cost;
    if (by_size && by_size->kind == GRAMMAR_ATTR_KEYED) {
        for (uint32_t i = 0; i < by_size->length && i < GRAMMAR_ATTR_KEYS; i++) {
            const struct grammar_attr_key *key = &by_size->key[i];
            if (key->count > 0 && key->value > 0)
                take_size(m, key->value, (double)key->sum / (double)key->count);
        }
        if (all && all->count && by_size->length == 1)
            take_least(m, by_size->key[0].value, all->duration.min);
    } else if (all && all->count) {
        take_size(m, cost->size, (double)all->duration.sum / (double)all->count);
    }
}

/* --- Expecting --- */

/* Times without the team's cost, by 1 / worth: the sums of a least-squares line. */
struct fit { double n, x, y, xx, xy, least_x, most_x; };

static void fit_add(struct fit *f, double parts, double time)
{
    double x = 1 / parts, y = larger(time, 0);
    f->least_x = f->n == 0 ? x : smaller(f->least_x, x);
    f->most_x = f->n == 0 ? x : larger(f->most_x, x);
    f->n++;
    f->x += x;
    f->y += y;
    f->xx += x * x;
    f->xy += x * y;
}

static struct fit fit_points(const struct omp_hook_model *m)
{
    struct fit f = { 0 };
    if (seen(&m->one))
        fit_add(&f, 1, m->one.typical - m->cost->one);
    for (uint32_t k = 0; k < m->cost->teams; k++) {
        bool cold = !m->team[k][OMP_HOOK_HOT].count && seen(&m->team[k][OMP_HOOK_COLD]);
        if (measured(m, k) && seen(&m->team[k][cold]))
            fit_add(&f, worth(m, k), m->team[k][cold].typical - overhead(m, k, cold));
    }
    return f;
}

static bool fit_determined(const struct fit *f)
{
    return f->n >= 2 && f->most_x > f->least_x * 1.01;
}

/* serial + work / parts by the points; neither is negative. */
static double fit_at(const struct fit *f, double parts)
{
    double spread = f->n * f->xx - f->x * f->x;
    double work = larger((f->n * f->xy - f->x * f->y) / spread, 0);
    double serial = (f->y - work * f->x) / f->n;
    if (serial < 0) {
        serial = 0;
        work = f->xy / f->xx;
    }
    return serial + work / parts;
}

/* From what does not determine a line: as if all of the work were divided, < 0 without any. Teams that were not measured
   count here, with all of their time as work. */
static double divided_at(const struct omp_hook_model *m, const struct fit *f, double parts)
{
    double work = f->n > 0 ? f->y / f->x : -1;
    for (uint32_t k = 0; k < m->cost->teams; k++)
        if (!measured(m, k) && seen(&m->team[k][OMP_HOOK_HOT])) {
            double most = m->team[k][OMP_HOOK_HOT].typical * worth(m, k);
            work = work < 0 ? most : smaller(work, most);
        }
    if (m->bound >= 0)
        work = work < 0 ? m->bound : smaller(work, m->bound);
    return work < 0 ? -1 : work / parts;
}

static double expect_unseen(const struct omp_hook_model *m, double parts)
{
    struct fit f = fit_points(m);
    return fit_determined(&f) ? fit_at(&f, parts) : divided_at(m, &f, parts);
}

/* With what a team may lose to stalls. */
static double stalled(const struct omp_hook_model *m, double time)
{
    return time < 0 ? time : time + omp_hook_cost_stall(m->cost, time);
}

/* Without. */
static double expect_alone(const struct omp_hook_model *m, uint32_t k, bool cold)
{
    const struct omp_hook_mean *same = &m->team[k][cold], *other = &m->team[k][!cold];
    double difference = overhead(m, k, cold) - overhead(m, k, !cold);
    if (seen(same) && (same->count || !other->count))
        return same->typical;
    if (seen(other))
        return larger(other->typical + difference, 0);
    double time = expect_unseen(m, worth(m, k));
    return time < 0 ? -1 : time + overhead(m, k, cold);
}

double omp_hook_model_expect(const struct omp_hook_model *m, uint32_t k, bool cold)
{
    return stalled(m, expect_alone(m, k, cold));
}

double omp_hook_model_expect_one(const struct omp_hook_model *m)
{
    if (seen(&m->one))
        return m->one.typical;
    double time = expect_unseen(m, 1);
    return time < 0 ? -1 : time + m->cost->one;
}

/* --- Choosing --- */

/* Expected with one thread, when team k is known to take `full`. Its work is no more than that leaves room for, however slow
   one thread was long ago; what this run has shown is doubted only where it is far off. And threads without a processor of
   their own are taken to be no help until one was seen. */
static double one_against(const struct omp_hook_model *m, uint32_t k, double full, bool cold)
{
    double one = omp_hook_model_expect_one(m);
    if (!measured(m, k))
        return seen(&m->one) ? one : smaller(one, crowded * full);
    bool heat = seen(&m->team[k][cold]) ? cold : !cold, shown = m->one.count >= SHOWN;
    double time = expect_alone(m, k, cold) - overhead(m, k, cold);
    if (seen(&m->team[k][heat]))
        time = (shown ? m->team[k][heat].typical : m->team[k][heat].least) - overhead(m, k, heat);
    double bound = larger(time, 0) * worth(m, k) + m->cost->one;
    return shown && one < foreign * bound ? one : smaller(one, bound);
}

/* Seen, found bad, and nothing has changed since. */
static bool given_up(const struct omp_hook_model *m, const struct omp_hook_choice *c, bool other_seen)
{
    double chosen = m->lowering ? c->one : c->full, other = m->lowering ? c->full : c->one;
    return other_seen && m->tried > 0 && other > bad * chosen && chosen < moved * m->tried && m->tried < moved * chosen;
}

/* What running the other size loses at worst. */
static double trial_loss(const struct omp_hook_model *m, const struct omp_hook_choice *c, uint32_t k, bool cold)
{
    if (!m->lowering)
        return c->one - c->full;
    const struct omp_hook_mean *mean = &m->team[k][cold];
    double typical = mean->count ? mean->typical : c->full;
    return stalled(m, c->credit >= 0 ? smaller(typical, c->credit) : typical) - c->one;
}

/* What N threads would take by the costs of this machine, for a region that takes `one` with one; < 0: not known. */
static double machine_own(const struct omp_hook_model *m, uint32_t own, double one, bool cold)
{
    if (!measured(m, own))
        return -1;
    return larger(one - m->cost->one, 0) / worth(m, own) + overhead(m, own, cold);
}

/* Rare stalls are left out: seen in a few trials, they would be counted for every region that was lowered since. */
static double credit(const struct omp_hook_model *m, double one, bool cold)
{
    uint32_t own = m->cost->teams - 1;
    const struct omp_hook_mean *mean = &m->team[own][cold];
    double expected = omp_hook_model_expect(m, own, cold), machine = machine_own(m, own, one, cold), now = -1;
    if (mean->count) /* what teams of few threads met by chance is not what all of them would have */
        now = machine >= 0 ? smaller(mean->typical, foreign * machine + stalled(m, machine) - machine) : mean->least;
    else if (machine >= 0)
        now = expected >= 0 ? smaller(expected, machine) : machine;
    if (m->recorded >= 0 && now >= 0)
        return smaller(now, m->recorded);
    return now >= 0 ? now : m->recorded;
}

static void consider_trial(const struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k, bool cold,
                           const struct omp_hook_budget *budget, struct omp_hook_choice *c)
{
    bool other_seen = m->lowering ? m->team[k][cold].count > 0 : seen(&m->one);
    bool close = m->lowering && c->full < promising * c->one; /* other days, other speeds: the reference may be off */
    bool due = p->since++ >= p->backoff || (!other_seen && (!m->lowering || close));
    if (!due || given_up(m, c, other_seen) || trial_loss(m, c, k, cold) > (m->lowering ? budget->team : budget->one))
        return;
    c->trial = true;
    c->lower = !m->lowering;
}

/* The program's own size, where that is another one than k: it costs changing the pool twice. */
static void consider_control(const struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k, double budget,
                             struct omp_hook_choice *c)
{
    uint32_t own = m->cost->teams - 1;
    if (own == k || p->control_since++ < p->control_backoff)
        return;
    double change = omp_hook_cost_change(m->cost, m->cost->team[k].size, m->cost->size) +
                    omp_hook_cost_change(m->cost, m->cost->size, m->cost->team[k].size);
    const struct omp_hook_mean *mean = &m->team[own][OMP_HOOK_HOT];
    double expected = seen(mean) ? mean->typical : m->cost->make * m->cost->size;
    if (expected + change > budget)
        return;
    c->trial = c->control = true;
    c->lower = false;
}

void omp_hook_model_choose(struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k, unsigned workers,
                           const struct omp_hook_budget *budget, struct omp_hook_choice *choice)
{
    bool cold = (workers & OMP_HOOK_ASLEEP) != 0;
    double full = omp_hook_model_expect(m, k, cold);
    memset(choice, 0, sizeof *choice);
    choice->full = choice->hot = choice->credit = full;
    choice->one = -1;
    if (full < 0)
        return; /* nothing is known: the pool's size, and see */
    double one = choice->one = one_against(m, k, full, cold);
    choice->hot = omp_hook_model_expect(m, k, false);
    choice->credit = credit(m, one, (workers & OMP_HOOK_ASLEEP_ANYWAY) != 0);
    double favour = m->lowering ? 1 + margin : 1 - margin;
    choice->lower = m->lowering = one < full * favour;
    if (p->backoff == 0) {
        p->backoff = FIRST_BACKOFF;
        p->control_backoff = FIRST_CONTROL;
    }
    consider_trial(m, p, k, cold, budget, choice);
    if (!choice->trial)
        consider_control(m, p, k, budget->control, choice);
}

/* --- Learning --- */

/*
 * The size that is not chosen was seen. The next time is twice as far away, whatever this one showed: a team that is fast
 * nearly always and stalls now and then would lure us back after each stall.
 */
static void learn_trial(struct omp_hook_model *m, struct omp_hook_patience *p, struct omp_hook_mean *mean, double took,
                        double chosen)
{
    p->since = 0;
    if (m->tried > 0 && p->backoff < LAST_BACKOFF)
        p->backoff *= 2;
    m->tried = chosen;
    if (took < chosen * (1 - margin))
        memset(mean, 0, sizeof *mean); /* better than what is chosen: what was known of it is out of date */
}

static void learn_control(struct omp_hook_patience *p)
{
    p->control_since = 0;
    if (p->control_backoff < LAST_CONTROL)
        p->control_backoff *= 2;
}

/* What a team took beyond what was expected of it, where that is no longer its work. */
static double stall_in(double usual, double took)
{
    return usual >= 0 && took > outlier * usual && took > least_stall ? took - usual : 0;
}

bool omp_hook_model_learn(struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k,
                          const struct omp_hook_execution *e, uint64_t now, double took)
{
    bool lowered = e->lowered, cold = e->cold;
    double usual = expect_alone(m, k, cold), full = stalled(m, usual);
    struct omp_hook_mean *mean = lowered ? &m->one : &m->team[k][cold];
    if (e->control)
        learn_control(p);
    else if (e->trial && full >= 0)
        learn_trial(m, p, mean, took, lowered ? full : m->one.typical);
    if (!lowered && measured(m, k)) {
        double lost = stall_in(usual, took);
        omp_hook_stall_note(&m->cost->stall, now, m->cost->gap + took - lost, lost);
    }
    mean_add(mean, took, !lowered);
    if (!lowered || !m->lowering || full < 0)
        return false;
    bool slower = m->one.count >= 2 && m->one.typical > full * (1 + margin);
    m->lowering = !slower;
    return slower;
}
