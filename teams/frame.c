/* SPDX-License-Identifier: MIT */
#include "teams/frame.h"

#include <string.h>

/* What a register is, as far as that is an address in the frame: an offset, or nothing known of it. */
enum { OTHER = INT32_MIN, FARTHEST = 1 << 24 };

struct state {
    int32_t reg[CODE_GENERAL];
    bool seen;
};

struct finding {
    struct teams_frame *frame;
    struct state *begin; /* of each block */
    bool recording;      /* states are known: slots and lent addresses are noted */
    int32_t stored, at;  /* in this block: an address that was stored, and where; it may be an argument */
};

static int32_t of_register(const struct state *s, uint8_t reg)
{
    return reg < CODE_GENERAL ? s->reg[reg] : OTHER;
}

static int32_t moved(int32_t offset, int64_t by)
{
    int64_t to = offset + by;
    return offset != OTHER && to > -FARTHEST && to < FARTHEST ? (int32_t)to : OTHER;
}

static void note(const struct finding *d, struct teams_addresses *to, int32_t offset)
{
    if (!d->recording || offset == OTHER)
        return;
    for (uint32_t k = 0; k < to->count; k++)
        if (to->of[k] == offset)
            return;
    if (to->count < TEAMS_SLOTS)
        to->of[to->count++] = offset;
}

static void lend(struct finding *d, int32_t offset)
{
    note(d, &d->frame->lent, offset);
}

static void set(struct state *s, uint8_t reg, int32_t offset)
{
    if (reg < CODE_GENERAL)
        s->reg[reg] = offset;
}

/* The address of an instruction's place. What has an index is somewhere in the object that begins there. */
static int32_t address_of(struct finding *d, const struct code_insn *i, const struct state *s)
{
    const struct code_place *p = &i->place;
    int32_t at = p->base == CODE_NO_REGISTER || p->thread ? OTHER : moved(of_register(s, p->base), p->offset);
    if (p->index == CODE_NO_REGISTER)
        return at;
    if (i->op == CODE_ADDRESS) {
        lend(d, at);
        lend(d, of_register(s, p->index));
    }
    return OTHER;
}

static void note_slot(struct finding *d, const struct code_insn *i, const struct state *s)
{
    struct teams_frame *f = d->frame;
    int32_t at = address_of(d, i, s);
    if (!d->recording || (!i->loads && !i->stores) || at == OTHER || i->repeats)
        return;
    uint32_t slot = 0;
    while (slot < f->slots && f->offset[slot] != at)
        slot++;
    if (slot == TEAMS_SLOTS)
        return;
    f->slots += slot == f->slots;
    f->offset[slot] = at;
    f->size[slot] = i->place.size > f->size[slot] ? i->place.size : f->size[slot];
    f->slot_of[i - f->flow->insn] = (uint8_t)slot;
}

/* What comes of the two operands. Of addresses that are not followed any further somebody else may make use. */
static int32_t computed(struct finding *d, const struct code_insn *i, const struct state *s)
{
    int32_t a = i->a.kind == CODE_REGISTER ? of_register(s, i->a.number) : OTHER;
    int32_t b = i->b.kind == CODE_REGISTER ? of_register(s, i->b.number) : OTHER;
    bool number = i->b.kind == CODE_IMMEDIATE;
    switch (i->op) {
    case CODE_MOVE:
        return a;
    case CODE_ADDRESS:
        return address_of(d, i, s);
    case CODE_COMPARE:
    case CODE_TEST:
        return OTHER;
    case CODE_ADD:
    case CODE_SUB:
        if (number)
            return moved(a, i->op == CODE_SUB ? -i->b.value : i->b.value);
        break;
    case CODE_BITS: /* a stack pointer that is aligned */
        if (number && i->b.value < 0 && a != OTHER)
            return moved(a & (int32_t)i->b.value, 0);
        break;
    default:
        break;
    }
    lend(d, a);
    lend(d, b);
    return OTHER;
}

static void lend_stored(struct finding *d)
{
    lend(d, d->stored);
    d->stored = OTHER;
}

/* What is asked for the bounds of a loop writes them where it is told to, and keeps no address; the first one that does
   not fit into registers is on top of the stack. */
static void call(struct finding *d, uint32_t insn, struct state *s)
{
    bool bounds = d->frame->flow->call[insn].known == TEAMS_BOUNDS;
    struct teams_addresses *to = bounds ? &d->frame->bounds : &d->frame->lent;
    for (uint64_t left = code_convention()->clobbered; left; left &= left - 1)
        note(d, to, of_register(s, code_first(left)));
    if (bounds && d->at == of_register(s, code_convention()->stack)) {
        note(d, to, d->stored);
        d->stored = OTHER;
    }
    lend_stored(d);
    for (uint64_t left = d->frame->flow->call[insn].clobbers; left; left &= left - 1)
        set(s, code_first(left), OTHER);
}

static void masked(struct finding *d, const struct code_insn *i, struct state *s)
{
    for (uint64_t left = code_sources(i); left; left &= left - 1)
        lend(d, of_register(s, code_first(left)));
    if (i->repeats && i->stores) /* as if a function were told where to */
        lend(d, of_register(s, i->place.base));
    for (uint64_t left = i->writes; left; left &= left - 1)
        set(s, code_first(left), OTHER);
}

static void store(struct finding *d, const struct code_insn *i, const struct state *s, int32_t address)
{
    const struct code_place *p = &i->place;
    lend_stored(d);
    d->stored = address;
    d->at = p->index == CODE_NO_REGISTER && !p->thread ? moved(of_register(s, p->base), p->offset) : OTHER;
}

static void step(struct finding *d, uint32_t insn, struct state *s)
{
    const struct code_insn *i = &d->frame->flow->insn[insn];
    uint8_t stack = code_convention()->stack;
    note_slot(d, i, s);
    if (code_is_call(i) || i->op == CODE_JUMP_SLOT) {
        call(d, insn, s);
    } else if (i->op == CODE_RETURN) {
        lend(d, of_register(s, code_convention()->result));
    } else if (i->op == CODE_OTHER) {
        masked(d, i, s);
    } else if (i->op != CODE_NOTHING && i->op < CODE_OTHER) {
        int32_t v = computed(d, i, s);
        if (i->dst.kind == CODE_REGISTER && i->dst.number < CODE_GENERAL)
            set(s, i->dst.number, v);
        else if (i->op == CODE_MOVE && v != OTHER) /* into memory, a vector */
            store(d, i, s, v);
        if (i->step && !(i->loads && i->dst.kind == CODE_REGISTER && i->dst.number == stack))
            set(s, stack, moved(of_register(s, stack), i->step));
    }
}

/* Where ways with different addresses meet, these are not followed any further. */
static bool meet(struct finding *d, struct state *to, const struct state *from)
{
    bool changed = !to->seen;
    if (changed)
        *to = *from;
    for (int k = 0; k < CODE_GENERAL; k++) {
        changed |= to->reg[k] != from->reg[k] && to->reg[k] != OTHER;
        to->reg[k] = to->reg[k] == from->reg[k] ? from->reg[k] : OTHER;
        if (to->reg[k] == OTHER)
            lend(d, from->reg[k]);
    }
    return changed;
}

/* One pass; whether a state changed. */
static bool pass(struct finding *d)
{
    const struct teams_flow *f = d->frame->flow;
    bool changed = false;
    for (uint32_t b = 0; b < f->blocks; b++) {
        struct state s = d->begin[b];
        d->stored = OTHER;
        for (uint32_t i = 0; i < f->block[b].count; i++)
            step(d, f->block[b].first + i, &s);
        lend_stored(d);
        for (uint32_t k = 0; k < teams_flow_ways(f, b); k++)
            if (teams_flow_way(f, b, k) >= 0)
                changed |= meet(d, &d->begin[teams_flow_way(f, b, k)], &s);
    }
    return changed;
}

static uint64_t changes_of(const struct teams_flow *f)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < f->insns; k++) {
        const struct code_insn *i = &f->insn[k];
        all |= i->writes;
        all |= i->dst.kind == CODE_REGISTER ? code_bit(i->dst.number) : 0;
        all |= code_is_call(i) || i->op == CODE_JUMP_SLOT ? f->call[k].clobbers : 0;
    }
    return all & code_convention()->clobbered;
}

struct teams_frame *teams_frame_find(const struct teams_flow *f, struct base_arena *room)
{
    struct teams_frame *frame = teams_flow_take_zeroed(room, sizeof *frame);
    struct finding d = { .frame = frame, .begin = teams_flow_take_zeroed(room, f->blocks * sizeof *d.begin) };
    if (!frame || !d.begin || !(frame->slot_of = teams_flow_take(room, f->insns)))
        return NULL;
    frame->flow = f;
    frame->changes = changes_of(f);
    memset(frame->slot_of, TEAMS_NO_SLOT, f->insns);
    for (int k = 0; k < CODE_GENERAL; k++)
        d.begin[0].reg[k] = k == code_convention()->stack ? 0 : OTHER;
    d.begin[0].seen = true;
    while (pass(&d))
        ;
    d.recording = true;
    (void)pass(&d);
    return frame;
}

static bool is_above(const struct teams_frame *f, const struct teams_addresses *a, uint8_t slot, bool near)
{
    enum { OBJECT = 8 };
    for (uint32_t k = 0; k < a->count; k++)
        if (f->offset[slot] + f->size[slot] > a->of[k] && (!near || f->offset[slot] < a->of[k] + OBJECT))
            return true;
    return a->count == TEAMS_SLOTS; /* or more */
}

bool teams_frame_is_lent(const struct teams_frame *f, uint8_t slot, bool near)
{
    return (f->offset[slot] >= 0 && !near) /* of its caller */ || is_above(f, &f->lent, slot, near);
}

bool teams_frame_is_bound(const struct teams_frame *f, uint8_t slot)
{
    return is_above(f, &f->bounds, slot, true);
}

bool teams_frame_overlap(const struct teams_frame *f, uint8_t a, uint8_t b)
{
    return f->offset[a] < f->offset[b] + f->size[b] && f->offset[b] < f->offset[a] + f->size[a];
}
