/* SPDX-License-Identifier: MIT */
/*
 * An oracle's memory, all of it taken at creation: two sets of K hypotheses with their frames, the trip counts of the
 * references' nodes, and room for the sets that may be asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "oracle/internal.h"

enum { HYPOTHESES = 16 };

static int create_hypotheses(struct oracle *o)
{
    size_t slots = 2 * ((size_t)o->limit + 1); /* one of each set is scratch */
    struct oracle_hypothesis *set = calloc(slots, sizeof *set);

    o->now = set;
    o->spare = set ? set + o->limit + 1 : NULL;
    o->frames = calloc(slots * o->capacity, sizeof *o->frames);
    if (!set || !o->frames)
        return 0;
    for (size_t i = 0; i < slots; i++)
        set[i].frames = o->frames + i * o->capacity;
    return 1;
}

/* Loops over a terminal have a median by turn, the first of them. */
static int create_turns(struct oracle_reference *ref, const struct grammar_flat *g)
{
    uint16_t loops = 0;

    ref->loop = calloc((size_t)g->node_count + 1, sizeof *ref->loop);
    if (!ref->loop)
        return 0;
    for (uint32_t n = 0; n < g->node_count && loops < ORACLE_GAP_LOOPS; n++)
        if (g->nodes[n].exponent > 2 && !grammar_is_rule(g->nodes[n].symbol))
            ref->loop[n] = ++loops;
    ref->turn = calloc((size_t)loops + 1, sizeof *ref->turn);
    return ref->turn != NULL;
}

static int create_reference(struct oracle_reference *ref, const struct oracle_index *x)
{
    const struct grammar_flat *g = x->grammar;

    ref->index = x;
    ref->trip = calloc((size_t)g->node_count + 1, sizeof *ref->trip);
    ref->gap_median = calloc((size_t)g->node_count + 1, sizeof *ref->gap_median);
    if (!ref->trip || !ref->gap_median || !create_turns(ref, g))
        return 0;
    for (int i = 0; i < ORACLE_SETS; i++)
        if (!(ref->next[i] = calloc((size_t)g->node_count + 1, sizeof *ref->next[i])))
            return 0;
    return 1;
}

/* One rooted hypothesis a reference; where there are more than room for, the heaviest. */
static void root(struct oracle *o, const double *weight)
{
    double all = 0;

    o->spare_count = 0;
    for (uint32_t r = 0; r < o->references; r++)
        if (!weight || weight[r] > 0)
            oracle_slot(o, r, weight ? weight[r] : 1, ORACLE_HIT);
    if (o->spare_count == 0 && o->references)
        oracle_slot(o, 0, 1, ORACLE_HIT);
    oracle_swap_sets(o);
    for (uint32_t i = 0; i < o->count; i++)
        all += o->now[i].weight;
    for (uint32_t i = 0; i < o->count; i++)
        o->now[i].weight /= all;
}

static void set_priors(struct oracle *o)
{
    const double repairs[ORACLE_KINDS] = { 2, 4, 4, 2, 2, 2, 0.5 }; /* 2: of none of these */
    uint32_t known = 0;

    memcpy(o->won, repairs, sizeof repairs);
    for (uint32_t t = 0; t < o->terminals; t++)
        known += oracle_known(o, t);
    o->alphabet = known < 2 ? 2 : known > 32 ? 32 : known;
    const struct oracle_index *x = o->references ? o->reference[0].index : NULL;
    if (x && x->length[0] > 0) {
        struct oracle_time all = oracle_rule_time(x, 0);
        o->prior_gap = 32 * all.gap / (double)x->length[0];
        o->prior_duration = 32 * all.duration / (double)x->length[0];
    }
}

static int create_past(struct oracle *o, size_t memory)
{
    uint64_t events = 0;

    for (uint32_t r = 0; r < o->references; r++) {
        uint64_t length = o->reference[r].index->length[0];
        events = length > UINT64_MAX - events ? UINT64_MAX : events + length;
    }
    o->mixer.past = oracle_past_create(&o->room, memory, events);
    if (o->mixer.past)
        oracle_preload(o);
    return o->mixer.past != NULL;
}

/* Most of it is seldom touched: it takes memory page by page, and none that malloc would keep. */
static struct oracle *take_oracle(size_t learn)
{
    struct base_arena room;
    size_t bytes = sizeof(struct oracle);

    if (learn && __builtin_add_overflow(bytes, oracle_past_room(learn), &bytes))
        return NULL;
    if (base_arena_open(&room, 1, bytes))
        return NULL;
    struct oracle *o = base_arena_take(&room, sizeof *o);
    o->room = room;
    return o;
}

struct oracle *oracle_create(const struct oracle_index *const *index, const double *weight, uint32_t count,
                             const struct oracle_options *options)
{
    struct oracle *o = take_oracle(options ? options->learn : 0);
    uint32_t k = options && options->hypotheses ? options->hypotheses : HYPOTHESES;

    if (!o)
        return NULL;
    o->limit = k > ORACLE_HYPOTHESES ? ORACLE_HYPOTHESES : k;
    o->references = count;
    o->reference = calloc((size_t)count + 1, sizeof *o->reference);
    if (!o->reference)
        goto destroy;
    for (uint32_t r = 0; r < count; r++) {
        const struct oracle_index *x = index[r];
        if (!create_reference(&o->reference[r], x))
            goto destroy;
        o->terminals = x->grammar->terminals > o->terminals ? x->grammar->terminals : o->terminals;
        o->capacity = x->depth > o->capacity ? x->depth : o->capacity;
    }
    o->capacity = o->capacity + 1 < ORACLE_DEPTH ? o->capacity + 1 : ORACLE_DEPTH;
    for (int i = 0; i < ORACLE_SETS; i++)
        if (!(o->set[i] = calloc((size_t)o->terminals + 1, 1)))
            goto destroy;
    if (!create_hypotheses(o))
        goto destroy;
    if (options && options->learn && !create_past(o, options->learn))
        goto destroy;
    o->previous = GRAMMAR_NONE;
    o->slow_from = UINT64_MAX;
    oracle_interval_start(&o->intervals);
    set_priors(o);
    root(o, weight);
    oracle_mixer_create(o);
    oracle_sample_start(o);
    return o;
destroy:
    oracle_destroy(o);
    return NULL;
}

void oracle_destroy(struct oracle *o)
{
    if (!o)
        return;
    for (uint32_t r = 0; o->reference && r < o->references; r++) {
        free(o->reference[r].trip);
        free(o->reference[r].gap_median);
        free(o->reference[r].turn);
        free(o->reference[r].loop);
        for (int i = 0; i < ORACLE_SETS; i++)
            free(o->reference[r].next[i]);
    }
    for (int i = 0; i < ORACLE_SETS; i++)
        free(o->set[i]);
    free(o->reference);
    free(o->now < o->spare ? o->now : o->spare);
    free(o->frames);
    struct base_arena room = o->room; /* the oracle is in there */
    base_arena_close(&room);
}
