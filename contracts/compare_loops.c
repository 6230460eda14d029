/* SPDX-License-Identifier: MIT */
/*
 * Loops of two jobs side by side. Those of A and B that are within loops that belong together, and have most of their
 * calls in common, are the same one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "contracts/compare_parts.h"

struct member { uint32_t loop, call; };

struct side {
    struct report *report;
    const struct findings_loops *l;
    struct member *member;     /* calls of each loop and of those within it, by number, each once */
    uint32_t *first;           /* … of each loop */
    int *same;                 /* -1: none yet */
};

BASE_COMPARISON(by_member, struct member, BASE_UP(loop) ?: BASE_UP(call))

static void find_members(struct side *s, const uint32_t *number)
{
    const struct findings_loops *l = s->l;
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < l->stops; i++)
        for (int loop = l->stop[i].loop; loop >= 0; loop = l->loop[loop].parent)
            n++;
    s->member = malloc(((size_t)n + 1) * sizeof *s->member);
    s->first = calloc((size_t)l->loops + 2, sizeof *s->first);
    s->same = malloc(((size_t)l->loops + 1) * sizeof *s->same);
    memset(s->same, 0xff, l->loops * sizeof *s->same);
    n = 0;
    for (uint32_t i = 0; i < l->stops; i++)
        for (int loop = l->stop[i].loop; loop >= 0; loop = l->loop[loop].parent)
            s->member[n++] = (struct member){ (uint32_t)loop, number[l->stop[i].terminal] };
    n = (uint32_t)BASE_ARRAY_JOIN(s->member, n, by_member, into, from, ((void)into, (void)from));
    for (uint32_t i = 0; i <= l->loops; s->first[i++] = k)
        while (k < n && s->member[k].loop < i)
            k++;
}

/* --- Which belong together --- */

/* Share of what either has that both have. */
static double likeness(const struct side *a, uint32_t i, const struct side *b, uint32_t k)
{
    uint32_t x = a->first[i], y = b->first[k], both = 0, all = a->first[i + 1] - x + b->first[k + 1] - y;
    while (x < a->first[i + 1] && y < b->first[k + 1]) {
        uint32_t p = a->member[x].call, q = b->member[y].call;
        both += p == q;
        x += p <= q;
        y += q <= p;
    }
    return all ? 2.0 * both / all : 0;
}

/* The loop around it that has one there, too. */
static int around(const struct side *s, uint32_t loop)
{
    int parent = s->l->loop[loop].parent;
    while (parent >= 0 && s->same[parent] < 0)
        parent = s->l->loop[parent].parent;
    return parent;
}

/* Outer ones come first, of equal ones the first one. */
static void join(struct side *a, struct side *b)
{
    for (uint32_t k = 0; k < b->l->loops; k++) {
        int outer = around(b, k), best = -1;
        double most = 0;
        for (uint32_t i = 0; i < a->l->loops; i++) {
            double like = a->same[i] < 0 && around(a, i) == (outer < 0 ? -1 : b->same[outer])
                              ? likeness(a, i, b, k) : 0;
            if (like > most) {
                most = like;
                best = (int)i;
            }
        }
        b->same[k] = best;
        if (best >= 0)
            a->same[best] = (int)k;
    }
}

/* --- What is known of each --- */

/* Events of a turn, its first call, and how long it usually is: a turn is what the rank itself takes. */
static void fill(const struct side *s, int number, int side, const struct contracts_usual_event *usual,
                 struct contracts_turns *t)
{
    const struct findings_loops *l = s->l;
    const struct findings_loop *loop = &l->loop[number];
    double variance = 0, events = 0, turns = (double)loop->turns.sum;
    uint32_t order = UINT32_MAX;
    t->loop[side] = loop;
    for (uint32_t i = 0; i < l->stops; i++) {
        const struct findings_loop_stop *p = &l->stop[i];
        int in = p->loop;
        while (in > number)
            in = l->loop[in].parent;
        if (in != number)
            continue;
        bool waits = contracts_waits(s->report->job, p->terminal);
        double each = (double)p->count / turns;
        events += each;
        t->usual[side] += each * (usual[p->terminal].gap.mean + (waits ? 0 : usual[p->terminal].duration.mean));
        variance += each * (usual[p->terminal].gap.variance + (waits ? 0 : usual[p->terminal].duration.variance));
        if (p->order < order) {
            order = p->order;
            t->terminal[side] = p->terminal;
        }
    }
    t->events[side] = events;
    t->error[side] = t->usual[side] > 0 ? sqrt(variance / turns) / t->usual[side] : 0;
}

static bool is_loop(const struct side *s, int number)
{
    return number >= 0 && s->l->loop[number].turns.sum > s->l->loop[number].entries.sum;
}

static double time_of(const struct contracts_turns *t, int side)
{
    return t->loop[side] ? t->loop[side]->ns : 0;
}

static int by_time(const void *x, const void *y)
{
    const struct contracts_turns *a = x, *b = y;
    double p = fmax(time_of(a, 0), time_of(a, 1)), q = fmax(time_of(b, 0), time_of(b, 1));
    return BASE_ORDER(q, p) ?: BASE_ORDER(a->loop[1], b->loop[1]) ?: BASE_ORDER(a->loop[0], b->loop[0]);
}

static void add(struct contracts_comparison *c, const struct side s[2], struct contracts_usual_event *const usual[2],
                int a, int b)
{
    const int number[2] = { a, b };
    if (!is_loop(&s[0], a) && !is_loop(&s[1], b))
        return;
    struct contracts_turns *t = &c->loops[c->loop_count++];
    *t = (struct contracts_turns){ .number = (uint32_t)b, .terminal = { GRAMMAR_NONE, GRAMMAR_NONE } };
    for (int side = 0; side < 2; side++)
        if (number[side] >= 0)
            fill(&s[side], number[side], side, usual[side], t);
}

void contracts_compare_loops(struct contracts_comparison *c, uint32_t *const terminal[2])
{
    struct side s[2] = { { .report = c->report[0] }, { .report = c->report[1] } };
    struct contracts_usual_event *usual[2];
    bool by_code = findings_loops_of(c->report[0])->by_code && findings_loops_of(c->report[1])->by_code;
    for (int side = 0; side < 2; side++) {
        s[side].l = findings_loops_of(c->report[side]);
        if (s[side].l->by_code && !by_code)
            s[side].l = c->own[side] = findings_loops_create(c->report[side], false);
        usual[side] = contracts_usual_events(c->report[side]->job, c->report[!side]->job);
        find_members(&s[side], terminal[side]);
    }
    join(&s[0], &s[1]);
    c->loops = calloc((size_t)s[0].l->loops + s[1].l->loops + 1, sizeof *c->loops);
    for (uint32_t i = 0; i < s[0].l->loops; i++)
        add(c, s, usual, (int)i, s[0].same[i]);
    for (uint32_t i = 0; i < s[1].l->loops; i++)
        if (s[1].same[i] < 0)
            add(c, s, usual, -1, (int)i);
    qsort(c->loops, c->loop_count, sizeof *c->loops, by_time);
    for (int side = 0; side < 2; side++) {
        free(s[side].member);
        free(s[side].first);
        free(s[side].same);
        free(usual[side]);
    }
}

/* Of another compiler, or with other options: a loop that was unrolled is in one of them alone, its calls are as
   before. */
static bool other_code(const struct contracts_comparison *c)
{
    const struct job *a = c->report[0]->job, *b = c->report[1]->job;
    return strcmp(job_text(a, a->info.program_id), job_text(b, b->info.program_id)) != 0;
}

bool contracts_loop_changed(const struct contracts_comparison *c, const struct contracts_turns *t)
{
    const struct findings_loop *a = t->loop[0], *b = t->loop[1];
    if (contracts_by_timing(c))
        return false;
    if (!a || !b)
        return !other_code(c);
    return !c->scaled && (a->turns.sum != b->turns.sum || a->entries.sum != b->entries.sum ||
                          (a->turns_most && b->turns_most &&
                           (a->turns_least != b->turns_least || a->turns_most != b->turns_most)));
}
