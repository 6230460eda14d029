/* SPDX-License-Identifier: MIT */
#include "teams/account.h"

static struct teams_time account_take(struct teams_time *t)
{
    struct teams_time had = *t;
    *t = (struct teams_time){ 0 };
    return had;
}

/* Those that one of this length stands for. */
static struct teams_time take_others(struct teams_account *a, int length)
{
    int first = length == TEAMS_SHORT ? TEAMS_SHORT : TEAMS_LONG;
    int last = length == TEAMS_SHORT || length == TEAMS_LONGEST ? length : length + 1;
    struct teams_time sum = { 0 };
    for (int i = first; i <= last; i++) {
        struct teams_time t = account_take(&a->untimed[i]);
        sum.region += t.region;
        sum.mpi += t.mpi;
        sum.team += t.team;
    }
    return sum;
}

static uint32_t take_largest(struct teams_account *a)
{
    uint32_t had = a->largest;
    a->largest = 0;
    return had;
}

static uint64_t scaled(uint64_t part, uint64_t more, uint64_t whole)
{
    return part + (uint64_t)((unsigned __int128)part * more / whole);
}

static void add_time(struct job_threads *to, const struct teams_time *t)
{
    to->region_ns += t->region;
    to->region_mpi_ns += t->mpi;
    to->team_ns += t->team;
}

void teams_account_timed(struct teams_account *a, uint64_t ns, uint64_t mpi, struct job_threads *timed)
{
    const struct teams_time own = { ns, mpi, 0 }; /* the team's time is there, with teams inside */
    struct teams_time others = take_others(a, teams_account_length(a, ns));
    for (int k = 0; others.team && timed->team_ns && k < JOB_THREADS_PARTS; k++)
        timed->part[k] = scaled(timed->part[k], others.team, timed->team_ns);
    uint32_t largest = take_largest(a);
    timed->threads = timed->threads > largest ? timed->threads : largest;
    add_time(timed, &own);
    add_time(timed, &others);
    job_threads_sum(&a->sum, timed);
}

struct job_threads teams_account_rest(struct teams_account *a)
{
    struct job_threads rest = { .threads = take_largest(a) };
    struct teams_time alone = a->untimed[TEAMS_ALONE];
    rest.timed_ns = alone.team;
    rest.part[JOB_THREADS_MPI] = alone.mpi;
    rest.part[JOB_THREADS_WORK] = alone.team - alone.mpi;
    for (int length = 0; length < TEAMS_LENGTHS; length++) {
        struct teams_time t = account_take(&a->untimed[length]);
        add_time(&rest, &t);
    }
    job_threads_sum(&a->sum, &rest);
    return rest;
}
