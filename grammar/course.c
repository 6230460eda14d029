/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "grammar/internal.h"

static void drop(struct grammar *g, struct grammar_course *c)
{
    uint32_t next;

    for (uint32_t cell = c->runs ? c->first : GRAMMAR_NONE; cell != GRAMMAR_NONE; cell = next) {
        next = g->attrs[cell].next;
        grammar_cell_give(g, cell);
    }
    c->runs = GRAMMAR_NONE;
}

void grammar_course_turn(struct grammar *g, struct grammar_course *c, int64_t value)
{
    uint32_t place = c->runs % GRAMMAR_CELL_RUNS;

    if (c->runs == GRAMMAR_NONE)
        return;
    if (place == 0) {
        uint32_t cell = c->runs < GRAMMAR_COURSE_RUNS && !grammar_is_full(g) ? grammar_cell_take(g) : GRAMMAR_NONE;
        if (cell == GRAMMAR_NONE) {
            drop(g, c);
            return;
        }
        g->attrs[cell].next = GRAMMAR_NONE;
        if (c->runs)
            g->attrs[c->end].next = cell;
        else
            c->first = cell;
        c->end = cell;
    }
    g->attrs[c->end].run[place] = (struct grammar_run){ grammar_events(g), value };
    c->runs++;
    c->last = value;
}

/* Not of one value: that is a formula. */
static uint32_t runs_of(const struct grammar_course *c)
{
    return c->runs == GRAMMAR_NONE || c->runs < 2 ? 0 : c->runs;
}

int grammar_courses_freeze(const struct grammar *g, struct grammar_flat *f)
{
    uint32_t slots = 2 * (g->terminals < GRAMMAR_COURSE_TERMINALS ? g->terminals : GRAMMAR_COURSE_TERMINALS);
    size_t runs = 0;

    for (uint32_t i = 0; i < slots; i++) {
        f->course_count += runs_of(&g->courses[i]) > 0;
        runs += runs_of(&g->courses[i]);
    }
    if (!f->course_count)
        return 0;
    f->courses = malloc(f->course_count * sizeof *f->courses);
    f->runs = malloc(runs * sizeof *f->runs);
    if (!f->courses || !f->runs)
        return -1;
    f->course_count = 0;
    runs = 0;
    for (uint32_t i = 0; i < slots; i++) {
        const struct grammar_course *c = &g->courses[i];
        if (!runs_of(c))
            continue;
        f->courses[f->course_count++] = (struct grammar_flat_course){ .terminal = i / 2,
                                                                      .channel = i % 2 ? GRAMMAR_SOURCE : GRAMMAR_PEER,
                                                                      .first = (uint32_t)runs,
                                                                      .count = c->runs };
        for (uint32_t k = 0, cell = c->first; k < c->runs; k++) {
            f->runs[runs++] = g->attrs[cell].run[k % GRAMMAR_CELL_RUNS];
            if (k % GRAMMAR_CELL_RUNS == GRAMMAR_CELL_RUNS - 1)
                cell = g->attrs[cell].next;
        }
    }
    return 0;
}
