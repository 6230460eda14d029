/* SPDX-License-Identifier: MIT */
/* The run's own past: entering events into their contexts, following matches, voting. */
#include "oracle/past.h"

#include "grammar/flat.h"

enum {
    CATCH_UP = 64,   /* events entered at most in one call */
    MATCHING = 3,    /* the orders from here on find matches … */
    CANDIDATES = 4,  /* … among so many places */
    FEW = 2,         /* matches: more are looked for */
    OFTEN = 8,       /* events after which more are looked for, too */
    VERIFIED = 32,   /* events compared at most when a match is found */
    LONGEST = 1024,  /* events; a longer match is worth no more */
    GAPS_SHARE = 16, /* part of the memory, beside the rest, that typical gaps have */
    TURNOVER = 8,    /* a place is taken with at least 1 / this */
    LENGTHS = 16,    /* matches: 1, 2-3, 4-7, … */
    AGREED = 8, KNOWN = 4 /* a context's places: how many of them agree; 1, 2-3, 4-7, 8 and more */
};

static const uint32_t order[ORACLE_ORDERS] = { 1, 2, 4, 6, 8, 16, 32 };
static const int gap_order[ORACLE_GAP_ORDERS] = { 5, 3, 1 };
static const uint64_t base = 0x9e3779b97f4a7c15u;

/* --- Life --- */

/* The most slots, a power of two, that fit. */
static uint64_t fitting(size_t memory, size_t slot)
{
    uint64_t slots = 1;

    while (2 * slots * slot <= memory)
        slots *= 2;
    return slots;
}

static int create_parts(struct oracle_past *l, struct base_arena *room, size_t memory, uint64_t fixed)
{
    const size_t event = sizeof *l->history.symbol + sizeof *l->history.time;
    uint64_t contexts = fitting(memory / 2, sizeof *l->context), size = fitting(memory / 4, event);

    l->mask = contexts - 1;
    l->context = base_arena_take(room, contexts * sizeof *l->context);
    if (!l->context || oracle_history_create(&l->history, room, fixed < size ? fixed : size, size))
        return -1;
    for (int i = 0; i < ORACLE_GAP_ORDERS; i++) {
        uint64_t slots = fitting(memory / GAPS_SHARE / ORACLE_GAP_ORDERS, sizeof *l->gap[i].slot);
        l->gap[i] = (struct oracle_gap_contexts){ base_arena_take(room, slots * sizeof *l->gap[i].slot), slots - 1 };
        if (!l->gap[i].slot)
            return -1;
    }
    return 0;
}

size_t oracle_past_room(size_t memory)
{
    enum { PIECES = 4 + ORACLE_GAP_ORDERS, ALIGNED = 64 }; /* what is taken for an oracle is aligned */
    memory = memory < ORACLE_PAST_MEMORY_MIN ? ORACLE_PAST_MEMORY_MIN : memory;
    return memory + memory / GAPS_SHARE + sizeof(struct oracle_past) + PIECES * ALIGNED;
}

struct oracle_past *oracle_past_create(struct base_arena *room, size_t memory, uint64_t fixed)
{
    struct oracle_past *l = base_arena_take(room, sizeof *l);

    if (!l)
        return NULL;
    for (int k = 0; k < ORACLE_ORDERS; k++) {
        l->power[k] = 1;
        for (uint32_t i = 0; i < order[k]; i++)
            l->power[k] *= base;
    }
    memory = memory < ORACLE_PAST_MEMORY_MIN ? ORACLE_PAST_MEMORY_MIN : memory;
    return create_parts(l, room, memory, fixed) ? NULL : l;
}

/* --- Contexts --- */

static uint64_t spread(uint64_t hash)
{
    hash = (hash ^ hash >> 29) * base;
    return hash ^ hash >> 32;
}

static void roll(const struct oracle_past *l, struct oracle_rolling *c)
{
    uint64_t at = c->next++, symbol = (uint64_t)oracle_history_symbol(&l->history, at) + 1;

    for (int k = 0; k < ORACLE_ORDERS; k++) {
        uint64_t gone = at >= c->since + order[k] ? (uint64_t)oracle_history_symbol(&l->history, at - order[k]) + 1 : 0;
        c->hash[k] = c->hash[k] * base + symbol - gone * l->power[k];
    }
}

/* Where a context of order number `k` is, if it is known, and its tag. */
static struct oracle_context *slot_of(const struct oracle_past *l, const struct oracle_rolling *c, int k, uint32_t *tag)
{
    uint64_t hash = spread(c->hash[k] + (uint64_t)k);

    *tag = (uint32_t)(hash >> 32);
    return &l->context[hash & l->mask];
}

static const struct oracle_context *find_context(const struct oracle_past *l, int k)
{
    uint32_t tag;
    const struct oracle_context *c = slot_of(l, &l->here, k, &tag);

    return c->tag == tag && c->seen > 0 ? c : NULL;
}

static void add_place(struct oracle_past *l, struct oracle_context *c, uint32_t tag, uint32_t name)
{
    if (c->tag != tag || c->seen == 0) {
        if (c->seen > 1) { /* the rarer of two that collide gives way */
            c->seen -= c->seen < 64 ? 1 : c->seen / 64;
            return;
        }
        *c = (struct oracle_context){ .tag = tag };
    }
    c->seen += c->seen < UINT32_MAX;
    const uint32_t room = ORACLE_CONTEXT_PLACES, most = TURNOVER * room;
    uint32_t which = c->seen <= room ? c->seen - 1 : oracle_random_below(&l->random, c->seen < most ? c->seen : most);
    if (which < room)
        c->at[which] = name;
}

/* Enters the next event into its contexts. */
static void past_enter(struct oracle_past *l, struct oracle_rolling *c)
{
    uint32_t name = oracle_history_name(c->next), tag;

    roll(l, c);
    for (int k = 0; k < ORACLE_ORDERS; k++) {
        struct oracle_context *slot = slot_of(l, c, k, &tag);
        add_place(l, slot, tag, name);
    }
}

/* --- Gaps --- */

/* Of `terminal` after a context. */
static uint64_t gap_hash(const struct oracle_rolling *c, int which, uint32_t terminal)
{
    return spread(c->hash[gap_order[which]] * base + terminal);
}

/* The gap before the next event to be entered. */
static void learn_gap(struct oracle_past *l)
{
    const struct oracle_history *t = &l->history;
    uint64_t at = l->index.next;

    if (at == l->index.since)
        return;
    const struct oracle_history_time *e = oracle_history_time(t, at);
    uint64_t gap = e->end - e->duration - oracle_history_time(t, at - 1)->end;
    for (int i = 0; i < ORACLE_GAP_ORDERS; i++)
        oracle_gap_context_learn(&l->gap[i], gap_hash(&l->index, i, oracle_history_symbol(t, at)), gap);
}

struct oracle_gap_answer oracle_past_gap(const struct oracle_past *l, uint32_t terminal)
{
    struct oracle_gap_answer answer = { .gap = -1 };

    for (int i = 0; i < ORACLE_GAP_ORDERS; i++)
        oracle_gap_context_ask(&l->gap[i], gap_hash(&l->here, i, terminal), &answer);
    return answer;
}

/* --- References --- */

static struct oracle_rolling rolling_from(uint64_t place)
{
    return (struct oracle_rolling){ .next = place, .since = place };
}

void oracle_past_preload(struct oracle_past *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    if (oracle_history_origin(&l->history, l->history.preloaded)->place == l->history.preloaded)
        l->planned = rolling_from(l->history.preloaded);
    oracle_history_preload(&l->history, terminal, gap, duration);
    past_enter(l, &l->planned);
}

void oracle_past_start(struct oracle_past *l)
{
    oracle_history_seal(&l->history);
    l->index = l->here = rolling_from(l->history.count);
}

/* --- Matches --- */

/* How many of the last events are also those up to `at`. */
static uint64_t common(const struct oracle_past *l, uint64_t at)
{
    const struct oracle_history *t = &l->history;
    uint64_t last = t->count - 1, length = 0, most = at - oracle_history_first(t, at) + 1, own = last - t->fixed + 1;

    most = most < VERIFIED ? most : VERIFIED;
    most = most < own ? most : own;
    while (length < most && oracle_history_symbol(t, at - length) == oracle_history_symbol(t, last - length))
        length++;
    return length;
}

static void add_match(struct oracle_past *l, uint64_t at)
{
    uint32_t worst = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        if (l->match[i].at == at)
            return;
        if (l->match[i].length < l->match[worst].length)
            worst = i;
    }
    struct oracle_match m = { at, common(l, at) };
    if (m.length == 0)
        return;
    if (l->matches < ORACLE_MATCHES)
        l->match[l->matches++] = m;
    else if (m.length >= l->match[worst].length)
        l->match[worst] = m;
}

/* Places of the longest contexts that are known become matches. */
static void find_matches(struct oracle_past *l)
{
    int left = CANDIDATES;

    for (int k = ORACLE_ORDERS - 1; k >= MATCHING && left > 0; k--) {
        const struct oracle_context *c = find_context(l, k);
        for (uint32_t i = 0; c && i < ORACLE_CONTEXT_PLACES && i < c->seen && left > 0; i++) {
            uint64_t at;
            if (!oracle_history_find(&l->history, c->at[i], &at) || at + 1 >= l->history.count)
                continue;
            add_match(l, at);
            left--;
        }
    }
}

/* Whether what follows the match is what happened in the last `new` events; the last VERIFIED of them are compared. */
static bool goes_on(const struct oracle_past *l, const struct oracle_match *m, uint64_t new)
{
    const struct oracle_history *t = &l->history;
    uint64_t compared = new < VERIFIED ? new : VERIFIED;

    if (m->at < t->fixed ? !oracle_history_reaches(t, m->at, new) : m->at + new <= oracle_history_oldest(t) + VERIFIED)
        return false;
    for (uint64_t i = 0; i < compared; i++) {
        uint32_t symbol = oracle_history_symbol(t, t->count - 1 - i);
        if (symbol == GRAMMAR_NONE || symbol != oracle_history_symbol(t, m->at + new - i))
            return false;
    }
    return true;
}

/* True: all of them. */
static bool go_on(struct oracle_past *l, uint64_t new)
{
    uint32_t kept = 0, before = l->matches;

    for (uint32_t i = 0; i < l->matches; i++) {
        struct oracle_match m = l->match[i];
        if (goes_on(l, &m, new))
            l->match[kept++] = (struct oracle_match){ m.at + new, m.length + new };
    }
    l->matches = kept;
    return kept == before;
}

/* The hashes of the present. */
static void come_here(struct oracle_past *l)
{
    const uint64_t longest = order[ORACLE_ORDERS - 1];
    uint64_t count = l->history.count, oldest = oracle_history_oldest(&l->history);

    if (count - l->here.next > longest)
        l->here = rolling_from(count - oldest < longest ? oldest : count - longest);
    while (l->here.next < count)
        roll(l, &l->here);
}

void oracle_past_follow(struct oracle_past *l)
{
    uint64_t count = l->history.count, new = count - l->here.next;
    bool held = go_on(l, new);

    come_here(l);
    if (!held || l->matches < FEW || count % OFTEN == 0)
        find_matches(l);
    if (count - l->index.next > l->history.size / 2)
        l->index = rolling_from(count - l->history.size / 2);
    for (int i = 0; i < CATCH_UP && l->index.next < count; i++) {
        learn_gap(l);
        past_enter(l, &l->index);
    }
}

/* --- Votes --- */

/* The event that a match says is `distance` ahead, and the whole turns of its loop before that. False: a reference's
   part ends before. */
static bool place(const struct oracle_past *l, const struct oracle_match *m, uint64_t distance, uint64_t *turns,
                  uint64_t *at)
{
    uint64_t period = l->history.count - 1 - m->at;

    *turns = 0;
    *at = m->at + distance;
    if (m->at < l->history.fixed)
        return oracle_history_reaches(&l->history, m->at, distance);
    *turns = (distance - 1) / period;
    *at = m->at + 1 + (distance - 1) % period;
    return true;
}

/* The turns of one loop all say the same: a past that reaches into its own future is as long as its period. */
static uint64_t own_length(const struct oracle_past *l, const struct oracle_match *m)
{
    uint64_t period = l->history.count - 1 - m->at;

    return m->length < period ? m->length : period;
}

struct ballot { uint32_t terminal; double weight; const struct oracle_match *best; };

/* The terminal that most matches say, long ones more than several short ones; its share of all. The best of them is
   NULL where none reaches so far. */
static struct ballot elect_match(const struct oracle_past *l, uint64_t distance, double *share)
{
    struct ballot ballot[ORACLE_MATCHES] = { { 0, 0, NULL } };
    uint32_t count = 0, first = 0;
    uint64_t turns, at;
    double all = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_match *m = &l->match[i];
        if (!place(l, m, distance, &turns, &at))
            continue;
        uint32_t symbol = oracle_history_symbol(&l->history, at), b = 0;
        double length = (double)(own_length(l, m) < LONGEST ? own_length(l, m) : LONGEST);
        while (b < count && ballot[b].terminal != symbol)
            b++;
        if (b == count)
            ballot[count++] = (struct ballot){ symbol, 0, m };
        ballot[b].weight += length * length;
        all += length * length;
        if (own_length(l, m) > own_length(l, ballot[b].best))
            ballot[b].best = m;
    }
    for (uint32_t b = 1; b < count; b++)
        if (ballot[b].weight > ballot[first].weight)
            first = b;
    *share = all > 0 ? ballot[first].weight / all : 0;
    return ballot[first];
}

static struct oracle_vote vote_matches(const struct oracle_past *l, uint64_t distance)
{
    double share;
    const struct ballot b = elect_match(l, distance, &share);

    if (!b.best)
        return (struct oracle_vote){ GRAMMAR_NONE, 0 };
    uint32_t length = oracle_log_class(own_length(l, b.best), LENGTHS);
    return (struct oracle_vote){ b.terminal, length * ORACLE_SHARES + oracle_share_class(share) };
}

/* What follows the places of a context, and how many are known. */
static uint32_t read_places(const struct oracle_past *l, const struct oracle_context *c, uint64_t distance,
                            uint64_t *at, uint32_t *symbol)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < ORACLE_CONTEXT_PLACES && i < c->seen; i++)
        known += oracle_history_ahead(&l->history, c->at[i], distance, &at[known], &symbol[known]);
    return known;
}

/* What most places of a context say. */
static struct oracle_vote vote_context(const struct oracle_past *l, int k, uint64_t distance)
{
    const struct oracle_context *c = find_context(l, k);
    uint64_t at[ORACLE_CONTEXT_PLACES];
    uint32_t symbol[ORACLE_CONTEXT_PLACES], known = c ? read_places(l, c, distance, at, symbol) : 0, most = 0, best = 0;

    for (uint32_t i = 0; i < known && most < known - i; i++) {
        uint32_t agreed = 0;
        for (uint32_t j = i; j < known; j++)
            agreed += symbol[j] == symbol[i];
        if (agreed > most) {
            most = agreed;
            best = i;
        }
    }
    if (known == 0)
        return (struct oracle_vote){ GRAMMAR_NONE, 0 };
    return (struct oracle_vote){ symbol[best],
                                 most * (AGREED - 1) / known * KNOWN + oracle_log_class(known, KNOWN + 1) - 1 };
}

struct oracle_vote oracle_past_vote(const struct oracle_past *l, int voter, uint64_t distance)
{
    return voter == 0 ? vote_matches(l, distance) : vote_context(l, voter - 1, distance);
}

double oracle_past_prior(int voter, uint32_t state)
{
    if (voter == 0) {
        uint32_t length = state / ORACLE_SHARES;
        return 0.25 * (1 + state % ORACLE_SHARES) * (length < 7 ? 0.3 + 0.08 * length : 0.93);
    }
    double known = 1.5 * (1u << state % KNOWN), share = (state / KNOWN + 0.5) / AGREED;
    return (share * known + 0.2) / (known + 0.8);
}

static struct oracle_past_time time_of_match(const struct oracle_past *l, uint64_t distance)
{
    const struct oracle_history *t = &l->history;
    double share;
    const struct oracle_match *m = elect_match(l, distance, &share).best;
    uint64_t turns, at, from = oracle_history_time(t, m->at)->end;

    place(l, m, distance, &turns, &at);
    const struct oracle_history_time *e = oracle_history_time(t, at);
    return (struct oracle_past_time){ (double)turns * (double)(t->clock - from) + (double)(e->end - e->duration - from),
                                      (double)e->duration, m->at < t->fixed };
}

static struct oracle_past_time time_of_context(const struct oracle_past *l, int k, uint64_t distance, uint32_t terminal)
{
    struct oracle_past_time sum = { 0, 0, false };
    uint64_t at[ORACLE_CONTEXT_PLACES];
    uint32_t symbol[ORACLE_CONTEXT_PLACES], agreed = 0;
    uint32_t known = read_places(l, find_context(l, k), distance, at, symbol);

    for (uint32_t i = 0; i < known; i++) {
        if (symbol[i] != terminal)
            continue;
        const struct oracle_history_time *then = oracle_history_time(&l->history, at[i] + distance);
        sum.until += (double)(then->end - then->duration - oracle_history_time(&l->history, at[i])->end);
        sum.duration += (double)then->duration;
        sum.fixed = at[i] < l->history.fixed;
        agreed++;
    }
    return (struct oracle_past_time){ sum.until / agreed, sum.duration / agreed, sum.fixed };
}

struct oracle_past_time oracle_past_time(const struct oracle_past *l, int voter, uint64_t distance, uint32_t terminal)
{
    return voter == 0 ? time_of_match(l, distance) : time_of_context(l, voter - 1, distance, terminal);
}

const struct oracle_match *oracle_past_in_reference(const struct oracle_past *l, uint64_t length)
{
    const struct oracle_match *best = NULL;

    for (uint32_t i = 0; i < l->matches; i++)
        if (l->match[i].at < l->history.fixed && l->match[i].length >= (best ? best->length : length))
            best = &l->match[i];
    return best;
}
