/* SPDX-License-Identifier: MIT */
#include "omp/referee.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 32, PAIR = 2, FIRST_BACKOFF = 64, LAST_BACKOFF = 8192, SLOW = 3 };
static const uint64_t shortest = 1000000;     /* ns, of a window */
static const double better = 0.99;            /* what is to replace the best way takes no more than that of its time */
static const double hopeless[] = { 2, 1.25 }; /* times the best, after one round and after more: not tested any longer */
static const double believed = 0.3;           /* of a window: a loss that the model is believed without a test */
static const double far_slower = 1.5;

bool omp_hook_return_note(struct omp_hook_return *p, uint64_t region, uint64_t now)
{
    uint64_t period = region - p->seen;
    bool first = p->seen == 0 || period > UINT32_MAX;
    p->seen = region;
    if (first || period != p->period) {
        p->period = first ? 0 : (uint32_t)period;
        p->regular = 0;
        p->since = now;
        return false;
    }
    p->regular += p->regular < UINT32_MAX;
    return p->regular >= WINDOWS && now > p->since && now - p->since >= WINDOWS * shortest;
}

void omp_hook_referee_anchor(struct omp_hook_referee *r, const struct omp_hook_return *p, uint64_t now)
{
    uint64_t turns = 1 + shortest * p->regular / (now - p->since);
    if (turns * p->period > UINT32_MAX)
        return;
    memset(r, 0, sizeof *r);
    r->length = (uint32_t)(turns * p->period);
    r->first = p->seen;
    r->begin = now;
    r->backoff = FIRST_BACKOFF;
    r->wait = 1;
}

void omp_hook_referee_lose(struct omp_hook_referee *r)
{
    memset(r, 0, sizeof *r);
}

/* --- A test --- */

static double least(const struct omp_hook_referee *r, enum omp_hook_way way)
{
    double time = r->time[way][0];
    for (uint32_t i = 1; i < r->counted[way]; i++)
        time = r->time[way][i] < time ? r->time[way][i] : time;
    return time;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct omp_hook_referee *r, enum omp_hook_way way)
{
    qsort(r->time[way], r->counted[way], sizeof *r->time[way], ascending);
    return r->time[way][r->counted[way] / 2];
}

/* What the model thinks of it, and who pays for two rounds. */
static bool worth_testing(const struct omp_hook_referee *r, enum omp_hook_way way, double window,
                          const struct omp_hook_budget *budget)
{
    double pays = way == OMP_HOOK_ONE ? budget->one : budget->team;
    return r->foreseen[way] <= believed * window && 2 * PAIR * r->foreseen[way] <= pays;
}

static void begin_test(struct omp_hook_referee *r, double window, const struct omp_hook_budget *budget)
{
    uint32_t ways = 1u << OMP_HOOK_CHOSEN | 1u << r->best;
    for (enum omp_hook_way way = OMP_HOOK_POOL; way < OMP_HOOK_WAYS; way++)
        if (worth_testing(r, way, window, budget))
            ways |= 1u << way;
    r->wait = r->backoff;
    r->slow = 0;
    if (ways == 1u << OMP_HOOK_CHOSEN)
        return;
    memset(r->counted, 0, sizeof r->counted);
    r->tested = ways;
    r->turn = 0;
    r->way = OMP_HOOK_CHOSEN;
}

static void end_test(struct omp_hook_referee *r)
{
    enum omp_hook_way before = r->best;
    double usual = median(r, before);
    for (enum omp_hook_way way = OMP_HOOK_CHOSEN; way < OMP_HOOK_WAYS; way++) {
        if (!(r->tested >> way & 1) || way == before)
            continue;
        double time = median(r, way), limit = r->best == before ? better * usual : usual;
        if (time < limit) {
            r->best = way;
            usual = time;
        }
    }
    r->tested = 0;
    r->way = r->best;
    r->usual = usual;
    r->backoff = r->best != before ? FIRST_BACKOFF : r->backoff < LAST_BACKOFF ? 2 * r->backoff : LAST_BACKOFF;
    r->wait = r->backoff;
}

static void drop_hopeless(struct omp_hook_referee *r, enum omp_hook_way way)
{
    for (enum omp_hook_way other = OMP_HOOK_CHOSEN; other < OMP_HOOK_WAYS; other++)
        if ((r->tested >> other & 1) && r->counted[other] && way != r->best &&
            least(r, way) > hopeless[r->counted[way] > 1] * least(r, other))
            r->tested &= ~(1u << way);
}

/* The next way of the test, round by round; whether there is none. */
static bool next_way(struct omp_hook_referee *r)
{
    r->turn = 0;
    for (uint32_t i = 0; i < OMP_HOOK_WAYS; i++) {
        r->way = (enum omp_hook_way)((r->way + 1) % OMP_HOOK_WAYS);
        if ((r->tested >> r->way & 1) && r->counted[r->way] < OMP_HOOK_ROUNDS)
            return false;
    }
    return true;
}

/* A window of a test took so long. Returns whether the test ended. */
static bool tested(struct omp_hook_referee *r, double time, struct omp_hook_budget *budget)
{
    enum omp_hook_way way = r->way;
    if (way != OMP_HOOK_CHOSEN && way != r->best && time > r->usual)
        *(way == OMP_HOOK_ONE ? &budget->one : &budget->team) -= time - r->usual;
    if (++r->turn < PAIR)
        return false;
    r->time[way][r->counted[way]++] = time;
    drop_hopeless(r, way);
    if (!next_way(r))
        return false;
    end_test(r);
    return true;
}

/* --- Turns --- */

/* A window outside of tests. */
static void watched(struct omp_hook_referee *r, double time, const struct omp_hook_budget *budget)
{
    r->usual = r->usual > 0 ? r->usual : time;
    r->slow = time > far_slower * r->usual ? r->slow + 1 : 0;
    r->wait -= r->wait > 0;
    if (r->wait == 0 || (r->slow >= SLOW && r->backoff - r->wait >= FIRST_BACKOFF / 8))
        begin_test(r, time, budget);
}

bool omp_hook_referee_turn(struct omp_hook_referee *r, uint64_t now, struct omp_hook_budget *budget)
{
    double time = now > r->begin ? (double)(now - r->begin) : 0;
    bool ended = false;
    if (r->way == OMP_HOOK_CHOSEN)
        memcpy(r->foreseen, r->loss, sizeof r->foreseen);
    memset(r->loss, 0, sizeof r->loss);
    r->begin = now;
    r->first += r->length;
    if (r->tested)
        ended = tested(r, time, budget);
    else
        watched(r, time, budget);
    return ended;
}
