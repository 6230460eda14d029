/* SPDX-License-Identifier: MIT */
/*
 * Regions whose teams may be changed, and such that must keep them: yes_NAME does the same with any number of threads,
 * no_NAME does not, or nobody can tell; sums_NAME only adds floating-point numbers. A name may end in the least level
 * of optimisation at which a region is proven: yes_NAME_O2. Each runs once, with two threads.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200, BINS = 8 };
double x[N], y[N]; /* known outside, so that what is stored in them is stored */
int count, slot[64], bins[64 * BINS], done, table[N];
long total;
static volatile int flag, other;
static __thread int own;
static int (*pointer)(int);
double (*force)(double) = sin;
struct state {
    unsigned seed;
    int used;
};

#define CASE(name)                              \
    __attribute__((noinline)) void name(int n); \
    void name(int n)

/* --- Compilers' own questions --- */

CASE(yes_static)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2 * y[i];
}

CASE(yes_unsigned)
{
#pragma omp parallel for schedule(static)
    for (unsigned long i = 0; i < (unsigned)n; i++)
        x[i] = 2 * y[i];
}

CASE(yes_collapse)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n / 10; i++)
        for (int j = 0; j < 10; j++)
            x[10 * i + j] += i * j;
}

CASE(yes_chunks_O2)
{
#pragma omp parallel for schedule(static, 4)
    for (int i = 0; i < n; i++)
        x[i] = 2 * y[i];
}

CASE(yes_dynamic)
{
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < n; i++)
        x[i] = 2 * y[i];
}

CASE(yes_guided)
{
#pragma omp parallel for schedule(guided)
    for (long i = 0; i < n; i++)
        x[i] = 2 * y[i];
}

CASE(yes_two_loops)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            x[i] = 2 * y[i];
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            y[i] = sqrt(x[i]);
    }
}

CASE(yes_master)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            x[i] = 2 * y[i];
#pragma omp master
        count++;
    }
}

CASE(yes_single)
{
#pragma omp parallel
    {
#pragma omp single
        count++;
#pragma omp for
        for (int i = 0; i < n; i++)
            x[i] = 2 * y[i];
    }
}

CASE(yes_sum_of_integers)
{
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++)
        total += table[i];
}

CASE(yes_maximum_O2)
{
    double most = 0;
#pragma omp parallel for reduction(max : most)
    for (int i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    y[0] = most;
}

CASE(yes_atomic_in_a_loop)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
#pragma omp atomic
        bins[i % BINS]++;
}

CASE(yes_critical_in_a_loop)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
#pragma omp critical
        bins[i % BINS]++;
}

__attribute__((noinline)) static double helper(double a, double *b)
{
    double s = 0;
    for (int k = 0; k < 5; k++)
        s += a * k;
    *b = s;
    return s + 1;
}

CASE(yes_helper)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = helper(i, &x[i]);
}

CASE(yes_inner_sum)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++)
            s += y[j];
        x[i] = s;
    }
}

/* --- Sums --- */

CASE(sums_double)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    x[0] = s;
}

/* --- Questions of the program's --- */

CASE(no_slots)
{
#pragma omp parallel
    slot[omp_get_thread_num()] = n;
}

CASE(no_slot_after_a_loop)
{
#pragma omp parallel
    {
        int mine = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            mine += table[i];
        slot[omp_get_thread_num()] = mine;
    }
}

CASE(no_bins_by_number)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        for (int k = 0; k < BINS; k++)
            bins[me * BINS + k] = size;
    }
}

CASE(no_split_by_hand)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = n * me / size; i < n * (me + 1) / size; i++)
            x[i] = me;
    }
}

CASE(no_size_is_expected)
{
#pragma omp parallel
    {
        if (omp_get_num_threads() != 2)
            exit(3);
#pragma omp for
        for (int i = 0; i < n; i++)
            x[i] = 2 * y[i];
    }
}

CASE(no_first_four)
{
#pragma omp parallel
    if (omp_get_thread_num() < 4)
#pragma omp atomic
        count++;
}

CASE(no_all_but_one)
{
#pragma omp parallel
    if (omp_get_thread_num() != 0)
#pragma omp atomic
        count++;
}

CASE(no_size_of_an_array)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads();
        double *own_array = malloc(sizeof(double) * (size_t)size);
        own_array[0] = n;
        pointer(n);
        free(own_array);
    }
}

__attribute__((noinline)) void take(int me);
void take(int me)
{
    slot[me] = 1;
}

CASE(no_number_handed_on)
{
#pragma omp parallel
    take(omp_get_thread_num());
}

CASE(no_number_by_address)
{
#pragma omp parallel
    {
        int me[2] = { omp_get_thread_num(), n };
        x[0] = helper(n, (double *)(void *)me);
    }
}

CASE(no_question_in_a_helper)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = omp_get_max_threads();
}

/* --- Work that is not shared --- */

CASE(no_count_of_threads)
{
#pragma omp parallel
#pragma omp atomic
    count++;
}

CASE(no_count_after_a_loop)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            x[i] = 2 * y[i];
#pragma omp atomic
        count++;
    }
}

CASE(no_count_in_critical)
{
#pragma omp parallel
#pragma omp critical
    count++;
}

CASE(no_sum_that_begins_with_one)
{
#pragma omp parallel
    {
        int mine = 1;
#pragma omp for
        for (int i = 0; i < n; i++)
            mine += table[i];
#pragma omp atomic
        total += mine;
    }
}

CASE(no_same_place)
{
#pragma omp parallel
    count = n;
}

CASE(no_output_by_all)
{
#pragma omp parallel
    if (n < 0)
        puts("never");
}

/* --- What a thread keeps --- */

CASE(no_seed)
{
#pragma omp parallel
    {
        unsigned seed = 42;
#pragma omp for
        for (int i = 0; i < n; i++) {
            seed = seed * 1103515245 + 12345;
            table[i] = (int)(seed >> 16);
        }
    }
}

__attribute__((noinline)) static int next_number(struct state *s)
{
    s->seed = s->seed * 1103515245 + 12345;
    s->used++;
    return (int)(s->seed >> 16);
}

CASE(no_seed_by_address)
{
#pragma omp parallel
    {
        struct state s = { 42, 0 };
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = next_number(&s);
    }
}

CASE(no_last_value)
{
#pragma omp parallel
    {
        int last = -1;
#pragma omp for
        for (int i = 0; i < n; i++) {
            bins[i % BINS] = table[i] == last;
            last = table[i];
        }
    }
}

CASE(no_own_count)
{
#pragma omp parallel
    {
        int k = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = k++;
    }
}

/* --- Waiting --- */

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

/* --- What cannot be known --- */

CASE(no_thread_data)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = own++;
}

static __attribute__((noinline)) int place_in_stack(void)
{
    volatile char here[64];
    return (int)(intptr_t)here;
}

CASE(no_place_of_its_stack)
{
#pragma omp parallel
    x[omp_get_thread_num() % n] = place_in_stack();
}

CASE(no_pointer)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = pointer(i);
}

/* It may be given another value: that it begins as a known function says nothing of what is called. */
static double plus_own(double v)
{
    return v + omp_get_thread_num();
}

CASE(no_pointer_that_begins_known)
{
    force = plus_own;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = force(y[i]);
}

/* What is carried from turn to turn is handed on where registers are used up. */
__attribute__((noipa)) static unsigned seventh(int a, int b, int c, int d, int e, int f, int g, int h, unsigned seed)
{
    return seed + (unsigned)(a + b + c + d + e + f + g + h);
}

CASE(no_seed_on_the_stack)
{
#pragma omp parallel
    {
        unsigned seed = 1;
#pragma omp for
        for (int i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            table[i] = (int)seventh(0, 1, 0, 1, 0, 1, 0, 1, seed);
        }
    }
}

__attribute__((noipa)) static unsigned draw(unsigned *state, int i)
{
    unsigned v = state[i & 15] * 1664525u + 1013904223u;
    state[(i * 7 + 3) & 15] = v;
    return v;
}

CASE(no_array_of_seeds)
{
#pragma omp parallel
    {
        unsigned state[16];
        for (int i = 0; i < 16; i++)
            state[i] = (unsigned)i + 1;
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = (int)draw(state, i);
    }
}

CASE(no_unknown_function)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = rand();
}

CASE(no_lock)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
    }
}

int main(void)
{
    pointer = abs;
    void (*const all[])(int) = {
        yes_static,
        yes_unsigned,
        yes_collapse,
        yes_chunks_O2,
        yes_dynamic,
        yes_guided,
        yes_two_loops,
        yes_master,
        yes_single,
        yes_sum_of_integers,
        yes_maximum_O2,
        yes_atomic_in_a_loop,
        yes_critical_in_a_loop,
        yes_helper,
        yes_inner_sum,
        sums_double,
        no_slots,
        no_slot_after_a_loop,
        no_bins_by_number,
        no_split_by_hand,
        no_size_is_expected,
        no_first_four,
        no_all_but_one,
        no_size_of_an_array,
        no_number_handed_on,
        no_number_by_address,
        no_question_in_a_helper,
        no_count_of_threads,
        no_count_after_a_loop,
        no_count_in_critical,
        no_sum_that_begins_with_one,
        no_same_place,
        no_output_by_all,
        no_seed,
        no_seed_by_address,
        no_last_value,
        no_own_count,
        no_singles_that_wait,
        no_counting_while_waiting,
        no_barrier_by_hand,
        no_lock_by_hand,
        no_thread_data,
        no_place_of_its_stack,
        no_pointer,
        no_pointer_that_begins_known,
        no_seed_on_the_stack,
        no_array_of_seeds,
        no_unknown_function,
        no_lock,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        done = 0;
        all[i](N);
    }
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
