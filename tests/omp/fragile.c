/* SPDX-License-Identifier: MIT */
/*
 * Programs that go wrong when a region gets another team than they expect. Each runs its regions, tiny ones, often
 * enough that lowering them would pay, and checks its result.
 *   fragile NAME [TURNS]
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 300, N = 64 };
static int data[N];

static int bad(const char *why)
{
    printf("wrong: %s\n", why);
    return 1;
}

/* LULESH's pattern: a slot a thread, all of them read afterwards, none of them cleared before. */
__attribute__((noinline)) static int array(void)
{
    int slots = omp_get_max_threads();
    int *slot = malloc(sizeof(int) * (size_t)slots);
    for (int i = 0; i < slots; i++)
        slot[i] = -1000000;
#pragma omp parallel
    {
        int best = 1000;
#pragma omp for
        for (int i = 0; i < N; i++)
            if (data[i] < best)
                best = data[i];
        slot[omp_get_thread_num()] = best;
    }
    int least = 1000;
    for (int i = 0; i < slots; i++)
        if (slot[i] < least)
            least = slot[i];
    free(slot);
    return least == -1000000;
}

/* The same, where the number comes from a helper. */
__attribute__((noinline)) static int workers(void)
{
    return omp_get_max_threads();
}

__attribute__((noinline)) static int helper(void)
{
    int n = workers(), done[256] = { 0 }, missing = 0;
#pragma omp parallel
    {
        int i = 0;
#pragma omp atomic capture
        i = done[0]++;
        (void)i;
    }
    missing = n - done[0];
    return missing != 0;
}

/* Work split by a number from elsewhere, by the thread's own number. */
static int everybody;
__attribute__((noinline)) static int split(void)
{
    int out[N] = { 0 };
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (int i = me; i < N; i += everybody)
            out[i] = data[i] + 1;
    }
    for (int i = 0; i < N; i++)
        if (out[i] != data[i] + 1)
            return 1;
    return 0;
}

/* The size was set here, and is relied on here. */
__attribute__((noinline)) static int set(void)
{
    int seen = 0;
    omp_set_num_threads(3);
#pragma omp parallel
#pragma omp atomic
    seen++;
    return seen != 3;
}

/* A barrier made by hand, for all threads there may be. */
static pthread_barrier_t meet;
__attribute__((noinline)) static int barrier(void)
{
    int passed = 0;
    pthread_barrier_init(&meet, NULL, (unsigned)omp_get_max_threads());
#pragma omp parallel
    {
        pthread_barrier_wait(&meet);
#pragma omp atomic
        passed++;
    }
    pthread_barrier_destroy(&meet);
    return passed != omp_get_max_threads();
}

/* The question is asked inside. */
__attribute__((noinline)) static int inside(void)
{
    int short_of = 0;
#pragma omp parallel
    {
#pragma omp single
        short_of = omp_get_max_threads() - omp_get_num_threads();
    }
    return short_of != 0;
}

/* The size of one team is taken for that of the next, whichever thread says it, in whatever way. */
static int team, in_full[64];
__attribute__((noinline)) static int ask_size(int how)
{
    team = 0;
#pragma omp parallel
    {
        if (how == 0 && omp_get_thread_num() == 0)
            team = omp_get_num_threads();
        if (how == 1) {
#pragma omp single
            team = omp_get_num_threads();
        }
        if (how == 2) {
#pragma omp single
            team = omp_get_team_size(1);
        }
    }
    memset(in_full, 0, sizeof in_full);
#pragma omp parallel
    in_full[omp_get_thread_num() & 63] = 1;
    for (int i = 0; i < team; i++)
        if (!in_full[i])
            return 1;
    for (int i = team; i < 64; i++)
        if (in_full[i])
            return 1;
    return 0;
}

__attribute__((noinline)) static int size_by_master(void)
{
    return ask_size(0);
}

__attribute__((noinline)) static int size_by_single(void)
{
    return ask_size(1);
}

__attribute__((noinline)) static int size_by_level(void)
{
    return ask_size(2);
}

/* Threads that know themselves by their ancestor's number, and split work for as many as there are elsewhere. */
__attribute__((noinline)) static int ancestor(void)
{
    int out[N] = { 0 };
#pragma omp parallel
    for (int i = omp_get_ancestor_thread_num(1); i < N; i += everybody)
        out[i] = data[i] + 1;
    for (int i = 0; i < N; i++)
        if (out[i] != data[i] + 1)
            return 1;
    return 0;
}

/* Regions whose one thread is the program's wish, with as many inside as OMP_NUM_THREADS=1,3 says, in later turns. */
__attribute__((noinline)) static int list(void)
{
    static int turn;
    int inner = 0;
    if (everybody != 1 || turn++ < 10)
        inner = 3;
#pragma omp parallel
    if (inner == 0) {
#pragma omp parallel
#pragma omp atomic
        inner++;
    }
    return inner != 3;
}

/* What a function that is called from within does must not depend on the region having been lowered. */
__attribute__((noinline)) static int library(void)
{
    return omp_in_parallel() ? 1 : 1000;
}

__attribute__((noinline)) static int in_parallel(void)
{
    int most = 0;
#pragma omp parallel for reduction(max : most)
    for (int i = 0; i < N; i++) {
        int x = library() + omp_get_active_level();
        most = x > most ? x : most;
    }
    return most != 2;
}

/* Two sections that wait for one another. */
__attribute__((noinline)) static int sections(void)
{
    int flag = 0, seen = 0;
#pragma omp parallel sections
    {
#pragma omp section
        {
            __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
            while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != 2)
                sched_yield();
        }
#pragma omp section
        {
            while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != 1)
                sched_yield();
            seen = 1;
            __atomic_store_n(&flag, 2, __ATOMIC_RELEASE);
        }
    }
    return !seen;
}

/* Threads that count for themselves. */
static _Thread_local int mine;
__attribute__((noinline)) static int own(void)
{
    static int turn;
    int others = 0;
    turn++;
#pragma omp parallel
    {
        mine++;
#pragma omp atomic
        others += mine != turn;
    }
    return others != 0;
}

/* Results that may differ by team in floating point, but are written by element: equal at any size. */
static double field[N];
__attribute__((noinline)) static int tiny(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        field[i] = field[i] * 1.0000001 + i;
    return 0;
}

static const struct { const char *name; int (*run)(void); } all[] = {
    { "array", array }, { "helper", helper }, { "split", split }, { "set", set }, { "barrier", barrier },
    { "inside", inside }, { "size_by_master", size_by_master }, { "size_by_single", size_by_single },
    { "size_by_level", size_by_level }, { "ancestor", ancestor }, { "list", list }, { "in_parallel", in_parallel },
        { "sections", sections }, { "own", own }, { "tiny", tiny },
};

__attribute__((noinline)) static int start(void)
{
    everybody = omp_get_max_threads();
    return everybody > 0;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < N; i++)
        data[i] = 100 - i;
    if (!start())
        return 1;
    int turns = argc > 2 ? atoi(argv[2]) : TURNS;
    for (size_t k = 0; argc > 1 && k < sizeof all / sizeof *all; k++)
        for (int i = 0; !strcmp(argv[1], all[k].name) && i < turns; i++)
            if (all[k].run())
                return bad(argv[1]);
    double total = 0;
    for (int i = 0; i < N; i++)
        total += field[i];
    printf("right %.17g\n", total);
    return 0;
}
