/* SPDX-License-Identifier: MIT */
/* Ways to wait (waits.h) by how they go round: through places, between two, with locks, in several loops. */
#include "waits.h"

WAIT(ring)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i = (i + 1) % n;
    p[9] = i;
}
WAIT(ring4)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i = (i + 1) & 3;
    p[9] = i;
}
WAIT(ringu)
{
    V int *f = p;
    unsigned char i = 0;
    while (!f[i])
        i++;
    p[300] = i;
}
WAIT(ringif)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        if (++i == n)
            i = 0;
    p[9] = i;
}
WAIT(ringdown)
{
    V int *f = p;
    int i = n;
    while (!f[i])
        if (--i < 0)
            i = n;
    p[9] = i;
}
WAIT(toggle)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i = 1 - i;
    p[9] = i;
}
WAIT(toggle2)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i ^= 1;
    p[9] = i;
}
WAIT(toggle3)
{
    V int *f = p;
    int i = 0;
    while (!f[i])
        i = n - 1 - i;
    p[9] = i;
}
WAIT(swap)
{
    V int *a = p, *b = p + 1;
    while (!*a) {
        V int *t = a;
        a = b;
        b = t;
    }
    p[9] = 1;
}
WAIT(sel)
{
    V int *f = p;
    int c = 0;
    do {
        if (*f)
            c++;
    } while (c < 3);
    p[9] = c;
}
WAIT(sel2)
{
    V int *f = p;
    int c = 0;
    do {
        c = *f ? c + 1 : c;
    } while (c < 3);
    p[9] = c;
}
WAIT(sum)
{
    V int *f = p;
    int c = 0;
    do {
        c += *f;
    } while (c < 3);
    p[9] = c;
}
WAIT(sumb)
{
    V int *f = p;
    int c = 0;
    do {
        c += *f != 0;
    } while (c != 3);
    p[9] = c;
}
WAIT(copy)
{
    V struct big *f = (V struct big *)p;
    long x;
    do {
        struct big c = *f;
        x = c.v[3];
        p[400] = c.v[7];
    } while (!x);
}
WAIT(copy4)
{
    V struct mid *f = (V struct mid *)p;
    long x;
    do {
        struct mid c = *f;
        x = c.v[3];
        p[400] = c.v[1];
    } while (!x);
}
WAIT(memcpy)
{
    struct big c;
    do {
        memcpy(&c, p, sizeof c);
        __asm__ volatile("" ::: "memory");
    } while (!c.v[5]);
    p[400] = c.v[1];
}
WAIT(lcg)
{
    V int *f = p;
    unsigned i = 1;
    while (!f[i % 7])
        i = i * 1103515245 + 12345;
    p[9] = i;
}
WAIT(lfsr)
{
    V int *f = p;
    unsigned i = 1;
    while (!f[i & 7])
        i = (i >> 1) ^ (-(i & 1) & 0xB400);
    p[9] = i;
}
WAIT(xorshift)
{
    V int *f = p;
    unsigned i = 1;
    while (!f[i & 7]) {
        i ^= i << 13;
        i ^= i >> 17;
        i ^= i << 5;
    }
    p[9] = i;
}
WAIT(mod)
{
    V int *f = p;
    for (int i = 0; !f[i % n]; i++)
        ;
    p[9] = 1;
}
WAIT(and)
{
    V int *f = p;
    for (long i = 0; !f[i & 3]; i++)
        ;
    p[9] = 1;
}
WAIT(rot)
{
    V int *f = p;
    unsigned m = 1;
    while (!(*f & m))
        m = m << 1 | m >> 31;
    p[9] = m;
}
WAIT(tas)
{
    while (__atomic_test_and_set(p, 5))
        ;
    p[9] = 1;
}
WAIT(ticket)
{
    int t = __atomic_fetch_add(p, 1, 5);
    while (__atomic_load_n(p + 1, 5) != t)
        ;
    p[9] = 1;
}
WAIT(far)
{
    while (__atomic_fetch_add(p, 0, 5) == 0)
        ;
    p[9] = 1;
}
WAIT(cas1)
{
    int e = 0;
    while (!__atomic_compare_exchange_n(p, &e, 1, 0, 5, 5))
        e = 0;
    p[9] = 1;
}
WAIT(cas2)
{
    int e;
    do {
        e = *(V int *)p & ~1;
    } while (!__atomic_compare_exchange_n(p, &e, e | 1, 0, 5, 5));
    p[9] = 1;
}
WAIT(cas3)
{
    int e;
    do {
        do
            e = *(V int *)p;
        while (e & 1);
    } while (!__atomic_compare_exchange_n(p, &e, e | 1, 0, 5, 5));
    p[9] = 1;
}
WAIT(sense)
{
    V int *f = p;
    int s = !f[1];
    f[1] = s;
    while (*f != s)
        ;
}
WAIT(backoff)
{
    V int *f = p;
    int w = 1;
    while (!*f) {
        for (V int j = 0; j < w; j++)
            ;
        if (w < 1024)
            w *= 2;
    }
}
WAIT(bounded_in)
{
    V int *f = p;
    for (;;) {
        int i;
        for (i = 0; i < 1000; i++)
            if (*f)
                break;
        if (i < 1000)
            break;
    }
    p[9] = 1;
}
WAIT(two)
{
    V int *f = p;
    for (int r = 0; r < n; r++)
        while (f[1] != r)
            ;
}
WAIT(nested)
{
    V int *f = p;
    int all;
    do {
        all = 1;
        for (int i = 0; i < n; i++)
            all &= f[i] != 0;
    } while (!all);
}
WAIT(nested2)
{
    V int *f = p;
    int c;
    do {
        c = 0;
        for (int i = 0; i < n; i++)
            c += f[i] != 0;
    } while (c < n);
}
WAIT(nested3)
{
    V int *f = p;
    int c, m;
    do {
        m = 1 << 30;
        for (int i = 0; i < n; i++) {
            c = f[i];
            if (c < m)
                m = c;
        }
    } while (m < k);
}
WAIT(dbl)
{
    V double *f = (V double *)p;
    while (*f < 1.5)
        ;
    p[9] = 1;
}
WAIT(dblsum)
{
    V double *f = (V double *)p;
    double s = 0;
    do {
        s = 0;
        for (int i = 0; i < n; i++)
            s += f[i];
    } while (s < 1.5);
    p[9] = 1;
}
WAIT(sqrt)
{
    V double *f = (V double *)p;
    while (sqrt(*f) < 1.5)
        ;
    p[9] = 1;
}
WAIT(gotos)
{
    V int *f = p;
    int i = 0;
a:
    if (f[i])
        goto e;
    i++;
    if (i == n) {
        i = 0;
    }
    goto a;
e:
    p[9] = i;
}
WAIT(listring)
{
    V struct node *q = (V struct node *)p;
    int i = 0;
    while (!q->ready) {
        if (++i == n) {
            q = (V struct node *)p;
            i = 0;
        } else
            q = q->next;
    }
    p[9] = i;
}
WAIT(restart)
{
    V int *f = p;
    int i = 0;
    while (i < n) {
        if (f[i])
            i++;
    }
    p[9] = i;
}
WAIT(restart2)
{
    V int *f = p;
    int i = 0;
    while (i < n) {
        i = f[i] ? i + 1 : 0;
    }
    p[9] = i;
}
WAIT(state)
{
    V int *f = p;
    int s = 0;
    while (s != 3) {
        switch (s) {
        case 0:
            s = *f ? 1 : 0;
            break;
        case 1:
            s = f[1] ? 3 : 2;
            break;
        default:
            s = 0;
        }
    }
    p[9] = s;
}
WAIT(until_time)
{
    V long *f = (V long *)p;
    long a = f[0];
    while (f[0] == a)
        ;
    p[9] = 1;
}
