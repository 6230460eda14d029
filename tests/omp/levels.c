/* SPDX-License-Identifier: MIT */
/*
 * What a region can ask about itself does not depend on how it is run: tiny regions, often enough that they are lowered
 * and called without libgomp, which must not show. Prints "right", or what was wrong.
 */
#include <omp.h>
#include <stdio.h>

enum { TURNS = 400 };
static int wrong;

static void expect(const char *what, int got, int want)
{
    if (got != want && !wrong++)
        printf("wrong: %s is %d, not %d\n", what, got, want);
}

static double sink[8];

/* Levels, from a function that cannot know how it was entered. */
__attribute__((noinline)) static void inside(int level)
{
    expect("level", omp_get_level(), level);
    expect("ancestor of level 0", omp_get_ancestor_thread_num(0), 0);
    expect("team size of level 0", omp_get_team_size(0), 1);
    expect("ancestor of a level too deep", omp_get_ancestor_thread_num(level + 1), -1);
    expect("team size of a level too deep", omp_get_team_size(level + 1), -1);
    expect("team size of a negative level", omp_get_team_size(-1), -1);
    if (omp_in_parallel() != (level > 0))
        expect("in_parallel", omp_in_parallel(), level > 0);
}

__attribute__((noinline)) static void levels(void)
{
#pragma omp parallel for
    for (int i = 0; i < 8; i++) {
        inside(1);
        sink[i] += i;
    }
}

/* What a region sets is its own. */
__attribute__((noinline)) static void settings(void)
{
    omp_sched_t kind;
    int chunk;
#pragma omp parallel for
    for (int i = 0; i < 8; i++) {
        omp_set_schedule(omp_sched_guided, 17);
        omp_set_dynamic(1);
        sink[i] += i;
    }
    omp_get_schedule(&kind, &chunk);
    expect("schedule", kind == omp_sched_guided && chunk == 17, 0);
    expect("dynamic", omp_get_dynamic(), 0);
}

/* Constructs that work without a team, too. */
__attribute__((noinline)) static void constructs(void)
{
    int ones = 0, sum = 0, done = 0, ordered = 0;
#pragma omp parallel
    {
#pragma omp single
        ones++;
#pragma omp barrier
#pragma omp for schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 8; i++)
            sum += i;
#pragma omp for ordered
        for (int i = 0; i < 4; i++)
#pragma omp ordered
            ordered += i == ordered;
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            done++;
#pragma omp section
#pragma omp atomic
            done++;
        }
#pragma omp critical
        sink[0] += 1;
    }
    expect("single", ones, 1);
    expect("dynamic loop", sum, 28);
    expect("sections", done, 2);
    expect("ordered", ordered, 4);
}

/* A region with one thread by its own wish, and one inside it. */
__attribute__((noinline)) static void alone(void)
{
#pragma omp parallel for if (0)
    for (int i = 0; i < 8; i++) {
        expect("level of if(0)", omp_get_level(), 1);
        expect("in_parallel of if(0)", omp_in_parallel(), 0);
        sink[i] += i;
    }
}

int main(void)
{
    for (int i = 0; i < TURNS; i++) {
        levels();
        settings();
        constructs();
        alone();
    }
    expect("level at last", omp_get_level(), 0);
    if (!wrong)
        puts("right");
    return wrong != 0;
}
