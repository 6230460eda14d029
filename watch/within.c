/* SPDX-License-Identifier: MIT */
/* What the program itself may ask of its job (pythia.h), by the boards of its node: from any thread, at leisure. */
#include <math.h>

#include "pythia.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

/* The boards of this process's job. 0, 1: it has none, PYTHIA_ENOMEM. */
static int within_open(struct watch_sights *list)
{
    *list = (struct watch_sights){0};
    if (watch_board_here)
        watch_read_all(watch_board_here->job, list);
    if (list->count && !list->failed)
        return 0;
    watch_sights_free(list);
    return list->failed ? PYTHIA_ENOMEM : 1;
}

int pythia_job_waiting_for(uint32_t *ranks, uint32_t count)
{
    struct watch_sights list;
    int status = within_open(&list);
    if (status)
        return status < 0 ? status : 0;
    uint32_t all = list.of[0]->board.ranks, own = watch_board_here ? watch_board_here->rank : all, number = 0;
    struct watch_row *rows = watch_rows(list.of, list.count, all);
    for (uint32_t i = 0; rows && own < all && i < rows[own].peer_count; i++) {
        if (rows[own].peer[i] == own)
            continue;
        if (ranks && number < count)
            ranks[number] = rows[own].peer[i];
        number++;
    }
    status = rows ? (int)number : PYTHIA_ENOMEM;
    watch_rows_free(rows, all);
    watch_sights_free(&list);
    return status;
}

static int within_numbers(struct watch_numbers *n)
{
    struct watch_sights list;
    int status = within_open(&list);
    if (status)
        return status;
    watch_count(n, list.of, list.count);
    watch_sights_free(&list);
    return 0;
}

static void within_give(double *to, double value)
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
    within_give(seconds, n.eta);
    within_give(low, isnan(n.eta_low) ? -1 : n.eta_low);
    within_give(high, isnan(n.eta_high) ? -1 : n.eta_high);
    within_give(progress, n.progress);
    return 0;
}

int pythia_job_efficiency(double *mpi, double *load_balance)
{
    struct watch_numbers n;
    int status = within_numbers(&n);
    if (status || isnan(n.whole.load_balance))
        return status ? status : 1;
    within_give(mpi, n.whole.mpi);
    within_give(load_balance, n.whole.load_balance);
    return 0;
}
