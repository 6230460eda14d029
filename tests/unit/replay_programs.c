/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/replay_programs.h"

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* --- Events --- */

static struct replay_op op(enum replay_kind kind, const struct phase *p, uint32_t peer, uint32_t tag)
{
    return (struct replay_op){ .kind = (uint8_t)kind,
                               .place = 2 * (tag % PROGRAM_PHASES) + 1,
                               .bytes = p->bytes,
                               .peer = peer,
                               .tag = tag,
                               .back = REPLAY_BACK_OWN };
}

static uint32_t exchange(const struct phase *p, uint32_t to, uint32_t from, uint32_t tag, struct replay_op *out)
{
    out[0] = op(REPLAY_IRECV, p, from, tag);
    out[1] = op(REPLAY_ISEND, p, to, tag);
    out[2] = op(REPLAY_WAIT, p, 0, tag);
    return 3;
}

static uint32_t halo(const struct phase *p, uint32_t rank, uint32_t ranks, uint32_t tag, struct replay_op *out)
{
    uint32_t n = 0, side[2] = { (rank + 1) % ranks, (rank + ranks - 1) % ranks };

    for (int s = 0; s < 2; s++)
        out[n++] = op(REPLAY_IRECV, p, side[s], tag);
    for (int s = 0; s < 2; s++)
        out[n++] = op(REPLAY_ISEND, p, side[s], tag);
    out[n++] = op(REPLAY_WAIT, p, 0, tag);
    return n;
}

static uint32_t chain(const struct phase *p, uint32_t rank, uint32_t ranks, uint32_t tag, struct replay_op *out)
{
    uint32_t n = 0;

    if (rank > 0)
        out[n++] = op(REPLAY_RECV, p, rank - 1, tag);
    out[n++] = (struct replay_op){ .kind = REPLAY_COMPUTE, .computes = 1, .place = 2 * tag, .ns = p->ns };
    if (rank + 1 < ranks)
        out[n++] = op(REPLAY_SEND, p, rank + 1, tag);
    return n;
}

static uint32_t collective(const struct phase *p, uint32_t rank, uint32_t ranks, uint32_t tag, struct replay_op *out)
{
    out[0] = op(REPLAY_COLLECTIVE, p, (uint32_t)p->seed % ranks, tag);
    out[0].shape = p->shape;
    out[0].size = ranks;
    out[0].me = rank;
    return 1;
}

/* Two ranks' messages go to rank 0, which answers whoever came; a barrier, for else a fast one takes another's
   place. */
static uint32_t any(const struct phase *p, uint32_t rank, uint32_t ranks, uint32_t tag, struct replay_op *out)
{
    uint32_t n = 0;

    if (rank == 0) {
        for (uint32_t r = 1; r < ranks && r < 3; r++) {
            out[n] = op(REPLAY_RECV, p, REPLAY_ANY, tag);
            out[n++].anyone = 1;
            out[n++] = op(REPLAY_SEND, p, REPLAY_SOURCE, tag + PROGRAM_PHASES);
        }
    } else if (rank < 3) {
        out[n++] = op(REPLAY_SEND, p, 0, tag);
        out[n++] = op(REPLAY_RECV, p, 0, tag + PROGRAM_PHASES);
    }
    struct phase barrier = { .shape = REPLAY_ALL, .bytes = 1 };
    return n + collective(&barrier, rank, ranks, tag + 2 * PROGRAM_PHASES, out + n);
}

static uint32_t messages(const struct phase *p, uint32_t rank, uint32_t ranks, uint32_t tag, struct replay_op *out)
{
    switch (p->kind) {
    case PHASE_HALO:
        return halo(p, rank, ranks, tag, out);
    case PHASE_RING:
        return exchange(p, (rank + 1) % ranks, (rank + ranks - 1) % ranks, tag, out);
    case PHASE_XOR:
        return (rank ^ 1) < ranks ? exchange(p, rank ^ 1, rank ^ 1, tag, out) : 0;
    case PHASE_PAIR:
        if (rank % 2 == 0 && rank + 1 == ranks)
            return 0;
        out[0] = rank % 2 ? op(REPLAY_RECV, p, rank - 1, tag) : op(REPLAY_SEND, p, rank + 1, tag);
        return 1;
    case PHASE_CHAIN:
        return chain(p, rank, ranks, tag, out);
    case PHASE_ANY:
        return any(p, rank, ranks, tag, out);
    case PHASE_COLLECTIVE:
        return collective(p, rank, ranks, tag, out);
    default:
        return 0;
    }
}

static uint32_t event(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *out)
{
    const struct program *program = context;
    uint32_t number = program->grammar[rank % 2]->nodes[node].symbol;
    const struct phase *p = &program->phase[number];
    uint64_t turn = p->kind == PHASE_LIST ? at.i % 3 : 0;

    /* Some phases have the same length on all ranks, some on pairs: ties are what order is decided by. */
    out[0] = (struct replay_op){
        .kind = REPLAY_COMPUTE,
        .computes = 1,
        .place = 2 * number,
        .ns = p->ns + (int64_t)(mix(p->seed + (p->seed % 3 ? rank / (p->seed % 3) : 0) + turn) % 3000)
    };
    return 1 + messages(p, rank, program->source.ranks, number, out + 1);
}

static uint32_t cycle(void *context, uint32_t rank, uint32_t node)
{
    const struct program *program = context;
    uint32_t symbol = program->grammar[rank % 2]->nodes[node].symbol;

    return program->phase[symbol].kind == PHASE_LIST ? 3 : 1;
}

static const struct grammar_flat *grammar(void *context, uint32_t rank)
{
    return ((const struct program *)context)->grammar[rank % 2];
}

static uint32_t member(void *context, uint32_t group, uint32_t rank, uint32_t i)
{
    (void)context, (void)group, (void)rank;
    return i;
}

/* --- Structure --- */

struct maker { struct program *p; struct grammar_flat *g; uint64_t random; uint32_t turns; bool odd; uint32_t phases; };

static uint64_t draw(struct maker *m, uint64_t below)
{
    return mix(m->random++) % below;
}

static uint32_t make_phase(struct maker *m)
{
    struct phase *p = &m->p->phase[m->phases];

    p->seed = draw(m, 1000000);
    p->kind = (enum phase_kind)draw(m, PHASE_KINDS);
    p->shape = (uint8_t)draw(m, REPLAY_PREFIX + 1);
    p->bytes = 1 + draw(m, draw(m, 4) ? 500 : 100000);
    p->ns = (int64_t)draw(m, 20000);
    return m->phases++;
}

/* Rules' nodes are contiguous: the children come after. */
static uint32_t make_rule(struct maker *m, uint32_t depth, uint32_t length)
{
    struct grammar_flat *g = m->g;
    uint32_t rule = g->rule_count++, first = g->node_count;
    uint32_t extra = m->odd && rule == 0 && length > 1;

    g->rules[rule] = (struct grammar_flat_rule){ first, length + extra };
    g->node_count += length + extra;
    for (uint32_t i = 0; i < length; i++) {
        struct grammar_flat_node *n = &g->nodes[first + i];
        bool loop = depth && draw(m, 3) > 0;
        n->exponent = 1 + draw(m, loop ? m->turns : 4);
        n->symbol = loop ? GRAMMAR_RULE | make_rule(m, depth - 1, 2 + (uint32_t)draw(m, 3)) : make_phase(m);
    }
    if (extra) { /* the last loop's last turn stands apart */
        struct grammar_flat_node *n = &g->nodes[first + length - 1];
        n[1] = n[0];
        n[1].exponent = 1;
        n->exponent = n->exponent > 1 ? n->exponent - 1 : 1;
    }
    return rule;
}

static struct program *create(uint32_t ranks)
{
    struct program *p = calloc(1, sizeof *p);

    p->source = (struct replay_source){ .ranks = ranks, .places = 2 * PROGRAM_PHASES, .context = p, .grammar = grammar,
                                        .event = event, .cycle = cycle, .member = member };
    return p;
}

struct program *program_random(uint64_t seed, uint32_t ranks, uint32_t depth, uint32_t turns)
{
    struct program *p = create(ranks);

    for (int odd = 0; odd < 2; odd++) {
        struct maker m = {
            .p = p, .g = grammar_flat_create(200, 1000, 0), .random = seed << 20, .turns = turns, .odd = odd
        };
        m.g->rule_count = m.g->node_count = 0;
        make_rule(&m, depth, 3);
        p->grammar[odd] = m.g;
        p->phases = m.phases;
    }
    /* Both must say the same in all: the last loop's turn count of even ranks is at least 2. */
    struct grammar_flat_node *even = &p->grammar[0]->nodes[p->grammar[0]->rules[0].first + 2];
    struct grammar_flat_node *odd = &p->grammar[1]->nodes[p->grammar[1]->rules[0].first + 2];
    even->exponent = odd[0].exponent + odd[1].exponent;
    return p;
}

struct program *program_loop(uint32_t ranks, const struct phase *phases, uint32_t count, uint64_t turns)
{
    struct program *p = create(ranks);

    memcpy(p->phase, phases, count * sizeof *phases);
    p->phases = count;
    for (int odd = 0; odd < 2; odd++) {
        struct grammar_flat *g = grammar_flat_create(2, 1 + count, 0);
        g->rules[0] = (struct grammar_flat_rule){ 0, 1 };
        g->rules[1] = (struct grammar_flat_rule){ 1, count };
        g->nodes[0] = (struct grammar_flat_node){ .symbol = GRAMMAR_RULE | 1, .exponent = turns };
        for (uint32_t i = 0; i < count; i++)
            g->nodes[1 + i] = (struct grammar_flat_node){ .symbol = i, .exponent = 1 };
        g->events = turns * count;
        p->grammar[odd] = g;
    }
    return p;
}

void program_destroy(struct program *p)
{
    grammar_flat_destroy(p->grammar[0]);
    grammar_flat_destroy(p->grammar[1]);
    free(p);
}
