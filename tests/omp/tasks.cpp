/* SPDX-License-Identifier: MIT */
/*
 * Programs of tasks that go wrong when a task is not what OpenMP says: TASKS NAME -> one line with the result, the same
 * at every number of threads. tasks.test runs them alone, recorded, predicted, and as a first run.
 */
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <vector>

/* Many tiny tasks of the same construct, so that it is known and would be run at once. */
static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static long recursion()
{
    long r = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++)
        r += fib(14);
    return r;
}

/* A value that counts its copies and knows whether it is one. */
static std::atomic<long> alive(0);
struct Tracked {
    long value;
    Tracked *self;
    explicit Tracked(long v) : value(v), self(this) { alive++; }
    Tracked(const Tracked &o) : value(o.value), self(this) { alive++; }
    ~Tracked() { self = nullptr; alive--; }
};
struct alignas(64) Wide { char bytes[192]; };

static long copies()
{
    std::atomic<long> sum(0);
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < 5000; i++) {
        Tracked t(i);
        Wide w;
        memset(w.bytes, (int)(i & 127), sizeof w.bytes);
#pragma omp task firstprivate(t, w) shared(sum)
        {
            bool right = t.self == &t && (uintptr_t)&w % 64 == 0 && w.bytes[191] == (char)(t.value & 127);
            sum += right ? t.value : -1000000;
        }
        t.value = -1; /* the task has its own */
    }
    return sum + 1000 * alive;
}

/* Each step reads what the one before wrote, and two readers stand between two writers. */
static long dependences()
{
    std::vector<long> cell(64, 1);
    long *c = cell.data(), read[2] = { 0, 0 };
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 300; round++)
        for (int i = 1; i < 64; i++) {
#pragma omp task depend(in : c[i - 1]) depend(inout : c[i])
            c[i] = (c[i] * 3 + c[i - 1]) % 1000003;
            for (int k = 0; k < 2; k++) {
#pragma omp task depend(in : c[i]) depend(inout : read[k])
                read[k] = (read[k] * 7 + c[i]) % 1000003;
            }
        }
    return cell[63] * 10 + read[0] % 5 + read[1] % 5;
}

static long finals()
{
    std::atomic<long> wrong(0), n(0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3000; i++) {
#pragma omp task final(i % 3 == 0) mergeable untied firstprivate(i)
        {
            wrong += omp_in_final() != (i % 3 == 0);
            int before = omp_get_max_threads();
#pragma omp task
            n += omp_in_final() == (i % 3 == 0);
#pragma omp taskwait
            wrong += omp_get_max_threads() != before;
        }
    }
    return n - 1000000 * wrong;
}

/* A task's own control variables must not leak to its creator. */
static long variables()
{
    std::atomic<long> wrong(0);
#pragma omp parallel
#pragma omp single
    {
        omp_set_num_threads(2);
        for (int i = 0; i < 3000; i++) {
#pragma omp task
            omp_set_num_threads(3);
            wrong += omp_get_max_threads() != 2;
        }
    }
    return wrong;
}

/* The group waits for grandchildren, the taskwait for children only. */
static long groups()
{
    std::atomic<long> n(0);
    long seen = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 500; i++) {
#pragma omp taskgroup
        for (int k = 0; k < 4; k++) {
#pragma omp task
            {
#pragma omp task
                n++;
                n++;
            }
        }
        seen += n == 8 * (i + 1);
    }
    return seen;
}

static long reductions()
{
    long sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp taskgroup task_reduction(+ : sum)
        for (int k = 0; k < 40; k++) {
#pragma omp task in_reduction(+ : sum) firstprivate(k)
            sum += k;
        }
    }
    return sum;
}

/* The body wants what the creator holds. (Few at a time: from 64 a thread on, libgomp itself would run them at
   once.) */
static void count(long *n)
{
#pragma omp task
#pragma omp critical(one)
    ++*n;
}
static long critical()
{
    long n = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 1000; i++) {
        count(&n);
        if (i >= 500) {
#pragma omp critical(one)
            count(&n);
        }
        if (i % 8 == 0) {
#pragma omp taskwait
        }
    }
    return n;
}

static long locks()
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    long n = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 1000; i++) {
        bool hold = i >= 500;
        if (hold)
            omp_set_lock(&lock);
#pragma omp task shared(n, lock)
        {
            omp_set_lock(&lock);
            n++;
            omp_unset_lock(&lock);
        }
        if (hold)
            omp_unset_lock(&lock);
        if (i % 8 == 0) {
#pragma omp taskwait
        }
    }
    omp_destroy_lock(&lock);
    return n;
}

static long detached()
{
    std::atomic<long> n(0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
        omp_event_handle_t event;
        long x = 0;
        (void)x;
#pragma omp task detach(event) depend(out : x) shared(n)
        n++;
        omp_fulfill_event(event);
#pragma omp task depend(in : x) shared(n)
        n++;
#pragma omp taskwait
    }
    return n;
}

/* The event is fulfilled by the creator, but only after the task that depends on it was created: it comes later. */
static long events()
{
    std::atomic<long> n(0), ready(0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
        omp_event_handle_t event;
        long x = 0;
        (void)x;
#pragma omp task detach(event) depend(out : x) shared(n)
        n++;
#pragma omp task depend(in : x) shared(n, ready)
        n += ready;
        ready = 1;
        omp_fulfill_event(event);
#pragma omp taskwait
        ready = 0;
    }
    return n;
}

/* Once, a task waits for something that its creator does later, as for a message, and another one depends on it. */
static long messages()
{
    std::atomic<long> sent(0), n(0);
    long box = 0;
    (void)box;
    if (omp_get_max_threads() < 2)
        return 201;
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= 200; i++) {
        if (i == 100) {
#pragma omp task depend(out : box) shared(sent, n)
            {
                while (sent < i)
                    sched_yield();
                n++;
            }
        }
#pragma omp task depend(inout : box) shared(n)
        n++;
        sent = i;
#pragma omp taskwait
    }
    return n;
}

/* A task that waits for its creator: nothing that OpenMP promises, but libgomp lets it run. */
static long waits()
{
    std::atomic<long> go(0), n(0);
    if (omp_get_max_threads() < 2)
        return 100;
#pragma omp parallel
    {
#pragma omp single
        for (int i = 1; i <= 100; i++) {
#pragma omp task shared(go, n)
            {
                while (go < i)
                    sched_yield();
                n++;
            }
            go = i;
            while (n < i)
                sched_yield();
        }
    }
    return n;
}

/* A list walked by tasks that each create the next one: with all of them run at once the stack would be as deep. */
static std::atomic<long> walked(0);
static void walk(long left)
{
    volatile char frame[300];
    frame[left % 300] = 0;
    (void)frame[0];
    walked++;
    if (left > 0) {
#pragma omp task
        walk(left - 1);
    }
}
static long chain()
{
#pragma omp parallel
#pragma omp single
    walk(200000);
    return walked;
}

static long loops()
{
    std::atomic<long> sum(0);
    long reduced = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 60; round++) {
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp taskloop num_tasks(5) reduction(+ : reduced)
        for (long i = 100; i > -100; i -= 3)
            reduced += i;
#pragma omp taskloop collapse(2)
        for (unsigned long i = 3; i < 9; i++)
            for (unsigned long k = 9; k > 3; k -= 2)
                sum += (long)(i * k);
#pragma omp taskloop nogroup
        for (int i = 0; i < 10; i++)
            sum++;
#pragma omp taskwait
    }
    return sum * 1000 + reduced;
}

static long cancelled()
{
    std::atomic<long> n(0);
    if (!omp_get_cancellation())
        return -1;
#pragma omp parallel
#pragma omp single
    {
        fib(12);
#pragma omp taskgroup
        for (int i = 0; i < 1000; i++) {
#pragma omp task
            {
#pragma omp cancel taskgroup
                n++;
            }
        }
    }
    return n;
}

/* The order of priorities, where there is one thread to follow it and they are switched on. */
static long priorities()
{
    std::vector<int> order;
    if (omp_get_max_task_priority() < 3)
        return -1;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
            fib(12);
#pragma omp taskwait
        }
#pragma omp master
        for (int i = 0; i < 3; i++) {
#pragma omp task priority(i) shared(order)
#pragma omp critical(order)
            order.push_back(i);
        }
    }
    return (long)order.size();
}

int main(int argc, char **argv)
{
    static const struct { const char *name; long (*run)(); } all[] = {
        { "recursion", recursion }, { "copies", copies }, { "dependences", dependences }, { "finals", finals },
        { "variables", variables }, { "groups", groups }, { "reductions", reductions }, { "critical", critical },
        { "locks", locks }, { "detached", detached }, { "events", events }, { "messages", messages }, { "waits", waits }, { "chain", chain }, { "loops", loops },
        { "cancelled", cancelled }, { "priorities", priorities },
    };
    for (const auto &p : all)
        if (argc > 1 && !strcmp(p.name, argv[1])) {
            printf("%s %ld\n", p.name, p.run());
            return 0;
        }
    return 2;
}
