#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random OpenMP programs, each a function with its own regions, into one file of C or C++.

    random_regions.py SEED COUNT c|c++ >FILE        FILE, when run with 4 threads, prints "NUMBER RESULT" of each

What a program prints depends on nothing but its number of threads: iterations write places of their own, threads that
are told apart work by static schedules, what others see of integers is added. So a run with other teams must print the
same; a line that differs is a region whose change was not harmless. `random_regions.py SEED COUNT c++ ONLY` writes one
program of them alone.
"""
import random
import sys

HEAD = """#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 48, T = 64 };
static int in[N], out[N], out2[N], by[T];
static long total, total2;
static int left;
static unsigned bits;
static volatile int flags[T];
static __thread int own;
static double real[N];
enum { LOCKS = 4 };
static omp_lock_t locks[LOCKS];
static omp_nest_lock_t nested;
static long held[LOCKS];
static double tagged(double v) { return v + 1000 * omp_get_thread_num(); }
double (*chosen)(double) = sin, (*plain)(double) = sin;
__attribute__((noipa)) static int plus_number(int a) { return a + omp_get_thread_num(); }
__attribute__((noipa)) static int mix1(int a) { return a * 3 + 1; }
__attribute__((noipa)) static int mix2(int a) { return in[a % N] + a; }
__attribute__((noipa)) static int mix3(int a) { for (int i = 0; i < (a & 7); i++) a ^= i * 5; return a & 511; }
static int (*const steps[])(int) = { mix1, mix2, mix3, mix1 };
static int (*const tells[])(int) = { mix1, plus_number, mix2, mix3 };
__attribute__((noipa)) static int mix4(int a, int b, int c, int d) { return a + 2 * b + 3 * c + 4 * d; }
__attribute__((noipa)) static int mix9(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{ return a + b - c + d - e + f + 2 * g + 3 * h + 5 * i; }
__attribute__((noipa)) static int draw(int *s, int i) 
{ int v = s[i & 7] * 5 + 3; s[(i * 3 + 1) & 7] = v & 1023; return v & 255; }
__attribute__((noipa)) static int chooses(int what, int i)
{
    switch (what) {
    case 0: return i * 3;
    case 1: i ^= 21; break;
    case 2: return mix1(i);
    case 3: i = in[i % N] + 1; break;
    case 4: i -= 7; break;
    case 6: i |= 64; break;
    case 7: for (int k = 0; k < 5; k++) i += k * what; break;
    case 9: return 5;
    default: i++;
    }
    return i & 255;
}
__attribute__((noipa)) static void step(int *s) { *s = (*s * 13 + 7) & 1023; }
__attribute__((noipa)) static int big(int i) 
{ int a[256]; memset(a, 1, sizeof a); a[i & 255] = i; return a[(i * 7) & 255] & 255; }
__attribute__((noipa)) static int meets(int i)
{
    int a[64];
    for (int k = 0; k < 64; k++) a[k] = i + k;
#pragma omp barrier
    return a[i & 63] + omp_get_ancestor_thread_num(1) + 8 * omp_get_team_size(1) + 64 * omp_in_parallel();
}
__attribute__((noipa)) static int locked(int k, int v)
{
    omp_set_lock(&locks[k]);
    held[k] += v;
    omp_unset_lock(&locks[k]);
    return v + k;
}
__attribute__((noipa)) static void orphan(int n)
{
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < n; i++) out2[i] += 3 * i;
#pragma omp single nowait
    total += n;
#pragma omp barrier
}
"""
CPP = """struct guard { int *at; ~guard() { *at += 1; } };
__attribute__((noipa)) static int thrower(int i) { if (i % 5 == 0) throw i; return i; }
__attribute__((noipa)) static int catcher(int i)
{ try { return thrower(i); } catch (int) { return 100 + omp_get_thread_num(); } }
__attribute__((noipa)) static int catches(int i) { try { return thrower(i); } catch (int v) { return 2 * v; } }
__attribute__((noipa)) static int guarded(int i) { int n = 0; { guard g = { &n }; n += mix1(i); } return n; }
"""


class Program:
    def __init__(self, seed, cpp):
        self.r = random.Random(seed)
        self.cpp = cpp
        self.spins = 0
        self.wild = self.r.random() < .35  # with what keeps its team

    def pick(self, *choices):
        return self.r.choice(choices)

    def value(self, names):
        """An integer expression of some of these names."""
        a, b, c = (self.r.choice(names + [str(self.r.randrange(1, 9))]) for _ in range(3))
        return self.pick(f'({a} + {b})', f'({a} * 3 - {b})', f'({a} ^ {b})', f'(({a} & 63) > {b} ? {c} : {a})',
                         f'mix1({a})', f'mix4({a}, {b}, {c}, 1)', f'mix9({a}, 1, {b}, 2, {c}, 3, {a}, {b}, {c})')

    def told(self):
        """What only a thread knows, or keeps: statements whose result is an int `v`."""
        kinds = ['v = omp_get_thread_num();', 'v = plus_number(a);', 'a = (a * 7 + 1) & 1023; v = a;',
                 'step(&a); v = a;',
                 'v = draw(s, a); a++;', 's[(a * 3) & 7] += a; v = s[a & 7]; a++;',
                 'v = p[a & 7]; p[(a + 3) & 7] = v + 1; a++;', 'v = omp_get_level() + omp_get_ancestor_thread_num(1);',
                 'v = mix9(0, 1, 0, 1, 0, 1, a, a, a); a++;', 'v = omp_get_num_threads();', 'v = last; last = a++;',
                 'errno = a & 7; v = errno; a++;',
                 'v = tells[a & 3](a); a++;',
                 'v = omp_get_ancestor_thread_num(omp_get_level()) + 8 * omp_get_team_size(omp_get_level());',
                 'v = omp_get_level() * 16 + omp_get_active_level() * 4 + omp_get_max_threads();']
        if self.wild:
            kinds += ['own = (own + 3) & 255; v = own;', 'v = (int)chosen(0.5);']
        if self.cpp:
            kinds += ['v = guarded(a);', 'v = catcher(a); a++;']
        return self.r.choice(kinds)

    def plain(self, i):
        """Likewise, the same whoever does it."""
        kinds = [f'v = {self.value([i, "in[" + i + "]"])};', f'v = big({i});',
                 f'{{ int t[8]; for (int k = 0; k < 8; k++) t[k] = {i} + k; v = t[in[{i}] & 7]; }}',
                 f'{{ int t = {i}; step(&t); v = t; }}',
                 f'v = chooses(in[{i}] & 15, {i});', f'v = steps[in[{i}] & 3]({i});']
        if self.wild:
            kinds += [f'v = (int)(100 * plain({i} * 0.1));']
        if self.cpp:
            kinds += [f'v = guarded({i});', f'v = catches({i});']
        return self.r.choice(kinds)

    def far_loop(self):
        """Other types and steps, what is left of a loop, loops in loops, loops without number."""
        v, end = self.r.randrange(1, 9), self.pick('48', 'n', '37')
        schedule = self.pick('dynamic', f'dynamic, {v}', 'guided', 'runtime', f'static, {v}', 'static', 'auto',
                             'monotonic : dynamic', 'nonmonotonic : guided')
        many = self.r.randrange(1, 400)
        return self.pick(
            f'\n#pragma omp for schedule({schedule})\n for (unsigned long long i = 0; i < {end}; i++)'
            ' out[i] += (int)i * 3;\n',
            f'\n#pragma omp for schedule({schedule})\n for (long i = {end} - 1; i >= 0; i -= {v})'
            ' out[i] += (int)i * 5;\n',
            f'\n#pragma omp for schedule({schedule})\n for (unsigned long i = {end}; i > 0; i--) out2[i - 1] += 7;\n',
            f'\n#pragma omp for schedule({schedule}) lastprivate(left)\n for (int i = 0; i < {end}; i += {v})'
            ' { left = in[i] + i; out[i] ^= left; }\n by[omp_get_thread_num()] += left;\n\n#pragma omp barrier\n',
            f'\n#pragma omp for collapse(2) schedule({schedule})\n for (int i = 0; i < 6; i++)'
            ' for (int j = 0; j < 8; j++) out[i * 8 + j] += i * j;\n',
            f'for (int k = 0; k < {many}; k++) {{\n#pragma omp for schedule({schedule}) nowait\n'
            f' for (int i = 0; i < 5; i++)\n#pragma omp atomic\n out2[i] += k; }}\n'
            '\n#pragma omp barrier\n')

    def loop(self):
        static = self.r.random() < .7
        schedule = self.pick('static', 'static', f'static, {self.r.randrange(1, 9)}') if static else \
            self.pick('dynamic', f'dynamic, {self.r.randrange(1, 6)}', 'guided')
        body = [self.plain('i')]
        if static and self.r.random() < .5:
            body += ['w = v;', self.told(), 'v += w;']
        body.append(self.pick('out[i] += v;', 'out[i] = v;', 'out2[i] = v + in[i];', 'if (v & 1) out[i] += v;'))
        if self.r.random() < .3:
            body.append(self.pick('\n#pragma omp atomic\n total += v;', '\n#pragma omp critical\n total2 += v & 15;',
                                  '\n#pragma omp atomic\n bits |= 1u << (v & 31);', 'mine += v;',
                                  'most = v > most ? v : most;' if static else 'mine += 2 * v;',
                                  'omp_set_lock(&locks[i & 3]); held[i & 3] += v; omp_unset_lock(&locks[i & 3]);',
                                  'v = locked(v & 3, i);',
                                  'omp_set_lock(&locks[1]);\n\n#pragma omp critical\n total2 += v & 7;\n'
                                  ' omp_unset_lock(&locks[1]);'))
        if static and self.r.random() < .3:
            body.append('by[omp_get_thread_num()] += v;')
        end = self.pick('', '', ' nowait\n')
        text = f'\n#pragma omp for schedule({schedule}){end.rstrip()}\n' \
            f' for (int i = 0; i < {self.pick("N", "n", "37")}; i++) {{ ' \
            + ' '.join(body) + ' }\n'
        return text + ('\n#pragma omp barrier\n' if end else '')

    def statement(self):
        tid = 'omp_get_thread_num()'
        choices = [(5, self.loop), (3, self.far_loop), (1, lambda: 'orphan(n);\n'),
                   (1, lambda: f'v = meets(a); by[{tid}] += v;\n'),
                   (1, lambda: f'\n#pragma omp single copyprivate(w)\n w = n + {self.r.randrange(9)};\n'
                       f' by[{tid}] += w;\n'), (2, lambda: f'{self.told()} by[{tid}] += v;\n'),
                   (1, lambda: '\n#pragma omp barrier\n'),
                   (1, lambda: f'\n#pragma omp barrier\n\n#pragma omp single{self.pick("", " nowait")}\n'
                       f' {{ out2[{self.r.randrange(48)}] += 5; total += 3; }}'
                       '\n#pragma omp barrier\n'),
                   (1, lambda: '\n#pragma omp barrier\n\n#pragma omp master\n'
                       f' {{ {self.plain("(n & 31)")} total += v; }}\n'
                       '\n#pragma omp barrier\n'),
                   (1, lambda: f'\n#pragma omp critical\n {{ total2 += {self.r.randrange(9)}; }}\n'),
                   (1, lambda: '\n#pragma omp sections\n {\n#pragma omp section\n'
                       ' out2[1] += 7;\n#pragma omp section\n out2[2] += 9; }\n'),
                   (1, lambda: f'if ({tid} == {self.r.randrange(4)}) {{ {self.told()} by[{tid}] ^= v; }}\n'),
                   (1, self.lock),
                   (.5 * self.wild, lambda: f'fesetround(FE_UPWARD); real[{tid}] += 1 / 3.0; '
                       'fesetround(FE_TONEAREST);\n'),
                   (.3 * self.wild, lambda: '\n#pragma omp for ordered schedule(dynamic)\n'
                       ' for (int i = 0; i < n; i++) {\n#pragma omp ordered\n total = total * 3 + i; }\n'),
                   (.3 * self.wild, self.spin)]
        weights, makers = zip(*choices)
        return self.r.choices(makers, weights)[0]()

    def lock(self):
        """What is held over what others meet, by one thread or each in turn; in other ways where it is wild."""
        k, tid = self.r.randrange(4), 'omp_get_thread_num()'
        kinds = [f'v = locked({k}, {tid}); by[{tid}] += v;\n',
                 f'omp_set_lock(&locks[{k}]); held[{k}] += n; omp_unset_lock(&locks[{k}]);\n',
                 f'\n#pragma omp barrier\nif ({tid} == 1) omp_set_lock(&locks[{k}]);\n by[{tid}] ^= n;\n'
                 f'\n#pragma omp barrier\nif ({tid} == 1) {{ held[{k}] += 9; omp_unset_lock(&locks[{k}]); }}\n'
                 f' by[{tid}] += locked({k}, 5);\n',
                 '\n#pragma omp for schedule(dynamic) nowait\n for (int i = 0; i < 9; i++) {\n'
                 ' omp_set_lock(&locks[0]); omp_set_lock(&locks[1 + i % 3]); held[1 + i % 3] += i;\n'
                 ' omp_unset_lock(&locks[1 + i % 3]); omp_unset_lock(&locks[0]); }\n']
        if self.wild:
            kinds += [f'\n#pragma omp critical\n by[{tid}] += locked({k}, 3);\n',
                      'omp_set_nest_lock(&nested); total2 += 3; omp_unset_nest_lock(&nested);\n',
                      f'while (!omp_test_lock(&locks[{k}])) ;\n held[{k}]++; omp_unset_lock(&locks[{k}]);\n']
        return self.r.choice(kinds)

    def spin(self):
        self.spins += 1
        at = self.spins % 60
        return f'if (omp_get_thread_num() == 1) flags[{at}] = 1;\n' \
            f' if (omp_get_thread_num() == 0) while (!flags[{at}]) ;\n' \
            '\n#pragma omp barrier\n'

    def region(self):
        clauses = self.pick('', ' firstprivate(first)', ' reduction(+ : sum)',
                            ' reduction(max : sum) firstprivate(first)')
        body = ''.join(self.statement() for _ in range(self.r.randrange(1, 5)))
        least = 2 if 'flags' in body else 1
        clauses += self.pick('', '', f' num_threads({self.r.randrange(least, 9)})', ' num_threads(2 + (n & 3))',
                             ' proc_bind(close)', ' proc_bind(spread) num_threads(3)')
        before, after = self.pick(('', ''), ('', ''), ('', ''),
                                  (f'omp_set_num_threads({self.r.randrange(least, 7)});\n',
                                   'omp_set_num_threads(4);\n'),
                                  ('omp_set_max_active_levels(2);\n', 'omp_set_max_active_levels(1);\n'),
                                  ('#pragma omp parallel num_threads(1)\n{\n', '}\n'),
                                  ('#pragma omp parallel if (n < 0)\n{\n by[omp_get_thread_num()] += '
                                   'omp_get_num_threads();\n', '}\n'))
        return f'{{\n{before}#pragma omp parallel{clauses}\n' \
            f'{{ int v = 0, w = 0, a = {self.pick("1", "first")}, last = 0, mine = 0, most = 0;' \
            ' int s[8], *p = s; for (int k = 0; k < 8; k++) s[k] = k + a;\n' \
            ' (void)v; (void)w; (void)last; (void)p; (void)mine;' \
            ' (void)most;\n' + body \
            + (' sum += mine;\n' if 'sum' in clauses and 'max' not in clauses else '') \
            + self.pick('', '\n#pragma omp atomic\n total += mine;\n', f' by[omp_get_thread_num()] += most;\n') \
            + '}\n' + after + '}\n'

    def text(self, number):
        regions = [self.region() for _ in range(self.r.randrange(1, 4))]
        body = ''.join('for (int turn = 0; turn < 3; turn++)\n' + r if 'flags' not in r else r for r in regions)
        return f'__attribute__((noinline)) static void program{number}(int n)\n' \
            f'{{ int first = n & 7; long sum = 0;\n(void)first;\n' \
            f'{body}total += sum;\n}}\n'


def main():
    seed, count, cpp = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == 'c++'
    only = [int(sys.argv[4])] if len(sys.argv) > 4 else range(count)
    print(HEAD + (CPP if cpp else ''))
    for k in only:
        print(Program(seed * 1000 + k, cpp).text(k))
    print('static void clear(void)\n'
          '{ for (int i = 0; i < N; i++) { in[i] = (i * 37 + 11) % 53; out[i] = out2[i] = 0; real[i] = 0; }\n'
          '  memset(by, 0, sizeof by); for (int i = 0; i < T; i++) flags[i] = 0; total = total2 = 0; bits = 0;\n'
          '  for (int i = 0; i < LOCKS; i++) held[i] = 0; }\n'
          'static unsigned long sum(void)\n{ unsigned long h = (unsigned long)(total * 37 + total2) * 31 + bits;\n'
          '  for (int i = 0; i < N; i++) h = h * 31 + (unsigned)out[i] * 7u + (unsigned)out2[i] +'
          ' (unsigned long)(real[i] * 1e15);\n'
          '  for (int i = 0; i < T; i++) h = h * 31 + (unsigned)by[i];\n'
          '  for (int i = 0; i < LOCKS; i++) h = h * 31 + (unsigned long)held[i];\n  return h; }\n'
          'int main(int argc, char **argv)\n{ int n = argc > 5 ? 40 : 44; (void)argv; if (argc > 0) chosen = tagged;\n'
          '  for (int i = 0; i < LOCKS; i++) omp_init_lock(&locks[i]);\n  omp_init_nest_lock(&nested);')
    for k in only:
        print(f'  clear(); program{k}(n); printf("{k} %lx\\n", sum()); fflush(stdout);')
    print('  return 0; }')


main()
