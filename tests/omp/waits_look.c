/* SPDX-License-Identifier: MIT */
/* Ways to wait (waits.h) by what they look at: computed places and values, so many times, through functions. */
#include "waits.h"

WAIT(up)
{
    V int *f = p;
    int last = *f;
    for (int c = 0; c < 3;) {
        int now = *f;
        if (now != last) {
            last = now;
            c++;
        }
    }
    p[9] = 1;
}
WAIT(ptr)
{
    int *V *f = (int *V *)p;
    int *q;
    while (!(q = *f))
        ;
    p[9] = *q;
}
WAIT(deref)
{
    int **V *f = (int **V *)p;
    while (!**f)
        ;
    p[9] = 1;
}
WAIT(idx)
{
    V int *f = p;
    int *V *g = (int *V *)(p + 100);
    for (int i = 0; !f[(*g)[i & 1]]; i++)
        ;
    p[9] = 1;
}
WAIT(bits)
{
    V unsigned *f = (V unsigned *)p;
    while (__builtin_popcount(*f) < n)
        ;
    p[9] = 1;
}
WAIT(ctz)
{
    V unsigned *f = (V unsigned *)p;
    unsigned x;
    do
        x = *f;
    while (!x || __builtin_ctz(x) < n);
    p[9] = x;
}
WAIT(both)
{
    V int *f = p;
    int i = 0, j = n;
    while (!f[i + j])
        i++, j--;
    p[9] = 1;
}
WAIT(eq)
{
    V int *f = p;
    for (int i = 0, j = 1; i != j; i++, j++)
        if (*f)
            break;
    p[9] = 1;
}
WAIT(never)
{
    V int *f = p;
    for (int i = 0; i < n; i = (i + 1) % n)
        if (f[i])
            break;
    p[9] = 1;
}
WAIT(short)
{
    V int *f = p;
    for (short i = 0; !f[i]; i++)
        ;
    p[9] = 1;
}
WAIT(div)
{
    V int *f = p;
    for (int i = 0; !f[i / 100 * 0 + (i & 1)]; i++)
        ;
    p[9] = 1;
}
WAIT(alt)
{
    V int *f = p;
    int s = 1, i = 0;
    while (!f[i]) {
        i += s;
        s = -s;
    }
    p[9] = 1;
}
WAIT(alt2)
{
    V int *f = p;
    int s = 1, i = 0;
    while (!f[i]) {
        i += s;
        if (i == 0 || i == n)
            s = -s;
    }
    p[9] = 1;
}
WAIT(fl)
{
    V int *f = p;
    float x = 0;
    while (!f[(int)x])
        x = 1 - x;
    p[9] = 1;
}
WAIT(putsl)
{
    V int *f = p;
    while (!*f)
        puts(".");
}
WAIT(alloc)
{
    int *q;
    while (!(q = malloc(n)) || !*(V int *)p)
        free(q);
    free(q);
}
WAIT(rev)
{
    V int *f = p;
    int s = 0, e = n;
    while (s < e) {
        if (f[s])
            s++;
        if (f[e])
            e--;
    }
    p[9] = 1;
}
WAIT(bsearch)
{
    V int *f = p;
    int lo = 0, hi = n;
    while (!f[(lo + hi) >> 1]) {
        if (f[0])
            lo = (lo + hi) >> 1;
        else
            hi = (lo + hi) >> 1;
    }
    p[9] = lo;
}
WAIT(mod10)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i = (i + 1) % 10;
    p[19] = i;
}
WAIT(mod7)
{
    V int *f = p;
    unsigned i = 0;
    while (!f[i])
        i = (i + 1) % 7u;
    p[19] = i;
}
WAIT(subdiv)
{
    V int *f = p;
    int i = 0;
    while (!f[i]) {
        i++;
        i -= i / n * n;
    }
    p[19] = i;
}
WAIT(mod10b)
{
    V int *f = p;
    for (int i = 0; !f[i % 10]; i++)
        ;
    p[19] = 1;
}
WAIT(condstep)
{
    V int *f = p;
    int i = 0, d = 1;
    while (!f[i]) {
        i += d;
        d = i == n ? -1 : i == 0 ? 1 : d;
    }
    p[19] = i;
}
WAIT(clock)
{
    V int *f = p;
    double end = omp_get_wtime() + 1;
    while (!f[0] && omp_get_wtime() < end)
        ;
    p[9] = n;
}
WAIT(day)
{
    V int *f = p;
    struct timeval t;
    do
        gettimeofday(&t, NULL);
    while (!f[0] && t.tv_sec < n);
    p[9] = k;
}
WAIT(nodes)
{
    V struct node *q = (V struct node *)p;
    while (!q->ready)
        q = q->next;
    p[9] = n;
}
WAIT(bounded)
{
    V int *f = p;
    int i = 0;
    while (i < n && !f[0])
        i++;
    p[9] = i;
}
WAIT(bounded2)
{
    V int *f = p;
    for (int i = 0; i < 1000; i++)
        if (f[0] >= k) {
            p[9] = i;
            return;
        }
    p[10]++;
}

/* Looks through functions. */
int seen_by_others;
__attribute__((noinline)) static int peek(V int *f)
{
    return *f;
}
__attribute__((noinline)) static int peek_there(void)
{
    return *(V int *)&seen_by_others;
}
__attribute__((noinline)) static int find_one(V int *f, int n)
{
    for (int i = 0; i < n; i++)
        if (f[i])
            return i;
    return -1;
}
WAIT(bounded_peek)
{
    int i = 0;
    while (i < n && !peek(p))
        i++;
    p[9] = i;
}
WAIT(bounded_peek_there)
{
    for (int i = 0; i < 1000; i++)
        if (peek_there() >= k) {
            p[9] = i;
            return;
        }
    p[10]++;
}
WAIT(bounded_find)
{
    for (int i = 0; i < n; i++) {
        int at = find_one(p, 4);
        if (at >= 0) {
            p[9] = at;
            return;
        }
    }
    p[10]++;
}
/* Takes what somebody puts there, or a lock. */
WAIT(bounded_swap)
{
    for (int i = 0; i < 1000; i++)
        if (__sync_bool_compare_and_swap(p, 1, 0)) {
            p[9] = i;
            return;
        }
    p[10]++;
}
WAIT(bounded_exchange)
{
    for (int i = 0; i < 1000; i++)
        if (!__sync_lock_test_and_set(p, 1)) {
            p[9] = i;
            return;
        }
    p[10]++;
}
WAIT(bounded_bit)
{
    for (int i = 0; i < 1000; i++)
        if (__sync_fetch_and_and(p, ~1) & 1) {
            p[9] = i;
            return;
        }
    p[10]++;
}
/* Writes elsewhere, by the same register. */
WAIT(bounded_notes)
{
    V int *f = p;
    int *q = p + 20;
    for (int i = 0; i < n; i++) {
        *q = i;
        if (*f) {
            p[9] = i;
            return;
        }
    }
    p[10]++;
}
WAIT(bounded_round)
{
    V int *f = p;
    for (int i = 0; i < n; i++)
        if (f[i & 3]) {
            p[9] = i;
            return;
        }
    p[10]++;
}
