/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/must.h"
#include "replay/machine.h"

uint32_t replay_item_new(struct replay_machine *m)
{
    if (m->item_free != REPLAY_NONE) {
        uint32_t i = m->item_free;
        m->item_free = m->item[i].next;
        return i;
    }
    base_must(base_array_room(&m->item, &m->item_room, m->item_count + 1u, sizeof *m->item));
    return m->item_count++;
}

void replay_item_free(struct replay_machine *m, uint32_t i)
{
    m->item[i].next = m->item_free;
    m->item_free = i;
}

void replay_list_add(struct replay_machine *m, struct replay_list *l, uint32_t i)
{
    m->item[i].next = REPLAY_NONE;
    if (l->first == REPLAY_NONE)
        l->first = i;
    else
        m->item[l->last].next = i;
    l->last = i;
}

/* A receive of any tag names its communicator alone, the low six bits; the top bit is that of collectives. */
static bool same_tag(uint32_t a, uint32_t b)
{
    const uint32_t any = 0x7fffffc0;

    return a == b || (((a & ~63u) == any || (b & ~63u) == any) && ((a ^ b) & (0x80000000u | 63)) == 0);
}

static bool matches(const struct replay_item *i, uint32_t source, uint32_t tag)
{
    return same_tag(i->tag, tag) && (i->source == source || i->source == REPLAY_ANY || source == REPLAY_ANY);
}

static void take_after(struct replay_machine *m, struct replay_list *l, uint32_t before, uint32_t i)
{
    *(before == REPLAY_NONE ? &l->first : &m->item[before].next) = m->item[i].next;
    if (l->last == i)
        l->last = before;
}

uint32_t replay_list_take(struct replay_machine *m, struct replay_list *l, uint32_t source, uint32_t tag)
{
    uint32_t before = REPLAY_NONE;

    for (uint32_t i = l->first; i != REPLAY_NONE; before = i, i = m->item[i].next)
        if (matches(&m->item[i], source, tag)) {
            take_after(m, l, before, i);
            return i;
        }
    return REPLAY_NONE;
}

void replay_list_remove(struct replay_machine *m, struct replay_list *l, uint32_t i)
{
    uint32_t before = REPLAY_NONE;

    for (uint32_t p = l->first; p != i; p = m->item[p].next)
        before = p;
    take_after(m, l, before, i);
    replay_item_free(m, i);
}

uint32_t replay_list_claim(struct replay_machine *m, struct replay_list *l, uint32_t source, uint32_t tag)
{
    for (uint32_t i = l->first; i != REPLAY_NONE; i = m->item[i].next)
        if (!m->item[i].claimed && matches(&m->item[i], source, tag)) {
            m->item[i].claimed = true;
            return i;
        }
    return REPLAY_NONE;
}

/* Requests that nobody ever waits for (freed ones) must not pile up. */
static void forget_oldest_done(struct replay_host *h)
{
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].done) {
            for (uint32_t k = i; k + 1 < h->open_count; k++)
                h->open[k] = h->open[k + 1];
            h->open_count--;
            return;
        }
}

uint64_t replay_request_new(struct replay_host *h, bool receives)
{
    enum { MANY = 4096 };

    if (h->open_count >= MANY)
        forget_oldest_done(h);
    base_must(base_array_room(&h->open, &h->open_room, h->open_count + 1u, sizeof *h->open));
    h->open[h->open_count++] = (struct replay_request){ .number = h->next_request,
                                                        .event = h->feed.events,
                                                        .peer = h->op.peer,
                                                        .group = h->op.group,
                                                        .receives = receives };
    return h->next_request++;
}

struct replay_request *replay_request_find(struct replay_host *h, uint64_t number)
{
    for (uint32_t i = h->open_count; i-- > 0;)
        if (h->open[i].number == number)
            return &h->open[i];
    return NULL;
}

static void await_runs(struct replay_host *h)
{
    uint64_t now = h->feed.events;

    for (int32_t r = 0; r < h->op.back; r++) {
        const struct replay_run *run = &h->op.runs[r];
        int64_t distance = run->distance;
        for (uint32_t k = 0; k < run->count; k++, distance += run->step)
            for (uint32_t i = h->open_count; i-- > 0;)
                if ((int64_t)(now - h->open[i].event) == distance)
                    h->open[i].awaited = true;
    }
}

/* Whether the request's peer is rank `peer` of its communicator. */
static bool is_with(const struct replay_machine *m, const struct replay_host *h, const struct replay_request *r,
                    uint32_t peer)
{
    uint32_t rank = (uint32_t)(h - m->host);

    return peer < m->ranks && r->peer == m->source->member(m->source->context, r->group, rank, peer);
}

/*
 * The oldest one that is with the peer that the wait names; that of a receive from anyone is known by the wait alone.
 * Which of both a place waits for its history says: where it is not for these, a request with that peer is always open.
 */
static void await_oldest(struct replay_machine *m, struct replay_host *h)
{
    enum { MOST = 100 };
    int8_t *others = &m->others[h->op.place];
    uint32_t with = 0, later = 0;

    while (with < h->open_count && !is_with(m, h, &h->open[with], h->op.peer))
        with++;
    while (later < h->open_count && h->open[later].peer != REPLAY_LATER)
        later++;
    if (h->op.peer < m->ranks)
        *others = (int8_t)(with < h->open_count ? *others + (*others < MOST) : *others - 2 * (*others > -MOST));
    uint32_t i = with < h->open_count && (*others >= 0 || later == h->open_count) ? with : later;
    if (h->open_count)
        h->open[i < h->open_count ? i : 0].awaited = true;
}

void replay_request_await(struct replay_machine *m, struct replay_host *h)
{
    if (h->op.back >= 0)
        await_runs(h);
    else if (h->op.back == REPLAY_BACK_OLDEST)
        await_oldest(m, h);
    else
        for (uint32_t i = 0; i < h->open_count; i++)
            if (h->op.back == REPLAY_BACK_ALL || h->open[i].event == h->feed.events)
                h->open[i].awaited = true;
}

uint32_t replay_request_pending(const struct replay_host *h)
{
    uint32_t pending = 0;

    for (uint32_t i = 0; i < h->open_count; i++)
        pending += h->open[i].awaited && !h->open[i].done;
    return pending;
}

void replay_request_forget(struct replay_host *h)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < h->open_count; i++)
        if (!h->open[i].awaited)
            h->open[kept++] = h->open[i];
    h->open_count = kept;
}
