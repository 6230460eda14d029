/* SPDX-License-Identifier: MIT */
/*
 * Finding a terminal of one program in a job of another build of it, or recorded with other outer frames.
 *
 * In this order: the same content; the same innermost frame of the same module; the same function, phase and
 * communicator, and the same place among all such calls in the order of their addresses, if there are as many of them
 * in both (a rebuilt program moves its calls, but keeps their order).
 */
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/order.h"
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

static uint32_t match_frame(const struct job *j, struct side from)
{
    uint32_t found = GRAMMAR_NONE;
    int best = -1;
    for (uint32_t i = 0; i < j->terminal_count; i++) {
        struct side to = { j, i };
        if (!alike(from, to) || !same_frame(from, to))
            continue;
        int fit = 2 * same_comm(from, to) + (terminal_of(from)->peer_class == terminal_of(to)->peer_class);
        if (fit > best) {
            best = fit;
            found = i;
        }
    }
    return found;
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

/* Two terminals at one place differ in their outer frames only: one place all the same. */
struct places {
    struct side *side;
    uint32_t count;
};

static int side_order(const void *x, const void *y)
{
    return place_order(*(const struct side *)x, *(const struct side *)y);
}

/* The different places of the terminals of `j` that are like `from`, in order; the caller frees. */
static struct places places_of(const struct job *j, struct side from)
{
    struct places p = { malloc(((size_t)j->terminal_count + 1) * sizeof *p.side), 0 };
    uint32_t kept = 0;
    for (uint32_t i = 0; p.side && i < j->terminal_count; i++) {
        struct side s = { j, i };
        if (alike(from, s) && same_comm(from, s))
            p.side[p.count++] = s;
    }
    if (p.count)
        qsort(p.side, p.count, sizeof *p.side, side_order);
    for (uint32_t i = 0; i < p.count; i++)
        if (!i || place_order(p.side[kept - 1], p.side[i]))
            p.side[kept++] = p.side[i];
    p.count = kept;
    return p;
}

static uint32_t match_order(const struct job *j, struct side from)
{
    struct places own = places_of(from.job, from), other = places_of(j, from);
    uint32_t found = GRAMMAR_NONE;
    for (uint32_t i = 0; own.count == other.count && i < own.count; i++)
        if (!place_order(own.side[i], from))
            found = other.side[i].terminal;
    free(own.side);
    free(other.side);
    return found;
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
