/* SPDX-License-Identifier: MIT */
#include "watch/numbers.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "job/define.h"

enum { FEW = 4 };

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
    if (most > 0)
        e = (struct watch_efficiency){sum / ranks / longest, sum / ranks / most};
    return e;
}

/* As it was noted, less what passed since, but not less than what comes after the event that is waited for. */
static double left(const struct watch_sight *s, uint64_t noted)
{
    const struct watch_board *b = &s->board;
    uint64_t passed = s->now > b->noted ? s->now - b->noted : 0;
    passed = passed < b->next_ns ? passed : b->next_ns;
    return noted > passed ? (double)(noted - passed) * 1e-9 : 0;
}

static int by_size(const void *a, const void *b)
{
    return BASE_ORDER(*(const double *)a, *(const double *)b);
}

/* How far off the end is by which four of five that were foretold before differ from it by less, as a part of what was
   left then; what is foretold now is as far off as these: the difference of two is root 2 times as large. < 0: there
   were too few. */
static double off(const struct watch_board *b)
{
    double part[WATCH_TOLD], end = (double)(b->noted + b->left_ns);
    uint32_t n = (uint32_t)b->tolds;
    for (uint32_t i = 0; i < n; i++) {
        double told = (double)b->told[i].end, left = (told > end ? told : end) - (double)b->told[i].at;
        part[i] = left > 0 ? fabs(told - end) / left : 1;
    }
    qsort(part, n, sizeof *part, by_size);
    uint32_t at = (n + 1) * 4 / 5;
    return n < FEW ? -1 : M_SQRT2 * part[at < n ? at : n - 1];
}

static void set_bounds(struct watch_numbers *n, const struct watch_board *b)
{
    double part = off(b);
    n->eta_low = part < 0 ? -1 : part < 1 ? n->eta * (1 - part) : 0;
    n->eta_high = part < 0 ? -1 : n->eta * (1 + part);
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
        n->progress = b->progress;
        set_bounds(n, b);
    }
}
