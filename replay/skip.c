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
 * Of turns only those of one loop of each rank may differ (state.h): how far they advance in a period and how many are
 * left says how many periods can be skipped. A rank that has done nothing since is left as it is, until its next event.
 * Nothing is saved where the loop ends before a state could have been met twice.
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

#include "replay/state.h"

enum { SLOTS = REPLAY_BLAME_SLOTS, TAKES_OVER = 4 /* turns */ };
#define ALLOWED 1e-3 /* of a period: by how much clocks may differ where no period is exact */
#define ROUGH 2e-2   /* of some turns: by how much ranks may differ in how long these take */
enum { ROUGH_TURNS = 4, ROUGH_STEPS = 2 };

/* A state that is waited for. */
struct slot {
    bool valid, armed;
    bool rough;             /* turns were compared, not states */
    uint64_t power, count;  /* turns until the next state is saved, and since this one was */
    uint64_t unmatched;     /* operations, until then */
    struct replay_state state;
};

/* The turns of a rank since the pace-keeper's last one, which was its turn number `since`. */
struct lead { uint64_t since; uint32_t turns; };

struct replay_skip {
    struct slot slot[SLOTS];
    struct lead *lead;      /* of each rank */
    uint64_t pace_turns;    /* that the pace-keepers have made */
    uint32_t takes_over;    /* turns: a rank that makes as many between two of these keeps the pace */
};

struct replay_skip *replay_skip_create(uint32_t ranks)
{
    struct replay_skip *s = calloc(1, sizeof *s);

    for (int i = 0; i < SLOTS; i++)
        replay_state_create(&s->slot[i].state, ranks);
    s->takes_over = TAKES_OVER;
    s->lead = calloc(ranks ? ranks : 1, sizeof *s->lead);
    return s;
}

void replay_skip_destroy(struct replay_skip *s)
{
    if (!s)
        return;
    for (int i = 0; i < SLOTS; i++)
        replay_state_destroy(&s->slot[i].state);
    free(s->lead);
    free(s);
}

/* --- Comparing --- */

/* The depth of the outermost loop of which the rank has made turns since, in the same execution; else how many frames
   there are. */
static uint32_t turned_loop(const struct replay_machine *m, const struct replay_state *s, uint32_t r)
{
    const struct replay_feed *f = &m->host[r].feed;
    uint32_t saved = replay_state_depth(s, r), d = 0;

    while (d < f->depth && d < saved && replay_state_node(s, r, d) == f->frame[d].node &&
           replay_state_turn(s, r, d) == f->frame[d].turn)
        d++;
    return d < saved && d < f->depth && replay_state_node(s, r, d) == f->frame[d].node ? d : f->depth;
}

/* Whether the rank's turns take as long as the pace-keeper's, which has made `made` of them. */
static bool same_rate(const struct replay_machine *m, const struct replay_state *s, uint64_t made, uint32_t r,
                      struct replay_slack *slack)
{
    const struct replay_feed *f = &m->host[r].feed;
    uint32_t d;

    if (replay_state_still(m, s, r))
        return true;
    if (f->ended || (d = turned_loop(m, s, r)) == f->depth)
        return false;
    uint64_t turns = f->frame[d].turn - replay_state_turn(s, r, d);
    int64_t began = (int64_t)s->at.word[s->part[r].turns + d];
    if (turns + 1 < made || turns > made + 1 || f->frame[d].turn < turns || !began)
        return false;
    if (f->seen && turns != made) /* what it does by turns would no longer be those turns' */
        return false;
    double took = (double)(f->frame[d].at - began) * (double)made / (double)turns;
    return replay_state_near((uint64_t)took, (uint64_t)(m->now - s->now), slack);
}

/* How many periods the turns of a rank allow; 0 where turns of more than one loop differ. */
static uint64_t periods_of(const struct replay_machine *m, const struct slot *slot, uint32_t r)
{
    const struct replay_state *s = &slot->state;
    const struct replay_feed *f = &m->host[r].feed;
    uint64_t most = UINT64_MAX;

    if (slot->rough) {
        uint32_t loop = turned_loop(m, s, r);
        return (replay_feed_turns(f, loop) - 1 - f->frame[loop].turn) / slot->count;
    }
    for (uint32_t d = 0; d < f->depth; d++) {
        uint64_t was = replay_state_turn(s, r, d), is = f->frame[d].turn;
        if (was == is)
            continue;
        if (most != UINT64_MAX || is < was)
            return 0;
        most = (replay_feed_turns(f, d) - 1 - is) / (is - was);
    }
    return most;
}

/* How many periods can be skipped, when all of the state is the same; 0: none. */
static uint64_t periods(const struct replay_machine *m, const struct slot *slot)
{
    const struct replay_state *s = &slot->state;
    int64_t period = m->now - s->now;
    uint64_t most = UINT64_MAX, fits = UINT64_MAX;

    if (period > 0)
        fits = m->now < REPLAY_LATEST ? (uint64_t)((REPLAY_LATEST - m->now) / period) : 0;
    for (uint32_t r = 0; r < m->ranks && most; r++) {
        if (replay_state_still(m, s, r))
            continue;
        uint64_t n = m->host[r].feed.ended ? UINT64_MAX : periods_of(m, slot, r);
        most = n < most ? n : most;
    }
    for (uint32_t i = 0; i < m->heap_count && period > 0; i++) {
        const struct replay_event *e = &m->heap[i];
        uint64_t n = e->time > m->now ? (uint64_t)((e->time - m->now - 1) / period) : 0;
        if (replay_state_still(m, s, e->host) && n < most)
            most = n;
    }
    return most == UINT64_MAX ? 0 : most < fits ? most : fits;
}

/* Equal, or equal but for clocks, when exact periods were looked for long enough. */
static bool same(struct replay_machine *m, struct slot *slot, struct replay_slack *slack)
{
    struct replay_state *s = &slot->state;
    uint64_t exact = m->how->exact_steps;

    *slack = (struct replay_slack){ 0 };
    slot->rough = exact && m->result->walked > ROUGH_STEPS * exact && slot->count >= ROUGH_TURNS;
    if (exact && m->result->walked > exact)
        slack->allowed = (uint64_t)((slot->rough ? ROUGH : ALLOWED) * (double)(m->now - s->now));
    if (!slot->rough)
        return replay_state_same(m, s, slack);
    for (uint32_t r = 0; r < m->ranks; r++)
        if (!same_rate(m, s, slot->count, r, slack))
            return false;
    return true;
}

/* --- Skipping --- */

static void advance_host(struct replay_machine *m, const struct slot *slot, uint32_t r, uint64_t n)
{
    const struct replay_state *s = &slot->state;
    struct replay_host *h = &m->host[r];
    struct replay_feed *f = &h->feed;
    int64_t by = (int64_t)n * (m->now - s->now);
    uint64_t events = n * (f->events - s->part[r].events);

    if (h->ended || replay_state_still(m, s, r))
        return;
    h->cpu += by;
    h->since += by;
    h->in += by;
    h->out += by;
    if (slot->rough)
        f->frame[turned_loop(m, s, r)].turn += n * slot->count;
    for (uint32_t d = 0; d < f->depth && !slot->rough; d++)
        f->frame[d].turn += n * (f->frame[d].turn - replay_state_turn(s, r, d));
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
static void skip(struct replay_machine *m, const struct slot *slot, uint64_t n)
{
    const struct replay_state *s = &slot->state;
    int64_t by = (int64_t)n * (m->now - s->now);

    for (uint32_t i = 0; i < m->heap_count; i++)
        if (!replay_state_still(m, s, m->heap[i].host))
            m->heap[i].time += by;
    if (m->blame)
        replay_blame_skip(m->blame, (uint32_t)(slot - m->skip->slot), n);
    for (uint32_t r = 0; r < m->ranks; r++)
        advance_host(m, slot, r, n);
    m->now += by;
    m->result->unmatched += n * (m->result->unmatched - slot->unmatched);
    m->result->skips++;
    /* The heap's order among what moved is as before; what stayed may be anywhere. */
    uint32_t count = m->heap_count;
    m->heap_count = 0;
    for (uint32_t i = 0; i < count; i++)
        replay_push(m, m->heap[i]);
}

/* --- Turns --- */

/* Whether the state was saved within the execution of the loop that the pace-keeper is in. */
static bool same_loop(const struct replay_machine *m, const struct replay_state *s, uint32_t host, uint32_t depth)
{
    const struct replay_feed *f = &m->host[host].feed;

    for (uint32_t d = 0; d < depth; d++)
        if (replay_state_node(s, host, d) != f->frame[d].node ||
            (d + 1 < depth && replay_state_turn(s, host, d) != f->frame[d].turn))
            return false;
    return replay_state_depth(s, host) >= depth;
}

/* Saves the state, to be met after `power` turns at the latest, unless its loop has too few of them left: `left` after
   the present one. */
static void begin(struct replay_machine *m, struct slot *s, uint64_t power, bool armed, uint64_t left)
{
    const uint64_t least = armed ? 2 : 3; /* turns: met, met again while not armed, and one that is skipped */

    s->valid = left >= least;
    s->armed = armed;
    s->power = power;
    s->count = 0;
    s->unmatched = m->result->unmatched;
    if (s->valid)
        replay_state_save(m, &s->state);
}

static void compare(struct replay_machine *m, struct slot *s, uint64_t left)
{
    struct replay_slack slack;
    uint64_t n;

    s->count++;
    if (same(m, s, &slack) && (n = periods(m, s)) > 0) {
        double off = (double)slack.most / (double)(m->now - s->state.now + 1);
        if (s->armed) {
            m->result->off = off > m->result->off ? off : m->result->off;
            skip(m, s, n);
            s->valid = false;
            m->skip->takes_over = TAKES_OVER;
            return;
        }
        if (m->blame)
            replay_blame_arm(m->blame, (uint32_t)(s - m->skip->slot));
        begin(m, s, s->count, true, left);
    } else if (s->count >= s->power) {
        begin(m, s, s->armed && !slack.allowed ? 1 : 2 * s->power, false, left);
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

/* Loops of as many levels are looked at as there is memory for. */
static uint32_t slots_of(const struct replay_machine *m)
{
    static const size_t most = (size_t)1 << 28;
    size_t bytes = m->blame ? replay_blame_armed_bytes(m->blame) : 0;

    return bytes <= most / SLOTS ? SLOTS : bytes < most ? (uint32_t)(most / bytes) : 1;
}

void replay_skip_turn(struct replay_machine *m, uint32_t host, uint32_t depth)
{
    struct slot *s = &m->skip->slot[(depth - 1) % slots_of(m)];
    const struct replay_feed *f = &m->host[host].feed;

    if (!keeps_pace(m, host))
        return;
    uint64_t left = replay_feed_turns(f, depth - 1) - 1 - f->frame[depth - 1].turn;
    if (!s->valid || !same_loop(m, &s->state, host, depth))
        begin(m, s, 1, false, left);
    else
        compare(m, s, left);
}
