/* SPDX-License-Identifier: MIT */
/*
 * Finding a terminal of one program in a job of another build of it, or recorded with other outer frames.
 *
 * In this order: the same content; the same innermost frame of the same module; the same function, phase and
 * communicator, and the same place among all such calls in the order of their addresses, if there are as many of them
 * in both (a rebuilt program moves its calls, but keeps their order).
 *
 * For that a job keeps its terminals in two orders, from the first question on; later terminals are put in. Cost: of a
 * question a logarithm, of a terminal that too, and moving the numbers behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/name.h"
#include "base/order.h"
#include "job/intern.h"
#include "job/job.h"

struct side {
    const struct job *job;
    uint32_t terminal;
};

static const struct job_terminal *terminal_of(struct side s)
{
    return &s.job->terminals[s.terminal];
}

/* Whether two terminals could stand for the same call as far as everything but the place goes. What the peer is may
   differ: with other ranks a neighbour becomes the rank itself, or nobody. */
static int alike(struct side a, struct side b)
{
    const struct job_terminal *x = terminal_of(a), *y = terminal_of(b);
    return x->kind == y->kind && x->phase == y->phase &&
           !strcmp(job_text(a.job, x->function), job_text(b.job, y->function));
}

static const char *comm_name(struct side s)
{
    uint32_t comm = terminal_of(s)->comm;
    return comm == GRAMMAR_NONE ? "" : job_text(s.job, s.job->comms[comm].name);
}

static int same_comm(struct side a, struct side b)
{
    return !strcmp(comm_name(a), comm_name(b));
}

static const struct job_frame *innermost(struct side s)
{
    return job_innermost(s.job, terminal_of(s)->callsite);
}

/* By build-id where both have one, else by the file's name. */
static int same_module(struct side a, const struct job_frame *f, struct side b, const struct job_frame *g)
{
    const struct job_module *m = &a.job->modules[f->module], *n = &b.job->modules[g->module];
    const char *id = job_text(a.job, m->build_id), *other = job_text(b.job, n->build_id);
    if (*id && *other)
        return !strcmp(id, other);
    return !strcmp(base_name(job_text(a.job, m->path)), base_name(job_text(b.job, n->path)));
}

static int same_frame(struct side a, struct side b)
{
    const struct job_frame *f = innermost(a), *g = innermost(b);
    return f && g && f->offset == g->offset && same_module(a, f, b, g);
}

/* --- By order --- */

/* Place of a call in its program: module by name, then address. */
static int place_order(struct side a, struct side b)
{
    const struct job_frame *f = innermost(a), *g = innermost(b);
    if (!f || !g)
        return !f - !g;
    int order = strcmp(base_name(job_text(a.job, a.job->modules[f->module].path)),
                       base_name(job_text(b.job, b.job->modules[g->module].path)));
    return order ?: BASE_ORDER(f->offset, g->offset);
}

/* Those that are alike are neighbours, … */
static int call_order(struct side a, struct side b)
{
    const struct job_terminal *x = terminal_of(a), *y = terminal_of(b);
    return BASE_ORDER(x->kind, y->kind) ?: BASE_ORDER(x->phase, y->phase) ?:
           strcmp(job_text(a.job, x->function), job_text(b.job, y->function));
}

/* … and of these those at one address, whatever its module; */
static int frame_order(struct side a, struct side b)
{
    const struct job_frame *f = innermost(a), *g = innermost(b);
    return call_order(a, b) ?: !f - !g ?: f && g ? BASE_ORDER(f->offset, g->offset) : 0;
}

/* or those of one communicator: a group. */
static int group_order(struct side a, struct side b)
{
    return call_order(a, b) ?: strcmp(comm_name(a), comm_name(b));
}

static int group_place_order(struct side a, struct side b)
{
    return group_order(a, b) ?: place_order(a, b);
}

struct job_match {
    uint32_t count, room;    /* the first terminals of the job are in here */
    uint32_t *frame, *place; /* their numbers in these orders; equal ones by number */
    uint32_t *group;         /* of each terminal */
    uint32_t *places;        /* of each group: how many there are (what differs in outer frames only is one place) */
    uint32_t groups;
    uint32_t *nth;           /* of each terminal: which place of its group it is at … */
    uint32_t numbered;       /* … where as many are in here */
};

void job_match_free(struct job_match *m)
{
    if (!m)
        return;
    free(m->frame);
    free(m->place);
    free(m->group);
    free(m->places);
    free(m->nth);
    free(m);
}

static int by_frame(const void *x, const void *y, void *job)
{
    const uint32_t *a = x, *b = y;
    return frame_order((struct side){ job, *a }, (struct side){ job, *b }) ?: BASE_ORDER(*a, *b);
}

static int match_by_place(const void *x, const void *y, void *job)
{
    const uint32_t *a = x, *b = y;
    return group_place_order((struct side){ job, *a }, (struct side){ job, *b }) ?: BASE_ORDER(*a, *b);
}

/* Room for all terminals of the job. */
static bool make_room(struct job_match *m, uint32_t need)
{
    uint32_t **const arrays[] = { &m->frame, &m->place, &m->group, &m->places, &m->nth };
    if (need <= m->room)
        return true;
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        uint32_t *more = realloc(*arrays[i], 2 * (size_t)need * sizeof *more);
        if (!more)
            return false;
        *arrays[i] = more;
    }
    m->room = 2 * need;
    return true;
}

static void put_all(struct job_match *m, const struct job *j)
{
    m->count = j->terminal_count;
    m->groups = 0;
    for (uint32_t t = 0; t < m->count; t++)
        m->frame[t] = m->place[t] = t;
    qsort_r(m->frame, m->count, sizeof *m->frame, by_frame, (void *)(uintptr_t)j);
    qsort_r(m->place, m->count, sizeof *m->place, match_by_place, (void *)(uintptr_t)j);
    for (uint32_t i = 0; i < m->count; i++) {
        struct side s = { j, m->place[i] }, before = { j, i ? m->place[i - 1] : 0 };
        if (!i || group_order(before, s))
            m->places[m->groups++] = 0;
        m->group[s.terminal] = m->groups - 1;
        m->places[m->groups - 1] += !i || group_place_order(before, s) != 0;
    }
}

static void insert(uint32_t *array, uint32_t count, uint32_t at, uint32_t t)
{
    memmove(array + at + 1, array + at, (count - at) * sizeof *array);
    array[at] = t;
}

/* The next terminal. */
static void put_one(struct job_match *m, const struct job *j)
{
    uint32_t t = m->count, group = m->groups, same = 0;
    struct side s = { j, t };
    uint32_t at = BASE_ARRAY_PLACE(t, i, frame_order((struct side){ j, m->frame[i] }, s) <= 0);
    insert(m->frame, t, at, t);
    at = BASE_ARRAY_PLACE(t, i, group_place_order((struct side){ j, m->place[i] }, s) <= 0);
    for (uint32_t i = at ? at - 1 : 0; i < t && i <= at; i++) { /* its neighbours */
        struct side beside = { j, m->place[i] };
        group = group_order(beside, s) ? group : m->group[beside.terminal];
        same |= group_place_order(beside, s) == 0;
    }
    insert(m->place, t, at, t);
    if (group == m->groups)
        m->places[m->groups++] = 0;
    m->places[group] += !same;
    m->group[t] = group;
    m->count++;
}

/* NULL: out of memory. */
static struct job_match *match_of(const struct job *j)
{
    enum { FEW = 8 };
    struct job_match *m = j->index->match ?: calloc(1, sizeof *m);
    j->index->match = m;
    if (!m || !make_room(m, j->terminal_count + 1))
        return NULL;
    if (m->count > j->terminal_count || j->terminal_count - m->count > FEW)
        put_all(m, j);
    while (m->count < j->terminal_count)
        put_one(m, j);
    return m;
}

static uint32_t match_frame(const struct job *j, struct side from)
{
    const struct job_match *m = match_of(j);
    uint32_t found = GRAMMAR_NONE, count = m ? m->count : 0;
    uint32_t i = BASE_ARRAY_PLACE(count, k, frame_order((struct side){ j, m->frame[k] }, from) < 0);
    int best = -1;
    for (; i < count && frame_order((struct side){ j, m->frame[i] }, from) == 0; i++) {
        struct side to = { j, m->frame[i] };
        int fit = 2 * same_comm(from, to) + (terminal_of(from)->peer_class == terminal_of(to)->peer_class);
        if (same_frame(from, to) && fit > best) {
            best = fit;
            found = to.terminal;
        }
    }
    return found;
}

static void number_places(struct job_match *m, const struct job *j)
{
    for (uint32_t i = 0; i < m->count && m->numbered != m->count; i++) {
        struct side s = { j, m->place[i] }, before = { j, i ? m->place[i - 1] : 0 };
        bool first = !i || m->group[before.terminal] != m->group[s.terminal];
        m->nth[s.terminal] = first ? 0 : m->nth[before.terminal] + (place_order(before, s) != 0);
    }
    m->numbered = m->count;
}

static uint32_t match_order(const struct job *j, struct side from)
{
    struct job_match *own = match_of(from.job), *other = match_of(j);
    if (!own || !other)
        return GRAMMAR_NONE;
    uint32_t at = BASE_ARRAY_PLACE(other->count, i, group_order((struct side){ j, other->place[i] }, from) < 0);
    if (at == other->count || group_order((struct side){ j, other->place[at] }, from))
        return GRAMMAR_NONE;
    uint32_t group = other->group[other->place[at]];
    if (own->places[own->group[from.terminal]] != other->places[group])
        return GRAMMAR_NONE;
    number_places(own, from.job);
    number_places(other, j);
    uint32_t nth = own->nth[from.terminal], rest = other->count - at;
    const uint32_t *here = other->place + at;
    uint32_t k = BASE_ARRAY_PLACE(rest, i, other->group[here[i]] == group && other->nth[here[i]] < nth);
    return here[k];
}

uint32_t job_match_frame(const struct job *j, const struct job *from, uint32_t t)
{
    if (t >= from->terminal_count)
        return GRAMMAR_NONE;
    uint32_t found = job_find_terminal(j, from->terminal_hash[t]);
    return found == GRAMMAR_NONE ? match_frame(j, (struct side){ from, t }) : found;
}

uint32_t job_match_terminal(const struct job *j, const struct job *from, uint32_t t)
{
    if (t >= from->terminal_count)
        return GRAMMAR_NONE;
    uint32_t found = job_match_frame(j, from, t);
    return found == GRAMMAR_NONE ? match_order(j, (struct side){ from, t }) : found;
}

bool job_alike(const struct job *j, uint32_t a, const struct job *k, uint32_t b)
{
    struct side x = { j, a }, y = { k, b };
    return a < j->terminal_count && b < k->terminal_count && alike(x, y) && same_comm(x, y);
}
