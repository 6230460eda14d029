/* SPDX-License-Identifier: MIT */
/* What the program itself may ask of its job (pythia.h), by the boards of its node: from any thread, at leisure. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "pythia.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

struct within {
    struct watch_sight **sight;
    uint32_t count, ranks;
    bool failed;
};

static void within_take(void *within, struct watch_sight *s)
{
    struct within *w = within;
    bool wanted = s->reading == WATCH_READ && s->board.ranks == w->ranks;
    w->failed |= wanted && base_array_more(&w->sight, w->count, sizeof s);
    if (wanted && !w->failed)
        w->sight[w->count++] = s;
    else
        free(s);
}

static void within_close(struct within *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        free(w->sight[i]);
    free(w->sight);
}

/* The boards of this process's job. 0, 1: it has none, PYTHIA_ENOMEM. */
static int within_open(struct within *w)
{
    const struct watch_board *mine = watch_board_here;
    *w = (struct within){NULL, 0, mine ? mine->ranks : 0, false};
    if (mine)
        watch_each(mine->job, within_take, w);
    if (w->count && !w->failed)
        return 0;
    within_close(w);
    return w->failed ? PYTHIA_ENOMEM : 1;
}

int pythia_job_waiting_for(uint32_t *ranks, uint32_t count)
{
    struct within w;
    int status = within_open(&w);
    if (status)
        return status < 0 ? status : 0;
    uint32_t number = 0;
    struct watch_row *rows = watch_rows((const struct watch_sight *const *)w.sight, w.count, w.ranks);
    const struct watch_row *r = rows && watch_board_here ? &rows[watch_board_here->rank] : NULL;
    for (; r && number < r->peer_count; number++)
        if (ranks && number < count)
            ranks[number] = r->peer[number];
    watch_rows_free(rows, w.ranks);
    within_close(&w);
    return rows ? (int)number : PYTHIA_ENOMEM;
}

static int within_numbers(struct watch_numbers *n)
{
    struct within w;
    int status = within_open(&w);
    if (status)
        return status;
    watch_count(n, (const struct watch_sight *const *)w.sight, w.count);
    within_close(&w);
    return 0;
}

static void give(double *to, double value)
{
    if (to)
        *to = value;
}

int pythia_job_remaining(double *seconds, double *low, double *high, double *progress)
{
    struct watch_numbers n;
    int status = within_numbers(&n);
    if (status || isnan(n.eta))
        return status ? status : 1;
    give(seconds, n.eta);
    give(low, isnan(n.eta_low) ? -1 : n.eta_low);
    give(high, isnan(n.eta_high) ? -1 : n.eta_high);
    give(progress, n.progress);
    return 0;
}

int pythia_job_efficiency(double *parallel, double *load_balance)
{
    struct watch_numbers n;
    int status = within_numbers(&n);
    if (status || isnan(n.whole.load_balance))
        return status ? status : 1;
    give(parallel, n.whole.parallel);
    give(load_balance, n.whole.load_balance);
    return 0;
}
