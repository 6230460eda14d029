/* SPDX-License-Identifier: MIT */
/* The run's own past: storing and indexing events, following matches, voting. */
#include <stdio.h>
#include <stdlib.h>

#include "grammar/flat.h"
#include "oracle/live.h"
#include "pythia.h"

enum {
    CATCH_UP = 64, /* events indexed at most in one call */
    MATCHING = 3,  /* the first orders find matches; the last ORACLE_LIVE_OFTEN say what usually follows */
    CHAINED = 2,   /* the order whose earlier places are linked */
    CHAIN = 8,     /* how many of them are looked at */
    FEW = 4,       /* matches: more are looked for */
    VERIFIED = 32, /* events compared at most when a match is found */
    VOTES = ORACLE_LIVE_MATCHES,
    USUAL = ORACLE_LIVE_ORDERS - ORACLE_LIVE_OFTEN
};

static const uint32_t order[ORACLE_LIVE_ORDERS] = { 32, 12, 6, 2 };
static const uint32_t turnover[ORACLE_LIVE_OFTEN] = { 64, 2 };
static const uint64_t base = 0x9e3779b97f4a7c15u;

/* --- Life --- */

static uint64_t rounded(uint64_t n)
{
    uint64_t power = 1;

    while (power < n)
        power *= 2;
    return power;
}

static int create_table(struct oracle_live_table *t, uint64_t places)
{
    t->mask = rounded(places) - 1;
    t->slot = calloc(MATCHING * (t->mask + 1), sizeof *t->slot);
    return t->slot ? 0 : -1;
}

static int create_parts(struct oracle_live *l, size_t memory, uint64_t fixed)
{
    const size_t bytes = sizeof *l->text.symbol + sizeof *l->text.time + sizeof *l->link; /* of an event */
    const size_t often = memory / 4, tables = MATCHING * sizeof(uint32_t);
    uint64_t size = 512;

    while (size < (uint64_t)1 << 30) {
        uint64_t more = 2 * size, all = more + (fixed < more ? fixed : more);
        if (all * bytes + (more + rounded(all - more)) * tables + often + sizeof *l > memory)
            break;
        size = more;
    }
    fixed = fixed < size ? fixed : size;
    l->link = calloc(size + fixed, sizeof *l->link);
    if (oracle_text_create(&l->text, fixed, size) != 0 || !l->link || create_table(&l->taught, fixed) != 0 ||
        create_table(&l->lived, size) != 0)
        return -1;
    for (int i = 0; i < ORACLE_LIVE_OFTEN; i++)
        if (oracle_often_create(&l->often[i], often / ORACLE_LIVE_OFTEN, turnover[i]) != 0)
            return -1;
    return 0;
}

struct oracle_live *oracle_live_create(size_t memory, uint64_t fixed)
{
    struct oracle_live *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    for (int k = 0; k < ORACLE_LIVE_ORDERS; k++) {
        l->power[k] = 1;
        for (uint32_t i = 0; i < order[k]; i++)
            l->power[k] *= base;
    }
    if (create_parts(l, memory < ORACLE_LIVE_MEMORY_MIN ? ORACLE_LIVE_MEMORY_MIN : memory, fixed) == 0)
        return l;
    oracle_live_destroy(l);
    return NULL;
}

void oracle_live_destroy(struct oracle_live *l)
{
    if (!l)
        return;
    for (int i = 0; i < ORACLE_LIVE_OFTEN; i++)
        oracle_often_destroy(&l->often[i]);
    oracle_text_destroy(&l->text);
    free(l->taught.slot);
    free(l->lived.slot);
    free(l->link);
    free(l);
}

/* --- Finding matches --- */

/* How many of the last events are also those up to `at`. */
static uint64_t common(const struct oracle_live *l, uint64_t at)
{
    const struct oracle_text *t = &l->text;
    uint64_t last = t->count - 1, length = 0, most = at - oracle_text_first(t, at) + 1, own = last - t->fixed + 1;

    most = most < VERIFIED ? most : VERIFIED;
    most = most < own ? most : own;
    while (length < most && oracle_text_symbol(t, at - length) == oracle_text_symbol(t, last - length))
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
static void add_chain(struct oracle_live *l, uint32_t name, int most)
{
    uint64_t at, later = l->text.count - 1;

    for (int i = 0; i < most && (i == 0 || l->matches < ORACLE_LIVE_MATCHES); i++) {
        if (!oracle_text_find(&l->text, name, &at) || at >= later)
            return;
        add(l, at);
        later = at;
        name = l->link[oracle_text_slot(&l->text, at)];
    }
}

static uint64_t mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 29) * base;
    return hash ^ hash >> 32;
}

static void roll(const struct oracle_live *l, struct oracle_live_context *c)
{
    uint64_t at = c->next++, symbol = (uint64_t)oracle_text_symbol(&l->text, at) + 1;

    for (int k = 0; k < ORACLE_LIVE_ORDERS; k++) {
        uint64_t gone = at >= c->since + order[k] ? (uint64_t)oracle_text_symbol(&l->text, at - order[k]) + 1 : 0;
        c->hash[k] = c->hash[k] * base + symbol - gone * l->power[k];
    }
}

static uint32_t *table_slot(const struct oracle_live_table *t, const struct oracle_live_context *c, int k)
{
    return &t->slot[(uint64_t)k * (t->mask + 1) + (mixed(c->hash[k]) & t->mask)];
}

/* Earlier places with the present context become matches. */
static void find(struct oracle_live *l, const struct oracle_live_table *t)
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
static void enter(struct oracle_live *l, const struct oracle_live_table *t, struct oracle_live_context *c)
{
    uint32_t name = oracle_text_name(c->next);

    roll(l, c);
    for (int k = 0; k < MATCHING; k++) {
        uint32_t *slot = table_slot(t, c, k);
        if (k == CHAINED)
            l->link[oracle_text_slot(&l->text, c->next - 1)] = *slot;
        *slot = name;
    }
    for (int i = 0; i < ORACLE_LIVE_OFTEN; i++)
        oracle_often_add(&l->often[i], mixed(c->hash[USUAL + i]), name);
}

static struct oracle_live_context context_from(uint64_t place)
{
    return (struct oracle_live_context){ .next = place, .since = place };
}

/* --- References --- */

void oracle_live_teach(struct oracle_live *l, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    if (oracle_text_origin(&l->text, l->text.taught)->place == l->text.taught)
        l->lesson = context_from(l->text.taught);
    oracle_text_teach(&l->text, terminal, gap, duration);
    enter(l, &l->taught, &l->lesson);
}

void oracle_live_start(struct oracle_live *l)
{
    oracle_text_seal(&l->text);
    l->index = l->here = context_from(l->text.count);
}

/* --- The run --- */

/* Whether what follows the match is what happened in the last `new` events; the last VERIFIED of them are compared. */
static bool goes_on(const struct oracle_live *l, const struct oracle_live_match *m, uint64_t new)
{
    const struct oracle_text *t = &l->text;
    uint64_t compared = new < VERIFIED ? new : VERIFIED;

    if (m->at < t->fixed ? !oracle_text_reaches(t, m->at, new) : m->at + new <= oracle_text_oldest(t) + VERIFIED)
        return false;
    for (uint64_t i = 0; i < compared; i++) {
        uint32_t symbol = oracle_text_symbol(t, t->count - 1 - i);
        if (symbol == GRAMMAR_NONE || symbol != oracle_text_symbol(t, m->at + new - i))
            return false;
    }
    return true;
}

/* True: the longest one went on. */
static bool go_on(struct oracle_live *l, uint64_t new)
{
    uint32_t kept = 0;
    uint64_t longest = 0, before = 0;

    for (uint32_t i = 0; i < l->matches; i++) {
        struct oracle_live_match m = l->match[i];
        before = m.length > before ? m.length : before;
        if (!goes_on(l, &m, new))
            continue;
        longest = m.length > longest ? m.length : longest;
        l->match[kept++] = (struct oracle_live_match){ m.at + new, m.length + new };
    }
    l->matches = kept;
    return longest == before;
}

/* The hashes of the present. */
static void come_here(struct oracle_live *l)
{
    uint64_t count = l->text.count, oldest = oracle_text_oldest(&l->text);

    if (count - l->here.next > order[0])
        l->here = context_from(count - oldest < order[0] ? oldest : count - order[0]);
    while (l->here.next < count)
        roll(l, &l->here);
}

void oracle_live_follow(struct oracle_live *l, bool wanted)
{
    uint64_t count = l->text.count, new = count - l->here.next;
    bool held = go_on(l, new);

    come_here(l);
    if (!held || l->matches < FEW || count % CHAIN == 0) {
        find(l, &l->lived);
        if (wanted && l->text.fixed)
            find(l, &l->taught);
    }
    if (count - l->index.next > l->text.size / 2)
        l->index = context_from(count - l->text.size / 2);
    for (int i = 0; i < CATCH_UP && l->index.next < count; i++)
        enter(l, &l->lived, &l->index);
}

/* --- The question --- */

struct vote { uint32_t terminal; double weight; const struct oracle_live_match *best; };

/* The event that a match says is `distance` ahead, and the whole turns of its loop before that. False: a reference's part
   ends before. */
static bool place(const struct oracle_live *l, const struct oracle_live_match *m, uint64_t distance, uint64_t *turns,
                  uint64_t *at)
{
    uint64_t period = l->text.count - 1 - m->at;

    *turns = 0;
    *at = m->at + distance;
    if (m->at < l->text.fixed)
        return oracle_text_reaches(&l->text, m->at, distance);
    *turns = (distance - 1) / period;
    *at = m->at + 1 + (distance - 1) % period;
    return true;
}

/* A long past says more than several short ones. But the turns of one loop all say the same: a past that reaches into its
   own future is as long as its period. */
static double weigh(const struct oracle_live *l, const struct oracle_live_match *m)
{
    uint64_t period = l->text.count - 1 - m->at, own = m->length < period ? m->length : period;
    double length = own < 1024 ? (double)own : 1024;

    return length * length;
}

static void answer_from(const struct oracle_live *l, const struct vote *v, uint64_t distance,
                        struct oracle_live_answer *answer)
{
    uint64_t turns, at, from = oracle_text_time(&l->text, v->best->at)->end;

    place(l, v->best, distance, &turns, &at);
    const struct oracle_text_time *e = oracle_text_time(&l->text, at);
    answer->until = (double)turns * (double)(l->text.clock - from) + (double)(e->end - e->duration - from);
    answer->duration = (double)e->duration;
    answer->length = v->best->length;
    answer->terminal = v->terminal;
    answer->fixed = v->best->at < l->text.fixed;
}

static void clear(struct oracle_live_answer *answer)
{
    *answer = (struct oracle_live_answer){ .terminal = GRAMMAR_NONE, .until = -1, .duration = -1 };
}

int oracle_live_ask(const struct oracle_live *l, uint64_t distance, struct oracle_live_answer *answer)
{
    struct vote vote[VOTES];
    uint32_t votes = 0, best = 0;
    double all = 0;
    uint64_t turns, at;

    clear(answer);
    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_live_match *m = &l->match[i];
        if (!place(l, m, distance, &turns, &at))
            continue;
        uint32_t symbol = oracle_text_symbol(&l->text, at), v = 0;
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

int oracle_live_usual(struct oracle_live *l, int which, uint64_t distance, struct oracle_live_answer *answer)
{
    clear(answer);
    if (l->here.next != l->text.count)
        return 1;
    struct oracle_often_answer a =
        oracle_often_ask(&l->often[which], &l->text, mixed(l->here.hash[USUAL + which]), distance);
    if (a.terminal == GRAMMAR_NONE)
        return 1;
    *answer = (struct oracle_live_answer){ a.terminal, (double)a.agreed / a.asked, a.asked, (double)a.until,
                                           (double)a.duration, a.fixed };
    return 0;
}

const struct oracle_live_match *oracle_live_anchor(const struct oracle_live *l, uint64_t length)
{
    const struct oracle_live_match *best = NULL;

    for (uint32_t i = 0; i < l->matches; i++)
        if (l->match[i].at < l->text.fixed && l->match[i].length >= (best ? best->length : length))
            best = &l->match[i];
    return best;
}

/* --- Audit --- */

static int wrong(char *why, size_t size, uint32_t match, const char *what)
{
    snprintf(why, size, "match %u: %s", match, what);
    return PYTHIA_EFORMAT;
}

int oracle_live_check(const struct oracle_live *l, char *why, size_t size)
{
    const struct oracle_text *t = &l->text;
    bool looked = l->here.next == t->count;

    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_live_match *m = &l->match[i];
        uint64_t known = m->length < VERIFIED ? m->length : VERIFIED;
        if (m->at + 1 >= l->here.next || m->length == 0)
            return wrong(why, size, i, "not in the past");
        if (looked && m->at >= t->fixed && m->at < oracle_text_oldest(t))
            return wrong(why, size, i, "no longer there");
        for (uint64_t n = 0; looked && n < known && m->at - n > oracle_text_first(t, m->at); n++)
            if (oracle_text_symbol(t, m->at - n) != oracle_text_symbol(t, t->count - 1 - n))
                return wrong(why, size, i, "another past");
    }
    return 0;
}
