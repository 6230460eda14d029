/* SPDX-License-Identifier: MIT */
/* What the program itself may ask of its job (pythia.h), by the boards of its node: from any thread, at leisure. */
#include <stdlib.h>

#include "pythia.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

struct within {
    struct watch_sight **sight;
    uint32_t count, own; /* own: which of them is this process's */
};

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
    struct watch_found *found;
    char why[128];
    memset(w, 0, sizeof *w);
    if (!mine)
        return 1;
    uint64_t job = mine->job;
    uint32_t rank = mine->rank, count = watch_find(WATCH_DIRECTORY, &found), own = UINT32_MAX;
    w->sight = calloc((size_t)count + 1, sizeof *w->sight);
    struct watch_sight *s = w->sight ? malloc(sizeof *s) : NULL;
    for (uint32_t i = 0; i < count && s; i++) {
        if (found[i].job != job || watch_read(WATCH_DIRECTORY, job, found[i].rank, s, why, sizeof why) != WATCH_READ)
            continue;
        own = found[i].rank == rank ? w->count : own;
        s->idle_ns = 0;
        w->sight[w->count++] = s;
        s = malloc(sizeof *s);
    }
    bool failed = !s;
    free(s);
    free(found);
    w->own = own;
    if (!failed && own != UINT32_MAX)
        return 0;
    within_close(w);
    return failed ? PYTHIA_ENOMEM : 1;
}

int pythia_job_waiting_for(uint32_t *ranks, uint32_t count)
{
    struct within w;
    int status = within_open(&w);
    if (status)
        return status < 0 ? status : 0;
    uint32_t all = w.sight[w.own]->board.ranks, number = 0;
    struct watch_row *rows = watch_rows((const struct watch_sight *const *)w.sight, w.count, all);
    const struct watch_row *r = rows ? &rows[w.sight[w.own]->board.rank] : NULL;
    for (; r && number < r->peer_count; number++)
        if (ranks && number < count)
            ranks[number] = r->peer[number];
    watch_rows_free(rows, all);
    within_close(&w);
    return rows ? (int)number : PYTHIA_ENOMEM;
}

static int within_numbers(struct watch_numbers *n)
{
    struct within w;
    int status = within_open(&w);
    if (status)
        return status;
    watch_count(n, (const struct watch_sight *const *)w.sight, NULL, w.count);
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
    if (status || n.eta < 0)
        return status ? status : 1;
    give(seconds, n.eta);
    give(low, n.eta_low);
    give(high, n.eta_high);
    give(progress, n.progress);
    return 0;
}

int pythia_job_efficiency(double *parallel, double *load_balance)
{
    struct watch_numbers n;
    int status = within_numbers(&n);
    if (status || n.whole.load_balance < 0)
        return status ? status : 1;
    give(parallel, n.whole.parallel);
    give(load_balance, n.whole.load_balance);
    return 0;
}
