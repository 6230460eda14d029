/* SPDX-License-Identifier: MIT */
/* Who has become slow: places that a rank comes back to, compared with the same places before. */
#include <math.h>
#include <stdlib.h>

#include "base/own.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

enum { FEW = 8 };                                      /* events before and since, for a place to count */
#define SHORT UINT64_C(3000000000)                     /* ns, of the time since */
static const double slower = 2, busier = 1.5, much = .2;

struct pace {
    double factor; /* what was before its events since, over what would have been as it was before; 0: not known */
    double share;  /* of that time, that was so */
    uint64_t from; /* of the place with most more */
    bool slow;
};

/* Of a season that has ended since the look before, what was lacked by then; of one that ended before the first look,
   what was lacked at that and cannot all have been since. */
void watch_delayed(struct watch_sight *s)
{
    const struct watch_sight *b = s->before;
    for (uint64_t i = 0, k; i < s->board.seasons; i++) {
        uint64_t end = s->board.season[i].end, all = s->process.delayed_ns, since = s->now > end ? s->now - end : 0;
        for (k = 0; b && k < b->board.seasons && b->board.season[k].end != end;)
            k++;
        s->delayed_ns[i] = !b ? all - (all < since ? all : since)
                              : k < b->board.seasons ? b->delayed_ns[k] : b->process.delayed_ns;
    }
}

/* The share of the time since a season in which it did not lack a processor that it could have run on, at least. */
static double had_processor(const struct watch_sight *s, uint32_t season)
{
    uint64_t now = s->process.delayed_ns, ns = now > s->delayed_ns[season] ? now - s->delayed_ns[season] : 0;
    return fmax(0, 1 - (double)ns / (double)(s->now - s->board.season[season].end));
}

/* Since the end of a season, against what was until the end of that one or of an earlier one: in between it may have
   changed. */
static struct pace pace_since(const struct watch_sight *s, uint32_t season, uint32_t earlier)
{
    const struct watch_board *b = &s->board;
    struct pace p = {0, 0, 0, false};
    double took = 0, would = 0, most = 0;
    const struct watch_season *then = &b->season[season];
    if (season >= b->seasons || s->now < then->end || s->now - then->end < SHORT)
        return p;
    for (unsigned i = 0; i < WATCH_SPOTS; i++) {
        const struct watch_tally *before = &b->season[earlier].past[i], *since = &then->past[i], *sum = &b->sum[i];
        double events = (double)(sum->count - since->count), ns = (double)(sum->gap_ns - since->gap_ns);
        if (before->count < FEW || sum->count < since->count + FEW || sum->gap_ns < since->gap_ns)
            continue;
        double usual = events * (double)before->gap_ns / (double)before->count;
        took += ns;
        would += usual;
        if (ns - usual > most) {
            most = ns - usual;
            p.from = b->met[i];
        }
    }
    took *= had_processor(s, season); /* of what it computes as of all else */
    p.factor = would > 0 ? took / would : 0;
    p.share = took / (double)(s->now - then->end);
    return p;
}

/* The lower one of an even number: of two ranks the other one. */
static double slow_median(const struct pace *p, uint32_t ranks, double *room, bool factors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ranks; i++)
        if (p[i].factor > 0)
            room[n++] = factors ? p[i].factor : p[i].share;
    return n ? watch_ranked(room, n, (n - 1) / 2) : 0;
}

/* Against how all have changed since, and only who computes longer than the others do, and much longer than before. */
static struct watch_slowest slow_since(struct pace *p, uint32_t ranks, double *room)
{
    struct watch_slowest most = {0, 0, 0};
    double all = slow_median(p, ranks, room, true), share = slow_median(p, ranks, room, false);
    all = all > 1 ? all : 1;
    for (uint32_t i = 0; i < ranks; i++) {
        double factor = p[i].factor / all;
        p[i].slow = factor >= slower && p[i].share >= busier * share && p[i].share * (1 - 1 / factor) >= much;
        if (p[i].slow && factor > most.factor)
            most = (struct watch_slowest){factor, i, p[i].from};
    }
    return most;
}

struct watch_slowest watch_slow(const struct watch_row *rows, uint32_t ranks, bool *slow)
{
    BASE_OWN struct pace *p = calloc((size_t)ranks + 1, sizeof *p);
    BASE_OWN double *room = calloc((size_t)ranks + 1, sizeof *room);
    struct watch_slowest most = {0, 0, 0};
    memset(slow, 0, ranks * sizeof *slow);
    for (uint32_t season = 0; season < WATCH_SEASONS && p && room; season++)
        for (uint32_t earlier = 0; earlier <= season; earlier++) {
            for (uint32_t i = 0; i < ranks; i++)
                p[i] = rows[i].sight ? pace_since(rows[i].sight, season, earlier) : (struct pace){0, 0, 0, false};
            struct watch_slowest s = slow_since(p, ranks, room);
            for (uint32_t i = 0; i < ranks && s.factor > most.factor; i++)
                slow[i] = p[i].slow;
            most = s.factor > most.factor ? s : most;
        }
    return most;
}
