/* SPDX-License-Identifier: MIT */
/* A rank between events: it goes on to its next operation, waits there, has what it was waiting for. See machine.h. */
#include "replay/machine.h"

/* --- What the account gets, and who watches --- */

void replay_rank_spend(struct replay_machine *m, uint32_t rank, int64_t until)
{
    const struct replay_op *op = &m->host[rank].op;

    if (m->blame)
        replay_blame_spend(m->blame, rank, until, op);
    if (m->watch && m->watch->spent)
        m->watch->spent(m->watch->context, rank, until, op, REPLAY_NONE);
}

void replay_rank_unmatched(struct replay_machine *m, uint32_t place, enum replay_reason why)
{
    m->result->unmatched++;
    if (m->blame)
        replay_blame_unmatched(m->blame, place, why);
}

/* The rank `waits` at its operation for what `late` does only now. */
void replay_rank_waited(struct replay_machine *m, uint32_t waits, uint32_t late, bool receives)
{
    const struct replay_host *h = &m->host[waits];

    if (m->blame)
        replay_blame_late(m->blame, waits, late, m->now, h->op.polls ? h->since + h->op.ns : INT64_MAX, &h->op,
                          receives);
    if (m->watch && m->watch->spent)
        m->watch->spent(m->watch->context, waits, m->now, &h->op, late);
}

/* The rank has what it was waiting for. */
void replay_rank_forget(struct replay_machine *m, struct replay_host *h)
{
    for (uint32_t i = 0; m->watch && m->watch->delivered && i < h->open_count; i++)
        if (h->open[i].awaited && h->delivery[i].bytes) {
            h->delivery[i].received = h->cpu;
            m->watch->delivered(m->watch->context, &h->delivery[i]);
        }
    replay_request_forget(h);
}

/* Message `i` of the list meets the receive of `to` with that number. */
void replay_rank_deliver(struct replay_machine *m, const struct replay_item *message, uint32_t to, uint64_t number)
{
    struct replay_host *h = &m->host[to];
    const struct replay_request *r = h->watched ? replay_request_find(h, number) : NULL;

    if (m->watch && m->watch->matched)
        m->watch->matched(m->watch->context, to, number, message->source, message->tag);
    if (r)
        h->delivery[r - h->open] = (struct replay_delivery){
            .from = message->source, .to = to, .place = message->place, .bytes = message->bytes, .sent = message->sent,
            .arrived = m->now
        };
}

/* --- A rank goes on --- */

static bool has_peer(const struct replay_machine *m, const struct replay_op *op)
{
    bool receives = op->kind == REPLAY_RECV || op->kind == REPLAY_IRECV;

    if (!receives && op->kind != REPLAY_SEND && op->kind != REPLAY_ISEND)
        return true;
    return op->peer < m->ranks || (receives && (op->peer == REPLAY_ANY || op->peer == REPLAY_LATER));
}

/* The next operation that takes part; what has no peer is passed over. */
static bool fetch(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    for (;;) {
        if (!replay_feed_next(&h->feed, &h->op))
            return false;
        if (h->feed.turned)
            h->feed.frame[h->feed.turned - 1].at = h->cpu;
        if (h->feed.turned && (!m->turned_depth || rank == m->pace)) {
            m->turned_host = rank;
            m->turned_depth = h->feed.turned;
        }
        if (has_peer(m, &h->op))
            return true;
        replay_rank_unmatched(m, h->op.place, REPLAY_NO_PEER);
    }
}

/* A request is done: true when its rank was blocked for it, and goes on. */
bool replay_rank_complete(struct replay_machine *m, uint32_t rank, uint64_t number)
{
    struct replay_host *h = &m->host[rank];
    struct replay_request *r = replay_request_find(h, number);

    h->version++;
    if (!r || r->done)
        return false;
    r->posted = REPLAY_NONE;
    r->done = true;
    return h->blocked && r->awaited && --h->pending == 0;
}

/* A message longer than S is received: its sender is free, at the present time at the earliest. */
bool replay_rank_release(struct replay_machine *m, const struct replay_item *message, uint32_t receiver)
{
    struct replay_host *h = &m->host[message->source];

    if (message->bytes <= m->model->S || message->claimed)
        return false;
    const struct replay_request *r = replay_request_find(h, message->request);
    if (h->blocked && r && r->awaited)
        replay_rank_waited(m, message->source, receiver, false);
    h->cpu = replay_later(h->cpu, m->now);
    h->out = replay_later(h->out, m->now);
    return replay_rank_complete(m, message->source, message->request);
}

/* --- A rank waits --- */

void replay_rank_unpost(struct replay_machine *m, uint32_t rank, struct replay_request *r)
{
    replay_list_remove(m, rank, REPLAY_POSTED, r->posted);
    r->posted = REPLAY_NONE;
}

/* The rank's wait says of a receive from REPLAY_LATER whom it is from. The message may be there: it had its consent
   when it came. */
static void name_source(struct replay_machine *m, uint32_t rank, struct replay_request *r)
{
    struct replay_host *h = &m->host[rank];
    uint32_t p = r->posted, from = h->op.peer;

    if (p == REPLAY_NONE || m->item[p].source != REPLAY_LATER)
        return;
    if (from != REPLAY_ANY)
        from = m->source->member(m->source->context, m->item[p].group, rank, from);
    replay_list_name(m, rank, p, from);
    uint32_t i = replay_list_take(m, rank, REPLAY_UNEXPECTED, from, m->item[p].tag);
    if (i == REPLAY_NONE)
        return;
    r->done = true;
    replay_rank_unpost(m, rank, r);
    struct replay_item message = m->item[i];
    replay_item_free(m, i);
    h->feed.last_source = message.source;
    replay_rank_deliver(m, &message, rank, r->number);
    if (replay_rank_release(m, &message, rank))
        replay_rank_unblock(m, message.source);
}

/* How many requests the rank is to wait for. */
static uint32_t await(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    struct replay_request *cancelled = h->op.cancelled ? replay_request_cancel(m, h) : NULL;
    if (cancelled)
        replay_rank_unpost(m, rank, cancelled);
    if (h->op.cancelled)
        return 0;
    replay_request_await(m, h);
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].awaited && !h->open[i].done && h->open[i].peer == REPLAY_LATER)
            name_source(m, rank, &h->open[i]);
    return replay_request_pending(h);
}

/* Puts the rank's operation into the heap, unless it is to wait for requests. */
static void schedule(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];
    bool sends = h->op.kind == REPLAY_SEND || h->op.kind == REPLAY_ISEND;

    h->pending = h->op.kind == REPLAY_WAIT ? await(m, rank) : 0;
    h->blocked = h->pending > 0;
    h->since = h->cpu;
    if (m->watch && m->watch->comes)
        m->watch->comes(m->watch->context, rank, h);
    if (!h->blocked)
        replay_push(m, (struct replay_event){ sends ? replay_later(h->cpu, h->out) : h->cpu, m->order++, rank,
                                              REPLAY_NONE });
}

/* Who looks for a message now and then works on until it is there: what looks wait longer than they took, the work
   between the next ones need not take. */
int64_t replay_rank_work(struct replay_host *h)
{
    int64_t done = !h->op.polls ? 0 : h->late < h->op.ns ? h->late : h->op.ns;

    h->late -= done;
    return h->op.ns - done;
}

/* The rank's receive takes a message that is there; who sent it, REPLAY_NONE: it is posted. */
uint32_t replay_rank_meet(struct replay_machine *m, uint32_t rank, uint64_t number)
{
    struct replay_host *h = &m->host[rank];
    uint32_t i = replay_list_take(m, rank, REPLAY_UNEXPECTED, h->op.peer, h->op.tag);

    if (i == REPLAY_NONE) {
        i = replay_item_new(m);
        m->item[i] = (struct replay_item){
            .source = h->op.peer, .tag = h->op.tag, .request = number, .anyone = h->op.anyone, .group = h->op.group
        };
        replay_list_add(m, rank, REPLAY_POSTED, i);
        h->open[h->open_count - 1].posted = i;
        return REPLAY_NONE;
    }
    struct replay_item message = m->item[i];
    replay_item_free(m, i);
    if (h->op.anyone)
        h->feed.last_source = message.source;
    replay_rank_deliver(m, &message, rank, number);
    m->freed = replay_rank_release(m, &message, rank);
    h->open[h->open_count - 1].done = true;
    return message.source;
}

void replay_rank_proceed(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    replay_rank_spend(m, rank, h->cpu);
    if (!fetch(m, rank)) {
        h->ended = true;
        m->running--;
        return;
    }
    schedule(m, rank);
}

/* After replay_rank_complete(): a blocking call is over, a wait is only now begun, as an operation of no length. */
void replay_rank_unblock(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    h->blocked = false;
    if (h->cpu > h->since)
        h->late = !h->op.polls ? 0 : h->late + (h->cpu - h->since > h->op.ns ? h->cpu - h->since - h->op.ns : 0);
    if (h->op.kind == REPLAY_WAIT) {
        replay_push(m, (struct replay_event){ h->cpu, m->order++, rank, REPLAY_NONE });
        return;
    }
    replay_rank_forget(m, h);
    replay_rank_proceed(m, rank);
}
