/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "replay/machine.h"

/* Requests from `from` on to `to`, which is before. */
static void move(struct replay_host *h, uint32_t from, uint32_t to, uint32_t count)
{
    memmove(&h->open[to], &h->open[from], count * sizeof *h->open);
    if (h->watched)
        memmove(&h->delivery[to], &h->delivery[from], count * sizeof *h->delivery);
}

/* Requests that nobody ever waits for (freed ones, or a send whose completion is not known to be its) must not pile up:
   a send that is over is kept while few others were begun. */
static void forget_left(struct replay_host *h)
{
    enum { SENDS = 64, MANY = 4096 };

    for (uint32_t i = 0; i < h->open_count; i++) {
        bool many = h->open_count >= MANY, old = h->next_request - h->open[i].number > SENDS;
        if (!many && !old)
            return;
        if (!h->open[i].done || (!many && h->open[i].receives))
            continue;
        move(h, i + 1, i, h->open_count - i - 1);
        h->open_count--;
        return;
    }
}

uint64_t replay_request_new(struct replay_host *h, bool receives)
{
    forget_left(h);
    base_must(base_array_room(&h->open, &h->open_room, h->open_count + 1u, sizeof *h->open));
    if (h->watched) {
        base_must(base_array_room(&h->delivery, &h->delivery_room, h->open_count + 1u, sizeof *h->delivery));
        h->delivery[h->open_count] = (struct replay_delivery){ 0 };
    }
    h->open[h->open_count++] = (struct replay_request){ .number = h->next_request,
                                                        .event = h->feed.events,
                                                        .peer = h->op.peer,
                                                        .group = h->op.group,
                                                        .place = h->op.place,
                                                        .receives = receives,
                                                        .posted = REPLAY_NONE };
    return h->next_request++;
}

/* Numbers rise, and what is forgotten only moves the others to the front. */
struct replay_request *replay_request_find(struct replay_host *h, uint64_t number)
{
    if (!h->open_count || number < h->open[0].number)
        return NULL;
    uint64_t least = number - h->open[0].number;
    for (uint32_t i = least < h->open_count ? (uint32_t)least + 1 : h->open_count; i-- > 0;)
        if (h->open[i].number <= number)
            return h->open[i].number == number ? &h->open[i] : NULL;
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

/* The oldest one with the peer that the wait names; REPLAY_NONE: none is open. */
static uint32_t oldest_with(const struct replay_machine *m, const struct replay_host *h, bool receives)
{
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].receives == receives && is_with(m, h, &h->open[i], h->op.peer))
            return i;
    return REPLAY_NONE;
}

/* A place's history: it rises where what it says may be, falls twice as fast where it cannot. */
static void learn(int8_t *history, bool may_be)
{
    enum { MOST = 100 };

    *history = (int8_t)(may_be ? *history + (*history < MOST) : *history - 2 * (*history > -MOST));
}

/*
 * The oldest one that is with the peer that the wait names; that of a receive from anyone is known by the wait alone.
 * Which of these a place waits for its history says: where it is for sends, one to that peer is always open; where it
 * is not for receives from anyone, a request with that peer is.
 */
static void await_oldest(struct replay_machine *m, struct replay_host *h)
{
    struct replay_history *history = &m->history[h->op.place];
    uint32_t send = oldest_with(m, h, false), receive = oldest_with(m, h, true), later = 0;

    while (later < h->open_count && h->open[later].peer != REPLAY_LATER)
        later++;
    if (h->op.peer < m->ranks) {
        learn(&history->named, send != REPLAY_NONE || receive != REPLAY_NONE);
        learn(&history->sends, send != REPLAY_NONE);
    }
    uint32_t with = send != REPLAY_NONE && (history->sends >= 0 || receive == REPLAY_NONE) ? send : receive;
    uint32_t i = with != REPLAY_NONE && (history->named >= 0 || later == h->open_count) ? with : later;
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

struct replay_request *replay_request_cancel(struct replay_machine *m, struct replay_host *h)
{
    uint32_t i = 0;

    while (i < h->open_count && (h->open[i].posted == REPLAY_NONE ||
                                 (h->op.peer < m->ranks && !is_with(m, h, &h->open[i], h->op.peer))))
        i++;
    if (i == h->open_count)
        return NULL;
    h->open[i].awaited = h->open[i].done = true;
    return &h->open[i];
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
            move(h, i, kept++, 1);
    h->open_count = kept;
}
