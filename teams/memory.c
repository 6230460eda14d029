/* SPDX-License-Identifier: MIT */
#include "teams/memory.h"

/* --- The frame --- */

uint8_t teams_memory_find_slot(const struct teams_reading *r, int32_t offset)
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

uint8_t teams_memory_slot(struct teams_reading *r, int32_t offset, uint8_t size)
{
    uint8_t slot = teams_memory_find_slot(r, offset);
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
    r->found = r->tick;
    for (uint32_t i = 0; i < r->slots; i++)
        if (overlap(r, i, slot))
            r->shares[i] = r->shares[slot] = true;
    return slot;
}

static struct teams_value slot_value(const struct teams_state *s, uint8_t slot)
{
    bool nothing = s->slot[slot].kind == TEAMS_UNSEEN || s->slot[slot].number == TEAMS_PART;
    return nothing ? teams_value_any(s->slot[slot].bits) : s->slot[slot];
}

/* Another slot that shares bytes with a place. */
static bool touches(const struct teams_reading *r, uint32_t slot, int32_t offset, uint32_t size)
{
    int32_t at = r->slot_offset[slot];
    return at != offset && at < offset + (int32_t)size && offset < at + r->slot_size[slot];
}

static bool is_zero(const struct teams_value *v)
{
    return v->kind == TEAMS_CONSTANT && v->number == 0;
}

/* What shares bytes with a place that is written holds something of it, and of what it was unless all is written. */
static void spoil(struct teams_reading *r, struct teams_state *s, int32_t offset, uint32_t size,
                  const struct teams_value *v)
{
    for (uint32_t i = 0; i < r->slots; i++) {
        if (!touches(r, i, offset, size))
            continue;
        struct teams_value *old = &s->slot[i];
        bool whole = r->slot_offset[i] >= offset && r->slot_offset[i] + r->slot_size[i] <= offset + (int32_t)size;
        if (teams_value_is_raw(v) || (!whole && teams_value_is_raw(old)))
            *old = (struct teams_value){ .kind = TEAMS_RAW };
        else if (whole && is_zero(v))
            *old = *v;
        else
            *old = (struct teams_value){ .kind = TEAMS_ANY,
                                         .bits = (v->bits | (whole ? 0 : old->bits)) & TEAMS_MARKS,
                                         .number = whole ? TEAMS_PART : 0 };
    }
}

/* The end of a place of which the beginning is overwritten: it is no part of that any more, and may be raw. */
static void keep_rest(struct teams_reading *r, struct teams_state *s, uint8_t slot, uint8_t size)
{
    uint8_t whole = r->slot_size[slot];
    for (uint32_t i = 0; r->shares[slot] && size < whole && i < r->slots; i++)
        if (touches(r, i, r->slot_offset[slot], whole) && s->slot[i].number == TEAMS_PART)
            s->slot[i].number = 0;
    if (size >= whole || !teams_value_is_raw(&s->slot[slot]))
        return;
    uint8_t rest = teams_memory_slot(r, r->slot_offset[slot] + size, (uint8_t)(whole - size));
    if (rest != TEAMS_NO_SLOT)
        s->slot[rest] = (struct teams_value){ .kind = TEAMS_RAW };
}

/* A place made of several slots. */
static struct teams_value gather(const struct teams_reading *r, const struct teams_state *s, uint8_t slot, uint8_t size)
{
    struct teams_value v = slot_value(s, slot);
    for (uint32_t i = 0; r->shares[slot] && i < r->slots; i++) {
        const struct teams_value *other = &s->slot[i];
        if (!touches(r, i, r->slot_offset[slot], size) || other->kind == TEAMS_UNSEEN)
            continue;
        if (other->number == TEAMS_PART && size <= 8) {
            v.bits |= other->bits & TEAMS_MARKS;
            continue;
        }
        if (teams_value_is_raw(other))
            return (struct teams_value){ .kind = TEAMS_RAW };
        if (size > 8)
            v = teams_value_join(v, *other);
        else if (!teams_value_is_raw(&v) && !(is_zero(&v) && is_zero(other)))
            v = teams_value_any((v.bits & (TEAMS_MARKS | TEAMS_BOUND | TEAMS_TURNS | TEAMS_EDGE)) |
                                (other->bits & TEAMS_MARKS));
    }
    return v;
}

/* What an address leaves in what is read there. */
static unsigned marks_of_place(const struct teams_value *at)
{
    return at->bits & (at->bits & TEAMS_BOUND ? TEAMS_CARRIED | TEAMS_FOUND : TEAMS_MARKS);
}

/* A place in the frame that is not known exactly: raw where something raw may be there. */
static struct teams_value somewhere(const struct teams_reading *r, const struct teams_state *s,
                                    const struct teams_value *at)
{
    for (uint32_t i = 0; i < r->slots; i++)
        if (teams_value_is_raw(&s->slot[i]))
            return (struct teams_value){ .kind = TEAMS_RAW };
    return teams_value_any(marks_of_place(at));
}

void teams_memory_escape(struct teams_reading *r, const struct teams_value *v)
{
    if (v->kind != TEAMS_FRAME)
        return;
    for (uint32_t i = 0; i < r->escapes; i++)
        if (r->escaped[i] == v->number)
            return;
    r->found = r->tick;
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
    if (p->thread)
        return teams_value_any(0);
    if (p->fixed)
        return (struct teams_value){ .kind = TEAMS_ANY, .number = teams_name_of_place(0, p->offset ^ 1ll << 62) };
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
        if (base->kind != TEAMS_ANY || base->number == 0)
            return 0;
        if (base->number > TEAMS_MEMORY_NAMES && r->shared_loop[teams_block_of_name(r, base->number)] >= 0)
            return 0;
        of = (uint32_t)base->number;
    }
    return teams_name_of_place(of, p->offset);
}

/* The slot of an instruction's place of memory. */
static uint8_t slot_of(struct teams_reading *r, const struct teams_insn *i, const struct teams_value *at)
{
    uint8_t *slot = &r->slot_of[i - r->flow->insn]; /* mostly what it was */
    if (*slot != TEAMS_NO_SLOT && at->kind == TEAMS_FRAME && r->slot_offset[*slot] == at->number &&
        r->slot_size[*slot] >= i->place.size)
        return *slot;
    *slot = at->kind == TEAMS_FRAME ? teams_memory_slot(r, at->number, i->place.size) : TEAMS_NO_SLOT;
    return *slot;
}

struct teams_value teams_memory_load_from(struct teams_reading *r, const struct teams_insn *i,
                                          const struct teams_state *s)
{
    struct teams_insn second = { .place = i->from };
    struct teams_value at = teams_follow_address(&second, s);
    uint8_t slot = at.kind == TEAMS_FRAME && !i->repeats ? teams_memory_slot(r, at.number, i->from.size)
                                                         : TEAMS_NO_SLOT;
    if (slot != TEAMS_NO_SLOT)
        return gather(r, s, slot, i->from.size);
    return at.kind == TEAMS_FRAME || at.kind == TEAMS_STACK ? somewhere(r, s, &at)
                                                            : teams_value_any(at.bits & TEAMS_MARKS);
}

struct teams_value teams_memory_load(struct teams_reading *r, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = slot_of(r, i, &at);
    if (slot != TEAMS_NO_SLOT && !i->repeats)
        return gather(r, s, slot, i->place.size);
    if (at.kind == TEAMS_STACK || at.kind == TEAMS_FRAME)
        return somewhere(r, s, &at);
    struct teams_value v = teams_value_any(marks_of_place(&at));
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
        return teams_memory_load(r, i, s);
    case TEAMS_FROM:
        return teams_memory_load_from(r, i, s);
    default:
        return teams_value_any(0);
    }
}

/* --- What is written --- */

enum { LARGEST = 1 << 16 }; /* of what a string instruction is taken to write in the frame */

/* Somewhere in an object that begins about there was written: nothing in it is known to be 0. */
static void forget_object(const struct teams_reading *r, struct teams_state *s, int32_t begin)
{
    enum { BEFORE = 16, OBJECT = 64 };
    for (uint32_t i = 0; i < r->slots; i++)
        if (r->slot_offset[i] >= begin - BEFORE && r->slot_offset[i] < begin + OBJECT &&
            (s->slot[i].kind == TEAMS_CONSTANT || (s->slot[i].bits & TEAMS_ZERO)))
            s->slot[i] = teams_value_any(s->slot[i].bits & TEAMS_MARKS);
}

void teams_memory_store(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                        struct teams_value v)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = slot_of(r, i, &at);
    teams_memory_escape(r, &v);
    if (at.kind == TEAMS_STACK)
        forget_object(r, s, at.number);
    if (slot == TEAMS_NO_SLOT)
        return;
    if (i->repeats) /* all from there on */
        spoil(r, s, at.number, LARGEST, &v);
    keep_rest(r, s, slot, i->place.size);
    s->slot[slot] = v;
    teams_memory_define_slot(r, block, slot);
    if (r->shares[slot])
        spoil(r, s, at.number, i->place.size, &v);
}

void teams_memory_forget_escaped(struct teams_reading *r, struct teams_state *s, unsigned marks)
{
    enum { OBJECT = 64 };
    for (uint32_t k = 0; k < r->slots; k++)
        for (uint32_t e = 0; e < r->escapes; e++)
            if (r->slot_offset[k] >= r->escaped[e] && r->slot_offset[k] < r->escaped[e] + OBJECT &&
                !teams_value_is_raw(&s->slot[k]))
                s->slot[k] = teams_value_any((s->slot[k].bits & TEAMS_MARKS) | marks);
}
