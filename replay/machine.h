/* SPDX-License-Identifier: MIT */
/* The state of a replay: private to this directory, but for what reads a host. See engine.h. */
#pragma once

#include "base/hash.h"
#include "replay/blame.h"
#include "replay/engine.h"
#include "replay/feed.h"

#define REPLAY_NONE UINT32_MAX

/* The key of an item, and its neighbours in that one's chain. */
struct replay_link { uint32_t key, next, before; };

/* A message under way or unexpected, or a receive that is posted: an element of a list. */
struct replay_item {
    struct replay_link link; /* free ones: next */
    uint32_t source;
    uint64_t tag;
    uint32_t at;            /* its place in the list: no part of the state, nor are the others that say where it is */
    uint64_t bytes;
    uint64_t request;       /* of the rank that it belongs to: the sender of a message, the receiver of a posted
                               receive */
    int64_t sent;           /* when its operation sent it … */
    uint32_t place;         /* … and that one's: for those who watch */
    uint32_t group;         /* posted, from REPLAY_LATER */
    bool claimed;           /* posted: a message for it has been sent; message: its sender needs no more consent */
    bool anyone;            /* posted: its source is that of the last receive from anyone */
};

enum replay_list_of { REPLAY_POSTED, REPLAY_UNEXPECTED, REPLAY_LISTS };
enum { REPLAY_WIDE = REPLAY_LISTS, REPLAY_CHAINS }; /* of a key: those of its lists, then of messages that it means */
struct replay_chain { uint32_t first, last; };
struct replay_entry { uint64_t tag; uint32_t source, item; }; /* item REPLAY_NONE: it was taken out */
struct replay_list {
    struct replay_entry *entry;
    uint32_t begin, end, room; /* in use: from begin to end, with holes; the first one is none */
    uint32_t count;         /* without holes */
    uint32_t wild;          /* indexed ones from anyone or of any tag */
    bool indexed;           /* each is in the chain of its key … */
    bool wide;              /* … and in those of keys from anyone, of any tag (pending.c) */
};

/* The first item from *at on, which is moved behind it; REPLAY_NONE: there is no more. */
static inline uint32_t replay_list_next(const struct replay_list *l, uint32_t *at)
{
    while (*at < l->end)
        if (l->entry[(*at)++].item != REPLAY_NONE)
            return l->entry[*at - 1].item;
    return REPLAY_NONE;
}

/* What is in a rank's lists from one source with one tag. */
struct replay_key {
    uint32_t host, source;
    uint64_t tag;
    uint32_t items;         /* in all */
    struct replay_chain chain[REPLAY_CHAINS];
    uint32_t unclaimed;     /* posted ones before it are claimed */
};

struct replay_request {
    uint64_t number, event; /* event: index in the rank's stream of the one that began it */
    uint32_t peer, group, place; /* of its operation */
    uint32_t posted;      /* its receive, REPLAY_NONE: it is not in the list */
    bool done, awaited, receives;
};

struct replay_host {
    struct replay_feed feed;
    int64_t cpu, in, out;   /* when the rank, its link inwards, its link outwards are free */
    struct replay_op op;    /* at which the rank is */
    bool blocked;           /* at `op`, which is not in the heap */
    bool ended;
    uint32_t pending;       /* requests that it is blocked for */
    int64_t since;          /* when it came to `op` */
    int64_t late;           /* by how much the last looks for messages waited for them, work that is done by then */
    uint64_t next_request;
    struct replay_request *open;
    uint32_t open_count, open_room;
    struct replay_delivery *delivery; /* of each open request, for those who watch; no part of the state */
    uint32_t delivery_room;
    bool watched;
    struct replay_list list[REPLAY_LISTS];
    uint32_t void_receives; /* posted, that the rank waits for no more */
    uint64_t version;       /* counts changes */
};

struct replay_event { int64_t time; uint64_t order; uint32_t host, message; /* REPLAY_NONE: the host's operation */ };

/* What a place's waits have been for, as far as it is seen; below 0: */
struct replay_history {
    int8_t named; /* … receives from anyone */
    int8_t sends; /* … receives */
};

struct replay_skip;

struct replay_machine {
    const struct replay_source *source;
    const struct replay_model *model;
    const struct replay_how *how;
    struct replay_blame *blame;
    struct replay_watch *watch;
    uint32_t ranks, running;
    struct replay_host *host;
    struct replay_event *heap;
    uint32_t heap_count, heap_room;
    struct replay_item *item;
    uint32_t item_count, item_room, item_free;
    struct replay_key *key;
    uint32_t key_count, key_room, keys_used; /* used: of which something is there */
    struct replay_link *wide;           /* of each item, in the chains of other keys */
    uint32_t wide_room;
    struct base_hash keys;
    struct replay_history *history;     /* of each place */
    uint64_t order;
    int64_t now;
    bool freed;                         /* the message that was met lets its sender go */
    uint32_t turned_host, turned_depth; /* a turn that was completed in this event; depth 0: none */
    uint32_t pace;                      /* the host at whose turns states are compared */
    struct replay_skip *skip;           /* NULL: every turn is walked */
    struct replay_result *result;
};

/* --- heap.c --- */
void replay_push(struct replay_machine *m, struct replay_event e);
struct replay_event replay_pop(struct replay_machine *m); /* the first one */
static inline bool replay_before(const struct replay_event *a, const struct replay_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* --- pending.c: lists of messages and receives --- */
uint32_t replay_item_new(struct replay_machine *m);
void replay_item_free(struct replay_machine *m, uint32_t i);
void replay_list_add(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i);
/* Out of the list. */
void replay_list_take_out(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i);
/* The same, and frees it. */
void replay_list_remove(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t i);
/* A posted receive gets its source; it stays where it is in the list. */
void replay_list_name(struct replay_machine *m, uint32_t host, uint32_t i, uint32_t source);
/* Takes the first of the list that matches out of it; REPLAY_NONE without. */
uint32_t replay_list_take(struct replay_machine *m, uint32_t host, enum replay_list_of list, uint32_t source,
                          uint64_t tag);
/* The first posted receive that a message would match and no other message was sent for; REPLAY_NONE without. */
uint32_t replay_list_claim(struct replay_machine *m, uint32_t host, uint32_t source, uint64_t tag);

/* --- rank.c: a rank between events --- */
static inline int64_t replay_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* An operation of a place goes on without its message. */
void replay_rank_unmatched(struct replay_machine *m, uint32_t place, enum replay_reason why);
/* The rank's time until then went to its operation. */
void replay_rank_spend(struct replay_machine *m, uint32_t rank, int64_t until);
/* The rank `waits` at its operation for what `late` does only now. */
void replay_rank_waited(struct replay_machine *m, uint32_t waits, uint32_t late, bool receives);
/* Goes on to its next operation, which gets into the heap, or is waited at. */
void replay_rank_proceed(struct replay_machine *m, uint32_t rank);
/* The same after replay_rank_complete() or replay_rank_release() said that it goes on. */
void replay_rank_unblock(struct replay_machine *m, uint32_t rank);
/* A request is done: true when its rank was blocked for it, and goes on. */
bool replay_rank_complete(struct replay_machine *m, uint32_t rank, uint64_t number);
/* The message is received, which lets its sender go, if it needs that: true when it goes on. */
bool replay_rank_release(struct replay_machine *m, const struct replay_item *message, uint32_t receiver);
/* How long the work at the rank's operation takes. */
int64_t replay_rank_work(struct replay_host *h);
/* Its receive takes a message that is there; who sent it, REPLAY_NONE: it is posted. m->freed: that one goes on. */
uint32_t replay_rank_meet(struct replay_machine *m, uint32_t rank, uint64_t number);
/* The message meets the receive with that number, of `to`. */
void replay_rank_deliver(struct replay_machine *m, const struct replay_item *message, uint32_t to, uint64_t number);
/* The rank has what it was waiting for. */
void replay_rank_forget(struct replay_machine *m, struct replay_host *h);
void replay_rank_unpost(struct replay_machine *m, uint32_t rank, struct replay_request *r);

/* --- match.c: requests --- */
/* A new request of the host's present event; its number. */
uint64_t replay_request_new(struct replay_host *h, bool receives);
struct replay_request *replay_request_find(struct replay_host *h, uint64_t number); /* NULL: it is not open */
/* Marks the requests that the host's wait is for. */
void replay_request_await(struct replay_machine *m, struct replay_host *h);
/* The receive that no message came for is done with: the oldest one that is posted, from whom the wait names; NULL
   without. */
struct replay_request *replay_request_cancel(struct replay_machine *m, struct replay_host *h);
/* How many of these are not done. */
uint32_t replay_request_pending(const struct replay_host *h);
/* Forgets those that were waited for. */
void replay_request_forget(struct replay_host *h);

/* --- skip.c --- */
struct replay_skip *replay_skip_create(uint32_t ranks);
void replay_skip_destroy(struct replay_skip *s);
/* The host has completed a turn of its frame `depth` - 1: the machine's state is compared, and turns may be skipped. */
void replay_skip_turn(struct replay_machine *m, uint32_t host, uint32_t depth);
