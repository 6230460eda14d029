/* SPDX-License-Identifier: MIT */
#include "teams/wait.h"

#include <stdlib.h>
#include <string.h>

/* Of a value in a turn of the loop. FIRST: as at the head; MOVED: computed of that; both: not read from a fixed place.
   */
enum mark {
    NOTHING,
    FIRST,
    MOVED,
    FIXED = 4,   /* with it, what was read from a place that is the same in each turn */
    SWAPPED = 8, /* what an exchange found there, that expected something read before */
};

enum { PLACES = TEAMS_REGISTERS + TEAMS_SLOTS };
struct marks {
    uint8_t of[PLACES];
    bool seen;
    uint32_t ran, changed; /* in which run of a block, its own or another one's */
};

struct turn {
    const struct teams_reading *r;
    int loop;
    struct marks head, *end; /* of each block */
};

static uint32_t places(const struct turn *t)
{
    return TEAMS_REGISTERS + t->r->slots;
}

static uint8_t join(uint8_t a, uint8_t b)
{
    uint8_t x = a & 3, y = b & 3;
    return (uint8_t)((x < y ? x : y) | ((a | b) & FIXED) | (a & b & SWAPPED));
}

/* Of computing with both. What only adds up what was read does not move by itself. */
static uint8_t compute(uint8_t a, uint8_t b)
{
    bool moved = ((a & 3) && !(b & FIXED)) || ((b & 3) && !(a & FIXED));
    return (uint8_t)((moved ? MOVED : NOTHING) | ((a | b) & FIXED));
}

static uint8_t of_register(const struct marks *m, uint8_t reg)
{
    return reg < TEAMS_REGISTERS ? m->of[reg] : NOTHING;
}

static uint8_t of_address(const struct teams_insn *i, const struct marks *m)
{
    uint8_t stack = teams_convention()->stack;
    uint8_t base = i->place.base == stack ? NOTHING : of_register(m, i->place.base),
            index = of_register(m, i->place.index);
    return (uint8_t)(compute(base, index) | (base & FIXED));
}

static uint8_t of_load(const struct turn *t, const struct teams_insn *i, const struct marks *m)
{
    uint8_t slot = t->r->slot_of[i - t->r->flow->insn];
    if (slot != TEAMS_NO_SLOT)
        return m->of[TEAMS_REGISTERS + slot];
    uint8_t address = of_address(i, m);
    return address & 3 ? MOVED : FIXED;
}

static uint8_t of_operand(const struct turn *t, const struct teams_insn *i, const struct teams_operand *o,
                          const struct marks *m)
{
    if (o->kind == TEAMS_MEMORY)
        return of_load(t, i, m);
    return o->kind == TEAMS_REGISTER ? of_register(m, o->number) : NOTHING;
}

static void put(const struct turn *t, const struct teams_insn *i, struct marks *m, uint8_t mark)
{
    uint8_t slot = t->r->slot_of[i - t->r->flow->insn];
    if (i->dst.kind == TEAMS_REGISTER && i->dst.number < TEAMS_REGISTERS)
        m->of[i->dst.number] = mark;
    else if (i->dst.kind == TEAMS_MEMORY && slot != TEAMS_NO_SLOT)
        m->of[TEAMS_REGISTERS + slot] = mark;
}

static void other(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    uint8_t mark = NOTHING, slot = t->r->slot_of[i - t->r->flow->insn];
    for (uint64_t left = teams_sources(i); left; left &= left - 1)
        mark = compute(mark, m->of[teams_first(left)]);
    if (i->reads_flags)
        mark = compute(mark, m->of[TEAMS_FLAGS]);
    if (i->loads)
        mark = compute(mark, of_load(t, i, m));
    for (uint64_t left = i->writes; left; left &= left - 1)
        m->of[teams_first(left)] = mark;
    if (i->writes_flags)
        m->of[TEAMS_FLAGS] = mark;
    if (i->stores && slot != TEAMS_NO_SLOT)
        m->of[TEAMS_REGISTERS + slot] = mark;
}

/* Compare and swap: whether it was the value that it should have been moves on by itself, unless that is a constant. */
static void swap(const struct turn *t, const struct teams_insn *i, struct marks *m, const struct teams_state *s)
{
    uint8_t result = teams_convention()->result;
    bool constant = !s || s->reg[result].kind == TEAMS_CONSTANT;
    other(t, i, m);
    m->of[TEAMS_FLAGS] = constant ? FIXED : MOVED;
    m->of[result] = constant ? FIXED : FIXED | SWAPPED;
}

static void call(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    const struct teams_convention *c = teams_convention();
    enum teams_known known = t->r->flow->call[i - t->r->flow->insn].known;
    for (uint64_t left = t->r->flow->call[i - t->r->flow->insn].clobbers; left; left &= left - 1)
        m->of[teams_first(left)] = FIXED;
    m->of[TEAMS_FLAGS] = FIXED;
    if (known == TEAMS_BOUNDS)
        m->of[c->result] = MOVED;
}

static uint8_t result(const struct turn *t, const struct teams_insn *i, const struct marks *m)
{
    uint8_t a = of_operand(t, i, &i->a, m), b = of_operand(t, i, &i->b, m);
    switch (i->op) {
    case TEAMS_MOVE:
        return a;
    case TEAMS_ADDRESS:
        return compute(of_address(i, m), NOTHING);
    case TEAMS_BITS:
    case TEAMS_SELECT:
        return i->b.kind == TEAMS_IMMEDIATE ? compute(a, NOTHING) : join(a, b);
    case TEAMS_TEST:
        return i->a.kind == i->b.kind && i->a.number == i->b.number ? a
               : i->b.kind == TEAMS_IMMEDIATE                       ? compute(a, NOTHING)
                                                                    : join(a, b);
    case TEAMS_SET:
        return m->of[TEAMS_FLAGS];
    case TEAMS_COMPARE: /* one side that moves on is enough */
        return (uint8_t)((a | b) & SWAPPED ? MOVED : ((a | b) & 3 ? MOVED : NOTHING) | ((a | b) & FIXED));
    case TEAMS_ADD:
    case TEAMS_SUB: {
        bool none = i->b.kind == TEAMS_IMMEDIATE && i->b.value == 0;
        return none ? a : compute(a, b);
    }
    default:
        return compute(a, b);
    }
}

static void step(const struct turn *t, const struct teams_insn *i, struct marks *m, const struct teams_state *s)
{
    if (teams_is_call(i)) {
        call(t, i, m);
    } else if (i->swaps) {
        swap(t, i, m, s);
    } else if (teams_is_masked(i)) {
        other(t, i, m);
    } else if (i->op == TEAMS_COMPARE || i->op == TEAMS_TEST) {
        m->of[TEAMS_FLAGS] = result(t, i, m);
    } else if (i->op != TEAMS_NOTHING && i->op < TEAMS_OTHER) {
        uint8_t mark = result(t, i, m);
        put(t, i, m, mark);
        if (i->second != TEAMS_NO_REGISTER)
            m->of[i->second] = mark;
        if (i->writes_flags)
            m->of[TEAMS_FLAGS] = mark;
    }
}

static bool swaps(const struct teams_flow *f, int b)
{
    bool any = false;
    for (uint32_t k = 0; k < f->block[b].count; k++)
        any |= f->insn[f->block[b].first + k].swaps;
    return any;
}

static void run_block(const struct turn *t, int b, struct marks *m)
{
    const struct teams_block *block = &t->r->flow->block[b];
    struct teams_state *s = NULL; /* before each instruction, where there is an exchange */
    if (swaps(t->r->flow, b) && (s = malloc(sizeof *s)))
        teams_follow_begin(t->r, b, s);
    for (uint32_t k = 0; k < block->count; k++) {
        step(t, &t->r->flow->insn[block->first + k], m, s);
        if (s)
            teams_follow_step((struct teams_reading *)t->r, b, block->first + k, s);
    }
    free(s);
}

static void begin_block(const struct turn *t, int b, struct marks *m)
{
    const struct loops_node *block = &t->r->flow->nest.node[b];
    if (b == t->r->flow->nest.head[t->loop]) {
        *m = t->head;
        return;
    }
    m->seen = false;
    for (uint32_t i = 0; i < block->before_count; i++) {
        const struct marks *from = &t->end[block->before[i]];
        if (!from->seen)
            continue;
        if (!m->seen)
            *m = *from;
        else
            for (uint32_t k = 0; k < places(t); k++)
                m->of[k] = join(m->of[k], from->of[k]);
    }
}

/* Whether a block may end otherwise than when it ran last. The loop's head begins as it did. */
static bool is_due(const struct turn *t, uint32_t b)
{
    const struct loops_node *block = &t->r->flow->nest.node[b];
    bool due = !t->end[b].seen;
    for (uint32_t i = 0; !due && (int)b != t->r->flow->nest.head[t->loop] && i < block->before_count; i++)
        due = t->end[block->before[i]].changed > t->end[b].ran;
    return due;
}

/* One pass from the head, with the marks there as they are; inner loops need several. */
static void run_turn(struct turn *t)
{
    const struct teams_flow *f = t->r->flow;
    uint32_t runs = 0;
    bool changed = true;
    for (uint32_t b = 0; b < f->blocks; b++) {
        t->end[b].seen = false;
        t->end[b].ran = t->end[b].changed = 0;
    }
    for (int round = 0; changed && round < 8; round++) {
        changed = false;
        for (uint32_t b = 0; b < f->blocks; b++) {
            struct marks m;
            if (!loops_holds(&f->nest, t->loop, (int)b) || !is_due(t, b))
                continue;
            begin_block(t, (int)b, &m);
            if (!m.seen)
                continue;
            run_block(t, (int)b, &m);
            m.ran = ++runs;
            bool other = !t->end[b].seen || memcmp(m.of, t->end[b].of, sizeof m.of) != 0;
            m.changed = other ? runs : t->end[b].changed;
            changed |= other;
            t->end[b] = m;
        }
    }
}

/* What does not move on in each turn loses its mark; whether any did. */
static bool drop_still(struct turn *t)
{
    const struct teams_flow *f = t->r->flow;
    const struct loops_node *head = &f->nest.node[f->nest.head[t->loop]];
    bool dropped = false;
    for (uint32_t i = 0; i < head->before_count; i++) {
        const struct marks *end = &t->end[head->before[i]];
        if (!loops_holds(&f->nest, t->loop, head->before[i]) || !end->seen)
            continue;
        for (uint32_t k = 0; k < places(t); k++) {
            if ((t->head.of[k] & 3) && (end->of[k] & 3) != MOVED) {
                t->head.of[k] &= FIXED;
                dropped = true;
            }
            if ((end->of[k] & FIXED) && !(t->head.of[k] & FIXED) && !(end->of[k] & 3)) {
                t->head.of[k] |= FIXED;
                dropped = true;
            }
        }
    }
    return dropped;
}

/* Decided by what the loop itself does. A swap alone is not: before it the loop may wait for the value that it swaps.
   */
static bool ends_by_itself(const struct turn *t)
{
    const struct teams_flow *f = t->r->flow;
    bool fixed = false, moves = false, swap_moves = false;
    for (uint32_t b = 0; b < f->blocks; b++) {
        if (!loops_holds(&f->nest, t->loop, (int)b) || !teams_flow_branch(f, (int)b) || !t->end[b].seen)
            continue;
        uint8_t flags = t->end[b].of[TEAMS_FLAGS];
        fixed |= (flags & FIXED) != 0;
        bool out = (flags & 3) && teams_flow_leads_out(f, t->loop, (int)b);
        moves |= out && !swaps(f, (int)b);
        swap_moves |= out && swaps(f, (int)b);
    }
    return moves || (swap_moves && !fixed) || !fixed;
}

static bool leaves(const struct teams_flow *f, int loop)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        if (teams_flow_leads_out(f, loop, (int)b))
            return true;
    return false;
}

static bool waits(struct turn *t)
{
    if (!leaves(t->r->flow, t->loop))
        return true;
    memset(&t->head, 0, sizeof t->head);
    t->head.seen = true;
    memset(t->head.of, FIRST, sizeof t->head.of);
    for (int round = 0; round < 16; round++) {
        run_turn(t);
        if (!drop_still(t))
            return !ends_by_itself(t);
    }
    return true;
}

uintptr_t teams_wait_find(const struct teams_reading *r)
{
    struct turn t = { .r = r };
    uintptr_t where = 0;
    if (!r->flow->nest.loops)
        return 0;
    t.end = malloc(r->flow->blocks * sizeof *t.end);
    for (uint32_t l = 0; l < r->flow->nest.loops && !where; l++) {
        t.loop = (int)l;
        if (!t.end || waits(&t))
            where = r->flow->insn[r->flow->block[r->flow->nest.head[l]].first].address;
    }
    free(t.end);
    return where;
}
