/* SPDX-License-Identifier: MIT */
#include "teams/template.h"

#include <string.h>

#include "base/arena.h"

enum { HEAD = 8 /* bytes */, LONGEST = 16, HASH = 32768, MOST = 4096, FIRSTS = 4096 };

struct template {
    uint64_t key;
    uint8_t head, displacement, immediate; /* bytes */
    bool relative; /* the displacement: to the next instruction */
    struct teams_insn insn;
};
struct teams_templates {
    struct base_arena memory; /* its own */
    uint16_t at[HASH];     /* of a key: index of a template + 1 */
    uint8_t heads[FIRSTS]; /* of the first two bytes: a bit of each length of a head with them */
    uint32_t count;
    struct template template[MOST];
};

struct teams_templates *teams_templates_create(void)
{
    struct base_arena memory;
    struct teams_templates *t = base_arena_whole(&memory, sizeof *t);
    if (t)
        t->memory = memory;
    return t;
}

void teams_templates_destroy(struct teams_templates *t)
{
    struct base_arena memory = t ? t->memory : (struct base_arena){ 0 };
    base_arena_close(&memory);
}

static uint64_t first_bytes(const uint8_t *code, unsigned count)
{
    uint64_t word;
    memcpy(&word, code, sizeof word);
    return count < sizeof word ? word & ((1ull << 8 * count) - 1) : word;
}

static uint32_t place_of(uint64_t key, unsigned head)
{
    return (uint32_t)((key + head) * 0x9e3779b97f4a7c15u >> 40) % HASH;
}

static uint32_t first_of(const uint8_t *code)
{
    return (uint32_t)(code[0] << 4 ^ code[1]) % FIRSTS;
}

static int64_t read_signed(const uint8_t *code, unsigned bytes)
{
    unsigned above = 64 - 8 * bytes;
    return bytes ? (int64_t)(first_bytes(code, bytes) << above) >> above : 0;
}

/* To the next instruction. */
static bool is_relative(const struct teams_insn *i)
{
    return i->op == TEAMS_JUMP || i->op == TEAMS_BRANCH || i->op == TEAMS_CALL;
}

static bool goes_through_slot(const struct teams_insn *i)
{
    return i->op == TEAMS_JUMP_SLOT || i->op == TEAMS_CALL_SLOT;
}

static struct teams_operand *immediate_of(struct teams_insn *i)
{
    return i->a.kind == TEAMS_IMMEDIATE ? &i->a : &i->b;
}

bool teams_templates_find(const struct teams_templates *t, const uint8_t *code, uint64_t size, uintptr_t address,
                          struct teams_insn *insn)
{
    const struct template *found = NULL;
    unsigned heads = t && size >= LONGEST ? t->heads[first_of(code)] | 1u : 0; /* behind one byte may be any other */
    for (; heads && !found; heads &= heads - 1) {
        unsigned head = teams_first(heads) + 1u;
        uint64_t key = first_bytes(code, head);
        uint16_t at = t->at[place_of(key, head)];
        if (at && t->template[at - 1].key == key && t->template[at - 1].head == head)
            found = &t->template[at - 1];
    }
    if (!found)
        return false;
    const uint8_t *rest = code + found->head;
    int64_t value = read_signed(rest + found->displacement, found->immediate);
    if (found->immediate && value < 0 && !is_relative(&found->insn)) /* it may be shown without its sign */
        return false;
    *insn = found->insn;
    insn->address = address;
    uintptr_t next = address + insn->length;
    if (found->displacement)
        insn->place.offset = read_signed(rest, found->displacement) + (found->relative ? (int64_t)next : 0);
    if (goes_through_slot(insn))
        insn->target = (uintptr_t)insn->place.offset;
    else if (is_relative(insn))
        insn->target = next + (uintptr_t)value;
    else if (found->immediate)
        immediate_of(insn)->value = value;
    return true;
}

/* Whether an immediate is nothing but an operand. */
static bool is_value(const struct teams_insn *i)
{
    return i->op == TEAMS_MOVE || i->op == TEAMS_ADD || i->op == TEAMS_SUB || i->op == TEAMS_MUL ||
           i->op == TEAMS_BITS || i->op == TEAMS_COMPARE || i->op == TEAMS_TEST;
}

void teams_templates_keep(struct teams_templates *t, const uint8_t *code, unsigned displacement, unsigned immediate,
                          const struct teams_insn *insn)
{
    struct template new = { .insn = *insn };
    uintptr_t next = insn->address + insn->length;
    if (immediate && !is_relative(insn) && !is_value(insn))
        immediate = displacement ? LONGEST : 0;
    if (!t || displacement + immediate >= insn->length)
        return;
    new.head = (uint8_t)(insn->length - displacement - immediate);
    new.displacement = (uint8_t)displacement;
    new.immediate = (uint8_t)immediate;
    const uint8_t *rest = code + new.head;
    int64_t offset = read_signed(rest, displacement), value = read_signed(rest + displacement, immediate);
    new.relative = displacement && insn->place.offset == offset + (int64_t)next;
    const struct teams_operand *o = immediate_of(&new.insn);
    bool right = new.head <= HEAD && code[0] != 0x62; /* EVEX: displacements are scaled */
    right = right && (displacement ? !insn->from.size && (new.relative || insn->place.offset == offset)
                                   : !insn->place.fixed);
    if (is_relative(insn))
        right = right && immediate && insn->target == next + (uintptr_t)value;
    else if (immediate)
        right = right && value >= 0 && o->kind == TEAMS_IMMEDIATE && o->value == value;
    if (!right)
        return;
    if (t->count == MOST) { /* begins anew */
        memset(t->at, 0, sizeof t->at);
        memset(t->heads, 0, sizeof t->heads);
        t->count = 0;
    }
    new.key = first_bytes(code, new.head);
    uint16_t *at = &t->at[place_of(new.key, new.head)];
    if (!*at)
        *at = (uint16_t)++t->count;
    t->template[*at - 1] = new;
    t->heads[first_of(code)] |= (uint8_t)(1u << (new.head - 1));
}
