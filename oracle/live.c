/* SPDX-License-Identifier: MIT */
/* The run's own past: storing and indexing events, following matches, voting. */
#include <stdio.h>
#include <stdlib.h>

#include "grammar/flat.h"
#include "oracle/live.h"
#include "pythia.h"

enum {
    CATCH_UP = 64, /* events indexed at most in one call */
    CHAINED = 2,   /* the order whose earlier places are linked */
    CHAIN = 8,     /* how many of them are looked at */
    VERIFIED = 32, /* events compared at most when a match is found */
    VOTES = ORACLE_LIVE_MATCHES
};

static const uint32_t order[ORACLE_LIVE_ORDERS] = { 32, 16, 8, 4, 2, 1 };
static const uint64_t base = 0x9e3779b97f4a7c15u;

struct oracle_live *oracle_live_create(size_t memory)
{
    struct oracle_live *l = calloc(1, sizeof *l);
    uint64_t size = 1024;
    /* of an event: itself, its link, and two slots in each table */
    const size_t bytes = sizeof *l->ring + sizeof *l->link + 2 * ORACLE_LIVE_ORDERS * sizeof *l->table;

    if (!l)
        return NULL;
    while (size < (uint64_t)1 << 31 && 2 * size * bytes + sizeof *l <= memory)
        size *= 2;
    l->size = size;
    l->slots = 2 * size;
    l->ring = calloc(l->size, sizeof *l->ring);
    l->link = calloc(l->size, sizeof *l->link);
    l->table = calloc(l->slots * ORACLE_LIVE_ORDERS, sizeof *l->table);
    for (int k = 0; k < ORACLE_LIVE_ORDERS; k++) {
        l->power[k] = 1;
        for (uint32_t i = 0; i < order[k]; i++)
            l->power[k] *= base;
    }
    if (l->ring && l->table && l->link)
        return l;
    oracle_live_destroy(l);
    return NULL;
}

void oracle_live_destroy(struct oracle_live *l)
{
    if (!l)
        return;
    free(l->ring);
    free(l->table);
    free(l->link);
    free(l);
}

static const struct oracle_live_event *event(const struct oracle_live *l, uint64_t at)
{
    return &l->ring[at & (l->size - 1)];
}

/* The oldest event that the ring has. */
static uint64_t oldest(const struct oracle_live *l)
{
    return l->count > l->size ? l->count - l->size : 0;
}

/* --- Finding matches --- */

/* How many of the last events are also those up to `at`. */
static uint64_t common(const struct oracle_live *l, uint64_t at)
{
    uint64_t last = l->count - 1, length = 0, most = at - oldest(l) + 1;

    most = most < VERIFIED ? most : VERIFIED;
    while (length < most && event(l, at - length)->symbol == event(l, last - length)->symbol)
        length++;
    return length;
}

static void add(struct oracle_live *l, uint64_t at)
{
    uint32_t worst = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        if (l->match[i].at == at)
            return;
        if (l->match[i].length < l->match[worst].length)
            worst = i;
    }
    struct oracle_live_match m = { at, common(l, at) };
    if (m.length == 0)
        return;
    if (l->matches < ORACLE_LIVE_MATCHES)
        l->match[l->matches++] = m;
    else if (m.length >= l->match[worst].length)
        l->match[worst] = m;
}

/* The last place that had the present context, and up to `most` - 1 before it, as far as there is room. */
static void add_chain(struct oracle_live *l, uint32_t earlier, int most)
{
    uint64_t last = l->count - 1, before = 0;

    for (int i = 0; i < most && earlier != 0 && (i == 0 || l->matches < ORACLE_LIVE_MATCHES); i++) {
        uint64_t age = (uint32_t)((uint32_t)(last + 1) - earlier);
        if (age <= before || age > last || last - age < oldest(l))
            return;
        add(l, last - age);
        before = age;
        earlier = l->link[(last - age) & (l->size - 1)];
    }
}

/* Enters the context that ends at event `at` into the tables; when it is the present one, earlier places become
   matches. */
static void enter(struct oracle_live *l, uint64_t at)
{
    bool present = at + 1 == l->count;
    uint64_t symbol = (uint64_t)event(l, at)->symbol + 1;
    uint32_t seen = 0;

    for (int k = 0; k < ORACLE_LIVE_ORDERS; k++) {
        uint64_t gone = at >= l->since + order[k] ? (uint64_t)event(l, at - order[k])->symbol + 1 : 0;
        l->hash[k] = l->hash[k] * base + symbol - gone * l->power[k];
        uint64_t mixed = (l->hash[k] ^ l->hash[k] >> 29) * base >> 32;
        uint32_t *slot = &l->table[(uint64_t)k * l->slots + (mixed & (l->slots - 1))];
        uint32_t earlier = *slot;
        *slot = (uint32_t)(at + 1);
        if (k == CHAINED)
            l->link[at & (l->size - 1)] = earlier;
        if (present && (k == CHAINED || earlier != seen)) /* mostly the longer contexts were there, too */
            add_chain(l, earlier, k == CHAINED ? CHAIN : 1);
        seen = earlier;
    }
}

/* Matches that go on with the event just stored. */
static void go_on(struct oracle_live *l)
{
    uint32_t symbol = event(l, l->count - 1)->symbol, kept = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        struct oracle_live_match m = { l->match[i].at + 1, l->match[i].length + 1 };
        if (m.at > oldest(l) && event(l, m.at)->symbol == symbol && symbol != GRAMMAR_NONE)
            l->match[kept++] = m;
    }
    l->matches = kept;
}

void oracle_live_follow(struct oracle_live *l)
{
    if (l->indexed + 1 == l->count)
        go_on(l);
    else
        l->matches = 0; /* asleep until now */
    if (l->count - l->indexed > l->size / 2) {
        l->indexed = l->since = l->count - l->size / 2;
        for (int k = 0; k < ORACLE_LIVE_ORDERS; k++)
            l->hash[k] = 0;
    }
    for (int i = 0; i < CATCH_UP && l->indexed < l->count; i++)
        enter(l, l->indexed++);
}

/* --- The question --- */

struct vote { uint32_t terminal; double weight; const struct oracle_live_match *best; };

/* The event that a match says is `distance` ahead, and the whole turns of its loop before that. */
static uint64_t place(const struct oracle_live *l, const struct oracle_live_match *m, uint64_t distance, uint64_t *turns)
{
    uint64_t period = l->count - 1 - m->at;

    *turns = (distance - 1) / period;
    return m->at + 1 + (distance - 1) % period;
}

/* A long past says more than several short ones. But the turns of one loop all say the same: a past that reaches into its
   own future is as long as its period. */
static double weigh(const struct oracle_live *l, const struct oracle_live_match *m)
{
    uint64_t period = l->count - 1 - m->at, own = m->length < period ? m->length : period;
    double length = own < 1024 ? (double)own : 1024;

    return length * length;
}

static void answer_from(const struct oracle_live *l, const struct vote *v, uint64_t distance,
                        struct oracle_live_answer *answer)
{
    uint64_t turns, at = place(l, v->best, distance, &turns), from = event(l, v->best->at)->end;
    const struct oracle_live_event *e = event(l, at);
    uint64_t begin = e->end - from < e->duration ? 0 : e->end - from - e->duration;

    answer->until = (double)turns * (double)(l->clock - from) + (double)begin;
    answer->duration = (double)e->duration;
    answer->length = v->best->length;
    answer->terminal = v->terminal;
}

int oracle_live_ask(const struct oracle_live *l, uint64_t distance, struct oracle_live_answer *answer)
{
    struct vote vote[VOTES];
    uint32_t votes = 0, best = 0;
    double all = 0;
    uint64_t turns;

    *answer = (struct oracle_live_answer){ .terminal = GRAMMAR_NONE, .until = -1, .duration = -1 };
    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_live_match *m = &l->match[i];
        uint32_t symbol = event(l, place(l, m, distance, &turns))->symbol, v = 0;
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

/* --- Audit --- */

int oracle_live_check(const struct oracle_live *l, char *why, size_t size)
{
    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_live_match *m = &l->match[i];
        uint64_t known = m->length < VERIFIED ? m->length : VERIFIED;
        if (m->at + 1 >= l->count || m->at < oldest(l) || m->length == 0) {
            snprintf(why, size, "match %u is not in the past", i);
            return PYTHIA_EFORMAT;
        }
        for (uint64_t n = 0; n < known && m->at - n > oldest(l) && n <= m->at; n++)
            if (event(l, m->at - n)->symbol != event(l, l->count - 1 - n)->symbol) {
                snprintf(why, size, "match %u: another past", i);
                return PYTHIA_EFORMAT;
            }
    }
    return 0;
}
