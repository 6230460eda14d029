/* SPDX-License-Identifier: MIT */
#include "grammar/course.h"

#include <stdlib.h>

#include "grammar/internal.h"

enum {
    WINDOW = GRAMMAR_COURSE_WINDOW,
    FAR = 64,  /* values that are compared at one place: more would tell places apart no better */
    TRIED = 8, /* places */
};

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
    *last_step(g, c) = (struct grammar_step){ from, (int32_t)value, back };
    c->back = (uint16_t)back;
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

static void leave(struct grammar *g, struct grammar_course *c)
{
    while (c->steps)
        pop(g, c);
    if (c->state == GRAMMAR_COURSE_KEPT && c->window != GRAMMAR_NONE)
        window_give(g, c->window);
    c->state = GRAMMAR_COURSE_LEFT;
}

void grammar_courses_leave(struct grammar *g)
{
    for (uint32_t i = 0; i < g->terminals && i < GRAMMAR_COURSE_TERMINALS; i++) {
        leave(g, &g->courses[i].of[0]);
        leave(g, &g->courses[i].of[1]);
    }
}

/* A hash of the last four values: what is older has been shifted out. */
static void note(struct grammar_window *w, struct grammar_course *c, uint64_t n, int64_t value)
{
    c->context = (uint16_t)((c->context << 4) + (((uint32_t)value * 0x9e3779b1u) >> 16));
    w->value[n % WINDOW] = (int32_t)value;
    w->context[n % WINDOW] = c->context;
}

/* The window gets what was as expected before event n, and what is older leaves the hash. False: there is none. */
static bool catch_up(struct grammar *g, struct grammar_course *c, uint64_t n)
{
    int32_t again[WINDOW];

    if (c->window == GRAMMAR_NONE && (c->window = window_take(g)) == GRAMMAR_NONE)
        return false;
    struct grammar_window *w = &g->windows[c->window];
    uint64_t from = n > c->noted + WINDOW + 4 ? n - WINDOW - 4 : c->noted, k = (from - c->noted) % c->back;
    again[0] = c->expected;
    for (uint32_t i = 0; c->noted && c->noted < n && i < c->back; i++)
        again[i] = w->value[(c->noted - c->back + i) % WINDOW];
    for (; from < n; from++, k = k + 1 == c->back ? 0 : k + 1)
        note(w, c, from, again[k]);
    return true;
}

/* --- Values --- */

/* How many of the last values, the n-th the last one, are those `back` before them. */
static uint32_t agreeing(const struct grammar_window *w, uint64_t n, uint32_t back, uint32_t reach)
{
    uint32_t k = 0;

    while (k < FAR && k + back <= reach && w->value[(n - k) % WINDOW] == w->value[(n - k - back) % WINDOW])
        k++;
    return k;
}

/* The distance at which most of the last values stood before, the nearest in a tie; 0: nowhere. */
static uint32_t look(const struct grammar_window *w, uint64_t n, uint32_t *length)
{
    uint32_t reach = n < WINDOW ? (uint32_t)n : WINDOW - 1, best = 0, tried = 0;
    uint16_t context = w->context[n % WINDOW];

    *length = 0;
    for (uint32_t back = 1; back <= reach && tried < TRIED; back++) {
        if (w->context[(n - back) % WINDOW] != context)
            continue;
        tried++;
        uint32_t k = agreeing(w, n, back, reach);
        if (k > *length) {
            *length = k;
            best = back;
        }
    }
    return best;
}

/* The last step ends before event n: the next one begins there, or as far back as it holds. */
static bool turn(struct grammar *g, struct grammar_course *c, uint64_t n)
{
    const struct grammar_window *w = &g->windows[c->window];
    uint32_t length, back = look(w, n, &length);
    uint64_t from = n - length;

    if (++c->looks == GRAMMAR_COURSE_LOOKS)
        return false;
    while (back && last_step(g, c)->from >= from) /* never the first one's: at least `back` values stand before */
        pop(g, c);
    return push(g, c, from, w->value[from % WINDOW], back ? back : 1);
}

static bool begin(struct grammar *g, struct grammar_course *c, int64_t value)
{
    c->state = GRAMMAR_COURSE_KEPT;
    c->expected = (int32_t)value;
    c->end = c->window = GRAMMAR_NONE;
    return push(g, c, 0, value, 1);
}

static bool add(struct grammar *g, struct grammar_course *c, uint64_t n, int64_t value)
{
    if (value != (int32_t)value)
        return false;
    if (c->state == GRAMMAR_COURSE_NEW && !begin(g, c, n ? GRAMMAR_PEER_NONE : value))
        return false;
    if (value == c->expected)
        return true;
    if (!catch_up(g, c, n))
        return false;
    note(&g->windows[c->window], c, n, value);
    c->noted = n + 1;
    if (!turn(g, c, n))
        return false;
    c->at = (uint16_t)((n + 1 - c->back) % WINDOW);
    c->expected = g->windows[c->window].value[c->at];
    return true;
}

void grammar_course_add(struct grammar *g, struct grammar_course *c, uint64_t n, int64_t value)
{
    if (!add(g, c, n, value))
        leave(g, c);
}

/* --- At rest --- */

/* Not of one value: that is a formula. */
static uint32_t steps_of(const struct grammar_course *c)
{
    return c->state == GRAMMAR_COURSE_KEPT && c->window != GRAMMAR_NONE ? c->steps : 0;
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
    uint32_t slots = 2 * (g->terminals < GRAMMAR_COURSE_TERMINALS ? g->terminals : GRAMMAR_COURSE_TERMINALS);
    size_t steps = 0;

    for (uint32_t i = 0; i < slots; i++) {
        f->course_count += steps_of(&g->courses[i / 2].of[i % 2]) > 0;
        steps += steps_of(&g->courses[i / 2].of[i % 2]);
    }
    if (!f->course_count)
        return 0;
    f->courses = malloc(f->course_count * sizeof *f->courses);
    f->steps = malloc(steps * sizeof *f->steps);
    if (!f->courses || !f->steps)
        return -1;
    f->course_count = 0;
    steps = 0;
    for (uint32_t i = 0; i < slots; i++) {
        const struct grammar_course *c = &g->courses[i / 2].of[i % 2];
        if (!steps_of(c))
            continue;
        f->courses[f->course_count++] = (struct grammar_flat_course){ .terminal = i / 2,
                                                                      .channel = i % 2 ? GRAMMAR_SOURCE : GRAMMAR_PEER,
                                                                      .first = (uint32_t)steps,
                                                                      .count = c->steps };
        freeze(g, c, f->steps + steps);
        steps += c->steps;
    }
    return 0;
}
