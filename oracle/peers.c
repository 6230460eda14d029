/* SPDX-License-Identifier: MIT */
/*
 * Learned peers. Each table is indexed by a hash of the context and holds a tag of it, so that what another context
 * left there is not taken for an answer.
 */
#include "oracle/peers.h"

#include <stdlib.h>

#include "grammar/node.h"
#include "oracle/oracle.h"

enum { NODES = 128, TURNS = 1024, AFTERS = 1024, CONTEXTS = 2048, CALLS = 128, RECENT = 3 };
enum { CALM = 64 }; /* right answers in a row */
enum { TENTHS = 10, PRIOR = 12, FADE_WORTH = 256 };
enum { FADE_NODE = 12, FADE_GENERAL = 64 }; /* answers after which what was is worth half */
#define CREDIBLE 0.5

struct trust { float right, total; };

struct node {
    uint32_t tag; /* 0: unused */
    struct trust trust[ORACLE_PEERS_SOURCES];
};

struct memory { uint32_t tag; int32_t peer; };

struct call { uint32_t terminal; int32_t peer[2]; }; /* its last peers, the latest first */

struct oracle_peers {
    struct node node[NODES];
    struct memory turn[TURNS], after[AFTERS], context[CONTEXTS];
    struct call call[CALLS];
    uint64_t recent[RECENT]; /* events, the latest first */
    uint32_t calm; /* right answers in a row */
    struct trust general[ORACLE_PEERS_SOURCES];
    struct trust worth[TENTHS]; /* answers by what was thought of their source */
};

/* How often each is right where nothing is known of it: a rule that the program was written with comes before a
   guess. */
static const float usual[ORACLE_PEERS_SOURCES] = {
    [ORACLE_PEERS_OWN] = 0.98f,    [ORACLE_PEERS_COURSE] = 0.93f, [ORACLE_PEERS_REPLY] = 0.95f,
    [ORACLE_PEERS_PLACE] = 0.9f,
    [ORACLE_PEERS_OFFSET] = 0.65f, [ORACLE_PEERS_XOR] = 0.6f,    [ORACLE_PEERS_SAME] = 0.7f,
    [ORACLE_PEERS_TURN] = 0.85f,   [ORACLE_PEERS_AFTER] = 0.8f,  [ORACLE_PEERS_CONTEXT] = 0.85f,
};

struct oracle_peers *oracle_peers_create(void)
{
    return calloc(1, sizeof(struct oracle_peers));
}

void oracle_peers_destroy(struct oracle_peers *p)
{
    free(p);
}

/* --- Contexts --- */

static uint64_t combine(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

/* The node; the call where it is not known which one it is. */
static uint64_t peers_place_of(const struct oracle_peers_event *e)
{
    return e->reference == GRAMMAR_NONE ? combine(1, e->terminal) : combine(combine(2, e->reference), e->node);
}

static uint64_t turn_of(const struct oracle_peers_event *e)
{
    return combine(peers_place_of(e), e->turn);
}

static uint64_t after_of(const struct oracle_peers *p, const struct oracle_peers_event *e)
{
    const struct call *c = &p->call[e->terminal % CALLS];
    if (c->terminal != e->terminal)
        return combine(3, e->terminal);
    return combine(combine(4, e->terminal), (uint64_t)(uint32_t)c->peer[0] << 32 | (uint32_t)c->peer[1]);
}

static uint64_t context_of(const struct oracle_peers *p, const struct oracle_peers_event *e)
{
    uint64_t hash = combine(5, e->terminal);
    for (int i = 0; i < RECENT; i++)
        hash = combine(hash, p->recent[i]);
    return hash;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32) | 1;
}

static const struct node *peers_find_node(const struct oracle_peers *p, const struct oracle_peers_event *e)
{
    uint64_t hash = peers_place_of(e);
    const struct node *n = &p->node[hash % NODES];
    return n->tag == tag_of(hash) ? n : NULL;
}

/* --- Asking --- */

static inline void recall(const struct memory *table, uint32_t size, uint64_t hash, enum oracle_peers_source source,
                          struct oracle_peers_said *said)
{
    const struct memory *m = &table[hash % size];
    if (m->tag != tag_of(hash))
        return;
    said->mask |= 1u << source;
    said->value[source] = m->peer;
}

void oracle_peers_ask(const struct oracle_peers *p, const struct oracle_peers_event *e, struct oracle_peers_said *said)
{
    if (e->reference != GRAMMAR_NONE)
        recall(p->turn, TURNS, turn_of(e), ORACLE_PEERS_TURN, said);
    recall(p->after, AFTERS, after_of(p, e), ORACLE_PEERS_AFTER, said);
    recall(p->context, CONTEXTS, context_of(p, e), ORACLE_PEERS_CONTEXT, said);
}

/* Of a node, where enough is known of it, else of all. */
static double estimate(const struct oracle_peers *p, const struct node *n, int source)
{
    const struct trust *g = &p->general[source], *t = n ? &n->trust[source] : NULL;
    double all = ((double)g->right + 4 * (double)usual[source]) / ((double)g->total + 4);
    return t ? ((double)t->right + 2 * all) / ((double)t->total + 2) : all;
}

static int tenth_of(double chance)
{
    int i = (int)(chance * TENTHS);
    return i < TENTHS ? i : TENTHS - 1;
}

/* The best of many estimates is an optimist: answers that were thought so good have been right so often. */
static double calibrated(const struct oracle_peers *p, double chance)
{
    const struct trust *t = &p->worth[tenth_of(chance)];
    return ((double)t->right + PRIOR * chance) / ((double)t->total + PRIOR);
}

static int choose(const struct oracle_peers *p, const struct oracle_peers_event *e,
                  const struct oracle_peers_said *said, double *best)
{
    const struct node *n = peers_find_node(p, e);
    int chosen = -1;
    *best = CREDIBLE;
    for (int i = 0; i < ORACLE_PEERS_SOURCES; i++) {
        double here = said->mask >> i & 1 ? estimate(p, n, i) : 0;
        if (here > *best) {
            *best = here;
            chosen = i;
        }
    }
    return chosen;
}

int oracle_peers_choose(const struct oracle_peers *p, const struct oracle_peers_event *e,
                        const struct oracle_peers_said *said, double *chance)
{
    double best;
    int chosen = choose(p, e, said, &best);
    if (chance)
        *chance = chosen < 0 ? 0 : calibrated(p, best);
    return chosen;
}

bool oracle_peers_right(const struct oracle_peers_said *said, int source, const struct oracle_peers_actual *actual)
{
    int64_t came = source == ORACLE_PEERS_REPLY   ? actual->reply
                   : source == ORACLE_PEERS_PLACE ? actual->place
                                                  : actual->peer;
    return came == said->value[source];
}

/* --- Learning --- */

static void judge(struct trust *t, bool right, float fade)
{
    if (t->total >= fade) {
        t->total /= 2;
        t->right /= 2;
    }
    t->total += 1;
    t->right += right;
}

static inline void remember(struct memory *table, uint32_t size, uint64_t hash, int64_t peer)
{
    table[hash % size] = (struct memory){ tag_of(hash), (int32_t)peer };
}

static struct node *own_node(struct oracle_peers *p, const struct oracle_peers_event *e)
{
    uint64_t hash = peers_place_of(e);
    struct node *n = &p->node[hash % NODES];
    if (n->tag != tag_of(hash))
        *n = (struct node){ .tag = tag_of(hash) };
    return n;
}

/* What would have been answered. */
static void judge_answer(struct oracle_peers *p, const struct oracle_peers_event *e,
                         const struct oracle_peers_said *said, const struct oracle_peers_actual *actual)
{
    double best;
    int source = choose(p, e, said, &best);
    bool right = source >= 0 && oracle_peers_right(said, source, actual);
    if (source >= 0)
        judge(&p->worth[tenth_of(best)], right, FADE_WORTH);
    p->calm = right ? p->calm + (p->calm < CALM) : 0;
}

bool oracle_peers_calm(const struct oracle_peers *p)
{
    return p->calm >= CALM;
}

void oracle_peers_learn(struct oracle_peers *p, const struct oracle_peers_event *e,
                        const struct oracle_peers_said *said, const struct oracle_peers_actual *actual)
{
    judge_answer(p, e, said, actual);
    struct node *n = own_node(p, e);
    for (int i = 0; i < ORACLE_PEERS_SOURCES; i++)
        if (said->mask >> i & 1) {
            bool right = oracle_peers_right(said, i, actual);
            judge(&n->trust[i], right, FADE_NODE);
            judge(&p->general[i], right, FADE_GENERAL);
        }
    if (e->reference != GRAMMAR_NONE)
        remember(p->turn, TURNS, turn_of(e), actual->peer);
    remember(p->after, AFTERS, after_of(p, e), actual->peer);
    remember(p->context, CONTEXTS, context_of(p, e), actual->peer);
}

void oracle_peers_pass(struct oracle_peers *p, uint32_t terminal, int64_t peer)
{
    for (int i = RECENT; --i > 0;)
        p->recent[i] = p->recent[i - 1];
    p->recent[0] = combine(terminal, (uint64_t)peer);
    if (peer < 0)
        return;
    struct call *c = &p->call[terminal % CALLS];
    *c = (struct call){ terminal, { (int32_t)peer, c->terminal == terminal ? c->peer[0] : -1 } };
}
