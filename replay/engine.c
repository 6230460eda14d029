/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "replay/machine.h"

static void again(struct replay_machine *m, struct replay_event e, int64_t time)
{
    e.time = time;
    replay_push(m, e);
}

/* Ranks go on in the order of their numbers. */
static void unblock_both(struct replay_machine *m, uint32_t a, bool go_a, uint32_t b, bool go_b)
{
    if (a > b) {
        unblock_both(m, b, go_b, a, go_a);
        return;
    }
    if (go_a)
        replay_rank_unblock(m, a);
    if (go_b)
        replay_rank_unblock(m, b);
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

static void compute(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];

    if (h->cpu > e.time) {
        again(m, e, h->cpu);
        return;
    }
    h->cpu = e.time + (h->op.kind == REPLAY_COMPUTE ? replay_rank_work(h) : 0);
    if (h->op.kind == REPLAY_WAIT)
        replay_rank_forget(m, h);
    replay_rank_proceed(m, e.host);
}

/* Whether the rank is blocked for a receive that the message may be for, by their order alone. */
static bool awaits(const struct replay_machine *m, const struct replay_host *h, uint32_t from, uint64_t tag)
{
    bool awaited = false;

    for (uint32_t i = 0; h->blocked && !awaited && i < h->open_count; i++) {
        const struct replay_request *r = &h->open[i];
        const struct replay_item *p = r->posted == REPLAY_NONE ? NULL : &m->item[r->posted];
        awaited = p && r->awaited && !r->done && p->source == from && (p->tag ^ tag) >> 32 == 0 &&
                  ((uint32_t)p->tag == REPLAY_TAG_UNKNOWN || (uint32_t)tag == REPLAY_TAG_UNKNOWN);
    }
    return awaited;
}

/* Who is blocked in a receive of this message begins to have it only now. */
static void tell_receiver(struct replay_machine *m, uint32_t from, const struct replay_op *op)
{
    struct replay_host *to = &m->host[op->peer];
    uint32_t i = replay_list_claim(m, op->peer, from, op->tag);

    to->version++;
    const struct replay_request *r =
        to->blocked && i != REPLAY_NONE ? replay_request_find(to, m->item[i].request) : NULL;
    if (r ? r->awaited : i == REPLAY_NONE && awaits(m, to, from, op->tag))
        replay_rank_waited(m, op->peer, from, true);
}

static void send(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    const struct replay_model *model = m->model;
    uint64_t bytes = h->op.bytes ? h->op.bytes : 1;

    if (replay_later(h->cpu, h->out) > e.time) {
        again(m, e, replay_later(h->cpu, h->out));
        return;
    }
    uint32_t i = replay_item_new(m);
    uint64_t number = replay_request_new(h, false);
    replay_rank_spend(m, e.host, e.time);
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
        replay_rank_proceed(m, e.host);
    } else {
        block(h);
        if (eager)
            replay_rank_unblock(m, e.host);
    }
}

static void receive(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    uint64_t number = replay_request_new(h, true);
    bool blocks = h->op.kind == REPLAY_RECV;

    replay_rank_spend(m, e.host, e.time);
    if (blocks)
        block(h);
    m->freed = false;
    uint32_t from = replay_rank_meet(m, e.host, number);
    bool freed = m->freed, done = from != REPLAY_NONE;
    if (blocks) {
        unblock_both(m, e.host, done, done ? from : e.host, freed);
        return;
    }
    if (freed && from < e.host)
        replay_rank_unblock(m, from);
    replay_rank_proceed(m, e.host);
    if (freed && from > e.host)
        replay_rank_unblock(m, from);
}

/* A message and a receive that are in no list meet. */
static void meet(struct replay_machine *m, uint32_t rank, uint32_t arrived, uint32_t posted)
{
    struct replay_host *h = &m->host[rank];
    struct replay_item message = m->item[arrived];
    uint64_t number = m->item[posted].request;

    if (m->item[posted].anyone)
        h->feed.last_source = message.source;
    replay_rank_deliver(m, &message, rank, number);
    replay_item_free(m, posted);
    replay_item_free(m, arrived);
    bool freed = replay_rank_release(m, &message, rank);
    bool done = replay_rank_complete(m, rank, number);
    unblock_both(m, rank, done, message.source, freed && message.source != rank);
    if (freed && message.source == rank && !done)
        replay_rank_unblock(m, rank);
}

static void arrive(struct replay_machine *m, struct replay_event e)
{
    struct replay_host *h = &m->host[e.host];
    const struct replay_model *model = m->model;
    struct replay_item message = m->item[e.message];
    int64_t wire = replay_wire(model, message.bytes), load = (int64_t)(message.bytes - 1) * model->O;

    if (replay_later(h->cpu, h->in) > e.time) {
        again(m, e, replay_later(h->cpu, h->in));
        return;
    }
    h->cpu = replay_later(h->cpu, e.time + model->o + replay_later(load, wire));
    h->in = e.time + model->g + wire;
    uint32_t i = replay_list_take(m, e.host, REPLAY_POSTED, message.source, message.tag);
    if (i == REPLAY_NONE) {
        replay_list_add(m, e.host, REPLAY_UNEXPECTED, e.message);
        if (replay_list_claim(m, e.host, REPLAY_LATER, message.tag) != REPLAY_NONE) {
            bool freed = replay_rank_release(m, &message, e.host);
            m->item[e.message].claimed = true;
            if (freed)
                replay_rank_unblock(m, message.source);
        }
        return;
    }
    meet(m, e.host, e.message, i);
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
    if (m->turned_depth && m->skip)
        replay_skip_turn(m, m->turned_host, m->turned_depth);
}

/* --- Nothing can happen --- */

/* The rank's receive takes the first message of its source and communicator that is there, whatever its tag. */
static bool take_in_order(struct replay_machine *m, uint32_t rank, const struct replay_request *r)
{
    uint32_t p = r->posted;

    if (!r->receives || p == REPLAY_NONE)
        return false;
    uint32_t i = replay_list_take(m, rank, REPLAY_UNEXPECTED, m->item[p].source, m->item[p].tag | REPLAY_TAG_ANY);
    if (i == REPLAY_NONE)
        return false;
    replay_list_take_out(m, rank, REPLAY_POSTED, p);
    meet(m, rank, i, p);
    return true;
}

/* The rank's message is taken by the first receive from it that is posted in its communicator, whatever the tag. */
static bool give_in_order(struct replay_machine *m, uint32_t rank, const struct replay_request *r)
{
    struct replay_list *l = r->receives || r->peer >= m->ranks ? NULL : &m->host[r->peer].list[REPLAY_UNEXPECTED];
    uint32_t at = l ? l->begin : 0, to = r->peer, i = REPLAY_NONE;

    while (l && (i = replay_list_next(l, &at)) != REPLAY_NONE &&
           !(m->item[i].source == rank && m->item[i].request == r->number))
        ;
    uint32_t p = i == REPLAY_NONE ? i
                                  : replay_list_take(m, to, REPLAY_POSTED, rank, m->item[i].tag | REPLAY_TAG_ANY);
    if (p == REPLAY_NONE)
        return false;
    replay_list_take_out(m, to, REPLAY_UNEXPECTED, i);
    meet(m, to, i, p);
    return true;
}

/* Where tags are not known, those that are left are matched in the order of communicator and pair. */
static bool match_in_order(struct replay_machine *m, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];

    m->now = h->cpu;
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].awaited && !h->open[i].done &&
            (take_in_order(m, rank, &h->open[i]) || give_in_order(m, rank, &h->open[i])))
            return true;
    return false;
}

/* A rank that is blocked and can have what it waits for by order alone gets it, the earliest one if it can. Without
   any the earliest goes on without: a message of that source that comes later is not the next one's. */
static void give_up(struct replay_machine *m)
{
    enum { VOID = 64 }; /* of a rank, that are kept */
    uint32_t first = REPLAY_NONE;
    int64_t now = m->now;

    m->result->walked += 1 + m->ranks / 64;
    for (uint32_t r = 0; r < m->ranks; r++)
        if (m->host[r].blocked && (first == REPLAY_NONE || m->host[r].cpu < m->host[first].cpu))
            first = r;
    for (uint32_t k = 0, r = first; k < m->ranks; k++, r = r + 1 < m->ranks ? r + 1 : 0)
        if (m->host[r].blocked && match_in_order(m, r))
            return;
    m->now = now;
    struct replay_host *h = &m->host[first];
    for (uint32_t i = 0; i < h->open_count; i++)
        if (h->open[i].awaited && !h->open[i].done) {
            h->open[i].done = true;
            replay_rank_unmatched(m, h->open[i].place, h->open[i].receives ? REPLAY_NO_MESSAGE : REPLAY_NO_RECEIVE);
            uint32_t p = h->open[i].posted;
            if (p != REPLAY_NONE && (m->item[p].source >= m->ranks || ++h->void_receives > VOID))
                replay_rank_unpost(m, first, &h->open[i]);
        }
    h->pending = 0;
    h->version++;
    replay_rank_unblock(m, first);
}

/* --- A run --- */

static void create(struct replay_machine *m, const struct replay_source *s, const struct replay_how *how)
{
    m->source = s;
    m->ranks = m->running = s->ranks;
    m->how = how;
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
        out->longest = replay_later(out->longest, out->end[r]);
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
        replay_rank_proceed(&m, r);
    bool many = false;
    bool done = false;
    while (m.running && !(done = m.watch && m.watch->done) &&
           !(many = (how->limit && out->walked > how->limit) || m.now > REPLAY_LATEST)) {
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
