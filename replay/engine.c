/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "pythia.h"
#include "replay/machine.h"

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void again(struct replay_machine *m, struct replay_event e, int64_t time)
{
    e.time = time;
    replay_push(m, e);
}

/* --- What the account gets, and who watches --- */

static void spend(struct replay_machine *m, uint32_t rank, int64_t until)
{
    const struct replay_op *op = &m->host[rank].op;

    if (m->blame)
        replay_blame_spend(m->blame, rank, until, op);
    if (m->watch && m->watch->spent)
        m->watch->spent(m->watch->context, rank, until, op, REPLAY_NONE);
}

/* The rank `waits` at its operation for what `late` does only now. */
static void waited(struct replay_machine *m, uint32_t waits, uint32_t late, bool receives)
{
    if (m->blame)
        replay_blame_late(m->blame, waits, late, m->now, &m->host[waits].op, receives);
    if (m->watch && m->watch->spent)
        m->watch->spent(m->watch->context, waits, m->now, &m->host[waits].op, late);
}

/* The rank has what it was waiting for. */
static void forget(struct replay_machine *m, struct replay_host *h)
{
    for (uint32_t i = 0; m->watch && m->watch->delivered && i < h->open_count; i++)
        if (h->open[i].awaited && h->delivery[i].bytes) {
            h->delivery[i].received = h->cpu;
            m->watch->delivered(m->watch->context, &h->delivery[i]);
        }
    replay_request_forget(h);
}

/* Message `i` of the list meets the receive of `to` with that number. */
static void deliver(struct replay_machine *m, const struct replay_item *message, uint32_t to, uint64_t number)
{
    struct replay_host *h = &m->host[to];
    const struct replay_request *r = h->watched ? replay_request_find(h, number) : NULL;

    if (m->how->met)
        m->how->met(m->how->context, to, number, message->source);
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

    h->feed.at_once = m->contention_free && !h->list[REPLAY_POSTED].count;
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
        m->result->unmatched++;
    }
}

/* A request is done: true when its rank was blocked for it, and goes on. */
static bool complete(struct replay_machine *m, uint32_t rank, uint64_t number)
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
static bool release_sender(struct replay_machine *m, const struct replay_item *message, uint32_t receiver)
{
    struct replay_host *h = &m->host[message->source];

    if (message->bytes <= m->model->S || message->claimed)
        return false;
    const struct replay_request *r = replay_request_find(h, message->request);
    if (h->blocked && r && r->awaited)
        waited(m, message->source, receiver, false);
    h->cpu = later(h->cpu, m->now);
    h->out = later(h->out, m->now);
    return complete(m, message->source, message->request);
}

/* --- A rank waits --- */

static void unblock(struct replay_machine *m, uint32_t rank);

static void unpost(struct replay_machine *m, uint32_t rank, struct replay_request *r)
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
    unpost(m, rank, r);
    struct replay_item message = m->item[i];
    replay_item_free(m, i);
    h->feed.last_source = message.source;
    deliver(m, &message, rank, r->number);
    if (release_sender(m, &message, rank))
        unblock(m, message.source);
}

/* How many requests the rank is to wait for. */
static uint32_t await(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    struct replay_request *cancelled = h->op.cancelled ? replay_request_cancel(m, h) : NULL;
    if (cancelled)
        unpost(m, rank, cancelled);
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
    if (m->how->sink)
        m->how->sink(m->how->context, rank, h);
    if (m->watch && m->watch->comes)
        m->watch->comes(m->watch->context, rank, h);
    if (!h->blocked)
        replay_push(m, (struct replay_event){ sends ? later(h->cpu, h->out) : h->cpu, m->order++, rank, REPLAY_NONE });
}

static int64_t work(struct replay_host *h);
static uint32_t meet(struct replay_machine *m, uint32_t rank, uint64_t number);

/* What concerns the rank alone is done when it comes there, up to the end of a turn. */
static bool do_at_once(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    if (!m->plain || (m->turned_depth && m->turned_host == rank))
        return false;
    h->since = h->cpu;
    if (h->op.kind == REPLAY_COMPUTE)
        h->cpu += work(h);
    else if (h->op.kind == REPLAY_IRECV && h->op.peer < m->ranks)
        meet(m, rank, replay_request_new(h, true));
    else
        return false;
    return true;
}

static void proceed(struct replay_machine *m, uint32_t rank)
{
    enum { AT_ONCE = 64 }; /* then the heap has its turn, where steps are counted */
    struct replay_host *h = &m->host[rank];
    int left = AT_ONCE;

    do {
        spend(m, rank, h->cpu);
        if (!fetch(m, rank)) {
            h->ended = true;
            m->running--;
            return;
        }
    } while (left-- && do_at_once(m, rank));
    schedule(m, rank);
}

/* After complete(): a blocking call is over, a wait is only now begun, as an operation of no length. */
static void unblock(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    h->blocked = false;
    if (h->cpu > h->since)
        h->late = h->op.polls ? h->late + h->cpu - h->since : 0;
    if (h->op.kind == REPLAY_WAIT) {
        replay_push(m, (struct replay_event){ h->cpu, m->order++, rank, REPLAY_NONE });
        return;
    }
    forget(m, h);
    proceed(m, rank);
}

/* Ranks go on in the order of their numbers. */
static void unblock_both(struct replay_machine *m, uint32_t a, bool go_a, uint32_t b, bool go_b)
{
    if (a > b) {
        unblock_both(m, b, go_b, a, go_a);
        return;
    }
    if (go_a)
        unblock(m, a);
    if (go_b)
        unblock(m, b);
}

/* A blocking send or receive is a request that is waited for at once. */
static void block(struct replay_host *h)
{
    struct replay_request *r = &h->open[h->open_count - 1];

    r->awaited = true;
    h->blocked = true;
    h->pending = 1;
}

/* --- The four kinds of events --- */

/* Who looks for a message now and then works on until it is there: what a look waits the next looks need not. */
static int64_t work(struct replay_host *h)
{
    int64_t done = !h->op.polls ? 0 : h->late < h->op.ns ? h->late : h->op.ns;

    h->late -= done;
    return h->op.ns - done;
}

static void compute(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];

    if (h->cpu > e.time) {
        again(m, e, h->cpu);
        return;
    }
    h->cpu = e.time + (h->op.kind == REPLAY_COMPUTE ? work(h) : 0);
    if (h->op.kind == REPLAY_WAIT)
        forget(m, h);
    proceed(m, e.host);
}

/* Who is blocked in a receive of this message begins to have it only now. */
static void tell_receiver(struct replay_machine *m, uint32_t from, const struct replay_op *op)
{
    struct replay_host *to = &m->host[op->peer];
    uint32_t i = replay_list_claim(m, op->peer, from, op->tag);

    to->version++;
    if (i == REPLAY_NONE || !to->blocked)
        return;
    const struct replay_request *r = replay_request_find(to, m->item[i].request);
    if (r && r->awaited)
        waited(m, op->peer, from, true);
}

static void send(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    const struct replay_model *model = m->model;
    uint64_t bytes = h->op.bytes ? h->op.bytes : 1;

    if (later(h->cpu, h->out) > e.time) {
        again(m, e, later(h->cpu, h->out));
        return;
    }
    uint32_t i = replay_item_new(m);
    uint64_t number = replay_request_new(h, false);
    spend(m, e.host, e.time);
    tell_receiver(m, e.host, &h->op);
    h->cpu = e.time + model->o + (int64_t)(bytes - 1) * model->O;
    h->out = e.time + model->g + replay_wire(model, bytes);
    m->item[i] = (struct replay_item){
        .source = e.host, .tag = h->op.tag, .bytes = bytes, .request = number,
        .place = h->op.place, .sent = e.time
    };
    replay_push(m, (struct replay_event){ e.time + model->o + model->L, m->order++, h->op.peer, i });
    bool eager = bytes <= model->S;
    h->open[h->open_count - 1].done = eager;
    if (h->op.kind == REPLAY_ISEND) {
        proceed(m, e.host);
    } else {
        block(h);
        if (eager)
            unblock(m, e.host);
    }
}

/* The rank's receive takes a message that is there; who sent it, REPLAY_NONE: it is posted. */
static uint32_t meet(struct replay_machine *m, uint32_t rank, uint64_t number)
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
    deliver(m, &message, rank, number);
    m->freed = release_sender(m, &message, rank);
    h->open[h->open_count - 1].done = true;
    return message.source;
}

static void receive(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    uint64_t number = replay_request_new(h, true);
    bool blocks = h->op.kind == REPLAY_RECV;

    spend(m, e.host, e.time);
    if (blocks)
        block(h);
    m->freed = false;
    uint32_t from = meet(m, e.host, number);
    bool freed = m->freed, done = from != REPLAY_NONE;
    if (blocks) {
        unblock_both(m, e.host, done, done ? from : e.host, freed);
        return;
    }
    if (freed && from < e.host)
        unblock(m, from);
    proceed(m, e.host);
    if (freed && from > e.host)
        unblock(m, from);
}

static void arrive(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    const struct replay_model *model = m->model;
    struct replay_item message = m->item[e.message];
    int64_t wire = replay_wire(model, message.bytes), load = (int64_t)(message.bytes - 1) * model->O;

    if (later(h->cpu, h->in) > e.time && !m->plain) {
        again(m, e, later(h->cpu, h->in));
        return;
    }
    h->cpu = later(h->cpu, e.time + model->o + later(load, wire));
    h->in = e.time + model->g + wire;
    uint32_t i = replay_list_take(m, e.host, REPLAY_POSTED, message.source, message.tag);
    if (i == REPLAY_NONE) {
        replay_list_add(m, e.host, REPLAY_UNEXPECTED, e.message);
        if (replay_list_claim(m, e.host, REPLAY_LATER, message.tag) != REPLAY_NONE) {
            bool freed = release_sender(m, &message, e.host);
            m->item[e.message].claimed = true;
            if (freed)
                unblock(m, message.source);
        }
        return;
    }
    if (m->item[i].anyone)
        h->feed.last_source = message.source;
    uint64_t number = m->item[i].request;
    deliver(m, &message, e.host, number);
    replay_item_free(m, i);
    replay_item_free(m, e.message);
    bool freed = release_sender(m, &message, e.host);
    bool done = complete(m, e.host, number);
    unblock_both(m, e.host, done, message.source, freed && message.source != e.host);
    if (freed && message.source == e.host && !done)
        unblock(m, e.host);
}

static void step(struct replay_machine *m)
{
    struct replay_event e = replay_pop(m);

    m->now = e.time;
    m->result->walked++;
    m->turned_depth = 0;
    m->host[e.host].version++;
    if (e.message != REPLAY_NONE)
        arrive(m, e);
    else if (m->host[e.host].op.kind == REPLAY_COMPUTE || m->host[e.host].op.kind == REPLAY_WAIT)
        compute(m, e);
    else if (m->host[e.host].op.kind == REPLAY_SEND || m->host[e.host].op.kind == REPLAY_ISEND)
        send(m, e);
    else
        receive(m, e);
    if (m->turned_depth && m->skip && !(m->watch && m->watch->hold))
        replay_skip_turn(m, m->turned_host, m->turned_depth);
}

/* Nothing can happen: the earliest rank that is blocked goes on without what it waits for. A message of that source
   that comes later is not the next one's. */
static void give_up(struct replay_machine *m)
{
    enum { VOID = 64 }; /* of a rank, that are kept */
    uint32_t first = REPLAY_NONE;

    for (uint32_t r = 0; r < m->ranks; r++)
        if (m->host[r].blocked && (first == REPLAY_NONE || m->host[r].cpu < m->host[first].cpu))
            first = r;
    struct replay_host *h = &m->host[first];
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].awaited && !h->open[i].done) {
            h->open[i].done = true;
            m->result->unmatched++;
            uint32_t p = h->open[i].posted;
            if (p != REPLAY_NONE && (m->item[p].source >= m->ranks || ++h->void_receives > VOID))
                unpost(m, first, &h->open[i]);
        }
    h->pending = 0;
    h->version++;
    unblock(m, first);
}

/* --- A run --- */

static void create(struct replay_machine *m, const struct replay_source *s, const struct replay_how *how)
{
    m->source = s;
    m->ranks = m->running = s->ranks;
    m->how = how;
    m->contention_free =
        !how->walk && !how->watch && !m->model->o && !m->model->g && !m->model->O && !m->model->G;
    m->plain = m->contention_free && s->plain;
    m->blame = how->blame;
    m->watch = how->watch;
    m->item_free = REPLAY_NONE;
    m->host = calloc(s->ranks, sizeof *m->host);
    m->history = calloc(s->places + 1u, sizeof *m->history);
    m->skip = how->walk ? NULL : replay_skip_create(s->ranks);
    for (uint32_t r = 0; r < s->ranks; r++) {
        m->host[r].watched = m->watch != NULL;
        replay_feed_open(&m->host[r].feed, s, r);
    }
}

static void destroy(struct replay_machine *m)
{
    for (uint32_t r = 0; r < m->ranks; r++) {
        replay_feed_close(&m->host[r].feed);
        free(m->host[r].open);
        free(m->host[r].delivery);
        for (int list = 0; list < REPLAY_LISTS; list++)
            free(m->host[r].list[list].entry);
    }
    replay_skip_destroy(m->skip);
    free(m->host);
    free(m->history);
    free(m->heap);
    free(m->item);
    free(m->key);
    free(m->wide);
    base_hash_close(&m->keys);
}

static void finish(struct replay_machine *m)
{
    struct replay_result *out = m->result;

    for (uint32_t r = 0; r < m->ranks; r++) {
        out->end[r] = m->host[r].cpu;
        out->longest = later(out->longest, out->end[r]);
        out->left += m->host[r].list[REPLAY_UNEXPECTED].count;
        out->events += m->host[r].feed.grammar ? (double)m->host[r].feed.grammar->events : 0;
    }
}

int replay_run(const struct replay_source *s, const struct replay_model *model, const struct replay_how *how,
               struct replay_result *out)
{
    struct replay_machine m = { .model = model, .result = out };

    memset(out, 0, sizeof *out);
    out->end = calloc(s->ranks ? s->ranks : 1, sizeof *out->end);
    create(&m, s, how);
    for (uint32_t r = 0; r < s->ranks; r++)
        proceed(&m, r);
    bool many = false;
    bool done = false;
    while (m.running && !(done = m.watch && m.watch->done) &&
           !(many = how->limit && out->walked > how->limit)) {
        if (m.heap_count)
            step(&m);
        else
            give_up(&m);
    }
    while (!many && !done && m.heap_count) /* messages that nobody receives */
        step(&m);
    if (!many)
        finish(&m);
    destroy(&m);
    if (!many)
        return 0;
    free(out->end);
    out->end = NULL;
    return PYTHIA_ELIMIT;
}
