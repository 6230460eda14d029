/* SPDX-License-Identifier: MIT */
/*
 * Regions whose shares fewer threads may run (yes_NAME), and such that must keep their teams (no_NAME), or of which
 * nobody can tell. Each runs once, with two threads; prints how many there are.
 */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200 };
double x[N], y[N]; /* known outside, so that what is stored in them is stored */
int count, slot[64], done;
long total;
static volatile int flag, other;
static __thread int own;
static int plus_own_int(int a) { return a + own; }
static int (*volatile pointer)(int) = plus_own_int;
static double plus_own(double a) { return a + own; }
double (*force)(double) = sin;

#define CASE(name)                              \
    __attribute__((noinline)) void name(int n); \
    void name(int n)

/* --- Shares are the program's own --- */

#define LOOP(name, clauses)          \
    CASE(name)                       \
    {                                \
        _Pragma(clauses)             \
        for (int i = 0; i < n; i++)  \
            x[i] = 2 * y[i] + i;     \
    }
LOOP(yes_static, "omp parallel for")
LOOP(yes_chunks, "omp parallel for schedule(static, 4)")
LOOP(yes_dynamic, "omp parallel for schedule(dynamic, 3)")
LOOP(yes_monotonic, "omp parallel for schedule(monotonic : dynamic)")
LOOP(yes_guided, "omp parallel for schedule(guided)")
LOOP(yes_runtime, "omp parallel for schedule(runtime)")
LOOP(yes_auto, "omp parallel for schedule(auto)")
LOOP(no_order, "omp parallel for ordered")

CASE(yes_sum_of_doubles)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += y[i];
    x[0] = sum;
}

CASE(yes_unsigned_downwards)
{
#pragma omp parallel for schedule(dynamic)
    for (unsigned long i = (unsigned long)n; i > 0; i -= 1)
        x[i - 1] = y[i - 1];
}

CASE(yes_slots)
{
#pragma omp parallel
    {
        int least = n, seed = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            seed = seed * 13 + 7;
            least = slot[i & 63] < least ? slot[i & 63] : least;
            x[i] = seed & 15;
        }
        slot[omp_get_thread_num() & 63] = least + omp_get_num_threads() + omp_get_max_threads() + omp_get_level();
    }
}

CASE(yes_constructs)
{
    int shared = 0;
#pragma omp parallel private(shared)
    {
#pragma omp single copyprivate(shared)
        shared = n;
#pragma omp sections
        {
#pragma omp section
            x[1] = shared;
#pragma omp section
            x[2] = shared;
        }
#pragma omp master
        total += shared;
#pragma omp barrier
#pragma omp critical
        count += shared;
#pragma omp single nowait
        x[3] = shared;
    }
}

CASE(yes_sections)
{
#pragma omp parallel sections
    {
#pragma omp section
        x[1] = n;
#pragma omp section
        x[2] = n;
    }
}

CASE(yes_everybody_works_and_prints)
{
    double *all[2];
#pragma omp parallel
    {
        double *mine = malloc(sizeof(double) * (size_t)n), *volatile *where = &mine;
        (*where)[0] = sin(y[0]) + pow(y[1], 2);
        all[omp_get_thread_num() & 1] = *where;
        fprintf(stderr, "%d", 0);
        free(*where);
    }
    (void)all;
}

/* --- Shares that wait, or that belong to a thread --- */

CASE(no_errno)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        errno = i;
        x[i] = errno;
    }
}

CASE(no_rounding)
{
#pragma omp parallel
    {
        fesetround(FE_UPWARD);
        slot[omp_get_thread_num() & 63] = (int)rint(y[0] + n);
        fesetround(FE_TONEAREST);
    }
}

CASE(no_flag_in_its_frame)
{
    static int *volatile other_flag;
    int threads = 0;
#pragma omp parallel
    {
        volatile int mine = 0;
        if (omp_get_thread_num() == 0)
            other_flag = (int *)&mine;
#pragma omp atomic
        threads += n;
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            *other_flag = 1;
        while (omp_get_thread_num() == 0 && !mine)
            ;
    }
}

CASE(no_team_inside)
{
#pragma omp parallel
    {
#pragma omp parallel
        x[0] = n;
    }
}

CASE(no_task)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        x[0] = n;
    }
}

CASE(no_setting)
{
#pragma omp parallel
    omp_set_num_threads(omp_get_num_threads() + 0 * n);
}

CASE(no_singles_that_wait)
{
    flag = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        while (!flag)
            ;
#pragma omp single nowait
        flag = n;
    }
}

CASE(no_counting_while_waiting)
{
    flag = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        for (int spins = 0; !flag; spins++)
            other = spins;
#pragma omp single nowait
        flag = n;
    }
}

CASE(no_barrier_by_hand)
{
    done = 0;
#pragma omp parallel
    {
        __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < 2)
            ;
    }
}

CASE(no_lock_by_hand)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int expected = 0;
        while (!__atomic_compare_exchange_n(&done, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            expected = 0;
        count++;
        __atomic_store_n(&done, 0, __ATOMIC_SEQ_CST);
    }
}

CASE(no_thread_data)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = own++;
}

CASE(no_pointer)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = pointer(i);
}

CASE(no_pointer_that_begins_known)
{
    force = plus_own;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = force(y[i]);
}

CASE(no_unknown_function)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = rand();
}

/* What it looks at decides where it goes on, and not whether it ends. */
CASE(yes_search)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int low = 0, high = N;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (y[middle] < i)
                low = middle + 1;
            else
                high = middle;
        }
        x[i] = low;
    }
}

static omp_lock_t lock;
static omp_nest_lock_t nested;

CASE(yes_lock)
{
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
    }
}

/* Who waits for it in a critical section keeps the others out of that. */
CASE(no_lock_in_a_critical_section)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp critical(outer)
        {
#pragma omp critical(inner)
            count++;
            omp_set_lock(&lock);
        }
        omp_unset_lock(&lock);
    }
}

/* The thread has it, not the share. */
CASE(no_nested_lock)
{
    omp_init_nest_lock(&nested);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        omp_set_nest_lock(&nested);
        count++;
        omp_unset_nest_lock(&nested);
    }
}

CASE(no_looking_at_a_lock)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        while (!omp_test_lock(&lock))
            ;
        count++;
        omp_unset_lock(&lock);
    }
}

CASE(no_flag_under_a_lock)
{
#pragma omp parallel
    {
        int seen = 0;
        omp_set_lock(&lock);
        done++;
        omp_unset_lock(&lock);
        while (seen < 2) {
            omp_set_lock(&lock);
            seen = done;
            omp_unset_lock(&lock);
        }
    }
}

int main(void)
{
    static void (*const all[])(int) = {
        yes_static, yes_chunks, yes_dynamic, yes_monotonic, yes_guided, yes_runtime, yes_auto, no_order,
        yes_sum_of_doubles, yes_unsigned_downwards, yes_slots, yes_constructs, yes_sections,
        yes_everybody_works_and_prints, no_errno, no_rounding, no_flag_in_its_frame, no_team_inside, no_task,
        no_setting, no_singles_that_wait, no_counting_while_waiting, no_barrier_by_hand, no_lock_by_hand,
        no_thread_data, no_pointer, no_pointer_that_begins_known, no_unknown_function, yes_search, yes_lock,
        no_lock_in_a_critical_section, no_nested_lock, no_looking_at_a_lock, no_flag_under_a_lock,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        done = 0;
        all[i](N);
    }
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
