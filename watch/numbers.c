/* SPDX-License-Identifier: MIT */
#include "watch/numbers.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "job/streams.h"

enum { FEW = 4 };

/* In calls so far, with the one that it is in, without MPI_Init. */
static uint64_t in_calls(const struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    uint64_t since = b->since >> 1;
    bool inside = (b->since & 1) && b->since != WATCH_CHANGES && b->is.what.call_kind != WATCH_REGION;
    uint64_t launch = b->launch_ns < b->mpi_ns ? b->launch_ns : b->mpi_ns;
    return b->mpi_ns - launch + (inside && s->now > since ? s->now - since : 0);
}

/* `lately`: since the last look, of those that were there. */
static struct watch_efficiency efficiency(struct watch_sight *const *sights, uint32_t count, bool lately)
{
    double sum = 0, most = 0, longest = 0;
    uint32_t ranks = 0, who = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct watch_sight *s = sights[i], *b = lately ? s->before : NULL;
        if (lately && !b)
            continue;
        double all = (double)(s->now - (b ? b->now : s->board.began + s->board.launch_ns));
        double calls = (double)in_calls(s) - (b ? (double)in_calls(b) : 0), useful = fmax(0, all - fmax(0, calls));
        sum += useful;
        who = useful > most ? s->board.rank : who;
        most = fmax(most, useful);
        longest = fmax(longest, all);
        ranks++;
    }
    if (most <= 0)
        return (struct watch_efficiency){NAN, NAN, WATCH_NOBODY_LAST, NAN};
    return (struct watch_efficiency){sum / ranks / longest, job_balance(sum, ranks, most), who, most / longest};
}

static uint32_t last_rank(const struct watch_efficiency *whole, const struct watch_efficiency *lately)
{
    bool uneven = whole->load_balance < WATCH_EVEN && lately->load_balance < WATCH_EVEN;
    return uneven && whole->longest_rank == lately->longest_rank ? whole->longest_rank : WATCH_NOBODY_LAST;
}

/* As it was noted, less what passed since, but not less than what comes after the event that is waited for. */
static double left(const struct watch_sight *s, uint64_t noted)
{
    const struct watch_board *b = &s->board;
    uint64_t passed = s->now > b->noted ? s->now - b->noted : 0;
    passed = passed < b->next_ns ? passed : b->next_ns;
    return noted > passed ? (double)(noted - passed) * 1e-9 : 0;
}

BASE_COMPARISON(by_size, double, BASE_ORDER(*a, *b))

double watch_ranked(double *value, uint32_t count, uint32_t smaller)
{
    qsort(value, count, sizeof *value, by_size);
    return smaller < count ? value[smaller] : NAN;
}

/* How far off the end is by which four of five that were foretold before differ from it by less, as a part of what was
   left then; what is foretold now is as far off as these: the difference of two is root 2 times as large. NAN: there
   were too few. */
static double off(const struct watch_board *b)
{
    double part[WATCH_TOLD], end = (double)(b->noted + b->left_ns);
    uint32_t n = (uint32_t)b->tolds;
    for (uint32_t i = 0; i < n; i++) {
        double told = (double)b->told[i].end, left = (told > end ? told : end) - (double)b->told[i].at;
        part[i] = left > 0 ? fabs(told - end) / left : 1;
    }
    uint32_t at = (n + 1) * 4 / 5;
    return n < FEW ? NAN : M_SQRT2 * watch_ranked(part, n, at < n ? at : n - 1);
}

void watch_count(struct watch_numbers *n, struct watch_sight *const *sights, uint32_t count)
{
    *n = (struct watch_numbers){.whole = efficiency(sights, count, false), .lately = efficiency(sights, count, true),
                                .progress = NAN, .eta = NAN, .eta_low = NAN, .eta_high = NAN};
    n->last_rank = last_rank(&n->whole, &n->lately);
    for (uint32_t i = 0; i < count; i++) {
        const struct watch_board *b = &sights[i]->board;
        if (!b->noted)
            continue;
        n->beyond |= b->left_ns == WATCH_BEYOND;
        double eta = left(sights[i], b->left_ns), part = off(b);
        n->progress = fmin(n->progress, b->progress);
        if (eta < n->eta)
            continue;
        n->eta = eta;
        n->eta_low = isnan(part) ? NAN : eta * fmax(0, 1 - part);
        n->eta_high = eta * (1 + part);
    }
    if (n->beyond)
        n->progress = n->eta = n->eta_low = n->eta_high = NAN;
}
