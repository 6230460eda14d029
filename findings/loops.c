/* SPDX-License-Identifier: MIT */
#include "findings/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "findings/loops_parts.h"
#include "findings/report.h"
#include "loops/forest.h"

enum { MOST_STREAMS = 4096 /* that are counted one by one */, DEEPEST = 64 /* loops of a function */ };

/* --- Places --- */

/* The loop of that code within that one. */
static int loop_within(struct loops_search *s, int parent, const struct job_place *closes, uint32_t stop)
{
    for (uint32_t i = 0; i < s->l->loops; i++)
        if (s->l->loop[i].parent == parent && s->closes[i] == closes)
            return (int)i;
    base_must(base_array_room(&s->l->loop, &s->loop_room, s->l->loops + 1u, sizeof *s->l->loop));
    base_must(base_array_room(&s->closes, &s->closes_room, s->l->loops + 1u, sizeof *s->closes));
    s->closes[s->l->loops] = closes;
    s->l->loop[s->l->loops] = (struct findings_loop){ .parent = parent, .order = UINT32_MAX, .head = stop };
    return (int)s->l->loops++;
}

/* Loops around a frame; returns the innermost one of all so far. */
static int add_chain(struct loops_search *s, struct loops_frame *f, int around, uint32_t stop)
{
    uint32_t number[DEEPEST], depth = 0;
    f->first = s->chains;
    for (uint32_t n = f->place->around; n != GRAMMAR_NONE && depth < DEEPEST; n = s->places->place[n].around)
        number[depth++] = n;
    while (depth--) {
        around = loop_within(s, around, &s->places->place[number[depth]], stop);
        base_must(base_array_room(&s->chain, &s->chain_room, s->chains + 1u, sizeof *s->chain));
        s->chain[s->chains++] = around;
        f->count++;
    }
    return around;
}

static void find_frames(struct loops_search *s, uint32_t i)
{
    const struct job_stop *p = &s->hops->stop[i];
    const struct job_callsite c = job_named_without(s->j, p->path); /* loops are of code, whatever it is called */
    struct loops_stop *stop = &s->stop[i];
    int around = -1;

    stop->frames = c.count;
    stop->frame = calloc((size_t)stop->frames + 1, sizeof *stop->frame);
    for (uint32_t k = 0; k < stop->frames; k++) {
        const struct job_frame *f = &s->j->frames[c.first + c.count - 1 - k];
        stop->frame[k].place = findings_places_find(s->places, f->module, f->offset, JOB_PLACE_CALL);
        around = add_chain(s, &stop->frame[k], around, i);
    }
}

/* --- Steps --- */

void loops_take_hop(struct loops_search *s, uint32_t hop)
{
    const struct job_range *r = s->hops->ranges.range + s->hops->hop[hop].range_first;
    s->hop = &s->hops->hop[hop];
    s->takers = 0;
    struct job_walk w = { .range = r, .left = s->streams == s->all_streams ? s->hop->range_count : 0 };
    while (s->takers < s->streams && job_walk_next(&w)) {
        uint64_t at = BASE_ARRAY_PLACE(s->streams, x, job_member_before(s->stream[x], w.at));
        s->taker[s->takers] = (uint32_t)at;
        s->takers += at < s->streams;
    }
}

/* Adds `by` each time. */
static void count_for(struct loops_search *s, int loop, double *of, double by)
{
    const struct job_hop *h = s->hop;
    if (loop < 0)
        return;
    uint64_t members = job_ranges_size(s->hops->ranges.range + h->range_first, h->range_count);
    double each = by * (h->mean ? (double)h->count / (double)members : (double)h->count);
    s->l->loop[loop].mean |= h->mean || (s->streams < s->all_streams && members < s->all_streams);
    if (s->streams < s->all_streams) {
        of[(uint64_t)loop] += each * (double)members / (double)s->all_streams;
        return;
    }
    for (uint64_t i = 0; i < s->takers; i++)
        of[(uint64_t)loop * s->streams + s->taker[i]] += each;
}

static void note_effect(struct loops_search *s, int loop, bool enters, bool aside)
{
    struct loops_effect e = loops_effect_of(s, s->hop);
    if (loop < 0)
        return;
    e.loop = (uint32_t)loop;
    e.enters = enters;
    e.aside = aside;
    base_must(base_array_append(&s->effect, &s->effects, &s->effect_room, &e, 1, sizeof e));
}

static void turn(struct loops_search *s, int loop)
{
    count_for(s, loop, s->turns, 1);
    s->turned[s->hop - s->hops->hop] |= loop >= 0;
    note_effect(s, loop, false, false);
}

static void enter(struct loops_search *s, int loop, bool aside)
{
    count_for(s, loop, s->entries, 1);
    if (aside)
        count_for(s, loop, s->turns, -1);
    note_effect(s, loop, true, aside);
}

/* All loops of a frame from its number `from` on, and of the frames within. */
static void enter_from(struct loops_search *s, const struct loops_stop *b, uint32_t frame, uint32_t from)
{
    for (; frame < b->frames; frame++, from = 0)
        for (uint32_t i = from; i < b->frame[frame].count; i++) {
            int loop = s->chain[b->frame[frame].first + i];
            enter(s, loop, loops_is_rest(s, loop, b->frame[frame].place));
        }
}

/* The frames before are the same, this one is left and entered again. */
static void turn_outside(struct loops_search *s, const struct loops_stop *b, uint32_t frame)
{
    turn(s, loops_innermost(s, b, frame));
    enter_from(s, b, frame, 0);
}

static void step_within(struct loops_search *s, const struct loops_stop *a, const struct loops_stop *b, uint32_t i)
{
    const struct loops_frame *x = &a->frame[i], *y = &b->frame[i];
    uint32_t common = 0; /* how many loops hold both */
    while (common < x->count && common < y->count && s->chain[x->first + common] == s->chain[y->first + common])
        common++;
    if (findings_places_lead(s->places, x->place, y->place)) {
        enter_from(s, b, i, common);
    } else if (common) {
        turn(s, s->chain[y->first + common - 1]);
        enter_from(s, b, i, common);
    } else {
        turn_outside(s, b, i);
    }
}

static void take_step(struct loops_search *s, uint32_t from, uint32_t to)
{
    const struct loops_stop *b = &s->stop[to], *a = from == GRAMMAR_NONE ? NULL : &s->stop[from];
    uint32_t i = 0;

    if (!a || !a->frames || !b->frames) {
        enter_from(s, b, 0, 0);
        return;
    }
    while (i < a->frames && i < b->frames && loops_same_frame(&a->frame[i], &b->frame[i]))
        i++;
    if (i == b->frames) { /* a is there, too, or within: a region ends, or a function ends in a call */
        if (i == a->frames && s->j->terminals[s->hops->stop[to].terminal].phase != JOB_CLOSE)
            turn(s, loops_innermost(s, b, i));
        return;
    }
    if (i == a->frames) { /* b is within: of a region, or the call is made again */
        if (s->j->terminals[s->hops->stop[from].terminal].phase == JOB_OPEN)
            enter_from(s, b, i, 0);
        else
            turn_outside(s, b, i);
        return;
    }
    const struct job_place *x = a->frame[i].place, *y = b->frame[i].place;
    if (findings_places_share(x, y))
        step_within(s, a, b, i);
    else if (!i || !x->code || !y->code || findings_places_lead(s->places, x, y)) /* unknown, or it goes on there */
        enter_from(s, b, i, 0);
    else
        turn_outside(s, b, i);
}

/* --- Without code --- */

/* Where a hop comes from in the graph: a turn, from nowhere. */
static uint32_t node_from(const struct loops_search *s, uint32_t hop)
{
    return s->turned[hop] ? 0 : s->hops->hop[hop].from + 1; /* GRAMMAR_NONE: 0, too */
}

/* The graph of stops, nowhere its node 0, without the steps from one to itself: these are a loop of their own. */
static void events_graph(const struct loops_search *s, struct loops_graph *g, struct loops_forest *f)
{
    uint32_t n = s->hops->stop_count + 1, *first = calloc((size_t)n + 2, sizeof *first),
             *to = malloc(((size_t)s->hops->hop_count + 1) * sizeof *to);
    for (uint32_t i = 0; i < s->hops->hop_count; i++)
        first[node_from(s, i) + 2] += s->hops->hop[i].from != s->hops->hop[i].to;
    for (uint32_t i = 1; i <= n; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < s->hops->hop_count; i++) /* each begins one place too late, and ends where it should */
        if (s->hops->hop[i].from != s->hops->hop[i].to)
            to[first[node_from(s, i) + 1]++] = s->hops->hop[i].to + 1;
    *g = (struct loops_graph){ first, to, n };
    loops_forest_make(f, g);
}

/* Into loops of which `a` is no part; a step to the head of one that it is in is a turn. */
static void step_of_events(struct loops_search *s, const struct loops_forest *f, uint32_t a, uint32_t b)
{
    int turned = -1, own = b ? s->chain[b - 1] : -1;
    if (a == b) {
        turn(s, own);
        return;
    }
    if (own >= (int)f->loops)
        enter(s, own, false);
    for (int n = f->loop[b]; n >= 0; n = f->parent[n])
        if (f->head[n] == b && loops_forest_within(f, f->loop[a], n))
            turned = n;
    if (turned >= 0)
        turn(s, turned);
    for (int n = f->loop[b]; n >= 0 && n != turned; n = f->parent[n])
        if (turned >= 0 || !loops_forest_within(f, f->loop[a], n))
            enter(s, n, false);
}

static void find_by_events(struct loops_search *s, struct loops_graph *g, struct loops_forest *f)
{
    events_graph(s, g, f);
    s->l->loop = calloc((size_t)f->loops + s->hops->stop_count + 1, sizeof *s->l->loop);
    s->l->loops = f->loops;
    s->chain = calloc((size_t)s->hops->stop_count + 1, sizeof *s->chain);
    for (uint32_t i = 0; i < f->loops; i++)
        s->l->loop[i] = (struct findings_loop){ .parent = f->parent[i], .order = UINT32_MAX, .head = f->head[i] - 1 };
    for (uint32_t i = 0; i < s->hops->stop_count; i++)
        s->chain[i] = f->loop[i + 1];
    for (uint32_t i = 0, at; i < s->hops->hop_count; i++)
        if ((at = s->hops->hop[i].to) == s->hops->hop[i].from && s->chain[at] < (int)f->loops) {
            s->l->loop[s->l->loops] = (struct findings_loop){ .parent = s->chain[at], .order = UINT32_MAX, .head = at };
            s->chain[at] = (int)s->l->loops++;
        }
}

/* --- By code --- */

/* Whether frames that matter are there and can be read: those of the program itself. */
static bool is_readable(struct loops_search *s)
{
    bool read = false;
    for (uint32_t i = 0; i < s->hops->stop_count && !read; i++)
        for (uint32_t k = 0; k < s->stop[i].frames && !read; k++)
            read = s->stop[i].frame[k].place->code &&
                   (s->j->modules[s->stop[i].frame[k].place->module].path == s->j->info.program ||
                    findings_is_script(s->j, s->stop[i].frame[k].place->module));
    return read;
}

/* --- Streams --- */

/* Those that begin somewhere. */
static void find_streams(struct loops_search *s)
{
    uint64_t count = 0, kept = 0;
    for (uint32_t i = 0; i < s->hops->hop_count; i++)
        if (s->hops->hop[i].from == GRAMMAR_NONE)
            count += job_ranges_size(s->hops->ranges.range + s->hops->hop[i].range_first, s->hops->hop[i].range_count);
    s->all_streams = count;
    s->streams = count > MOST_STREAMS ? 1 : count;
    s->stream = calloc(s->streams + 1, sizeof *s->stream);
    for (uint32_t i = 0; i < s->hops->hop_count && count <= MOST_STREAMS; i++) {
        const struct job_hop *h = &s->hops->hop[i];
        if (h->from != GRAMMAR_NONE)
            continue;
        job_ranges_walk(s->hops->ranges.range + h->range_first, h->range_count, s->stream + kept);
        kept += job_ranges_size(s->hops->ranges.range + h->range_first, h->range_count);
    }
    /* a stream of several threads begins several times */
    uint64_t once = BASE_ARRAY_JOIN(s->stream, kept, job_member_order, into, from, ((void)into, (void)from));
    if (count <= MOST_STREAMS)
        s->streams = s->all_streams = once;
    s->l->streams = s->all_streams;
}

static void add_span(struct findings_span *span, double value)
{
    uint64_t n = (uint64_t)(value + 0.5);
    span->least = n < span->least ? n : span->least;
    span->most = n > span->most ? n : span->most;
}

static void sum_up(struct loops_search *s, uint32_t i)
{
    struct findings_loop *l = &s->l->loop[i];
    double turns = 0, entries = 0;
    l->mark = GRAMMAR_NONE;
    l->turns = l->entries = (struct findings_span){ .least = UINT64_MAX };
    for (uint64_t m = 0; m < s->streams; m++) {
        double entered = s->entries[i * s->streams + m], turned = s->turns[i * s->streams + m] + entered;
        if (entered <= 0)
            continue;
        l->streams++;
        turns += turned;
        entries += entered;
        add_span(&l->turns, turned);
        add_span(&l->entries, entered);
    }
    if (s->streams < s->all_streams) {
        l->streams = s->all_streams;
        turns *= (double)s->all_streams;
        entries *= (double)s->all_streams;
    }
    l->turns.sum = (uint64_t)(turns + 0.5);
    l->entries.sum = (uint64_t)(entries + 0.5);
    if (l->entries.most == 1 && l->entries.least == 1 && !l->mean) {
        l->turns_least = l->turns.least;
        l->turns_most = l->turns.most;
    }
}

/* --- Order: as events first come, by the way that most take --- */

static void put_in_order(struct loops_search *s)
{
    uint32_t n = s->hops->stop_count, *order = malloc(((size_t)n + 1) * sizeof *order);
    struct loops_graph g;
    struct loops_forest f;
    events_graph(s, &g, &f);
    for (uint32_t i = 0; i < n; i++)
        order[i] = f.order[i + 1];
    for (uint32_t i = 0; i < s->l->calls; i++)
        s->l->call[i].order = order[s->l->call[i].order];
    s->l->stop = calloc((size_t)n + 1, sizeof *s->l->stop);
    s->l->stops = n;
    for (uint32_t i = 0; i < n; i++)
        s->l->stop[i] = (struct findings_loop_stop){ loops_of_stop(s, i), s->hops->stop[i].terminal, order[i],
                                                     s->hops->stop[i].count };
    for (uint32_t i = 0; i < n; i++)
        for (int l = loops_of_stop(s, i); l >= 0; l = s->l->loop[l].parent)
            s->l->loop[l].order = order[i] < s->l->loop[l].order ? order[i] : s->l->loop[l].order;
    free((uint32_t *)g.first);
    free((uint32_t *)g.to);
    loops_forest_close(&f);
    free(order);
}

/* --- Places in the source --- */

/* In a program that is interpreted: its line, where that is known, else the interpreter. */
static const struct findings_place *place_of_head(const struct loops_search *s, const struct job_stop *head)
{
    const struct job_callsite c = job_named_without(s->j, head->path);

    for (uint32_t k = 0; k < c.count; k++)
        if (findings_interpreter(job_text(s->j, s->j->modules[s->j->frames[c.first + k].module].path)))
            return findings_resolve(s->r->resolver, head->path, k, FINDINGS_CALL);
    return findings_place_of(s->r, head->terminal);
}

static void find_place(struct loops_search *s, uint32_t i)
{
    struct findings_loop *l = &s->l->loop[i];
    if (s->l->by_code)
        l->place = findings_resolve_at(s->r->resolver, s->closes[i]->module, s->closes[i]->offset, FINDINGS_ENTRY);
    else
        l->place = place_of_head(s, &s->hops->stop[l->head]);
    l->function = l->place ? l->place->function : NULL;
}

/* --- All --- */

static void find(struct loops_search *s, const struct loops_forest *events)
{
    size_t cells = (size_t)(s->l->loops + 1) * (s->streams + 1);
    s->turns = calloc(cells, sizeof *s->turns);
    s->entries = calloc(cells, sizeof *s->entries);
    for (uint32_t i = 0; i < s->hops->hop_count; i++) {
        loops_take_hop(s, i);
        if (s->l->by_code)
            take_step(s, s->hop->from, s->hop->to);
        else
            step_of_events(s, events, s->hop->from + 1, s->hop->to + 1);
    }
    for (uint32_t i = 0; i < s->l->loops; i++)
        sum_up(s, i);
    loops_find_entries(s);
    loops_add_time(s);
    put_in_order(s);
    for (uint32_t i = 0; i < s->l->loops; i++)
        find_place(s, i);
    loops_choose_main(s);
    free(s->turns);
    free(s->entries);
    free(s->effect);
}

struct findings_loops *findings_loops_create(struct report *r, bool by_code)
{
    const struct job *j = r->job;
    struct job_hops own = { 0 };
    struct job_places read = { 0 };
    struct loops_search s = { .r = r, .j = j, .l = calloc(1, sizeof *s.l), .hops = findings_hops(j, &own) };
    struct loops_graph g = { 0 };
    struct loops_forest events = { 0 };

    s.places = &j->places;
    if (!findings_places_known(j)) {
        findings_places_read(j, 0, &read);
        s.places = &read;
    }
    s.stop = calloc((size_t)s.hops->stop_count + 1, sizeof *s.stop);
    s.turned = calloc((size_t)s.hops->hop_count + 1, sizeof *s.turned);
    find_streams(&s);
    s.taker = calloc(s.streams + 1, sizeof *s.taker);
    for (uint32_t i = 0; i < s.hops->stop_count && s.hops == &j->hops; i++)
        find_frames(&s, i);
    s.l->by_code = by_code && is_readable(&s);
    for (uint32_t i = 0; i < s.hops->stop_count && s.l->by_code; i++)
        s.l->unknown += s.hops->stop[i].path == GRAMMAR_NONE ? s.hops->stop[i].count : 0;
    if (!s.l->by_code) {
        free(s.l->loop);
        free(s.chain);
        find_by_events(&s, &g, &events);
    }
    find(&s, &events);
    for (uint32_t i = 0; i < s.hops->stop_count; i++)
        free(s.stop[i].frame);
    findings_places_free(&read);
    free((uint32_t *)g.first);
    free((uint32_t *)g.to);
    loops_forest_close(&events);
    job_hops_free(&own);
    free(s.stop);
    free(s.turned);
    free(s.taker);
    free(s.chain);
    free(s.closes);
    free(s.stream);
    return s.l;
}

void findings_loops_destroy(struct findings_loops *l)
{
    if (!l)
        return;
    free(l->loop);
    free(l->call);
    free(l->stop);
    free(l);
}

double findings_loop_turns(const struct findings_loop *l)
{
    return l->mean || l->turns.least != l->turns.most ? -1 : (double)l->turns.least;
}

double findings_loop_mean_turns(const struct findings_loop *l)
{
    return l->streams ? (double)l->turns.sum / (double)l->streams : 0;
}

double findings_loop_mean_entries(const struct findings_loop *l)
{
    return l->streams ? (double)l->entries.sum / (double)l->streams : 0;
}
