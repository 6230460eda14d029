/* SPDX-License-Identifier: MIT */
/*
 * Which OpenMP constructs change what the thread has: errno, the floating-point flags, traps and rounding, the x87
 * control word; looked at before, inside and after each, the first time and later. One line a construct, none where all
 * is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ERROR = 77, VECTOR = 0x4000, WORD = 0x0b40 };

struct state { int error; uint32_t vector; uint16_t word; };
static int lost;
static volatile long sum;

static void state_get(struct state *s)
{
    *s = (struct state){errno, VECTOR, WORD};
#if defined(__x86_64__)
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(s->vector), "=m"(s->word));
#endif
}

static void state_set(struct state s)
{
#if defined(__x86_64__)
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(s.vector), "m"(s.word));
#endif
    errno = s.error;
}

static const struct state ours = {ERROR, VECTOR, WORD};

static void look(const char *where)
{
    struct state now, plain = {0, 0x1f80, 0x037f};
    state_get(&now);
    if (now.error == ERROR && now.vector == VECTOR && now.word == WORD)
        return;
    state_set(plain);
    printf("%s: errno %d, mxcsr %x, control word %x\n", where, now.error, now.vector, now.word);
    lost++;
    state_set(ours);
}

/* The thread that entered the construct; others have their own. */
static void look_inside(const char *where)
{
    if (omp_get_thread_num() == 0 && omp_get_level() < 2)
        look(where);
}

static void task_tree(int n)
{
    if (n < 2)
        return;
#pragma omp task
    task_tree(n - 1);
#pragma omp task
    task_tree(n - 2);
#pragma omp taskwait
}

static void regions(int threads)
{
#pragma omp parallel num_threads(threads)
    look_inside("in parallel");
    look("parallel");
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < 10; i++)
        sum += i;
    look("for dynamic");
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 10; i++)
        look_inside("in for static");
    look("for static");
#pragma omp parallel sections
    {
#pragma omp section
        look_inside("in sections");
    }
    look("sections");
#pragma omp parallel num_threads(threads)
    {
#pragma omp parallel num_threads(2)
        look_inside("in nested");
        look_inside("after nested");
    }
    look("nested");
}

static void tasks(void)
{
#pragma omp parallel
#pragma omp master
    {
#pragma omp task if (0)
        look_inside("in the first task");
        look_inside("after the first task");
        task_tree(12);
        look_inside("tasks");
#pragma omp taskloop
        for (int i = 0; i < 100; i++)
            sum = i;
        look_inside("taskloop");
    }
    look("a region of tasks");
}

static void calls(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    look("a lock");
    omp_set_num_threads(omp_get_max_threads());
    look("omp_get_max_threads");
#pragma omp critical
    sum++;
    look("critical");
    omp_destroy_lock(&lock);
}

int main(void)
{
    int before = open("/dev/null", O_RDONLY), after;
    close(before);
    state_set(ours);
    for (int i = 0; i < 200; i++) {
        calls();
        regions(1 + i % 3);
        tasks();
    }
    state_set((struct state){0, 0x1f80, 0x037f});
    after = open("/dev/null", O_RDONLY);
    if (after != before)
        printf("the lowest free descriptor: %d, was %d\n", after, before);
    printf("%d lost\n", lost);
    return 0;
}
