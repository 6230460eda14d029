/* SPDX-License-Identifier: MIT */
/*
 * Switches that compilers make tables of jumps of, for read_file: shares of region_yes_NAME may be run by fewer
 * threads, those of region_no_NAME not, for what is behind the table. Never run.
 */
#define V volatile
#define REGION(name)                          \
    void region_##name(int *p, int n, int k); \
    void region_##name(int *p, int n, int k)
static __thread int own;

REGION(yes_in_a_loop)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        switch (p[i]) {
        case 0: s += p[i + 1]; break;
        case 1: s ^= 7; break;
        case 2: s *= 3; break;
        case 3: s -= i; break;
        case 4: s |= i; break;
        case 5: s = -s; break;
        case 6: s <<= 2; break;
        default: s++;
        }
    p[n] = s;
}
REGION(yes_once)
{
    switch (k) {
    case 0: n += 5; break;
    case 1: n ^= 7; break;
    case 2: n *= 3; break;
    case 3: n -= 1; break;
    case 4: n |= 8; break;
    case 5: n = -n; break;
    case 6: p[4] = 3; break;
    default: n++;
    }
    p[3] = n;
}
REGION(no_case_waits)
{
    V int *f = p;
    switch (k) {
    case 0: n += 5; break;
    case 1: n ^= 7; break;
    case 2:
        while (!f[3])
            ;
        break;
    case 3: n -= 1; break;
    case 4: n |= 8; break;
    case 5: n = -n; break;
    case 6: p[4] = 3; break;
    default: n++;
    }
    p[3] = n;
}
REGION(no_case_is_of_a_thread)
{
    switch (k) {
    case 0: n += 5; break;
    case 1: n ^= 7; break;
    case 2: own++; break;
    case 3: n -= 1; break;
    case 4: n |= 8; break;
    case 5: n = -n; break;
    case 6: p[4] = own; break;
    default: n++;
    }
    p[3] = n;
}
REGION(no_waits_by_a_switch)
{
    V int *f = p;
    for (;;) {
        switch (f[0]) {
        case 0: continue;
        case 1: k ^= 7; break;
        case 2: k *= 3; break;
        case 3: k -= n; break;
        case 4: k |= 4; break;
        case 5: k = -k; break;
        case 6: k <<= 2; break;
        default: k++;
        }
        break;
    }
    p[n] = k;
}
REGION(no_looks_by_a_switch)
{
    V int *f = p;
    for (int i = 0; i < n; i++) {
        switch (f[0]) {
        case 0: continue;
        case 1: k ^= 7; break;
        case 2: k *= 3; break;
        case 3: k -= n; break;
        case 4: k |= 4; break;
        case 5: k = -k; break;
        case 6: k <<= 2; break;
        default: k++;
        }
        p[n] = k;
        return;
    }
    p[9]++;
}
/* No switch: aligned so far that linkers give stubs (PLT) a segment of their own, as in libopenblas. */
__attribute__((aligned(65536))) REGION(yes_apart)
{
    __builtin_memmove(p, p + k, (unsigned long)n);
}
void quick_exit(int);
REGION(yes_gives_up)
{
    if (k < 0)
        quick_exit(1);
    p[n] = k;
}
