/* SPDX-License-Identifier: MIT */
#include "session/clock.h"

#include <stdbool.h>

#include "base/clock.h"
#include "session/internal.h"

/* --- Between nodes --- */

static int ask_parent(const struct session_clock_line *l, int parent, struct session_clock_offset *o)
{
    int error = 0;
    o->error = INT64_MAX;
    for (int i = 0; i < SESSION_CLOCK_ROUNDS && !error; i++) {
        int64_t value[2] = {0, 0}, sent = l->now(l->context);
        error = l->send(l->context, parent, value);
        error = error ?: l->receive(l->context, parent, value);
        int64_t back = l->now(l->context), half = (back - sent + 1) / 2;
        if (half < o->error)
            *o = (struct session_clock_offset){sent + half, value[0] - (sent + half), half};
    }
    return error;
}

static int answer_child(const struct session_clock_line *l, int child)
{
    int error = 0;
    for (int i = 0; i < SESSION_CLOCK_ROUNDS && !error; i++) {
        int64_t value[2];
        error = l->receive(l->context, child, value);
        value[0] = l->now(l->context);
        value[1] = 0;
        error = error ?: l->send(l->context, child, value);
    }
    return error;
}

/* What the parent knows of itself comes down the tree. */
static int hear_parent(const struct session_clock_line *l, int parent, struct session_clock_offset *o)
{
    int64_t value[2];
    int error = l->receive(l->context, parent, value);
    o->offset += value[0];
    o->error += value[1];
    return error;
}

int session_clock_measure(const struct session_clock_line *l, struct session_clock_offset *o)
{
    int error = 0, bit = 1;
    *o = (struct session_clock_offset){.at = l->now(l->context)};
    for (; bit < l->ranks && !(l->rank & bit) && !error; bit *= 2)
        if (l->rank + bit < l->ranks)
            error = answer_child(l, l->rank + bit);
    if (!error && l->rank) {
        error = ask_parent(l, l->rank - bit, o);
        error = error ?: hear_parent(l, l->rank - bit, o);
    }
    while (!error && (bit /= 2))
        if (l->rank + bit < l->ranks)
            error = l->send(l->context, l->rank + bit, (const int64_t[]){o->offset, o->error});
    return error;
}

/* --- Two points of a line --- */

static int64_t between(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t x)
{
    return x1 > x0 ? y0 + (int64_t)((__int128)(x - x0) * (y1 - y0) / (x1 - x0)) : y0;
}

int64_t session_clock_on_first(const struct session_clock_offset *begin, const struct session_clock_offset *end,
                               int64_t at)
{
    return at + between(begin->at, begin->offset, end->at, end->offset, at);
}

/* --- This process's --- */

static struct {
    struct clock_pair { int64_t mine, node; } read[2]; /* both clocks at the same time, by moment */
    struct session_clock_offset offset[2];
    int64_t zero;
    struct job_clock agreed;
    bool is_agreed;
} own_clock;

void session_clock_reset(void)
{
    own_clock.is_agreed = false;
}

/* Both clocks, between two readings of one of them: this thread may have to wait in between. By how much they may be
   apart, ns. */
static int64_t read_both(struct clock_pair *p)
{
    int64_t error = INT64_MAX;
    for (int i = 0; i < SESSION_CLOCK_ROUNDS; i++) {
        int64_t before = (int64_t)base_clock_now(), node = (int64_t)base_clock_system();
        int64_t half = ((int64_t)base_clock_now() - before + 1) / 2;
        if (half < error) {
            *p = (struct clock_pair){before + half, node};
            error = half;
        }
    }
    return error;
}

void session_clock_note(enum session_clock_moment moment, const struct session_clock_offset *offset)
{
    struct clock_pair *p = &own_clock.read[moment];
    int64_t error = read_both(p);
    own_clock.offset[moment] = offset ? *offset : (struct session_clock_offset){.at = p->node};
    if (offset)
        own_clock.offset[moment].error += error;
}

static int64_t on_first(uint64_t ns)
{
    const struct clock_pair *p = own_clock.read;
    int64_t node = between(p[0].mine, p[0].node, p[1].mine, p[1].node, (int64_t)ns);
    return session_clock_on_first(&own_clock.offset[0], &own_clock.offset[1], node);
}

int64_t session_clock_begin(void)
{
    return on_first(session.begin);
}

int64_t session_clock_error(void)
{
    int64_t begin = own_clock.offset[0].error, end = own_clock.offset[1].error;
    return begin > end ? begin : end;
}

void session_clock_agree(int64_t zero, uint32_t nodes, int64_t error)
{
    own_clock.zero = zero;
    own_clock.agreed = (struct job_clock){.nodes = nodes, .error_ns = (uint64_t)error};
    own_clock.is_agreed = true;
}

uint64_t session_clock_since(uint64_t ns)
{
    int64_t since = own_clock.is_agreed ? on_first(ns) - own_clock.zero : (int64_t)(ns - session.begin);
    return since > 0 ? (uint64_t)since : 0;
}

int64_t session_clock_drift(uint64_t wall_ns)
{
    if (!own_clock.is_agreed)
        return 0;
    return on_first(session.begin + wall_ns) - on_first(session.begin) - (int64_t)wall_ns;
}

void session_clock_finish(struct job *job)
{
    if (own_clock.is_agreed)
        job->clock = own_clock.agreed;
}
