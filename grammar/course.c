/* SPDX-License-Identifier: MIT */
#include "grammar/course.h"

#include <stdlib.h>

#include "grammar/internal.h"

enum {
    WINDOW = GRAMMAR_COURSE_WINDOW,
    FAR = 64,  /* values that are compared at one place: more would tell places apart no better */
    TRIED = 8, /* places */
    LITTLE = 32, DENSE = 4 /* steps that any course may have; values a step that a longer one must have */
};
/* Channels whose values are names, not amounts. */
#define NAMES (1u << GRAMMAR_PEER | 1u << GRAMMAR_SOURCE | 1u << GRAMMAR_PLACE | 1u << GRAMMAR_REPLY)
#define TIMES(constant, times) ((int64_t)((uint64_t)(constant) * (uint64_t)(times)))
#define SUM(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define LESS(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))

/* --- Steps --- */

static struct grammar_step *last_step(const struct grammar *g, const struct grammar_course *c)
{
    return &g->attrs[c->end].step[(c->steps - 1) % GRAMMAR_CELL_STEPS];
}

static void pop(struct grammar *g, struct grammar_course *c)
{
    if (--c->steps % GRAMMAR_CELL_STEPS == 0) {
        uint32_t before = g->attrs[c->end].next;
        grammar_cell_give(g, c->end);
        c->end = before;
    }
}

static bool push(struct grammar *g, struct grammar_course *c, uint64_t from, int64_t value, uint32_t back)
{
    if (c->steps == GRAMMAR_COURSE_STEPS)
        return false;
    if (c->steps % GRAMMAR_CELL_STEPS == 0) {
        uint32_t cell = grammar_is_full(g) ? GRAMMAR_NONE : grammar_cell_take(g);
        if (cell == GRAMMAR_NONE)
            return false;
        g->attrs[cell].next = c->end;
        c->end = cell;
    }
    c->steps++;
    *last_step(g, c) = (struct grammar_step){ from, value, back };
    c->back = back ? (uint16_t)back : 1;
    c->plus = back ? value : 0;
    return true;
}

/* --- Windows: taken from their arena, or from those that were given back, which are linked by their first value --- */

static uint32_t window_take(struct grammar *g)
{
    uint32_t w = g->window_free;

    if (w != GRAMMAR_NONE) {
        g->window_free = (uint32_t)g->windows[w].value[0];
    } else {
        if (g->window_top == g->window_limit || grammar_is_full(g))
            return GRAMMAR_NONE;
        w = g->window_top++;
        base_arena_ahead(&g->window_arena, g->window_top);
    }
    g->windows_used++;
    return w;
}

static void window_give(struct grammar *g, uint32_t w)
{
    g->windows[w].value[0] = (int32_t)g->window_free;
    g->window_free = w;
    g->windows_used--;
}

static void course_leave(struct grammar *g, struct grammar_courses *all, unsigned channel)
{
    struct grammar_course *c = &all->of[channel];
    if (all->going >> channel & 1) {
        while (c->steps)
            pop(g, c);
        if (c->window != GRAMMAR_NONE)
            window_give(g, c->window);
    }
    all->going &= ~(1u << channel);
    all->watched &= ~(1u << channel);
}

void grammar_courses_leave(struct grammar *g)
{
    for (uint32_t i = 0; i < g->terminals && i < GRAMMAR_COURSE_TERMINALS; i++) {
        for (unsigned channel = 0; channel < GRAMMAR_CHANNELS; channel++)
            course_leave(g, &g->courses[i], channel);
        g->courses[i].closed = true;
    }
}

/* --- The window --- */

/* A hash of the last four values, or of how the last four differ: what is older has been shifted out. */
static void note(struct grammar_window *w, struct grammar_course *c, unsigned channel, uint64_t n, int64_t value)
{
    bool name = NAMES >> channel & 1;
    uint64_t key = (uint64_t)(name ? value : LESS(value, w->value[(n - 1) % WINDOW])) * 0x9e3779b97f4a7c15u;
    c->context = (uint16_t)((c->context << (name ? 4 : 6)) + (key >> 48));
    w->value[n % WINDOW] = value;
    w->context[n % WINDOW] = c->context;
}

/* The window gets what was as expected before event n; what is older than it leaves the hash. */
static void catch_up(struct grammar *g, struct grammar_course *c, unsigned channel, int64_t expected, uint64_t n)
{
    int64_t again[WINDOW];
    struct grammar_window *w = &g->windows[c->window];
    uint64_t from = n > c->noted + WINDOW + 4 ? n - WINDOW - 4 : c->noted, k = (from - c->noted) % c->back;
    int64_t shift = TIMES(c->plus, (from - c->noted) / c->back + 1);

    again[0] = expected;
    for (uint32_t i = 0; c->noted && c->noted < n && i < c->back; i++)
        again[i] = w->value[(c->noted - c->back + i) % WINDOW];
    for (; from < n; from++) {
        note(w, c, channel, from, SUM(again[k], shift));
        if (++k == c->back) {
            k = 0;
            shift = SUM(shift, c->plus);
        }
    }
}

/* --- Values --- */

/* How many of the last values, the n-th the last one, are those `back` before them plus a constant. */
static uint32_t agreeing(const struct grammar_window *w, uint64_t n, uint32_t back, uint32_t reach, int64_t plus)
{
    uint32_t k = 0;

    while (k < FAR && k + back <= reach &&
           w->value[(n - k) % WINDOW] == SUM(w->value[(n - k - back) % WINDOW], plus))
        k++;
    return k;
}

struct place { uint32_t back, length; int64_t plus; };

/* Where most of the last values stood before, the nearest in a tie; back 0: nowhere. */
static struct place course_look(const struct grammar_window *w, uint64_t n, bool name)
{
    uint32_t reach = n < WINDOW ? (uint32_t)n : WINDOW - 1, tried = 0;
    uint16_t context = w->context[n % WINDOW];
    struct place best = { 0 };

    for (uint32_t back = 1; back <= reach && tried < TRIED; back++) {
        if (w->context[(n - back) % WINDOW] != context)
            continue;
        tried++;
        int64_t plus = name ? 0 : LESS(w->value[n % WINDOW], w->value[(n - back) % WINDOW]);
        uint32_t k = agreeing(w, n, back, reach, plus);
        if (k > best.length)
            best = (struct place){ back, k, plus };
    }
    return best;
}

/* The last step ends before event n: the next one begins there, or as far back as it holds. */
static bool turn(struct grammar *g, struct grammar_course *c, uint64_t n, bool name)
{
    const struct grammar_window *w = &g->windows[c->window];
    struct place p = course_look(w, n, name);
    uint64_t from = n - (p.length ? p.length - 1 : 0);

    if (++c->looks == GRAMMAR_COURSE_LOOKS)
        return false;
    while (p.back && last_step(g, c)->from >= from) /* never the first one's: at least `back` values stand before */
        pop(g, c);
    return push(g, c, from, p.back ? p.plus : w->value[n % WINDOW], p.back);
}

static bool course_begin(struct grammar *g, struct grammar_courses *all, unsigned channel)
{
    struct grammar_course *c = &all->of[channel];

    *c = (struct grammar_course){ .end = GRAMMAR_NONE, .window = window_take(g) };
    all->going |= 1u << channel;
    return c->window != GRAMMAR_NONE && push(g, c, 0, all->expected[channel], 0);
}

static bool course_add(struct grammar *g, struct grammar_courses *all, unsigned channel, uint64_t n, int64_t value)
{
    struct grammar_course *c = &all->of[channel];

    if (!(all->going >> channel & 1) && !course_begin(g, all, channel))
        return false;
    catch_up(g, c, channel, all->expected[channel], n);
    note(&g->windows[c->window], c, channel, n, value);
    c->noted = n + 1;
    if (!turn(g, c, n, NAMES >> channel & 1))
        return false;
    c->at = (uint16_t)((n + 1 - c->back) % WINDOW);
    c->shift = c->plus;
    all->expected[channel] = SUM(g->windows[c->window].value[c->at], c->shift);
    return true;
}

/* Channels that the terminal had never before. */
static void meet(struct grammar_courses *c, uint32_t channels, uint64_t n, const int64_t *value)
{
    c->channels |= channels;
    c->watched |= channels;
    for (; channels; channels &= channels - 1) {
        unsigned channel = (unsigned)__builtin_ctz(channels);
        c->expected[channel] = n ? GRAMMAR_ABSENT : value[channel];
    }
}

void grammar_courses_add(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_courses *c = &g->courses[e->terminal];
    uint32_t has = e->channels & GRAMMAR_COURSE_CHANNELS;
    uint64_t n = c->events++;

    if (!c->closed)
        meet(c, has & ~c->channels, n, e->value);
    for (uint32_t left = c->watched; left; left &= left - 1) {
        unsigned channel = (unsigned)__builtin_ctz(left);
        int64_t value = has >> channel & 1 ? e->value[channel] : GRAMMAR_ABSENT;
        if (value == c->expected[channel] && c->going >> channel & 1)
            grammar_course_go_on(g, c, channel);
        else if (value != c->expected[channel] && !course_add(g, c, channel, n, value))
            course_leave(g, c, channel);
    }
    c->stamp = 0;
}

uint32_t grammar_courses_stamp(struct grammar *g, struct grammar_courses *c)
{
    if (!c->stamp && !c->going && g->stamps < UINT32_MAX)
        c->stamp = ++g->stamps;
    return c->stamp;
}

/* --- At rest --- */

/* What came by chance is not worth its steps, but for who talks to whom: without, no message is matched. */
static uint32_t steps_of(const struct grammar_courses *c, unsigned channel)
{
    uint32_t steps = c->going >> channel & 1 ? c->of[channel].steps : 0;
    return channel != GRAMMAR_PEER && steps > LITTLE && c->events / steps < DENSE ? 0 : steps;
}

static void freeze(const struct grammar *g, const struct grammar_course *c, struct grammar_step *to)
{
    uint32_t cell = c->end;

    for (uint32_t k = c->steps; k-- > 0;) {
        to[k] = g->attrs[cell].step[k % GRAMMAR_CELL_STEPS];
        if (k % GRAMMAR_CELL_STEPS == 0)
            cell = g->attrs[cell].next;
    }
}

int grammar_courses_freeze(const struct grammar *g, struct grammar_flat *f)
{
    uint32_t terminals = g->terminals < GRAMMAR_COURSE_TERMINALS ? g->terminals : GRAMMAR_COURSE_TERMINALS, first = 0;
    size_t steps = 0;

    for (uint32_t i = 0; i < terminals * GRAMMAR_CHANNELS; i++) {
        uint32_t count = steps_of(&g->courses[i / GRAMMAR_CHANNELS], i % GRAMMAR_CHANNELS);
        f->course_count += count > 0;
        steps += count;
    }
    if (!f->course_count)
        return 0;
    f->courses = malloc(f->course_count * sizeof *f->courses);
    f->steps = malloc(steps * sizeof *f->steps);
    if (!f->courses || !f->steps)
        return -1;
    f->course_count = 0;
    for (uint32_t i = 0; i < terminals * GRAMMAR_CHANNELS; i++) {
        const struct grammar_courses *c = &g->courses[i / GRAMMAR_CHANNELS];
        uint32_t channel = i % GRAMMAR_CHANNELS, count = steps_of(c, channel);
        if (!count)
            continue;
        f->courses[f->course_count++] = (struct grammar_flat_course){ i / GRAMMAR_CHANNELS, channel, first, count };
        freeze(g, &c->of[channel], f->steps + first);
        first += count;
    }
    return 0;
}
