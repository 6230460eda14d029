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
        if (base->kind != TEAMS_ANY || base->number == 0)
            return 0;
        if (base->number > TEAMS_MEMORY_NAMES && r->shared_loop[teams_block_of_name(r, base->number)] >= 0)
            return 0;
        of = (uint32_t)base->number;
    }
    uint64_t hash = (of << 32 ^ (uint64_t)p->offset) * 0x9e3779b97f4a7c15u;
    return TEAMS_MEMORY_NAMES - (int32_t)(hash >> 36);
}

/* The slot of an instruction's place of memory. */
static uint8_t slot_of(struct teams_reading *r, const struct teams_insn *i, const struct teams_value *at)
{
    uint8_t *slot = &r->slot_of[i - r->flow->insn];
    *slot = at->kind == TEAMS_FRAME ? teams_memory_slot(r, at->number, i->place.size) : TEAMS_NO_SLOT;
    return *slot;
}

struct teams_value teams_memory_load(struct teams_reading *r, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = slot_of(r, i, &at);
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
        return teams_memory_load(r, i, s);
    default:
        return teams_value_any(0);
    }
}

/* --- What is written --- */

void teams_memory_store(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                        struct teams_value v)
{
    struct teams_value at = teams_follow_address(i, s);
    uint8_t slot = slot_of(r, i, &at);
    teams_memory_escape(r, &v);
    if (slot == TEAMS_NO_SLOT)
        return;
    s->slot[slot] = v;
    teams_memory_define_slot(r, block, slot);
    spoil(r, s, at.number, i->place.size);
}

void teams_memory_forget_escaped(struct teams_reading *r, struct teams_state *s)
{
    enum { OBJECT = 64 };
    for (uint32_t k = 0; k < r->slots; k++)
        for (uint32_t e = 0; e < r->escapes; e++)
            if (r->slot_offset[k] >= r->escaped[e] && r->slot_offset[k] < r->escaped[e] + OBJECT &&
                !teams_value_is_raw(&s->slot[k]))
                s->slot[k] = teams_value_any(0);
}
