/* SPDX-License-Identifier: MIT */
#include "watch/numbers.h"

#include <stdlib.h>

#include "base/order.h"
#include "job/define.h"

/* In calls so far, with the one that it is in. */
static uint64_t in_calls(const struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    uint64_t since = b->since >> 1;
    bool inside = (b->since & 1) && b->since != WATCH_CHANGES && b->what.call_kind != WATCH_REGION;
    return b->mpi_ns + (inside && s->now > since ? s->now - since : 0);
}

static struct watch_efficiency efficiency(const struct watch_sight *const *sights,
                                          const struct watch_sight *const *before, uint32_t count)
{
    struct watch_efficiency e = {-1, -1};
    double sum = 0, most = 0, longest = 0;
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct watch_sight *s = sights[i], *b = before ? before[i] : NULL;
        if (before && !b)
            continue;
        uint64_t from = b ? b->now : s->board.began, calls = in_calls(s), earlier = b ? in_calls(b) : 0;
        double all = (double)(s->now - from), useful = all - (calls > earlier ? (double)(calls - earlier) : 0);
        useful = useful > 0 ? useful : 0;
        sum += useful;
        most = useful > most ? useful : most;
        longest = all > longest ? all : longest;
        ranks++;
    }
    if (ranks && longest > 0)
        e.parallel = sum / ranks / longest;
    if (ranks && most > 0)
        e.load_balance = sum / ranks / most;
    return e;
}

/* --- Pace --- */

enum { PACE_EVENTS = 20, PACE_BEFORE = 200 };

static double useful(const struct watch_sight *s)
{
    uint64_t all = s->now - s->board.began, calls = in_calls(s);
    return all > calls ? (double)(all - calls) : 0;
}

/* Its useful time an event between the looks, over that before; -1: not known. */
static double pace(const struct watch_sight *s, const struct watch_sight *before)
{
    if (!before || before->board.events < PACE_BEFORE || s->board.events < before->board.events + PACE_EVENTS)
        return -1;
    double past = useful(before) / (double)before->board.events;
    double since = (useful(s) - useful(before)) / (double)(s->board.events - before->board.events);
    return past > 0 ? since / past : -1;
}

static int by_value(const void *a, const void *b)
{
    return BASE_ORDER(*(const double *)a, *(const double *)b);
}

uint32_t watch_slower(const struct watch_sight *const *sights, const struct watch_sight *const *before, uint32_t count,
                      double *factor)
{
    double *paces = malloc((size_t)count * sizeof *paces + 1);
    uint32_t slowest = UINT32_MAX;
    *factor = 0;
    for (uint32_t i = 0; i < count && paces; i++) {
        paces[i] = pace(sights[i], before[i]);
        if (paces[i] > *factor) {
            *factor = paces[i];
            slowest = i;
        }
    }
    if (paces)
        qsort(paces, count, sizeof *paces, by_value);
    bool is = paces && count > 1 && paces[0] >= 0 && *factor >= WATCH_SLOWER && paces[(count - 1) / 2] <= WATCH_STEADY;
    free(paces);
    return is ? slowest : UINT32_MAX;
}

/* --- The end --- */

/* As it was noted, less what passed since, but not less than what comes after the event that is waited for. */
static double left(const struct watch_sight *s, uint64_t noted)
{
    const struct watch_board *b = &s->board;
    uint64_t passed = s->now > b->noted ? s->now - b->noted : 0;
    passed = passed < b->next_ns ? passed : b->next_ns;
    return noted > passed ? (double)(noted - passed) * 1e-9 : 0;
}

void watch_count(struct watch_numbers *n, const struct watch_sight *const *sights,
                 const struct watch_sight *const *before, uint32_t count)
{
    *n = (struct watch_numbers){efficiency(sights, NULL, count), {-1, -1}, -1, -1, -1, -1};
    if (before)
        n->lately = efficiency(sights, before, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct watch_board *b = &sights[i]->board;
        if (!b->noted || left(sights[i], b->left_ns) < n->eta)
            continue;
        n->eta = left(sights[i], b->left_ns);
        n->eta_low = left(sights[i], b->low_ns);
        n->eta_high = left(sights[i], b->high_ns);
        n->progress = b->progress;
    }
}
