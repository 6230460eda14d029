/* SPDX-License-Identifier: MIT */
#include "teams/follow.h"

#include <stdlib.h>
#include <string.h>

/* Names: instructions from 1 on, blocks where values meet below 0 what is read from places in memory below those. */
enum { PLACES = TEAMS_REGISTERS + TEAMS_SLOTS, CONSTANTS = -(1 << 30) };

static int32_t name_of_meeting(int block, uint32_t place)
{
    return -(block * PLACES + (int32_t)place + 1);
}

/* --- The frame --- */

static uint8_t find_slot(const struct teams_reading *r, int32_t offset)
{
    for (uint32_t i = 0; i < r->slots; i++)
        if (r->slot_offset[i] == offset)
            return (uint8_t)i;
    return TEAMS_NO_SLOT;
}

static bool overlap(const struct teams_reading *r, uint32_t a, uint32_t b)
{
    int32_t x = r->slot_offset[a], y = r->slot_offset[b];
    return a != b && x < y + r->slot_size[b] && y < x + r->slot_size[a];
}

static uint8_t make_slot(struct teams_reading *r, int32_t offset, uint8_t size)
{
    uint8_t slot = find_slot(r, offset);
    if (slot != TEAMS_NO_SLOT && r->slot_size[slot] >= size)
        return slot;
    if (slot == TEAMS_NO_SLOT) {
        if (r->slots == TEAMS_SLOTS - 1) {
            r->too_large = true;
            return TEAMS_NO_SLOT;
        }
        slot = (uint8_t)r->slots++;
        r->slot_offset[slot] = offset;
    }
    r->slot_size[slot] = size;
    for (uint32_t i = 0; i < r->slots; i++)
        r->overlaps |= overlap(r, i, slot);
    return slot;
}

static struct teams_value slot_value(const struct teams_state *s, uint8_t slot)
{
    return s->slot[slot].kind == TEAMS_UNSEEN ? teams_value_any(0) : s->slot[slot];
}

static bool touches(const struct teams_reading *r, uint32_t slot, int32_t offset, uint8_t size)
{
    int32_t at = r->slot_offset[slot];
    return at != offset && at < offset + size && offset < at + r->slot_size[slot];
}

/* What shares bytes with a place that is written is not known any more. */
static void spoil(struct teams_reading *r, struct teams_state *s, int32_t offset, uint8_t size)
{
    for (uint32_t i = 0; r->overlaps && i < r->slots; i++)
        if (touches(r, i, offset, size) && !teams_value_is_raw(&s->slot[i]))
            s->slot[i] = teams_value_any(0);
}

/* A place made of several slots. */
static struct teams_value gather(const struct teams_reading *r, const struct teams_state *s, uint8_t slot, uint8_t size)
{
    struct teams_value v = slot_value(s, slot);
    for (uint32_t i = 0; r->overlaps && size > 8 && i < r->slots; i++)
        if (touches(r, i, r->slot_offset[slot], size) && s->slot[i].kind != TEAMS_UNSEEN)
            v = teams_value_join(v, s->slot[i]);
    return v;
}

/* A place in the frame that is not known exactly: raw where something raw may be there. */
static struct teams_value somewhere(const struct teams_reading *r, const struct teams_state *s)
{
    for (uint32_t i = 0; i < r->slots; i++)
        if (teams_value_is_raw(&s->slot[i]))
            return (struct teams_value){ .kind = TEAMS_RAW };
    return teams_value_any(0);
}

static void escape(struct teams_reading *r, const struct teams_value *v)
{
    if (v->kind != TEAMS_FRAME)
        return;
    for (uint32_t i = 0; i < r->escapes; i++)
        if (r->escaped[i] == v->number)
            return;
    if (r->escapes < TEAMS_ESCAPES)
        r->escaped[r->escapes++] = v->number;
    else
        r->too_large = true;
}

/* --- Operands --- */

struct teams_value teams_follow_address(const struct teams_insn *i, const struct teams_state *s)
{
    const struct teams_place *p = &i->place;
    struct teams_value v = teams_value_constant(p->fixed ? 0 : p->offset);
    if (p->fixed || p->thread)
        return teams_value_any(0);
    if (p->base != TEAMS_NO_REGISTER)
        v = p->offset || p->index != TEAMS_NO_REGISTER ? teams_value_add(s->reg[p->base], v, false) : s->reg[p->base];
    if (p->index != TEAMS_NO_REGISTER)
        v = teams_value_add(v, teams_value_scale(s->reg[p->index], p->scale ? p->scale : 1), false);
    return v;
}

/* What is read from one and the same place is taken for the same: by the name of the base. */
static int32_t name_of_memory(const struct teams_reading *r, const struct teams_insn *i, const struct teams_state *s)
{
    const struct teams_place *p = &i->place;
    uint64_t of = p->fixed ? 0 : 1;
    if (p->thread || (!p->fixed && (p->index != TEAMS_NO_REGISTER || p->base == TEAMS_NO_REGISTER)))
        return 0;
    if (!p->fixed) {
        const struct teams_value *base = &s->reg[p->base];
        int block = base->number > 0 ? r->block_of[base->number - 1] : (-base->number - 1) / PLACES;
        if (base->kind != TEAMS_ANY || base->number == 0 || (base->number > CONSTANTS && r->shared_loop[block] >= 0))
            return 0;
        of = (uint32_t)base->number;
    }
    uint64_t hash = (of << 32 ^ (uint64_t)p->offset) * 0x9e3779b97f4a7c15u;
    return CONSTANTS - (int32_t)(hash >> 36);
}

static struct teams_value load(struct teams_reading *r, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = r->slot_of[i - r->flow->insn] = at.kind == TEAMS_FRAME ? make_slot(r, at.number, i->place.size)
                                                                          : TEAMS_NO_SLOT;
    if (slot != TEAMS_NO_SLOT)
        return gather(r, s, slot, i->place.size);
    if (at.kind == TEAMS_STACK)
        return somewhere(r, s);
    struct teams_value v = teams_value_any(at.bits & TEAMS_BOUND ? at.bits & TEAMS_CARRIED
                                                                 : at.bits & (TEAMS_CARRIED | TEAMS_COUNTER));
    if (v.bits == 0 && !(at.bits & TEAMS_BOUND))
        v.number = name_of_memory(r, i, s);
    return v;
}

struct teams_value teams_follow_operand(struct teams_reading *r, const struct teams_insn *i,
                                        const struct teams_operand *o, const struct teams_state *s)
{
    switch (o->kind) {
    case TEAMS_REGISTER:
        return o->number < TEAMS_REGISTERS ? s->reg[o->number] : teams_value_any(0);
    case TEAMS_IMMEDIATE:
        return teams_value_constant(o->value);
    case TEAMS_MEMORY:
        return load(r, i, s);
    default:
        return teams_value_any(0);
    }
}

bool teams_follow_is_written(const struct teams_reading *r, uint32_t slot, int loop)
{
    bool outside = false, inside = false;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        bool writes = r->defs[b].slots[slot / 64] >> slot % 64 & 1;
        outside |= writes && !teams_flow_in_loop(r->flow, loop, (int)b);
        inside |= writes && teams_flow_in_loop(r->flow, loop, (int)b);
    }
    return outside && !inside;
}

bool teams_follow_is_public(const struct teams_value *address)
{
    return address->kind != TEAMS_FRAME && address->kind != TEAMS_STACK && address->kind != TEAMS_HEAP;
}

static void define(struct teams_reading *r, int block, uint8_t reg, bool step)
{
    if (r->recording && reg < 64) {
        struct teams_defs *d = &r->defs[block];
        d->regs |= 1ull << reg;
        d->stepped &= step ? ~0ull : ~(1ull << reg);
    }
}

static void define_slot(struct teams_reading *r, int block, uint8_t slot)
{
    if (r->recording)
        r->defs[block].slots[slot / 64] |= 1ull << slot % 64;
}

static void store(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                  struct teams_value v)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = r->slot_of[i - r->flow->insn] = at.kind == TEAMS_FRAME ? make_slot(r, at.number, i->place.size)
                                                                          : TEAMS_NO_SLOT;
    escape(r, &v);
    if (slot == TEAMS_NO_SLOT)
        return;
    s->slot[slot] = v;
    define_slot(r, block, slot);
    spoil(r, s, at.number, i->place.size);
}

static struct teams_value named(const struct teams_reading *r, const struct teams_insn *i, struct teams_value v)
{
    if (v.kind == TEAMS_ANY && v.number == 0)
        v.number = (int32_t)(i - r->flow->insn) + 1;
    return v;
}

static void write(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                  struct teams_value v)
{
    v = named(r, i, v);
    if (i->dst.kind == TEAMS_MEMORY) {
        store(r, block, i, s, v);
    } else if (i->dst.kind == TEAMS_REGISTER && i->dst.number < TEAMS_REGISTERS) {
        bool step = (i->op == TEAMS_ADD || i->op == TEAMS_SUB) && i->a.kind == TEAMS_REGISTER &&
                    i->a.number == i->dst.number && i->b.kind == TEAMS_IMMEDIATE;
        step |= i->op == TEAMS_ADDRESS && i->place.base == i->dst.number && i->place.index == TEAMS_NO_REGISTER;
        s->reg[i->dst.number] = v;
        define(r, block, i->dst.number, step);
    }
}

/* --- Operations --- */

/* Sums that begin with 0 stay such where iterations add to them. */
static struct teams_value sum(const struct teams_reading *r, int block, struct teams_value a, struct teams_value b,
                              bool minus)
{
    struct teams_value v = teams_value_add(a, b, minus);
    bool in = r->context[block] & (TEAMS_IN_LOOP | TEAMS_GUARDED);
    bool zero = (a.bits & b.bits & TEAMS_ZERO) || (in && ((a.bits & TEAMS_ZERO) || (!minus && (b.bits & TEAMS_ZERO))));
    if (v.kind == TEAMS_ANY && zero)
        v.bits |= TEAMS_ZERO;
    return v;
}

static struct teams_value choose(struct teams_value flags, struct teams_value a, struct teams_value b)
{
    struct teams_value v = teams_value_join(a, b);
    if (flags.kind == TEAMS_IF_MASTER || flags.kind == TEAMS_IF_SINGLE || flags.kind == TEAMS_RAW)
        return (struct teams_value){ .kind = TEAMS_RAW };
    if (v.kind == TEAMS_CONSTANT || v.kind == TEAMS_ANY)
        v.bits |= flags.bits & (TEAMS_CARRIED | TEAMS_COUNTER);
    return v;
}

static struct teams_value set(struct teams_value flags)
{
    return flags.kind >= TEAMS_RAW ? (struct teams_value){ .kind = TEAMS_RAW }
                                   : teams_value_any(flags.bits & ~(unsigned)TEAMS_ZERO);
}

static struct teams_value bits(const struct teams_insn *i, struct teams_value a, struct teams_value b)
{
    if (a.kind == TEAMS_FRAME && b.kind == TEAMS_CONSTANT && b.number < 0)
        return (struct teams_value){ .kind = TEAMS_FRAME, .number = a.number & b.number };
    bool same = i->a.kind == TEAMS_REGISTER && i->b.kind == TEAMS_REGISTER && i->a.number == i->b.number;
    if (same || (b.kind == TEAMS_CONSTANT && b.number == -1))
        return a;
    struct teams_value v = teams_value_mix(a, b);
    return v;
}

static struct teams_value test(const struct teams_insn *i, struct teams_value a, struct teams_value b)
{
    bool same = i->a.kind == TEAMS_REGISTER && i->b.kind == TEAMS_REGISTER && i->a.number == i->b.number;
    if (same || (a.kind == TEAMS_IF_SINGLE && b.kind == TEAMS_CONSTANT))
        return teams_value_compare(a, teams_value_constant(0));
    return teams_value_mix(a, b);
}

/* Whatever goes in comes out. */
static void other(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s)
{
    struct teams_value v = teams_value_any(0);
    bool first = true, zero = true, in = r->context[block] & (TEAMS_IN_LOOP | TEAMS_GUARDED), some_zero = false;
    for (uint8_t k = 0; k < 64; k++)
        if (i->reads >> k & 1) {
            bool address = (i->place.base == k || i->place.index == k) && !(i->writes >> k & 1);
            if (address || s->reg[k].kind == TEAMS_FRAME)
                continue;
            v = first ? teams_value_mix(s->reg[k], teams_value_any(0)) : teams_value_mix(v, s->reg[k]);
            zero &= (s->reg[k].bits & TEAMS_ZERO) != 0;
            some_zero |= (s->reg[k].bits & TEAMS_ZERO) && (i->writes >> k & 1);
            first = false;
        }
    if (i->reads_flags)
        v = first ? set(s->reg[TEAMS_FLAGS]) : teams_value_mix(v, set(s->reg[TEAMS_FLAGS]));
    if (i->loads) {
        struct teams_value loaded = load(r, i, s);
        v = teams_value_mix(v, loaded);
        zero &= (loaded.bits & TEAMS_ZERO) != 0;
    }
    bool sums = i->op == TEAMS_VECTOR_ADD && ((zero && !first) || (in && some_zero));
    if (v.kind == TEAMS_ANY && (sums || (i->op == TEAMS_SHUFFLE && zero && !first)))
        v.bits |= TEAMS_ZERO;
    v = named(r, i, v);
    if (i->stores)
        store(r, block, i, s, v);
    for (uint8_t k = 0; k < 64; k++)
        if (i->writes >> k & 1) {
            s->reg[k] = v;
            define(r, block, k, false);
        }
    if (i->writes_flags)
        s->reg[TEAMS_FLAGS] = v;
    if (i->swaps) { /* the value that was there */
        s->reg[teams_convention()->result] = named(r, i, teams_value_any(0));
        define(r, block, teams_convention()->result, false);
    }
}

/* --- Calls --- */

/* Where a call may have written. */
static void forget_escaped(struct teams_reading *r, struct teams_state *s, struct teams_value now)
{
    enum { OBJECT = 64 };
    for (uint32_t k = 0; k < r->slots; k++)
        for (uint32_t e = 0; e < r->escapes; e++)
            if (r->slot_offset[k] >= r->escaped[e] && r->slot_offset[k] < r->escaped[e] + OBJECT &&
                !teams_value_is_raw(&s->slot[k]))
                s->slot[k] = now;
}

/* Bounds of a shared loop, stored where the arguments point to. */
static void bound_at(struct teams_reading *r, int block, struct teams_state *s, const struct teams_value *v)
{
    if (v->kind != TEAMS_FRAME)
        return;
    uint8_t slot = make_slot(r, v->number, 8);
    if (slot == TEAMS_NO_SLOT)
        return;
    s->slot[slot] = teams_value_any(TEAMS_BOUND);
    define_slot(r, block, slot);
}

static void take_bounds(struct teams_reading *r, int block, struct teams_state *s)
{
    const struct teams_convention *c = teams_convention();
    for (int a = 0; a < c->argument_count; a++)
        bound_at(r, block, s, &s->reg[c->arguments[a]]);
    for (int32_t k = 0; k < 4 && s->reg[c->stack].kind == TEAMS_FRAME; k++) {
        uint8_t slot = find_slot(r, s->reg[c->stack].number + 8 * k);
        if (slot != TEAMS_NO_SLOT) {
            struct teams_value v = s->slot[slot];
            bound_at(r, block, s, &v);
        }
    }
}

static struct teams_value result_of(enum teams_known known)
{
    switch (known) {
    case TEAMS_ASKS_SIZE:
        return (struct teams_value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .n = 1 };
    case TEAMS_ASKS_NUMBER:
        return (struct teams_value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .t = 1 };
    case TEAMS_ALLOCATES:
        return (struct teams_value){ .kind = TEAMS_HEAP };
    case TEAMS_BOUNDS:
        return teams_value_any(TEAMS_BOUND);
    case TEAMS_SINGLE:
        return (struct teams_value){ .kind = TEAMS_IF_SINGLE };
    default:
        return teams_value_any(0);
    }
}

static void call(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s)
{
    const struct teams_convention *c = teams_convention();
    enum teams_known known = r->flow->call[i - r->flow->insn].known;
    uint64_t clobbers = r->flow->call[i - r->flow->insn].clobbers;
    for (int a = 0; a < c->argument_count; a++)
        escape(r, &s->reg[c->arguments[a]]);
    if (known == TEAMS_WRITES || known == TEAMS_UNKNOWN_CALL)
        forget_escaped(r, s, teams_value_any(0));
    if (known == TEAMS_BOUNDS)
        take_bounds(r, block, s);
    for (uint8_t k = 0; k < 64; k++)
        if (clobbers >> k & 1) {
            s->reg[k] = teams_value_any(0);
            define(r, block, k, false);
        }
    s->reg[TEAMS_FLAGS] = teams_value_any(0);
    s->reg[c->result] = result_of(known);
}

/* Whether the block is run by the threads with T < r only. */
static bool has_rest(const struct teams_reading *r, int block)
{
    const struct teams_flow *f = r->flow;
    for (int b = f->block[block].dominator, last = block; b >= 0 && b != last; last = b, b = f->block[b].dominator)
        for (int k = 0; r->out[b].reg[TEAMS_FLAGS].kind == TEAMS_IF_REST && k < 2; k++)
            if (f->block[b].next[k] >= 0 && teams_flow_edge_dominates(f, b, f->block[b].next[k], block))
                return true;
    return false;
}

void teams_follow_step(struct teams_reading *r, int block, uint32_t insn, struct teams_state *s)
{
    const struct teams_insn *i = &r->flow->insn[insn];
    uint8_t stack = teams_convention()->stack;
    struct teams_value a, b, v, rest;
    if (i->op == TEAMS_CALL || i->op == TEAMS_CALL_SLOT || i->op == TEAMS_CALL_ANY) {
        call(r, block, i, s);
        return;
    }
    if (i->op == TEAMS_OTHER || i->op == TEAMS_FLOAT || i->op == TEAMS_EXTREME || i->op == TEAMS_VECTOR_ADD ||
        i->op == TEAMS_SHUFFLE) {
        other(r, block, i, s);
        return;
    }
    if (i->op == TEAMS_NOTHING || i->op > TEAMS_OTHER)
        return;
    a = i->a.kind ? teams_follow_operand(r, i, &i->a, s) : teams_value_any(0);
    b = i->b.kind ? teams_follow_operand(r, i, &i->b, s) : teams_value_any(0);
    switch (i->op) {
    case TEAMS_MOVE:
        v = a;
        break;
    case TEAMS_ADDRESS:
        v = teams_follow_address(i, s);
        if (v.kind == TEAMS_ANY && i->place.base != TEAMS_NO_REGISTER) {
            struct teams_value index = i->place.index != TEAMS_NO_REGISTER ? s->reg[i->place.index]
                                                                           : teams_value_constant(i->place.offset);
            v.bits |= sum(r, block, s->reg[i->place.base], index, false).bits & TEAMS_ZERO;
        }
        break;
    case TEAMS_ADD:
        v = sum(r, block, a, b, false);
        break;
    case TEAMS_SUB:
        v = sum(r, block, a, b, true);
        break;
    case TEAMS_MUL:
        v = teams_value_multiply(a, b);
        if ((a.kind == TEAMS_QUOTIENT_1 || b.kind == TEAMS_QUOTIENT_1) && has_rest(r, block))
            v = teams_value_begin(a, b);
        break;
    case TEAMS_DIVIDE:
        v = teams_value_divide(a, b, &rest);
        if (i->second != TEAMS_NO_REGISTER) {
            s->reg[i->second] = rest;
            define(r, block, i->second, false);
        }
        break;
    case TEAMS_SHIFT:
        v = teams_value_scale(a, i->b.value >= 0 && i->b.value < 31 ? 1ll << i->b.value : 1ll << 31);
        break;
    case TEAMS_BITS:
        v = bits(i, a, b);
        break;
    case TEAMS_COMPARE:
        v = teams_value_compare(a, b);
        break;
    case TEAMS_TEST:
        v = test(i, a, b);
        break;
    case TEAMS_SELECT:
        v = choose(s->reg[TEAMS_FLAGS], a, b);
        break;
    default:
        v = set(s->reg[TEAMS_FLAGS]);
        break;
    }
    if (i->op == TEAMS_COMPARE || i->op == TEAMS_TEST) {
        s->reg[TEAMS_FLAGS] = v;
        if (v.kind == TEAMS_IF_SINGLE || v.kind == TEAMS_IF_MASTER)
            s->reg[TEAMS_FLAGS].number = i->op == TEAMS_COMPARE && b.kind == TEAMS_CONSTANT ? b.number : 0;
        return;
    }
    if (i->step && i->stores) /* push: the place is below the pointer as it is */
        write(r, block, i, s, v), s->reg[stack] = teams_value_add(s->reg[stack], teams_value_constant(i->step), true);
    else
        write(r, block, i, s, v);
    if (i->step && i->loads && !(i->dst.kind == TEAMS_REGISTER && i->dst.number == stack))
        s->reg[stack] = teams_value_add(s->reg[stack], teams_value_constant(i->step), false);
    if (i->writes_flags)
        s->reg[TEAMS_FLAGS] = i->op == TEAMS_SUB && i->dst.kind == TEAMS_REGISTER ? teams_value_compare(a, b)
                              : i->op == TEAMS_MOVE                               ? teams_value_any(0)
                                                    : teams_value_compare(v, teams_value_constant(0));
}

/* --- States --- */

static bool seen(const struct teams_state *s)
{
    return s->reg[0].kind != TEAMS_UNSEEN;
}

static bool is_pointer(const struct teams_value *v)
{
    return v->kind == TEAMS_FRAME || v->kind == TEAMS_STACK || v->kind == TEAMS_HEAP;
}

/* Whether a value was made in these blocks (a row of bytes, one a block). */
static bool made_inside(const struct teams_reading *r, const struct teams_value *v, const uint8_t *inside)
{
    if (v->kind == TEAMS_CONSTANT || v->number <= CONSTANTS)
        return false;
    if (v->kind != TEAMS_ANY || v->number == 0)
        return true;
    return inside[v->number > 0 ? r->block_of[v->number - 1] : (-v->number - 1) / PLACES];
}

/* What was changed on one side of a branch that not all threads take alike. */
static void mark_value(const struct teams_reading *r, struct teams_value *v, unsigned how, const uint8_t *inside)
{
    if (v->kind == TEAMS_UNSEEN || teams_value_is_raw(v) || is_pointer(v) || !made_inside(r, v, inside))
        return;
    if (how == TEAMS_RAW_MARK)
        *v = (struct teams_value){ .kind = TEAMS_RAW };
    else if (!(v->bits & TEAMS_BOUND))
        *v = teams_value_any((v->bits & TEAMS_ZERO) | how);
}

static void mark(const struct teams_reading *r, struct teams_state *s, const struct teams_defs *d, unsigned how,
                 const uint8_t *inside)
{
    for (uint8_t k = 0; k < 64; k++)
        if (d->regs >> k & 1)
            mark_value(r, &s->reg[k], how == TEAMS_CARRIED && (d->stepped >> k & 1) ? TEAMS_COUNTER : how, inside);
    for (uint32_t k = 0; k < r->slots; k++)
        if (d->slots[k / 64] >> k % 64 & 1)
            mark_value(r, &s->slot[k], how, inside);
}

static void add_defs(struct teams_defs *into, const struct teams_defs *from)
{
    into->stepped = (into->stepped | ~into->regs) & (from->stepped | ~from->regs);
    into->regs |= from->regs;
    into->stepped &= into->regs;
    for (int k = 0; k < 4; k++)
        into->slots[k] |= from->slots[k];
}

static struct teams_defs defs_inside(const struct teams_reading *r, const uint8_t *inside)
{
    struct teams_defs d = { 0 };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (inside[b])
            add_defs(&d, &r->defs[b]);
    return d;
}

static const uint8_t *blocks_of_loop(const struct teams_reading *r, int loop)
{
    return r->flow->member + (size_t)loop * r->flow->blocks;
}

static void collect_defs(struct teams_reading *r)
{
    for (uint32_t l = 0; l < r->flow->loops; l++)
        if (r->shared_loop[r->flow->loop[l].head] == (int)l)
            r->loop_defs[l] = defs_inside(r, blocks_of_loop(r, (int)l));
    for (uint32_t i = 0; i < r->controls; i++)
        r->control[i].defs = defs_inside(r, r->control[i].inside);
}

/* The state at the end of `from` as `to` sees it. */
static void along_edge(const struct teams_reading *r, int from, int to, struct teams_state *s)
{
    int loop = r->shared_loop[from];
    if (loop >= 0 && !teams_flow_in_loop(r->flow, loop, to)) {
        struct teams_defs d = r->loop_defs[loop];
        d.stepped = 0;
        mark(r, s, &d, TEAMS_CARRIED, blocks_of_loop(r, loop));
    }
    for (uint32_t i = 0; i < r->controls; i++) {
        const struct teams_control *c = &r->control[i];
        if (c->kind != TEAMS_BY_BOUND && c->inside[from] && !c->inside[to])
            mark(r, s, &c->defs, c->kind == TEAMS_BY_CARRIED ? TEAMS_CARRIED : TEAMS_RAW_MARK, c->inside);
    }
}

enum { LOOP = 1, HOPE = 2, INSIDE = 4 };

static void join_value(struct teams_value *into, const struct teams_value *from, unsigned how, int32_t name)
{
    if (teams_value_equal(into, from))
        return;
    bool loop = how & LOOP, bound = (into->bits | from->bits) & TEAMS_BOUND;
    if (loop && (how & HOPE) && into->kind == TEAMS_ANY && (into->bits & TEAMS_BOUND) && from->kind == TEAMS_LINEAR)
        return; /* as it was taken for before its head was known */
    /* within an iteration either is that iteration's own */
    bool own = (how & INSIDE) && bound && (into->kind == TEAMS_CONSTANT || from->kind == TEAMS_CONSTANT);
    *into = loop ? teams_value_loop(*into, *from) : teams_value_join(*into, *from);
    into->bits |= own && into->kind == TEAMS_ANY ? TEAMS_BOUND : 0;
    into->number = into->kind == TEAMS_ANY ? name : into->number;
}

static void join_states(const struct teams_reading *r, int block, struct teams_state *into,
                        const struct teams_state *from, bool loop)
{
    int shared = r->shared_loop[block];
    bool inside = shared >= 0 && r->flow->loop[shared].head != block;
    unsigned how = (loop ? LOOP : 0) | (r->hope ? HOPE : 0) | (inside ? INSIDE : 0);
    for (uint32_t k = 0; k < TEAMS_REGISTERS; k++)
        join_value(&into->reg[k], &from->reg[k], how, name_of_meeting(block, k));
    for (uint32_t k = 0; k < r->slots; k++)
        join_value(&into->slot[k], &from->slot[k], how, name_of_meeting(block, TEAMS_REGISTERS + k));
}

static void copy_state(const struct teams_reading *r, struct teams_state *to, const struct teams_state *from)
{
    memcpy(to->reg, from->reg, sizeof to->reg);
    memcpy(to->slot, from->slot, r->slots * sizeof *to->slot);
}

static void entry_state(struct teams_state *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t k = 0; k < TEAMS_REGISTERS; k++)
        s->reg[k] = (struct teams_value){ .kind = TEAMS_ANY, .number = name_of_meeting(0, k) };
    s->reg[teams_convention()->stack] = (struct teams_value){ .kind = TEAMS_FRAME };
}

void teams_follow_begin(const struct teams_reading *r, int block, struct teams_state *s)
{
    const struct teams_block *b = &r->flow->block[block];
    struct teams_state edge;
    s->reg[0].kind = TEAMS_UNSEEN;
    if (block == 0)
        entry_state(s);
    for (int back = 0; back < 2; back++)
        for (uint32_t i = 0; i < b->before_count; i++) {
            int from = b->before[i];
            if ((from >= block) != back || !seen(&r->out[from]))
                continue;
            copy_state(r, &edge, &r->out[from]);
            along_edge(r, from, block, &edge);
            if (seen(s))
                join_states(r, block, s, &edge, back);
            else
                copy_state(r, s, &edge);
        }
    int loop = r->shared_loop[block];
    if (loop >= 0 && r->flow->loop[loop].head == block) {
        uint8_t *here = calloc(r->flow->blocks, 1); /* what meets at the head is another one in each turn */
        if (here) {
            here[block] = 1;
            mark(r, s, &r->loop_defs[loop], TEAMS_CARRIED, here);
        }
        free(here);
    }
}

/* With the states as they are; what they were on the way there does not count. */
static void record_defs(struct teams_reading *r)
{
    struct teams_state s = { 0 };
    r->recording = true;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        r->defs[b] = (struct teams_defs){ .stepped = ~0ull };
        teams_follow_begin(r, (int)b, &s);
        for (uint32_t i = 0; seen(&s) && i < r->flow->block[b].count; i++)
            teams_follow_step(r, (int)b, r->flow->block[b].first + i, &s);
    }
    r->recording = false;
}

static bool same_state(const struct teams_reading *r, const struct teams_state *a, const struct teams_state *b)
{
    return memcmp(a->reg, b->reg, sizeof a->reg) == 0 && memcmp(a->slot, b->slot, r->slots * sizeof *a->slot) == 0;
}

/* Whether any state changed. */
static bool run_round(struct teams_reading *r, struct teams_state *s)
{
    bool changed = false;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        const struct teams_block *block = &r->flow->block[b];
        teams_follow_begin(r, (int)b, s);
        if (!seen(s))
            continue;
        for (uint32_t i = 0; i < block->count; i++)
            teams_follow_step(r, (int)b, block->first + i, s);
        if (!same_state(r, s, &r->out[b])) {
            copy_state(r, &r->out[b], s);
            changed = true;
        }
    }
    return changed;
}

/* Until nothing changes; states are made anew from those before, so that what the first rounds took for raw may go.
   What that hope rests on must hold when it is given up. */
static void settle(struct teams_reading *r)
{
    enum { ROUNDS = 32 };
    struct teams_state s = { 0 };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        memset(&r->out[b], 0, sizeof r->out[b]);
    r->hope = true;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = run_round(r, &s);
        if (!changed && !r->hope)
            return;
        r->hope = changed && r->hope;
    }
    r->too_large = true;
}

/* --- Shared loops and branches --- */

static const struct teams_insn *branch_of(const struct teams_reading *r, int block)
{
    const struct teams_block *b = &r->flow->block[block];
    const struct teams_insn *i = &r->flow->insn[b->first + b->count - 1];
    return i->op == TEAMS_BRANCH ? i : NULL;
}

static bool by_bound(const struct teams_value *flags)
{
    return flags->kind == TEAMS_IF_CHUNK || (flags->kind == TEAMS_ANY && (flags->bits & (TEAMS_BOUND | TEAMS_LENGTH)));
}

static bool is_shared(const struct teams_reading *r, int loop)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        if (!teams_flow_in_loop(r->flow, loop, (int)b) || !branch_of(r, (int)b) ||
            !by_bound(&r->out[b].reg[TEAMS_FLAGS]))
            continue;
        for (int k = 0; k < 2; k++)
            if (r->flow->block[b].next[k] >= 0 && !teams_flow_in_loop(r->flow, loop, r->flow->block[b].next[k]))
                return true;
    }
    return false;
}

static void find_shared_loops(struct teams_reading *r)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        r->shared_loop[b] = -1;
    for (uint32_t l = 0; l < r->flow->loops; l++) {
        if (!is_shared(r, (int)l))
            continue;
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            if (teams_flow_in_loop(r->flow, (int)l, (int)b) && r->shared_loop[b] < 0)
                r->shared_loop[b] = (int)l; /* outer loops come first */
    }
}

static void add_control(struct teams_reading *r, int from, int side, enum teams_control_kind kind)
{
    int to = r->flow->block[from].next[side];
    if (to < 0)
        return;
    for (uint32_t i = 0; i < r->controls; i++)
        if (r->control[i].from == from && r->control[i].to == to)
            return;
    if (r->controls == TEAMS_CONTROLS) {
        r->too_large |= kind != TEAMS_BY_BOUND; /* a bound that is not known as one allows nothing */
        return;
    }
    uint8_t *inside = malloc(r->flow->blocks);
    r->too_large |= !inside;
    for (uint32_t b = 0; inside && b < r->flow->blocks; b++)
        inside[b] = teams_flow_edge_dominates(r->flow, from, to, (int)b);
    if (inside)
        r->control[r->controls++] = (struct teams_control){ .from = from, .to = to, .kind = kind, .inside = inside };
}

static void find_controls(struct teams_reading *r)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        const struct teams_insn *i = branch_of(r, (int)b);
        const struct teams_value *flags = &r->out[b].reg[TEAMS_FLAGS];
        if (!i)
            continue;
        if (flags->kind == TEAMS_IF_MASTER || flags->kind == TEAMS_IF_SINGLE) {
            int equal = i->condition == TEAMS_IF_EQUAL ? 1 : 0; /* the side where the two are equal */
            bool one = flags->kind == TEAMS_IF_MASTER || flags->number == 1;
            add_control(r, (int)b, one ? equal : !equal, TEAMS_ONCE);
            add_control(r, (int)b, one ? !equal : equal, TEAMS_OTHERS);
        } else if (flags->kind == TEAMS_ANY && !by_bound(flags) && (flags->bits & (TEAMS_CARRIED | TEAMS_COUNTER))) {
            add_control(r, (int)b, 0, TEAMS_BY_CARRIED);
            add_control(r, (int)b, 1, TEAMS_BY_CARRIED);
        }
    }
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (branch_of(r, (int)b) && r->shared_loop[b] < 0 && by_bound(&r->out[b].reg[TEAMS_FLAGS])) {
            add_control(r, (int)b, 0, TEAMS_BY_BOUND);
            add_control(r, (int)b, 1, TEAMS_BY_BOUND);
        }
}

static void find_context(struct teams_reading *r)
{
    static const uint8_t of[] = { TEAMS_RUN_ONCE, TEAMS_RUN_BY_OTHERS, TEAMS_GUARDED, TEAMS_IF_CARRIED };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        r->context[b] = r->shared_loop[b] >= 0 ? TEAMS_IN_LOOP : 0;
    for (uint32_t i = 0; i < r->controls; i++)
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            if (r->control[i].inside[b])
                r->context[b] |= of[r->control[i].kind];
}

/* --- The whole --- */

struct teams_reading *teams_follow(const struct teams_flow *f)
{
    enum { TIMES = 4 };
    struct teams_reading *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->flow = f;
    r->out = calloc(f->blocks, sizeof *r->out);
    r->defs = calloc(f->blocks, sizeof *r->defs);
    r->context = calloc(f->blocks, 1);
    r->slot_of = malloc(f->insns + 1);
    r->shared_loop = malloc((f->blocks + 1) * sizeof *r->shared_loop);
    r->loop_defs = calloc(f->loops + 1, sizeof *r->loop_defs);
    r->block_of = malloc((f->insns + 1) * sizeof *r->block_of);
    if (!r->out || !r->defs || !r->context || !r->slot_of || !r->shared_loop || !r->loop_defs || !r->block_of) {
        teams_follow_free(r);
        return NULL;
    }
    memset(r->slot_of, TEAMS_NO_SLOT, f->insns + 1);
    for (uint32_t b = 0; b < f->blocks; b++) {
        r->shared_loop[b] = -1;
        r->defs[b].stepped = ~0ull;
        for (uint32_t i = 0; i < f->block[b].count; i++)
            r->block_of[f->block[b].first + i] = (int)b;
    }
    for (int time = 0; time < TIMES; time++) {
        uint32_t before = r->controls;
        settle(r);
        if (time == 0)
            record_defs(r);
        if (time == 0)
            find_shared_loops(r);
        find_controls(r);
        collect_defs(r);
        find_context(r);
        if (time > 1 && r->controls == before)
            return r;
    }
    r->too_large = true;
    return r;
}

void teams_follow_free(struct teams_reading *r)
{
    if (!r)
        return;
    free(r->out);
    free(r->defs);
    free(r->context);
    free(r->slot_of);
    free(r->shared_loop);
    free(r->loop_defs);
    free(r->block_of);
    for (uint32_t i = 0; i < r->controls; i++)
        free(r->control[i].inside);
    free(r);
}
