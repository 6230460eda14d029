/* SPDX-License-Identifier: MIT */
/* The run's own past: storing and indexing events, following matches, voting. */
#include <stdio.h>

#include "grammar/flat.h"
#include "oracle/history_match.h"
#include "pythia.h"

enum {
    CATCH_UP = 64, /* events indexed at most in one call */
    MATCHING = 3,  /* the first orders find matches; the last ORACLE_MATCH_FREQUENCIES say what usually follows */
    CHAINED = 2,   /* the order whose earlier places are linked */
    CHAIN = 8,     /* how many of them are looked at */
    FEW = 4,       /* matches: more are looked for */
    VERIFIED = 32, /* events compared at most when a match is found */
    VOTES = ORACLE_MATCHES,
    USUAL = ORACLE_MATCH_ORDERS - ORACLE_MATCH_FREQUENCIES,
    GAPS = ORACLE_MATCH_ORDERS - ORACLE_GAP_ORDERS, /* the orders from here on have typical gaps … */
    GAPS_SHARE = 16                                 /* … in this part of the memory, beside the rest */
};

static const uint32_t order[ORACLE_MATCH_ORDERS] = { 32, 12, 6, 2 };
static const uint32_t turnover[ORACLE_MATCH_FREQUENCIES] = { 64, 2 };
static const uint64_t base = 0x9e3779b97f4a7c15u;

/* --- Life --- */

static uint64_t rounded(uint64_t n)
{
    uint64_t power = 1;

    while (power < n)
        power *= 2;
    return power;
}

static int create_table(struct oracle_match_table *t, struct base_arena *room, uint64_t places)
{
    t->mask = rounded(places) - 1;
    t->slot = base_arena_take(room, MATCHING * (t->mask + 1) * sizeof *t->slot);
    return t->slot ? 0 : -1;
}

static int create_gaps(struct oracle_gap_contexts *t, struct base_arena *room, size_t memory)
{
    uint64_t slots = 1;

    while (2 * slots * sizeof *t->slot <= memory)
        slots *= 2;
    t->mask = slots - 1;
    t->slot = base_arena_take(room, slots * sizeof *t->slot);
    return t->slot ? 0 : -1;
}

static int create_parts(struct oracle_matcher *l, struct base_arena *room, size_t memory, uint64_t fixed)
{
    const size_t bytes = sizeof *l->history.symbol + sizeof *l->history.time + sizeof *l->link; /* of an event */
    const size_t frequency = memory / 4, tables = MATCHING * sizeof(uint32_t);
    uint64_t size = 512;

    while (size < (uint64_t)1 << 30) {
        uint64_t more = 2 * size, all = more + (fixed < more ? fixed : more);
        if (all * bytes + (more + rounded(all - more)) * tables + frequency + sizeof *l > memory)
            break;
        size = more;
    }
    fixed = fixed < size ? fixed : size;
    l->link = base_arena_take(room, (size + fixed) * sizeof *l->link);
    if (!l->link || oracle_history_create(&l->history, room, fixed, size) ||
        create_table(&l->preloaded, room, fixed) || create_table(&l->observed, room, size))
        return -1;
    for (int i = 0; i < ORACLE_MATCH_FREQUENCIES; i++)
        if (oracle_frequency_create(&l->frequency[i], room, frequency / ORACLE_MATCH_FREQUENCIES, turnover[i]))
            return -1;
    for (int i = 0; i < ORACLE_GAP_ORDERS; i++)
        if (create_gaps(&l->gap[i], room, memory / GAPS_SHARE / ORACLE_GAP_ORDERS))
            return -1;
    return 0;
}

static size_t at_least(size_t memory)
{
    return memory < ORACLE_MATCH_MEMORY_MIN ? ORACLE_MATCH_MEMORY_MIN : memory;
}

size_t oracle_match_room(size_t memory)
{
    enum { PIECES = 12 + ORACLE_GAP_ORDERS, ALIGNED = 64 }; /* what is taken for an oracle is aligned */
    memory = at_least(memory);
    return memory + memory / GAPS_SHARE + ORACLE_MATCH_FREQUENCIES * ORACLE_FREQUENCY_MIN + PIECES * ALIGNED;
}

struct oracle_matcher *oracle_match_create(struct base_arena *room, size_t memory, uint64_t fixed)
{
    struct oracle_matcher *l = base_arena_take(room, sizeof *l);

    if (!l)
        return NULL;
    for (int k = 0; k < ORACLE_MATCH_ORDERS; k++) {
        l->power[k] = 1;
        for (uint32_t i = 0; i < order[k]; i++)
            l->power[k] *= base;
    }
    return create_parts(l, room, at_least(memory), fixed) ? NULL : l;
}

/* --- Finding matches --- */

/* How many of the last events are also those up to `at`. */
static uint64_t common(const struct oracle_matcher *l, uint64_t at)
{
    const struct oracle_history *t = &l->history;
    uint64_t last = t->count - 1, length = 0, most = at - oracle_history_first(t, at) + 1, own = last - t->fixed + 1;

    most = most < VERIFIED ? most : VERIFIED;
    most = most < own ? most : own;
    while (length < most && oracle_history_symbol(t, at - length) == oracle_history_symbol(t, last - length))
        length++;
    return length;
}

static void add(struct oracle_matcher *l, uint64_t at)
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

/* The last place that had the present context, and up to `most` - 1 before it, as far as there is room. */
static void add_chain(struct oracle_matcher *l, uint32_t name, int most)
{
    uint64_t at, later = l->history.count - 1;

    for (int i = 0; i < most && (i == 0 || l->matches < ORACLE_MATCHES); i++) {
        if (!oracle_history_find(&l->history, name, &at) || at >= later)
            return;
        add(l, at);
        later = at;
        name = l->link[oracle_history_slot(&l->history, at)];
    }
}

static uint64_t spread(uint64_t hash)
{
    hash = (hash ^ hash >> 29) * base;
    return hash ^ hash >> 32;
}

static void roll(const struct oracle_matcher *l, struct oracle_match_context *c)
{
    uint64_t at = c->next++, symbol = (uint64_t)oracle_history_symbol(&l->history, at) + 1;

    for (int k = 0; k < ORACLE_MATCH_ORDERS; k++) {
        uint64_t gone = at >= c->since + order[k] ? (uint64_t)oracle_history_symbol(&l->history, at - order[k]) + 1 : 0;
        c->hash[k] = c->hash[k] * base + symbol - gone * l->power[k];
    }
}

static uint32_t *table_slot(const struct oracle_match_table *t, const struct oracle_match_context *c, int k)
{
    return &t->slot[(uint64_t)k * (t->mask + 1) + (spread(c->hash[k]) & t->mask)];
}

/* Earlier places with the present context become matches. */
static void find(struct oracle_matcher *l, const struct oracle_match_table *t)
{
    uint32_t seen = 0;

    for (int k = 0; k < MATCHING; k++) {
        uint32_t earlier = *table_slot(t, &l->here, k);
        if (k == CHAINED || earlier != seen) /* mostly the longer contexts were there, too */
            add_chain(l, earlier, k == CHAINED ? CHAIN : 1);
        seen = earlier;
    }
}

/* Enters the next context into the tables. */
static void enter(struct oracle_matcher *l, const struct oracle_match_table *t, struct oracle_match_context *c)
{
    uint32_t name = oracle_history_name(c->next);

    roll(l, c);
    for (int k = 0; k < MATCHING; k++) {
        uint32_t *slot = table_slot(t, c, k);
        if (k == CHAINED)
            l->link[oracle_history_slot(&l->history, c->next - 1)] = *slot;
        *slot = name;
    }
    for (int i = 0; i < ORACLE_MATCH_FREQUENCIES; i++)
        oracle_frequency_add(&l->frequency[i], spread(c->hash[USUAL + i]), name);
}

/* --- Gaps --- */

/* Of `terminal` after a context. */
static uint64_t gap_hash(const struct oracle_match_context *c, int which, uint32_t terminal)
{
    return spread(c->hash[GAPS + which] * base + terminal);
}

/* The gap before the next event to be indexed. */
static void learn_gap(struct oracle_matcher *l)
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

struct oracle_gap_answer oracle_match_gap(const struct oracle_matcher *l, uint32_t terminal)
{
    struct oracle_gap_answer answer = { .gap = -1 };

    for (int i = 0; i < ORACLE_GAP_ORDERS; i++)
        oracle_gap_context_ask(&l->gap[i], gap_hash(&l->here, i, terminal), &answer);
    return answer;
}

/* --- References --- */

static struct oracle_match_context context_from(uint64_t place)
{
    return (struct oracle_match_context){ .next = place, .since = place };
}

void oracle_match_preload(struct oracle_matcher *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    if (oracle_history_origin(&l->history, l->history.preloaded)->place == l->history.preloaded)
        l->planned = context_from(l->history.preloaded);
    oracle_history_preload(&l->history, terminal, gap, duration);
    enter(l, &l->preloaded, &l->planned);
}

void oracle_match_start(struct oracle_matcher *l)
{
    oracle_history_seal(&l->history);
    l->index = l->here = context_from(l->history.count);
}

/* --- The run --- */

/* Whether what follows the match is what happened in the last `new` events; the last VERIFIED of them are compared. */
static bool goes_on(const struct oracle_matcher *l, const struct oracle_match *m, uint64_t new)
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

/* True: the longest one went on. */
static bool go_on(struct oracle_matcher *l, uint64_t new)
{
    uint32_t kept = 0;
    uint64_t longest = 0, before = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        struct oracle_match m = l->match[i];
        before = m.length > before ? m.length : before;
        if (!goes_on(l, &m, new))
            continue;
        longest = m.length > longest ? m.length : longest;
        l->match[kept++] = (struct oracle_match){ m.at + new, m.length + new };
    }
    l->matches = kept;
    return longest == before;
}

/* The hashes of the present. */
static void come_here(struct oracle_matcher *l)
{
    uint64_t count = l->history.count, oldest = oracle_history_oldest(&l->history);

    if (count - l->here.next > order[0])
        l->here = context_from(count - oldest < order[0] ? oldest : count - order[0]);
    while (l->here.next < count)
        roll(l, &l->here);
}

void oracle_match_follow(struct oracle_matcher *l, bool wanted)
{
    uint64_t count = l->history.count, new = count - l->here.next;
    bool held = go_on(l, new);

    come_here(l);
    if (!held || l->matches < FEW || count % CHAIN == 0) {
        find(l, &l->observed);
        if (wanted && l->history.fixed)
            find(l, &l->preloaded);
    }
    if (count - l->index.next > l->history.size / 2)
        l->index = context_from(count - l->history.size / 2);
    for (int i = 0; i < CATCH_UP && l->index.next < count; i++) {
        learn_gap(l);
        enter(l, &l->observed, &l->index);
    }
}

/* --- The question --- */

struct vote { uint32_t terminal; double weight; const struct oracle_match *best; };

/* The event that a match says is `distance` ahead, and the whole turns of its loop before that. False: a reference's
   part ends before. */
static bool place(const struct oracle_matcher *l, const struct oracle_match *m, uint64_t distance, uint64_t *turns,
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

/* A long past says more than several short ones. But the turns of one loop all say the same: a past that reaches into
   its own future is as long as its period. */
static double weigh(const struct oracle_matcher *l, const struct oracle_match *m)
{
    uint64_t period = l->history.count - 1 - m->at, own = m->length < period ? m->length : period;
    double length = own < 1024 ? (double)own : 1024;

    return length * length;
}

static void answer_from(const struct oracle_matcher *l, const struct vote *v, uint64_t distance,
                        struct oracle_match_answer *answer)
{
    uint64_t turns, at, from = oracle_history_time(&l->history, v->best->at)->end;

    place(l, v->best, distance, &turns, &at);
    const struct oracle_history_time *e = oracle_history_time(&l->history, at);
    answer->until = (double)turns * (double)(l->history.clock - from) + (double)(e->end - e->duration - from);
    answer->duration = (double)e->duration;
    answer->length = v->best->length;
    answer->terminal = v->terminal;
    answer->fixed = v->best->at < l->history.fixed;
}

static void clear(struct oracle_match_answer *answer)
{
    *answer = (struct oracle_match_answer){ .terminal = GRAMMAR_NONE, .until = -1, .duration = -1 };
}

int oracle_match_ask(const struct oracle_matcher *l, uint64_t distance, struct oracle_match_answer *answer)
{
    struct vote vote[VOTES];
    uint32_t votes = 0, best = 0;
    double all = 0;
    uint64_t turns, at;

    clear(answer);
    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_match *m = &l->match[i];
        if (!place(l, m, distance, &turns, &at))
            continue;
        uint32_t symbol = oracle_history_symbol(&l->history, at), v = 0;
        double weight = weigh(l, m);
        all += weight;
        while (v < votes && vote[v].terminal != symbol)
            v++;
        if (v == votes)
            vote[votes++] = (struct vote){ symbol, 0, m };
        vote[v].weight += weight;
        if (m->length > vote[v].best->length)
            vote[v].best = m;
    }
    for (uint32_t v = 1; v < votes; v++)
        if (vote[v].weight > vote[best].weight)
            best = v;
    if (votes == 0 || vote[best].terminal == GRAMMAR_NONE)
        return 1;
    answer_from(l, &vote[best], distance, answer);
    answer->share = vote[best].weight / all;
    return 0;
}

int oracle_match_frequent(struct oracle_matcher *l, int which, uint64_t distance, struct oracle_match_answer *answer)
{
    clear(answer);
    if (l->here.next != l->history.count)
        return 1;
    struct oracle_frequency_answer a =
        oracle_frequency_ask(&l->frequency[which], &l->history, spread(l->here.hash[USUAL + which]), distance);
    if (a.terminal == GRAMMAR_NONE)
        return 1;
    *answer = (struct oracle_match_answer){ a.terminal, (double)a.agreed / a.asked, a.asked, (double)a.until,
                                           (double)a.duration, a.fixed };
    return 0;
}

const struct oracle_match *oracle_match_in_reference(const struct oracle_matcher *l, uint64_t length)
{
    const struct oracle_match *best = NULL;

    for (uint32_t i = 0; i < l->matches; i++)
        if (l->match[i].at < l->history.fixed && l->match[i].length >= (best ? best->length : length))
            best = &l->match[i];
    return best;
}

/* --- Audit --- */

static int wrong(char *why, size_t size, uint32_t match, const char *what)
{
    snprintf(why, size, "match %u: %s", match, what);
    return PYTHIA_EFORMAT;
}

int oracle_match_check(const struct oracle_matcher *l, char *why, size_t size)
{
    const struct oracle_history *t = &l->history;
    bool looked = l->here.next == t->count;

    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_match *m = &l->match[i];
        uint64_t known = m->length < VERIFIED ? m->length : VERIFIED;
        if (m->at + 1 >= l->here.next || m->length == 0)
            return wrong(why, size, i, "not in the past");
        if (looked && m->at >= t->fixed && m->at < oracle_history_oldest(t))
            return wrong(why, size, i, "no longer there");
        for (uint64_t n = 0; looked && n < known && m->at - n > oracle_history_first(t, m->at); n++)
            if (oracle_history_symbol(t, m->at - n) != oracle_history_symbol(t, t->count - 1 - n))
                return wrong(why, size, i, "another past");
    }
    return 0;
}
