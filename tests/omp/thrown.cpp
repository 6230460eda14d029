/* SPDX-License-Identifier: MIT */
/* Three regions whose functions may be left by exceptions. One counts by thread what it catches: only the unwinder's
   tables lead there. The second cleans up on the way out. In the last one threads meet in what catches one. */
#include <cstdio>
#include <cstdlib>
#include <omp.h>

enum { N = 100 };
static long caught[64];
static int odd[N], out[N];

__attribute__((noipa)) static int raise_odd(int i)
{
    if (odd[i])
        throw i;
    return i;
}

__attribute__((noipa)) static void check(int i)
{
    try {
        raise_odd(i);
    } catch (int) {
        caught[omp_get_thread_num()]++;
    }
}

__attribute__((noinline)) static void catches()
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++) {
        check(i);
        out[i] = i;
    }
}

struct held {
    void *block;
    ~held() { free(block); }
};

__attribute__((noipa)) static int with_block(int i)
{
    held h = { malloc(8) };
    return raise_odd(i);
}

__attribute__((noinline)) static void cleans_up()
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
        out[i] += with_block(i);
}

__attribute__((noipa)) static void meet()
{
#pragma omp barrier
}

__attribute__((noinline)) static void meets()
{
#pragma omp parallel
    try {
        raise_odd(0);
    } catch (int i) {
        caught[omp_get_thread_num()] += i;
        meet();
        caught[omp_get_thread_num()] += 2 * i;
    }
}

int main()
{
    for (int k = 0; k < 300; k++)
        cleans_up();
    for (int i = 0; i < N; i++)
        odd[i] = i % 4 == 0;
    for (int k = 0; k < 300; k++)
        catches();
    odd[0] = 1;
    meets();
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += out[i];
    std::printf("%ld %ld %ld %ld %ld\n", sum, caught[0], caught[1], caught[2], caught[3]);
}
