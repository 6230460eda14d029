/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "pythia.h"
#include "replay/machine.h"
#include "replay/schedule.h"

enum { TURN = 3, MOST_STEPS = 3000000 };

/* What a rank was last seen to do: pieces that follow on each other are one. */
struct row { int64_t clock; uint32_t last; /* piece + 1, 0: none yet */ };

struct recorder {
    const struct schedule_wish *wish;
    struct replay_watch watch;
    struct replay_schedule s;
    struct row *row;
    uint32_t ranks, beyond; /* beyond: ranks that have come to the end of the turn */
    uint32_t piece_room, message_room;
    uint64_t marks, marked; /* seen so far; index of the last one's event + 1 */
    bool open, closed;      /* the turn has begun, has ended */
    bool many;              /* pieces, more than wished for */
};

/* --- Which turn --- */

static void open_turn(struct recorder *r, const struct replay_host *h)
{
    r->open = true;
    r->s.begin = h->cpu;
    r->s.turn = r->marks;
}

static void close_turn(struct recorder *r, const struct replay_host *h)
{
    r->closed = true;
    r->s.end = h->cpu;
    for (uint32_t i = 0; i < r->ranks; i++)
        r->beyond += r->row[i].clock >= r->s.end;
    r->watch.done = r->beyond == r->ranks;
}

/* An event may be several operations. */
static void comes(void *context, uint32_t rank, const struct replay_host *h)
{
    struct recorder *r = context;
    const struct replay_feed *f = &h->feed;

    if (rank != r->wish->pace || r->closed || r->wish->mark == GRAMMAR_NONE || !f->depth ||
        f->grammar->nodes[f->frame[f->depth - 1].node].symbol != r->wish->mark || r->marked == f->events + 1)
        return;
    r->marked = f->events + 1;
    if (r->open)
        close_turn(r, h);
    else if (r->marks == (r->wish->turns > TURN + 1 ? TURN : 0))
        open_turn(r, h);
    r->marks++;
}

/* --- Pieces --- */

static void add_piece(struct recorder *r, const struct schedule_piece *p)
{
    struct row *row = &r->row[p->rank];
    struct schedule_piece *last = row->last ? &r->s.piece[row->last - 1] : NULL;

    if (last && last->end == p->begin && last->place == p->place && last->late == p->late) {
        last->end = p->end;
        return;
    }
    if (r->s.pieces >= r->wish->most) {
        r->many = r->watch.done = true;
        return;
    }
    base_must(base_array_room(&r->s.piece, &r->piece_room, r->s.pieces + 1u, sizeof *p));
    r->s.piece[r->s.pieces++] = *p;
    row->last = r->s.pieces;
}

/* A wait ends where the one who is late has come to, as in the account (replay/blame.h). */
static void spent(void *context, uint32_t rank, int64_t until, const struct replay_op *op, uint32_t late)
{
    struct recorder *r = context;
    struct row *row = &r->row[rank];
    int64_t begin = row->clock, end = late == REPLAY_NONE ? until : r->row[late].clock;

    if (end <= begin || end > until)
        return;
    row->clock = end;
    if (r->closed && begin < r->s.end && end >= r->s.end)
        r->watch.done |= ++r->beyond == r->ranks;
    if (r->open && end > r->s.begin && begin < r->s.end)
        add_piece(r, &(struct schedule_piece){ .rank = rank, .place = op->place, .begin = begin, .end = end,
                                               .late = late, .computes = op->computes });
}

static void delivered(void *context, const struct replay_delivery *d)
{
    struct recorder *r = context;

    if (!r->open || d->received < r->s.begin || d->sent > r->s.end)
        return;
    base_must(base_array_room(&r->s.message, &r->message_room, r->s.messages + 1u, sizeof *r->s.message));
    r->s.message[r->s.messages++] = (struct schedule_message){ .from = d->from, .to = d->to, .place = d->place,
                                                               .bytes = d->bytes, .sent = d->sent,
                                                               .received = d->received };
}

/* --- All --- */

BASE_COMPARISON(by_rank, struct schedule_piece, BASE_UP(rank) ?: BASE_UP(begin))

/* What was begun before the turn, or ends after it, is there as far as it lies within. */
static void clip(struct replay_schedule *s, int64_t longest)
{
    uint32_t kept = 0;

    if (s->end == INT64_MAX)
        s->end = longest;
    for (uint32_t i = 0; i < s->pieces; i++) {
        struct schedule_piece p = s->piece[i];
        p.begin = p.begin > s->begin ? p.begin : s->begin;
        p.end = p.end < s->end ? p.end : s->end;
        if (p.begin < p.end)
            s->piece[kept++] = p;
    }
    s->pieces = kept;
    qsort(s->piece, s->pieces, sizeof *s->piece, by_rank);
}

static int record(struct recorder *r, const struct replay_source *s, const struct replay_model *m)
{
    struct replay_how how = { .walk = true, .limit = MOST_STEPS, .watch = &r->watch };
    struct replay_result result;
    int rc = replay_run(s, m, &how, &result);

    if (rc)
        return rc;
    if (!r->many && r->open)
        clip(&r->s, result.longest);
    free(result.end);
    return r->many ? PYTHIA_ELIMIT : r->open ? 0 : SCHEDULE_NONE;
}

int replay_schedule(const struct replay_source *s, const struct replay_model *m, const struct schedule_wish *wish,
                    struct replay_schedule *out)
{
    struct recorder r = { .wish = wish, .ranks = s->ranks, .row = calloc(s->ranks + 1u, sizeof *r.row) };

    r.watch = (struct replay_watch){ .context = &r, .comes = comes, .spent = spent, .delivered = delivered };
    r.open = wish->mark == GRAMMAR_NONE;
    r.s.end = INT64_MAX;
    int rc = record(&r, s, m);
    free(r.row);
    if (rc)
        replay_schedule_free(&r.s);
    else
        *out = r.s;
    return rc;
}

void replay_schedule_free(struct replay_schedule *s)
{
    free(s->piece);
    free(s->message);
    s->piece = NULL;
    s->message = NULL;
    s->pieces = s->messages = 0;
}
