/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "replay/state.h"

void replay_state_create(struct replay_state *s, uint32_t ranks)
{
    *s = (struct replay_state){ .part = calloc(ranks ? ranks : 1, sizeof *s->part) };
}

void replay_state_destroy(struct replay_state *s)
{
    free(s->words.word);
    free(s->turns.word);
    free(s->at.word);
    free(s->seen.word);
    free(s->part);
    free(s->due);
    free(s->due_now);
}

/* --- A rank's part as words --- */

/* Words that are written down, or with `to` NULL compared with those that were. */
struct scribe { struct replay_words *to; const uint64_t *was, *end; };

static void add(struct replay_words *w, uint64_t word)
{
    if (w->count == w->room)
        base_must(base_array_room(&w->word, &w->room, w->count + 1u, sizeof *w->word));
    w->word[w->count++] = word;
}

/* Whether it is as it was; while words are written down everything is. */
static inline bool put(struct scribe *s, uint64_t word)
{
    if (!s->to)
        return s->was < s->end && *s->was++ == word;
    add(s->to, word);
    return true;
}

static uint64_t from_now(const struct replay_machine *m, int64_t time)
{
    return time > m->now ? (uint64_t)(time - m->now) : 0;
}

static void read_clocks(const struct replay_machine *m, uint32_t rank, uint64_t clock[3])
{
    const struct replay_host *h = &m->host[rank];

    clock[0] = from_now(m, h->cpu);
    clock[1] = from_now(m, h->in);
    clock[2] = from_now(m, h->out);
}

static bool put_list(const struct replay_machine *m, struct scribe *s, const struct replay_list *l,
                     const struct replay_host *owner)
{
    for (uint32_t at = l->begin, i; (i = replay_list_next(l, &at)) != REPLAY_NONE;) {
        const struct replay_item *it = &m->item[i];
        const struct replay_host *h = owner ? owner : &m->host[it->source];
        if (!put(s, it->tag) || !put(s, it->bytes << 1 | it->claimed) ||
            !put(s, (uint64_t)it->source << 32 | it->group) || !put(s, h->next_request - it->request))
            return false;
    }
    return put(s, UINT64_MAX);
}

static bool put_requests(struct scribe *s, const struct replay_host *h)
{
    for (uint32_t i = 0; i < h->open_count; i++) {
        const struct replay_request *r = &h->open[i];
        if (r->done && !r->receives) /* whoever waits for it does not wait */
            continue;
        if (!put(s, h->next_request - r->number) ||
            !put(s, (h->feed.events - r->event) << 3 | (uint64_t)r->done << 2 | (uint64_t)r->awaited << 1 |
                        r->receives))
            return false;
    }
    return true;
}

/* Where the rank is; replay_state_depth() and replay_state_node() read it. */
static bool put_place(struct scribe *s, const struct replay_host *h)
{
    const struct replay_feed *f = &h->feed;

    if (!put(s, (uint64_t)f->depth << 32 | f->op_next << 2 | (uint32_t)h->blocked << 1 | h->ended))
        return false;
    for (uint32_t d = 0; d < f->depth; d++)
        if (!put(s, f->frame[d].node))
            return false;
    return put(s, (uint64_t)f->step << 32 | f->last_source) && put(s, (uint64_t)h->late) &&
           put(s, h->blocked ? (uint64_t)(h->cpu - h->since) : 0);
}

static bool put_cycles(struct scribe *s, const struct replay_feed *f)
{
    for (uint32_t i = 0; i < f->changes; i++)
        if (!put(s, replay_cycle_phase(&f->change[i].cycle, f->seen[f->change[i].count])))
            return false;
    return true;
}

static bool put_host(const struct replay_machine *m, struct scribe *s, uint32_t rank)
{
    const struct replay_host *h = &m->host[rank];

    return put_place(s, h) && put_cycles(s, &h->feed) && put_requests(s, h) &&
           put_list(m, s, &h->list[REPLAY_POSTED], h) && put_list(m, s, &h->list[REPLAY_UNEXPECTED], NULL);
}

/* --- The heap --- */

BASE_COMPARISON(by_order, struct replay_due, BASE_UP(in) ?: BASE_UP(order))

/* Whatever their times are. */
BASE_COMPARISON(by_host, struct replay_due, BASE_UP(host) ?: BASE_UP(message) ?: BASE_UP(source) ?: BASE_UP(order))

static struct replay_due due_of(const struct replay_machine *m, const struct replay_event *e)
{
    struct replay_due due = {
        .in = e->time - m->now, .order = e->order, .host = e->host, .message = e->message != REPLAY_NONE
    };

    if (e->message == REPLAY_NONE)
        return due;
    const struct replay_item *it = &m->item[e->message];
    due.source = it->source;
    due.tag = it->tag;
    due.bytes = it->bytes;
    due.request = m->host[it->source].next_request - it->request;
    return due;
}

/* The heap in order; of ranks that are left as they are (`since`: unchanged since that state) nothing. */
static uint32_t list_due(const struct replay_machine *m, struct replay_due *due, const struct replay_state *since)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->heap_count; i++)
        if (!since || !replay_state_still(m, since, m->heap[i].host))
            due[n++] = due_of(m, &m->heap[i]);
    qsort(due, n, sizeof *due, by_order);
    return n;
}

/* --- All --- */

void replay_state_save(struct replay_machine *m, struct replay_state *s)
{
    struct scribe scribe = { .to = &s->words };

    s->words.count = s->turns.count = s->at.count = s->seen.count = 0;
    s->now = m->now;
    for (uint32_t r = 0; r < m->ranks; r++) {
        const struct replay_host *h = &m->host[r];
        const struct replay_feed *f = &h->feed;
        struct replay_part *p = &s->part[r];
        *p = (struct replay_part){ .words = s->words.count, .turns = s->turns.count, .seen = s->seen.count,
                                   .version = h->version, .events = f->events };
        put_host(m, &scribe, r);
        p->word_count = s->words.count - p->words;
        read_clocks(m, r, p->clock);
        for (uint32_t d = 0; d < f->depth; d++) {
            add(&s->turns, f->frame[d].turn);
            add(&s->at, (uint64_t)f->frame[d].at);
        }
        for (uint32_t i = 0; i < f->changes; i++)
            add(&s->seen, f->seen[f->change[i].count]);
    }
    base_must(base_array_room(&s->due, &s->due_room, m->heap_count, sizeof *s->due));
    s->due_count = list_due(m, s->due, NULL);
}

bool replay_state_near(uint64_t a, uint64_t b, struct replay_slack *slack)
{
    uint64_t by = a > b ? a - b : b - a;

    slack->most = by > slack->most ? by : slack->most;
    return by <= slack->allowed;
}

static bool same_host(const struct replay_machine *m, const struct replay_state *s, uint32_t r,
                      struct replay_slack *slack)
{
    const struct replay_part *p = &s->part[r];
    struct scribe scribe = { .was = s->words.word + p->words, .end = s->words.word + p->words + p->word_count };
    uint64_t clock[3];

    if (replay_state_still(m, s, r))
        return true;
    read_clocks(m, r, clock);
    for (int i = 0; i < 3; i++)
        if (!replay_state_near(clock[i], p->clock[i], slack))
            return false;
    return put_host(m, &scribe, r) && scribe.was == scribe.end;
}

static bool same_heap(const struct replay_machine *m, struct replay_state *s, struct replay_slack *slack)
{
    base_must(base_array_room(&s->due_now, &s->now_room, m->heap_count, sizeof *s->due_now));
    uint32_t n = list_due(m, s->due_now, s), k = 0;
    if (slack->allowed) {
        qsort(s->due_now, n, sizeof *s->due_now, by_host);
        qsort(s->due, s->due_count, sizeof *s->due, by_host);
    }
    for (uint32_t i = 0; i < s->due_count; i++) {
        const struct replay_due *was = &s->due[i], *is = &s->due_now[k];
        if (replay_state_still(m, s, was->host))
            continue;
        if (k == n || !replay_state_near((uint64_t)was->in, (uint64_t)is->in, slack) || was->host != is->host ||
            was->source != is->source || was->tag != is->tag || was->message != is->message ||
            was->bytes != is->bytes || was->request != is->request)
            return false;
        k++;
    }
    return k == n;
}

bool replay_state_same(struct replay_machine *m, struct replay_state *s, struct replay_slack *slack)
{
    for (uint32_t r = 0; r < m->ranks; r++)
        if (!same_host(m, s, r, slack))
            return false;
    return same_heap(m, s, slack);
}
