/* SPDX-License-Identifier: MIT */
/*
 * Appending: by the tail (tail.h; tail.c has grammar_append) where events repeat what the grammar has, else by the
 * structural steps (steps.c).
 *
 * One event may bring about a long row of steps: the end of a loop that turned shorter than ever takes a rule at each
 * level apart. An append takes at most GRAMMAR_BUDGET pieces of work; events that come while some is left wait in a
 * short queue and are worked off in their order, some with each append. So the grammar is the same as if each event had
 * been waited for. A step costs O(1), table look-ups expected; a full queue (GRAMMAR_QUEUE events behind) is worked off
 * until there is room.
 *
 * The order of work: hints, the pieces of a tail that is written out, a rule that waits for that, a rule whose turn is
 * complete, then the next event.
 */
#include "grammar/internal.h"

static void append_plain(struct grammar *g, const struct grammar_arrival *a)
{
    uint32_t last = grammar_last(g, 0);
    if (!grammar_is_guard(g, last) && g->nodes[last].symbol == a->symbol)
        grammar_arrival_count(g, last, a);
    else
        grammar_link_last(g, grammar_arrival_node(g, a));
    if (grammar_is_full(g))
        grammar_coarsen(g);
}

/* --- The queue --- */

static void queue_push(struct grammar_queue *q, const struct grammar_event *e)
{
    q->event[(q->first + q->count++) % GRAMMAR_QUEUE] = *e;
}

static void queue_pop(struct grammar *g)
{
    struct grammar_queue *q = &g->queue;
    grammar_note(g, &q->event[q->first]);
    q->first = (q->first + 1) % GRAMMAR_QUEUE;
    q->count--;
}

static void work_on_event(struct grammar *g)
{
    struct grammar_queue *q = &g->queue;
    struct grammar_arrival a = grammar_arrival_of(&q->event[q->first]);
    if (q->plain)
        append_plain(g, &a);
    else if (!grammar_tail_take(g, &a)) {
        grammar_tail_flush(g);
        q->plain = true;
        return;
    }
    q->plain = false;
    queue_pop(g);
}

/* A rule's turn is complete: what it belongs to takes it, or it waits until the tail is written out. */
static void work_on_turn(struct grammar *g, const struct grammar_arrival *a)
{
    if (!grammar_tail_take(g, a)) {
        grammar_tail_flush(g);
        g->late = *a;
    }
}

/* One piece of work. Returns false when there is none. */
static bool work_once(struct grammar *g)
{
    struct grammar_arrival a;
    if (grammar_step(g) || grammar_tail_write(g))
        return true;
    if (g->late.symbol != GRAMMAR_NONE) {
        a = g->late;
        g->late.symbol = GRAMMAR_NONE;
        append_plain(g, &a);
    } else if (grammar_tail_turn(g, &a)) {
        work_on_turn(g, &a);
    } else if (g->queue.count) {
        work_on_event(g);
    } else {
        return false;
    }
    return true;
}

void grammar_work(struct grammar *g)
{
    uint32_t budget = GRAMMAR_BUDGET;
    while (budget && work_once(g))
        budget--;
    g->busy = budget == 0;
}

void grammar_settle(struct grammar *g)
{
    g->expected = g->alone = &grammar_nothing;
    while (work_once(g))
        ;
    grammar_tail_flush(g);
    while (work_once(g))
        ;
    g->busy = false;
}

/* --- Appending --- */

void grammar_append_late(struct grammar *g, const struct grammar_event *e)
{
    if (!g->busy) {
        grammar_tail_flush(g);
        g->queue.plain = true;
    }
    for (; g->queue.count == GRAMMAR_QUEUE; g->overruns++)
        work_once(g);
    queue_push(&g->queue, e);
    grammar_work(g);
}

void grammar_append_plain(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_arrival a = grammar_arrival_of(e);
    g->expected = g->alone = &grammar_nothing;
    append_plain(g, &a);
    grammar_drain(g);
    grammar_note(g, e);
}
