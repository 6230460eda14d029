/* SPDX-License-Identifier: MIT */
#include "watch/numbers.h"

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

void watch_count(struct watch_numbers *n, const struct watch_sight *const *sights,
                 const struct watch_sight *const *before, uint32_t count)
{
    *n = (struct watch_numbers){efficiency(sights, NULL, count), {-1, -1}, -1, -1};
    if (before)
        n->lately = efficiency(sights, before, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct watch_board *b = &sights[i]->board;
        if (!b->noted || left(sights[i], b->left_ns) < n->eta)
            continue;
        n->eta = left(sights[i], b->left_ns);
        n->progress = b->progress;
    }
}
