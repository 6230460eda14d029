/* SPDX-License-Identifier: MIT */
/*
 * Loops whose state is periodic are not walked to their end (engine.h says why that is exact).
 *
 * One rank keeps the pace: when it has completed a turn, the machine's state is compared with one that was saved some
 * turns before, at the same depth of its loops and within the same execution of the loop. After 1, 2, 4, … turns
 * another one is saved, so that any period is met (Brent). Equal states are seen twice before turns are skipped: over
 * the second period the account (blame.h) says what one period adds to it. A rank that turns several times while that
 * one does not takes over: at first, and when a loop has ended. States saved before are no longer compared then.
 *
 * A state is: of each rank its place in the grammar without the turns, its clocks from now on, requests and lists of
 * messages; then the heap. Of turns only those of one loop of each rank may differ: how far they advance in a period
 * and how many are left says how many periods can be skipped. A rank that has done nothing since is left as it is,
 * until its next event.
 *
 * Where no period is exact for long (exact_steps) states are compared but for clocks. A rank's clock is a maximum
 * of sums of other clocks and times, so clocks that differ by d at first never differ by more (max-plus maps are
 * nonexpansive: Heidergott, Olsder, van der Woude 2006, 3.2): each of the periods that are skipped is off by d at most,
 * and d is at most a thousandth of a period. How much it was is in the result.
 *
 * Neighbours that wait for each other alone take as many turns to agree as ranks lie between them, and may be caught
 * amid a turn in ever other places. So after twice that many steps a loop is taken to go on as it does when all ranks
 * have made as many of its turns, and those of each took as long as the pace-keeper's but for ROUGH. Each rank is then
 * moved by whole turns, with all that it has begun and the messages under way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "replay/machine.h"

enum { SLOTS = REPLAY_BLAME_SLOTS, TAKES_OVER = 4 /* turns */ };
#define ALLOWED 1e-3 /* of a period: by how much clocks may differ where no period is exact */
#define ROUGH 2e-2   /* of some turns: by how much ranks may differ in how long these take */
enum { ROUGH_TURNS = 4, ROUGH_STEPS = 2 };

struct words { uint64_t *word; uint32_t count, room; };

/* An event of the heap, comparable: times from now on, requests from the rank's last one back. */
struct due { int64_t in; uint64_t order, request, bytes; uint32_t host, source, tag, message; };

/* Where a rank's part of a saved state is. */
struct part { uint32_t words, word_count, turns, seen; uint64_t version, events, clock[3]; };

struct state {
    bool valid, armed;
    uint64_t power, count;  /* turns until the next state is saved, and since this one was */
    int64_t now;
    struct words words, turns, at, seen;
    bool rough;             /* turns were compared, not states */
    struct part *part;
    struct due *due;
    uint32_t due_count, due_room;
};

/* By how much clocks may differ in states that are taken for equal, ns, and by how much they do. */
struct slack { uint64_t allowed, most; };

/* The turns of a rank since the pace-keeper's last one, which was its turn number `since`. */
struct lead { uint64_t since; uint32_t turns; };

struct replay_skip {
    struct state slot[SLOTS];
    struct words scratch;
    struct due *due;
    uint32_t due_room;
    struct lead *lead;      /* of each rank */
    uint64_t pace_turns;    /* that the pace-keepers have made */
    uint32_t takes_over;    /* turns: a rank that makes as many between two of these keeps the pace */
};

struct replay_skip *replay_skip_create(uint32_t ranks)
{
    struct replay_skip *s = calloc(1, sizeof *s);

    for (int i = 0; i < SLOTS; i++)
        s->slot[i].part = calloc(ranks ? ranks : 1, sizeof *s->slot[i].part);
    s->takes_over = TAKES_OVER;
    s->lead = calloc(ranks ? ranks : 1, sizeof *s->lead);
    return s;
}

void replay_skip_destroy(struct replay_skip *s)
{
    if (!s)
        return;
    for (int i = 0; i < SLOTS; i++) {
        free(s->slot[i].words.word);
        free(s->slot[i].turns.word);
        free(s->slot[i].at.word);
        free(s->slot[i].seen.word);
        free(s->slot[i].part);
        free(s->slot[i].due);
    }
    free(s->scratch.word);
    free(s->due);
    free(s->lead);
    free(s);
}

/* --- A state as words --- */

static void add(struct words *w, uint64_t word)
{
    if (w->count == w->room)
        base_must(base_array_room(&w->word, &w->room, w->count + 1u, sizeof *w->word));
    w->word[w->count++] = word;
}

static uint64_t from_now(const struct replay_machine *m, int64_t time)
{
    return time > m->now ? (uint64_t)(time - m->now) : 0;
}

static void add_list(struct replay_machine *m, struct words *w, const struct replay_list *l,
                     const struct replay_host *owner)
{
    for (uint32_t i = l->first; i != REPLAY_NONE; i = m->item[i].next) {
        const struct replay_item *it = &m->item[i];
        const struct replay_host *h = owner ? owner : &m->host[it->source];
        add(w, (uint64_t)it->source << 32 | it->tag);
        add(w, it->bytes << 1 | it->claimed);
        add(w, (h->next_request - it->request) << 32 | it->group);
    }
    add(w, UINT64_MAX);
}

static void read_clocks(const struct replay_machine *m, uint32_t rank, uint64_t clock[3])
{
    const struct replay_host *h = &m->host[rank];

    clock[0] = from_now(m, h->cpu);
    clock[1] = from_now(m, h->in);
    clock[2] = from_now(m, h->out);
}

static void add_host(struct replay_machine *m, struct words *w, uint32_t rank)
{
    struct replay_host *h = &m->host[rank];
    const struct replay_feed *f = &h->feed;

    add(w, (uint64_t)f->depth << 32 | f->op_next << 2 | (uint32_t)h->blocked << 1 | h->ended);
    for (uint32_t d = 0; d < f->depth; d++)
        add(w, f->frame[d].node);
    add(w, (uint64_t)f->step << 32 | f->last_source);
    add(w, (uint64_t)h->late);
    add(w, h->blocked ? (uint64_t)(h->cpu - h->since) : 0);
    for (uint32_t i = 0; i < h->open_count; i++) {
        const struct replay_request *r = &h->open[i];
        if (r->done && !r->receives) /* whoever waits for it does not wait */
            continue;
        add(w, h->next_request - r->number);
        add(w, (f->events - r->event) << 3 | (uint64_t)r->done << 2 | (uint64_t)r->awaited << 1 | r->receives);
    }
    add_list(m, w, &h->list[REPLAY_POSTED], h);
    add_list(m, w, &h->list[REPLAY_UNEXPECTED], NULL);
    for (uint32_t i = 0; i < f->changes; i++)
        add(w, replay_cycle_phase(&f->change[i].cycle, f->seen[f->change[i].count]));
}

static int by_order(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    return BASE_ORDER(x->in, y->in) ?: BASE_ORDER(x->order, y->order);
}

/* Whatever their times are. */
static int by_host(const void *a, const void *b)
{
    const struct due *x = a, *y = b;

    return BASE_ORDER(x->host, y->host) ?: BASE_ORDER(x->message, y->message) ?: BASE_ORDER(x->source, y->source) ?:
           BASE_ORDER(x->order, y->order);
}

/* The heap in order; of ranks that are left as they are (`since`: unchanged since that state) nothing. */
static uint32_t list_due(struct replay_machine *m, struct due *due, const struct state *since)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->heap_count; i++) {
        const struct replay_event *e = &m->heap[i];
        if (since && since->part[e->host].version == m->host[e->host].version)
            continue;
        due[n] = (struct due){
            .in = e->time - m->now, .order = e->order, .host = e->host, .message = e->message != REPLAY_NONE
        };
        if (e->message != REPLAY_NONE) {
            const struct replay_item *it = &m->item[e->message];
            due[n].source = it->source;
            due[n].tag = it->tag;
            due[n].bytes = it->bytes;
            due[n].request = m->host[it->source].next_request - it->request;
        }
        n++;
    }
    qsort(due, n, sizeof *due, by_order);
    return n;
}

static void save(struct replay_machine *m, struct state *s)
{
    s->words.count = s->turns.count = s->at.count = s->seen.count = 0;
    s->now = m->now;
    s->count = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        const struct replay_host *h = &m->host[r];
        const struct replay_feed *f = &h->feed;
        struct part *p = &s->part[r];
        *p = (struct part){ .words = s->words.count, .turns = s->turns.count, .seen = s->seen.count,
                            .version = h->version, .events = f->events };
        add_host(m, &s->words, r);
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
    s->valid = true;
}

/* --- Comparing --- */

/* `most` gets by how much a clock may differ, and how much one does. */
static bool near(uint64_t a, uint64_t b, struct slack *slack)
{
    uint64_t by = a > b ? a - b : b - a;

    slack->most = by > slack->most ? by : slack->most;
    return by <= slack->allowed;
}

static bool same_host(struct replay_machine *m, const struct state *s, uint32_t r, struct slack *slack)
{
    struct words *w = &m->skip->scratch;
    const struct part *p = &s->part[r];
    uint64_t clock[3];

    if (p->version == m->host[r].version)
        return true;
    read_clocks(m, r, clock);
    for (int i = 0; i < 3; i++)
        if (!near(clock[i], p->clock[i], slack))
            return false;
    w->count = 0;
    add_host(m, w, r);
    return w->count == p->word_count && !memcmp(w->word, s->words.word + p->words, w->count * sizeof *w->word);
}

static bool same_heap(struct replay_machine *m, struct state *s, struct slack *slack)
{
    struct replay_skip *skip = m->skip;

    base_must(base_array_room(&skip->due, &skip->due_room, m->heap_count, sizeof *skip->due));
    uint32_t n = list_due(m, skip->due, s), k = 0;
    if (slack->allowed) {
        qsort(skip->due, n, sizeof *skip->due, by_host);
        qsort(s->due, s->due_count, sizeof *s->due, by_host);
    }
    for (uint32_t i = 0; i < s->due_count; i++) {
        const struct due *was = &s->due[i], *is = &skip->due[k];
        if (s->part[was->host].version == m->host[was->host].version)
            continue;
        if (k == n || !near((uint64_t)was->in, (uint64_t)is->in, slack) || was->host != is->host ||
            was->source != is->source || was->tag != is->tag || was->message != is->message ||
            was->bytes != is->bytes || was->request != is->request)
            return false;
        k++;
    }
    return k == n;
}

/* The depth of the outermost loop of which the rank has made turns since, in the same execution; else how many frames
   there are. */
static uint32_t turned_loop(const struct replay_machine *m, const struct state *s, uint32_t r)
{
    const struct replay_feed *f = &m->host[r].feed;
    const struct part *p = &s->part[r];
    uint32_t saved = (uint32_t)(s->words.word[p->words] >> 32), d = 0;

    while (d < f->depth && d < saved && s->words.word[p->words + 1 + d] == f->frame[d].node &&
           s->turns.word[p->turns + d] == f->frame[d].turn)
        d++;
    return d < saved && d < f->depth && s->words.word[p->words + 1 + d] == f->frame[d].node ? d : f->depth;
}

/* Whether the rank's turns take as long as the pace-keeper's, which has made s->count of them. */
static bool same_rate(const struct replay_machine *m, const struct state *s, uint32_t r, struct slack *slack)
{
    const struct replay_feed *f = &m->host[r].feed;
    uint32_t d;

    if (m->host[r].version == s->part[r].version)
        return true;
    if (f->ended || (d = turned_loop(m, s, r)) == f->depth)
        return false;
    uint64_t turns = f->frame[d].turn - s->turns.word[s->part[r].turns + d];
    int64_t began = (int64_t)s->at.word[s->part[r].turns + d];
    if (turns + 1 < s->count || turns > s->count + 1 || f->frame[d].turn < turns || !began)
        return false;
    if (f->seen && turns != s->count) /* what it does by turns would no longer be those turns' */
        return false;
    double took = (double)(f->frame[d].at - began) * (double)s->count / (double)turns;
    return near((uint64_t)took, (uint64_t)(m->now - s->now), slack);
}

/* How many periods the turns of a rank allow; 0 where turns of more than one loop differ. */
static uint64_t periods_of(const struct replay_machine *m, const struct state *s, uint32_t r)
{
    const struct replay_feed *f = &m->host[r].feed;
    uint64_t most = UINT64_MAX;

    if (s->rough) {
        uint32_t loop = turned_loop(m, s, r);
        return (replay_feed_turns(f, loop) - 1 - f->frame[loop].turn) / s->count;
    }
    for (uint32_t d = 0; d < f->depth; d++) {
        uint64_t was = s->turns.word[s->part[r].turns + d], is = f->frame[d].turn;
        if (was == is)
            continue;
        if (most != UINT64_MAX || is < was)
            return 0;
        most = (replay_feed_turns(f, d) - 1 - is) / (is - was);
    }
    return most;
}

/* How many periods can be skipped, when all of the state is the same; 0: none. */
static uint64_t periods(struct replay_machine *m, const struct state *s)
{
    uint64_t most = UINT64_MAX;
    int64_t period = m->now - s->now;

    for (uint32_t r = 0; r < m->ranks && most; r++) {
        if (m->host[r].version == s->part[r].version)
            continue;
        uint64_t n = m->host[r].feed.ended ? UINT64_MAX : periods_of(m, s, r);
        most = n < most ? n : most;
    }
    for (uint32_t i = 0; i < m->heap_count && period > 0; i++) {
        const struct replay_event *e = &m->heap[i];
        uint64_t n = e->time > m->now ? (uint64_t)((e->time - m->now - 1) / period) : 0;
        if (m->host[e->host].version == s->part[e->host].version && n < most)
            most = n;
    }
    return most == UINT64_MAX ? 0 : most;
}

/* Equal, or equal but for clocks, when exact periods were looked for long enough. */
static bool same(struct replay_machine *m, struct state *s, struct slack *slack)
{
    uint64_t exact = m->how->exact_steps;

    *slack = (struct slack){ 0 };
    s->rough = exact && m->result->walked > ROUGH_STEPS * exact && s->count >= ROUGH_TURNS;
    if (exact && m->result->walked > exact)
        slack->allowed = (uint64_t)((s->rough ? ROUGH : ALLOWED) * (double)(m->now - s->now));
    for (uint32_t r = 0; r < m->ranks; r++)
        if (s->rough ? !same_rate(m, s, r, slack) : !same_host(m, s, r, slack))
            return false;
    return s->rough || same_heap(m, s, slack);
}

/* --- Skipping --- */

static void advance_host(struct replay_machine *m, const struct state *s, uint32_t r, uint64_t n)
{
    struct replay_host *h = &m->host[r];
    struct replay_feed *f = &h->feed;
    int64_t by = (int64_t)n * (m->now - s->now);
    uint64_t events = n * (f->events - s->part[r].events);

    if (h->ended || h->version == s->part[r].version)
        return;
    h->cpu += by;
    h->since += by;
    h->in += by;
    h->out += by;
    if (s->rough)
        f->frame[turned_loop(m, s, r)].turn += n * s->count;
    for (uint32_t d = 0; d < f->depth && !s->rough; d++)
        f->frame[d].turn += n * (f->frame[d].turn - s->turns.word[s->part[r].turns + d]);
    for (uint32_t d = 0; d < f->depth; d++)
        f->frame[d].at += by;
    for (uint32_t i = 0; i < h->open_count; i++)
        h->open[i].event += events;
    f->events += events;
    for (uint32_t i = 0; i < f->changes; i++) {
        uint64_t *seen = &f->seen[f->change[i].count];
        *seen += n * (*seen - s->seen.word[s->part[r].seen + i]);
    }
}

/* All that is not left as it is moves by the same time, so the heap stays a heap: what stays is later than all that
   moves. */
static void skip(struct replay_machine *m, struct state *s, uint32_t slot, uint64_t n)
{
    int64_t by = (int64_t)n * (m->now - s->now);

    for (uint32_t i = 0; i < m->heap_count; i++)
        if (m->host[m->heap[i].host].version != s->part[m->heap[i].host].version)
            m->heap[i].time += by;
    if (m->blame)
        replay_blame_skip(m->blame, slot, n);
    for (uint32_t r = 0; r < m->ranks; r++)
        advance_host(m, s, r, n);
    m->now += by;
    m->result->skips++;
    /* The heap's order among what moved is as before; what stayed may be anywhere. */
    uint32_t count = m->heap_count;
    m->heap_count = 0;
    for (uint32_t i = 0; i < count; i++)
        replay_push(m, m->heap[i]);
}

/* --- Turns --- */

/* Whether the state was saved within the execution of the loop that the pace-keeper is in. */
static bool same_loop(const struct replay_machine *m, const struct state *s, uint32_t host, uint32_t depth)
{
    const struct replay_feed *f = &m->host[host].feed;
    const struct part *p = &s->part[host];

    for (uint32_t d = 0; d < depth; d++)
        if (s->words.word[p->words + 1 + d] != f->frame[d].node ||
            (d + 1 < depth && s->turns.word[p->turns + d] != f->frame[d].turn))
            return false;
    return (s->words.word[p->words] >> 32) >= depth;
}

static void begin(struct replay_machine *m, struct state *s)
{
    s->armed = false;
    s->power = 1;
    save(m, s);
}

static void compare(struct replay_machine *m, struct state *s, uint32_t slot)
{
    struct slack slack;
    uint64_t n;

    s->count++;
    if (same(m, s, &slack) && (n = periods(m, s)) > 0) {
        double off = (double)slack.most / (double)(m->now - s->now + 1);
        if (s->armed) {
            m->result->off = off > m->result->off ? off : m->result->off;
            skip(m, s, slot, n);
            s->valid = false;
            m->skip->takes_over = TAKES_OVER;
            return;
        }
        s->armed = true;
        s->power = s->count;
        if (m->blame)
            replay_blame_arm(m->blame, slot);
        save(m, s);
    } else if (s->count >= s->power) {
        uint64_t power = s->armed && !slack.allowed ? 1 : 2 * s->power;
        begin(m, s);
        s->power = power;
    }
}

/* Whether states are compared at this turn of the host: it keeps the pace, or takes over. Until turns are skipped that
   takes twice as many turns each time: ranks whose loops turn at different rates do not take over for ever. */
static bool keeps_pace(struct replay_machine *m, uint32_t host)
{
    struct replay_skip *s = m->skip;
    struct lead *l = &s->lead[host];

    if (host == m->pace) {
        s->pace_turns++;
        return true;
    }
    if (l->since != s->pace_turns)
        *l = (struct lead){ .since = s->pace_turns };
    if (++l->turns < s->takes_over)
        return false;
    if (s->takes_over < UINT32_MAX / 2)
        s->takes_over *= 2;
    m->pace = host;
    s->pace_turns++;
    for (int i = 0; i < SLOTS; i++)
        s->slot[i].valid = false;
    return true;
}

void replay_skip_turn(struct replay_machine *m, uint32_t host, uint32_t depth)
{
    uint32_t slot = (depth - 1) % SLOTS;
    struct state *s = &m->skip->slot[slot];

    if (!keeps_pace(m, host))
        return;
    if (!s->valid || !same_loop(m, s, host, depth))
        begin(m, s);
    else
        compare(m, s, slot);
}
