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
    LENT = 16,   /* from a place in the frame that others may have written */
    READ = FIXED | LENT
};

enum { PLACES = TEAMS_REGISTERS + TEAMS_SLOTS };
struct marks {
    uint8_t of[PLACES];
    bool seen, leaves; /* leaves: its branch out of the loop moves on */
};

struct turn {
    const struct teams_frame *frame;
    const struct teams_flow *f;
    uint32_t head;         /* the loop's block with the smallest number */
    uint8_t *inside;       /* of each block: whether it is in the loop; then whether a way was tried through it */
    struct marks begin, *end; /* at the head; of each block */
    int *todo;             /* blocks */
};

static uint32_t places(const struct turn *t)
{
    return TEAMS_REGISTERS + t->frame->slots;
}

static uint8_t join(uint8_t a, uint8_t b)
{
    uint8_t x = a & 3, y = b & 3;
    return (uint8_t)((x < y ? x : y) | ((a | b) & READ) | (a & b & SWAPPED));
}

/* Of computing with both. What only adds up what was read does not move by itself. */
static uint8_t compute(uint8_t a, uint8_t b)
{
    bool moved = ((a & 3) && !(b & READ)) || ((b & 3) && !(a & READ));
    return (uint8_t)((moved ? MOVED : NOTHING) | ((a | b) & READ));
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
    return (uint8_t)(compute(base, index) | (base & READ));
}

static uint8_t of_load(const struct turn *t, const struct teams_insn *i, const struct marks *m)
{
    uint8_t slot = t->frame->slot_of[i - t->f->insn];
    if (slot != TEAMS_NO_SLOT)
        return m->of[TEAMS_REGISTERS + slot] | (teams_frame_is_lent(t->frame, slot, false) ? LENT : NOTHING);
    uint8_t address = of_address(i, m);
    return address & 3 ? MOVED : FIXED;
}

static uint8_t of_operand(const struct turn *t, const struct teams_insn *i, const struct teams_operand *o,
                          const struct marks *m)
{
    if (o->kind == TEAMS_MEMORY)
        return of_load(t, i, m);
    if (o->kind == TEAMS_FROM)
        return FIXED;
    return o->kind == TEAMS_REGISTER ? of_register(m, o->number) : NOTHING;
}

/* A slot is written: so are parts of those that overlap it. */
static void put_slot(const struct turn *t, uint8_t slot, struct marks *m, uint8_t mark)
{
    for (uint32_t k = 0; k < t->frame->slots; k++)
        if (k != slot && teams_frame_overlap(t->frame, slot, (uint8_t)k))
            m->of[TEAMS_REGISTERS + k] = mark & READ;
    m->of[TEAMS_REGISTERS + slot] = mark;
}

static void put(const struct turn *t, const struct teams_insn *i, struct marks *m, uint8_t mark)
{
    uint8_t slot = t->frame->slot_of[i - t->f->insn];
    if (i->dst.kind == TEAMS_REGISTER && i->dst.number < TEAMS_REGISTERS)
        m->of[i->dst.number] = i->partial ? join(mark, m->of[i->dst.number]) : mark;
    else if (i->dst.kind == TEAMS_MEMORY && slot != TEAMS_NO_SLOT)
        put_slot(t, slot, m, mark);
}

static void other(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    uint8_t mark = NOTHING, slot = t->frame->slot_of[i - t->f->insn];
    for (uint64_t left = teams_sources(i); left; left &= left - 1)
        mark = compute(mark, m->of[teams_first(left)]);
    if (i->reads_flags)
        mark = compute(mark, m->of[TEAMS_FLAGS]);
    if (i->loads)
        mark = compute(mark, of_load(t, i, m));
    for (uint64_t left = i->writes; left; left &= left - 1) {
        uint8_t *to = &m->of[teams_first(left)];
        *to = i->partial ? join(mark, *to) : mark;
    }
    if (i->writes_flags)
        m->of[TEAMS_FLAGS] = mark;
    if (i->stores && slot != TEAMS_NO_SLOT)
        put_slot(t, slot, m, mark);
    for (uint32_t k = 0; i->stores && i->repeats && k < t->frame->slots; k++) /* any of them */
        m->of[TEAMS_REGISTERS + k] &= READ;
}

/* Compare and swap: whether it was the value that it should have been moves on by itself, where that value was read; a
   constant it waits for. */
static void swap(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    uint8_t result = teams_convention()->result;
    bool constant = !(m->of[result] & ~LENT);
    other(t, i, m);
    m->of[TEAMS_FLAGS] = constant ? FIXED : MOVED;
    m->of[result] = constant ? FIXED : FIXED | SWAPPED;
}

static void call(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    const struct teams_call *c = &t->f->call[i - t->f->insn];
    for (uint64_t left = c->clobbers; left; left &= left - 1)
        m->of[teams_first(left)] = FIXED;
    m->of[TEAMS_FLAGS] = FIXED;
    for (uint32_t k = 0; k < t->frame->slots; k++)
        if (teams_frame_is_lent(t->frame, (uint8_t)k, true))
            m->of[TEAMS_REGISTERS + k] = FIXED;
    if (c->known == TEAMS_BOUNDS) /* it comes to its end */
        m->of[teams_convention()->result] = MOVED;
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
    case TEAMS_COMPARE: /* one side that moves on is enough */
        return (uint8_t)((a | b) & SWAPPED ? MOVED : ((a | b) & 3 ? MOVED : NOTHING) | ((a | b) & READ));
    case TEAMS_ADD:
    case TEAMS_SUB: {
        bool none = i->b.kind == TEAMS_IMMEDIATE && i->b.value == 0;
        return none ? a : compute(a, b);
    }
    default:
        return compute(a, b);
    }
}

static void step(const struct turn *t, const struct teams_insn *i, struct marks *m)
{
    if (teams_is_call(i)) {
        call(t, i, m);
    } else if (i->swaps) {
        swap(t, i, m);
    } else if (i->op == TEAMS_OTHER) {
        other(t, i, m);
    } else if (i->op == TEAMS_COMPARE || i->op == TEAMS_TEST) {
        m->of[TEAMS_FLAGS] = result(t, i, m);
    } else if (i->op != TEAMS_NOTHING && i->op < TEAMS_OTHER) {
        uint8_t mark = result(t, i, m);
        if (i->reads_flags && i->op != TEAMS_SELECT) /* with carry: it may be that nothing is added */
            mark = compute(mark, m->of[TEAMS_FLAGS]);
        put(t, i, m, mark);
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
    const struct teams_block *block = &t->f->block[b];
    for (uint32_t k = 0; k < block->count; k++)
        step(t, &t->f->insn[block->first + k], m);
}

static void begin_block(const struct turn *t, int b, struct marks *m)
{
    const struct teams_block *block = &t->f->block[b];
    if (b == (int)t->head) {
        *m = t->begin;
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

/* One pass from the head, with the marks there as they are; inner loops need several. False: too many. */
static bool run_turn(struct turn *t)
{
    bool changed = true;
    for (uint32_t b = 0; b < t->f->blocks; b++)
        t->end[b].seen = false;
    for (int round = 0; changed && round < 32; round++) {
        changed = false;
        for (uint32_t b = t->head; b < t->f->blocks; b++) {
            struct marks m;
            if (!t->inside[b] || (b == t->head && t->end[b].seen))
                continue;
            begin_block(t, (int)b, &m);
            if (!m.seen)
                continue;
            run_block(t, (int)b, &m);
            changed |= !t->end[b].seen || memcmp(m.of, t->end[b].of, sizeof m.of) != 0;
            t->end[b] = m;
        }
    }
    return !changed;
}

/* What does not move on in each turn loses its mark; whether any did. */
static bool drop_still(struct turn *t)
{
    const struct teams_flow *f = t->f;
    const struct teams_block *head = &f->block[t->head];
    bool dropped = false;
    for (uint32_t i = 0; i < head->before_count; i++) {
        const struct marks *end = &t->end[head->before[i]];
        if (!t->inside[head->before[i]] || !end->seen)
            continue;
        for (uint32_t k = 0; k < places(t); k++) {
            if ((t->begin.of[k] & 3) && (end->of[k] & 3) != MOVED) {
                t->begin.of[k] &= READ;
                dropped = true;
            }
            if ((end->of[k] & READ & ~t->begin.of[k]) && !(end->of[k] & 3)) {
                t->begin.of[k] |= end->of[k] & READ;
                dropped = true;
            }
        }
    }
    return dropped;
}

static bool leads_out(const struct turn *t, uint32_t b)
{
    const int *next = t->f->block[b].next;
    return (next[0] >= 0 && !t->inside[next[0]]) || (next[1] >= 0 && !t->inside[next[1]]);
}

/* Whether a way around passes none of the blocks whose branch out of the loop moves on. */
static bool passes_by(const struct turn *t)
{
    uint32_t count = 1;
    bool around = false;
    t->todo[0] = (int)t->head;
    memset(t->inside + t->f->blocks, 0, t->f->blocks);
    while (count && !around) {
        int b = t->todo[--count];
        if (t->end[b].leaves)
            continue;
        for (int k = 0; k < 2; k++) {
            int to = t->f->block[b].next[k];
            around |= to == (int)t->head;
            if (to >= 0 && t->inside[to] && !t->inside[t->f->blocks + (uint32_t)to]) {
                t->inside[t->f->blocks + (uint32_t)to] = 1;
                t->todo[count++] = to;
            }
        }
    }
    return around;
}

/* Decided in each turn by what the loop itself does. A swap alone is not: before it the loop may wait for the value
   that it swaps. */
static bool ends_by_itself(const struct turn *t)
{
    bool fixed = false, swap_moves = false;
    for (uint32_t b = 0; b < t->f->blocks; b++) {
        t->end[b].leaves = false;
        if (!t->inside[b] || !teams_flow_branch(t->f, (int)b) || !t->end[b].seen)
            continue;
        uint8_t flags = t->end[b].of[TEAMS_FLAGS];
        fixed |= (flags & READ) != 0;
        bool out = (flags & 3) && leads_out(t, b);
        t->end[b].leaves = out && !swaps(t->f, (int)b);
        swap_moves |= out && swaps(t->f, (int)b);
    }
    return !passes_by(t) || (swap_moves && !fixed) || !fixed;
}

static bool leaves(const struct turn *t)
{
    for (uint32_t b = 0; b < t->f->blocks; b++)
        if (t->inside[b] && leads_out(t, b))
            return true;
    return false;
}

static bool waits(struct turn *t)
{
    if (!leaves(t))
        return true;
    memset(&t->begin, 0, sizeof t->begin);
    t->begin.seen = true;
    memset(t->begin.of, FIRST, sizeof t->begin.of);
    for (int round = 0; round < 16; round++) {
        if (!run_turn(t))
            return true;
        if (!drop_still(t))
            return !ends_by_itself(t);
    }
    return true;
}

/* Blocks without a smaller number than the head from which it is reached, and that are reached from it: all ways around
   whose smallest one it is, whether or not the loop has other entries. False: there is none. */
static bool find_loop(struct turn *t)
{
    const struct teams_flow *f = t->f;
    enum { FROM = 1, TO = 2 };
    memset(t->inside, 0, f->blocks);
    for (int way = FROM; way <= TO; way++) {
        uint32_t count = 1;
        t->todo[0] = (int)t->head;
        while (count) {
            const struct teams_block *b = &f->block[t->todo[--count]];
            uint32_t nexts = way == FROM ? 2 : b->before_count;
            for (uint32_t k = 0; k < nexts; k++) {
                int to = way == FROM ? b->next[k] : b->before[k];
                if (to < (int)t->head || (t->inside[to] & way))
                    continue;
                t->inside[to] |= (uint8_t)way;
                t->todo[count++] = to;
            }
        }
    }
    for (uint32_t b = 0; b < f->blocks; b++)
        t->inside[b] = t->inside[b] == (FROM | TO);
    return t->inside[t->head];
}

static bool is_head(const struct teams_flow *f, uint32_t b)
{
    for (uint32_t k = 0; k < f->block[b].before_count; k++)
        if (f->block[b].before[k] >= (int)b)
            return true;
    return false;
}

uintptr_t teams_wait_find(const struct teams_frame *frame)
{
    const struct teams_flow *f = frame->flow;
    struct turn t = { .frame = frame, .f = f };
    uintptr_t where = 0;
    for (; t.head < f->blocks && !where; t.head++) {
        if (!is_head(f, t.head))
            continue;
        t.end = t.end ? t.end : malloc(f->blocks * sizeof *t.end);
        t.inside = t.inside ? t.inside : calloc(2, f->blocks);
        t.todo = t.todo ? t.todo : malloc(f->blocks * sizeof *t.todo);
        if (!t.end || !t.inside || !t.todo || (find_loop(&t) && waits(&t)))
            where = f->insn[f->block[t.head].first].address;
    }
    free(t.end);
    free(t.inside);
    free(t.todo);
    return where;
}
