/* SPDX-License-Identifier: MIT */
/* Whom each rank waits for, from the boards alone. */
#include <stdlib.h>

#include <xxhash.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "job/define.h"
#include "watch/verdict.h"

/* Who is which rank of a communicator, of all boards: in the order of communicators, then ranks. */
struct member {
    uint64_t comm;
    int32_t rank, size;
    uint32_t world;
    uint64_t collectives;
};

struct table {
    struct watch_row *row;
    uint32_t ranks, groups;
    struct member *member;
    uint32_t members, room;
    uint32_t *mark;            /* of each rank: 1 + the group that has it by now */
    struct base_hash shared;   /* by what a group is in: the first row of it */
    bool failed;
};

BASE_COMPARISON(by_comm, struct member, BASE_UP(comm) ?: BASE_UP(rank))

static void add_members(struct table *t, const struct watch_board *b)
{
    for (const struct watch_comm *c = b->comm; c < b->comm + WATCH_COMMS; c++) {
        struct member m = {c->identity, c->rank, c->size, b->rank, c->collectives};
        if (c->handle && c->rank >= 0)
            t->failed |= base_array_append(&t->member, &t->members, &t->room, &m, 1, sizeof m) != 0;
    }
}

static uint32_t first_member(const struct table *t, uint64_t comm, int32_t rank)
{
    const struct member m = {.comm = comm, .rank = rank};
    return BASE_ARRAY_PLACE(t->members, i, by_comm(&t->member[i], &m) < 0);
}

static uint32_t world_of(const struct table *t, const struct watch_comm *c, int32_t rank)
{
    uint32_t at = first_member(t, c->identity, rank);
    bool there = at < t->members && t->member[at].comm == c->identity && t->member[at].rank == rank;
    return there ? t->member[at].world : UINT32_MAX;
}

/* --- Peers of a row --- */

static void add_peer(struct table *t, struct watch_row *r, uint32_t world)
{
    if (world >= t->ranks || &t->row[world] == r || t->mark[world] == r->group + 1)
        return;
    t->mark[world] = r->group + 1;
    if (base_array_more(&r->peer, r->peer_count, sizeof *r->peer))
        t->failed = true;
    else
        r->peer[r->peer_count++] = world;
}

static bool is_world(const struct watch_comm *c, const struct table *t)
{
    return (uint32_t)c->size == t->ranks && !strcmp(c->name, "world");
}

/* All ranks of a communicator but those that `there` (may be NULL) says are there. */
static void add_all(struct table *t, struct watch_row *r, const struct watch_comm *c,
                    bool (*there)(const struct table *t, const struct member *m, const struct watch_row *r))
{
    uint32_t seen = 0, at = first_member(t, c->identity, 0);
    for (; at < t->members && t->member[at].comm == c->identity; at++, seen++)
        if (!there || !there(t, &t->member[at], r))
            add_peer(t, r, t->member[at].world);
    if (is_world(c, t))
        for (uint32_t i = 0; i < t->ranks; i++)
            if (!t->row[i].sight)
                add_peer(t, r, i);
    r->unknown |= seen < (uint32_t)c->size && !is_world(c, t); /* a member has no board, or not yet this communicator */
}

static void add_rank(struct table *t, struct watch_row *r, const struct watch_comm *c, int32_t rank)
{
    uint32_t world = world_of(t, c, rank);
    if (world == UINT32_MAX && is_world(c, t) && rank >= 0)
        world = (uint32_t)rank;
    r->unknown |= world == UINT32_MAX;
    add_peer(t, r, world);
}

/* By its handle, or by its number. */
static const struct watch_comm *find_comm(const struct watch_board *b, uint64_t handle, uint32_t number)
{
    for (unsigned i = 0; i < WATCH_COMMS; i++)
        if (handle ? b->comm[i].handle == handle : b->comm[i].handle && b->comm[i].number == number)
            return &b->comm[i];
    return NULL;
}

static const struct watch_comm *comm_of(const struct watch_board *b)
{
    return b->where ? find_comm(b, b->where, 0) : NULL;
}

/* One of two sends what the other one receives, in blocking calls for that alone: the message is under way, however
   long that takes. */
static bool is_under_way(const struct table *t, const struct watch_row *r, const struct watch_comm *c, int32_t rank)
{
    uint32_t world = world_of(t, c, rank);
    const struct watch_row *other = world < t->ranks ? &t->row[world] : NULL;
    const struct watch_comm *d = other && other->state == WATCH_WAITS ? comm_of(&other->sight->board) : NULL;
    if (!d || d->identity != c->identity)
        return false;
    bool sends = r->sight->board.source == WATCH_NOBODY;
    const struct watch_board *from = sends ? &r->sight->board : &other->sight->board;
    const struct watch_board *to = sends ? &other->sight->board : &r->sight->board;
    return from->is.what.call_kind == JOB_P2P && to->is.what.call_kind == JOB_P2P && from->source == WATCH_NOBODY &&
           to->dest == WATCH_NOBODY && from->dest == (sends ? d : c)->rank &&
           (to->source == (sends ? c : d)->rank || to->source == to->any) &&
           (from->tag == to->tag || to->tag < 0 /* any */);
}

/* A message from or to that rank of the communicator, as MPI names it. */
static void add_message(struct table *t, struct watch_row *r, const struct watch_comm *c, int32_t rank)
{
    const struct watch_board *b = &r->sight->board;
    if (rank == WATCH_NOBODY || rank == b->null)
        return;
    if (!c || c->rank < 0 || is_under_way(t, r, c, rank)) {
        r->unknown = true;
    } else if (rank == b->any) {
        r->any = true;
        add_all(t, r, c, NULL);
    } else {
        add_rank(t, r, c, rank);
    }
}

/* --- Collectives --- */

/* It is in the same call. */
static bool is_in_same(const struct table *t, const struct member *m, const struct watch_row *r)
{
    const struct watch_row *other = &t->row[m->world];
    const struct watch_comm *c = other->state == WATCH_WAITS ? comm_of(&other->sight->board) : NULL;
    const struct watch_board *a = &r->sight->board, *b = &other->sight->board;
    return c && c->identity == m->comm && !strcmp(a->is.function, b->is.function) && a->dest == b->dest; /* the root */
}

/* It has been through, or is in it, too. */
static bool has_come(const struct table *t, const struct member *m, const struct watch_row *r)
{
    return m->collectives > r->collective || (m->collectives == r->collective && is_in_same(t, m, r));
}

static void add_collective(struct table *t, struct watch_row *r, const struct watch_comm *c, uint64_t number)
{
    r->comm = c->identity;
    r->collective = number;
    add_all(t, r, c, has_come);
}

/* MPI_Finalize. Who has been through it is not waited for. Who has no board may have ended well: it is where there is
   nobody else. */
static void add_finalize(struct table *t, struct watch_row *r)
{
    r->comm = WATCH_END;
    for (uint32_t i = 0; i < t->ranks; i++) {
        const struct watch_row *o = &t->row[i];
        bool goes = o->state == WATCH_WAITS || o->state == WATCH_COMPUTES;
        if (o->sight && !(goes && o->sight->board.is.what.call_kind == JOB_LIFE && o->sight->board.is.what.blocking))
            add_peer(t, r, i);
    }
    for (uint32_t i = 0, others = r->peer_count; i < t->ranks && !others; i++)
        if (!t->row[i].sight)
            add_peer(t, r, i);
}

/* --- Requests --- */

static void add_request(struct table *t, struct watch_row *r, const struct watch_request *q)
{
    const struct watch_board *b = &r->sight->board;
    const struct watch_comm *c = find_comm(b, 0, q->comm);
    if (q->kind != WATCH_TAKES_PART)
        add_message(t, r, c, q->peer);
    else if (c)
        add_collective(t, r, c, q->collective);
    else
        r->unknown = true;
}

/* One request, or all that are open: of a call for several it is not known which. A send may be over although nobody
   has asked: it is waited for where there is nothing else. */
static void add_requests(struct table *t, struct watch_row *r)
{
    const struct watch_board *b = &r->sight->board;
    bool found = false;
    for (int sends = 0; sends < 2 && !found; sends++)
        for (const struct watch_request *q = b->request; q < b->request + WATCH_REQUESTS; q++)
            if (q->handle && (!b->where || q->handle == b->where) && sends == (q->kind == WATCH_SENDS)) {
                add_request(t, r, q);
                found = true;
            }
    r->unknown |= !found;
    r->any |= !strcmp(b->is.function, "MPI_Waitany") || !strcmp(b->is.function, "MPI_Waitsome");
}

/* --- Rows --- */

static bool is_from_any(const struct watch_board *b, const struct watch_comm *c)
{
    return c && c->rank >= 0 && c->size > 1 && b->source != WATCH_NOBODY && b->source == b->any;
}

/* What all rows in the same call have in common; 0: each has peers of its own. */
static uint64_t key_of(const struct watch_board *b, const struct watch_comm *c)
{
    bool collective = c && c->rank >= 0 && b->is.what.how == WATCH_COLLECTIVE;
    bool message = b->is.what.call_kind == JOB_P2P || b->is.what.call_kind == JOB_PROBE;
    struct { uint64_t comm, number; int64_t dest; } key = {WATCH_END, WATCH_END, 0};
    if (b->is.what.call_kind != JOB_LIFE) {
        bool shared = message ? is_from_any(b, c) : collective || (c && b->is.what.how == WATCH_COMMON);
        if (b->is.what.call_kind == JOB_COMPLETION || !shared)
            return 0;
        key.comm = c->identity;
        key.number = collective ? c->collectives : WATCH_END;
        key.dest = message ? 0 : b->dest;
    }
    return XXH3_64bits_withSeed(&key, sizeof key, XXH3_64bits(b->is.function, strlen(b->is.function))) | 1;
}

static bool same_group(const struct table *t, uint32_t a, uint32_t b)
{
    const struct watch_board *x = &t->row[a].sight->board, *y = &t->row[b].sight->board;
    const struct watch_comm *c = comm_of(x), *d = comm_of(y);
    bool counted = x->is.what.how == WATCH_COLLECTIVE, life = x->is.what.call_kind == JOB_LIFE;
    if (strcmp(x->is.function, y->is.function) != 0 || life || !c || !d)
        return life && y->is.what.call_kind == JOB_LIFE && !strcmp(x->is.function, y->is.function);
    return c->identity == d->identity && (is_from_any(x, c) ? is_from_any(y, d) : x->dest == y->dest) &&
           (!counted || c->collectives == d->collectives);
}

/* The row that has the peers of this one, too; UINT32_MAX: this one is to find them. */
static uint32_t find_group(struct table *t, uint32_t rank)
{
    uint64_t key = key_of(&t->row[rank].sight->board, comm_of(&t->row[rank].sight->board));
    if (!key)
        return UINT32_MAX;
    uint32_t first = BASE_HASH_FIND(&t->shared, key, k, same_group(t, k, rank));
    if (first != BASE_HASH_NONE)
        return first;
    if (base_hash_reserve(&t->shared, 1))
        t->failed = true;
    else
        base_hash_put(&t->shared, key, rank);
    return UINT32_MAX;
}

static void add_waits(struct table *t, struct watch_row *r)
{
    const struct watch_board *b = &r->sight->board;
    const struct watch_comm *c = comm_of(b);
    if (b->is.what.call_kind == JOB_COMPLETION) {
        add_requests(t, r);
    } else if (b->is.what.call_kind == JOB_LIFE) {
        add_finalize(t, r);
    } else if (b->is.what.call_kind == JOB_P2P || b->is.what.call_kind == JOB_PROBE) {
        add_message(t, r, c, b->source);
        if (!r->peer_count) /* what is sent beside may be over */
            add_message(t, r, c, b->dest);
        r->unknown |= b->source == WATCH_NOBODY && b->dest == WATCH_NOBODY;
    } else if (c && b->is.what.how == WATCH_COLLECTIVE && c->rank >= 0) {
        add_collective(t, r, c, c->collectives);
    } else if (c && b->is.what.how == WATCH_COMMON) {
        add_all(t, r, c, is_in_same); /* nobody counts these */
    } else {
        r->unknown = true;
    }
}

/* In MPI_Finalize, or through it (no call follows); or in another call that blocks. */
static bool waits(const struct watch_board *b)
{
    const struct watch_what *w = &b->is.what;
    if (b->since == WATCH_CHANGES || (w->call_kind == JOB_LIFE && !strcmp(b->is.function, "MPI_Finalize")))
        return b->since != WATCH_CHANGES;
    return (b->since & 1) && w->blocking && w->call_kind != WATCH_REGION &&
           (w->call_kind != JOB_IO || w->how == WATCH_COMMON);
}

static uint64_t ago(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

/* Of all identities there; a place that it has left is not counted for this time. */
static uint64_t known(const struct watch_board *b, bool inside)
{
    uint64_t n = 0, from = b->from;
    for (unsigned i = 0; i < WATCH_SPOTS; i++)
        n += from && b->met[i] == from ? b->sum[i].count : 0;
    return !inside && n ? n - 1 : n;
}

static enum watch_state state_of(const struct watch_sight *s, bool asks)
{
    if (s->copied && s->age_ns / WATCH_LONGER > s->step_ns)
        return WATCH_SILENT;
    if (s->process.state == 'Z' || s->process.state == 'X')
        return WATCH_ENDED;
    if (s->process.state == 'T' || s->process.state == 't')
        return WATCH_HALTED;
    return asks ? WATCH_ASKS : waits(&s->board) ? WATCH_WAITS : WATCH_COMPUTES;
}

static void set_row(struct watch_row *r, const struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    bool changes = b->since == WATCH_CHANGES, inside = (b->since & 1) && !changes;
    bool asks = b->is.what.how == WATCH_POLLS && inside;
    r->sight = s;
    r->state = state_of(s, asks);
    r->known = known(b, inside);
    r->since_ns = changes ? 0 : ago(s->now, b->since >> 1);
}

static void add_row(struct table *t, uint32_t rank)
{
    struct watch_row *r = &t->row[rank];
    uint32_t first = r->state == WATCH_WAITS ? find_group(t, rank) : UINT32_MAX;
    r->group = t->groups;
    if (first != UINT32_MAX) {
        const struct watch_row *same = &t->row[first];
        r->group = same->group;
        r->peer = same->peer;
        r->peer_count = same->peer_count;
        r->any = same->any;
        r->unknown = same->unknown;
        r->comm = same->comm;
        r->collective = same->collective;
        return;
    }
    t->groups++;
    if (r->state != WATCH_WAITS)
        return;
    add_waits(t, r);
    const struct watch_board *b = &r->sight->board;
    bool message = b->is.what.call_kind == JOB_P2P || b->is.what.call_kind == JOB_PROBE;
    if (message && is_from_any(b, comm_of(b))) { /* the others of the group wait for this one, too */
        if (base_array_more(&r->peer, r->peer_count, sizeof *r->peer))
            t->failed = true;
        else
            r->peer[r->peer_count++] = rank;
    }
}

struct watch_row *watch_rows(struct watch_sight *const *sights, uint32_t count, uint32_t ranks)
{
    struct table t = {.row = calloc((size_t)ranks + 1, sizeof *t.row), .ranks = ranks};
    t.mark = calloc((size_t)ranks + 1, sizeof *t.mark);
    t.failed = !t.row || !t.mark;
    if (t.failed)
        ranks = count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (sights[i]->board.rank < ranks) {
            set_row(&t.row[sights[i]->board.rank], sights[i]);
            add_members(&t, &sights[i]->board);
        }
    BASE_SORT(t.member, t.members, by_comm);
    for (uint32_t i = 0; i < ranks; i++)
        add_row(&t, i);
    base_hash_close(&t.shared);
    free(t.member);
    free(t.mark);
    if (!t.failed)
        return t.row;
    watch_rows_free(t.row, ranks);
    return NULL;
}

void watch_rows_free(struct watch_row *rows, uint32_t ranks)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; rows && i < ranks; i++)
        if (rows[i].group == groups) { /* the first of it */
            free(rows[i].peer);
            groups++;
        }
    free(rows);
}
