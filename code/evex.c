/* SPDX-License-Identifier: MIT */
/*
 * AVX-512's instructions from their bits: programs that are compiled for the machine they run on are full of them, and
 * capstone 4 knows a part.
 *
 *     62 | R X B R' 0 map | W vvvv 1 pp | z L'L b V' mask | opcode | ModRM | SIB | displacement | immediate
 *
 * Registers stand in ModRM and vvvv, with R', V' and X as fifth bits; an 8-bit displacement counts operands of memory
 * (Intel's manual, volume 2, 2.7). What is known of one: whether it stores, which registers of all kinds it may read
 * and write, and its place of memory. What it computes is not told, but for moves.
 */
#include <elf.h>
#include <string.h>

#include "code/x86.h"

/* One instruction's fields. */
struct evex {
    uint8_t map, prefix /* 0, 1: 66, 2: f3, 3: f2 */, opcode, mod;
    uint8_t reg, rm, second; /* 5 bits each, as vectors */
    uint8_t mask, width;     /* of all of a vector, bytes */
    uint8_t element;         /* 4, or 8 where W is set */
    bool broadcast;          /* of one element in memory; without memory: how it rounds */
    bool vectors;            /* the index is one: it gathers or scatters */
};

static bool in(uint8_t opcode, uint8_t first, uint8_t last)
{
    return opcode >= first && opcode <= last;
}

/* Between a vector's first element and a register of the program's own, or memory. */
static bool is_narrow(const struct evex *e)
{
    return e->map == 1 && e->prefix == 1 && (e->opcode == 0x6e || e->opcode == 0x7e);
}

/* Moves of all of a vector, or of a scalar that leaves nothing of what was there. */
static bool is_move(const struct evex *e)
{
    bool scalar = is_narrow(e) || (e->opcode == 0x7e && e->prefix == 2) || e->opcode == 0xd6;
    return e->map == 1 && (scalar || in(e->opcode, 0x28, 0x29) || e->opcode == 0x6f || e->opcode == 0x7f ||
                           (in(e->opcode, 0x10, 0x11) && (e->prefix < 2 || e->mod < 3)));
}

static bool may_store(const struct evex *e)
{
    static const uint8_t others[] = { 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7 };
    uint8_t low = e->opcode & 15, high = e->opcode >> 4;
    bool narrow = e->opcode == 0x7e && e->prefix == 1;
    switch (e->map) {
    case 1:
        return narrow || memchr(others, e->opcode, sizeof others);
    case 2: /* compressed, scattered; made narrower */
        return e->opcode == 0x63 || in(e->opcode, 0x8a, 0x8b) || in(e->opcode, 0xa0, 0xa3) ||
               (e->prefix == 2 && in(high, 1, 3) && low <= 5);
    case 3: /* extracted; halves */
        return in(e->opcode, 0x14, 0x17) || e->opcode == 0x19 || e->opcode == 0x1b || e->opcode == 0x1d ||
               e->opcode == 0x39 || e->opcode == 0x3b;
    default:
        return e->map == 5 && (narrow || e->opcode == 0x11);
    }
}

/* What an 8-bit displacement counts by: bytes, or one of these. */
enum { WHOLE = 255 /* a vector */, PACKED = 254 /* one, or the element that is broadcast */, ELEMENT = 253 };
enum { NO = 1, P66 = 2, F3 = 4, F2 = 8, FLOATS = NO | P66, ANY = 15 };

static const struct unit {
    uint8_t map, prefixes, first, last, unit;
} units[] = {
    { 1, FLOATS, 0x10, 0x11, WHOLE },  { 1, F3, 0x10, 0x11, 4 },         { 1, F2, 0x10, 0x11, 8 },
    { 1, FLOATS, 0x12, 0x13, 8 },      { 1, FLOATS, 0x16, 0x17, 8 },     { 1, F3, 0x12, 0x12, WHOLE },
    { 1, F3, 0x16, 0x16, WHOLE },      { 1, FLOATS, 0x14, 0x15, PACKED }, { 1, FLOATS, 0x28, 0x29, WHOLE },
    { 1, ANY, 0x2a, 0x2a, ELEMENT },   { 1, FLOATS, 0x2b, 0x2b, WHOLE }, { 1, NO, 0x2e, 0x2f, 4 },
    { 1, P66, 0x2e, 0x2f, 8 },         { 1, FLOATS, 0x51, 0x59, PACKED }, { 1, FLOATS, 0x5c, 0x5f, PACKED },
    { 1, F3, 0x51, 0x59, 4 },          { 1, F3, 0x5c, 0x5f, 4 },         { 1, F2, 0x51, 0x59, 8 },
    { 1, F2, 0x5c, 0x5f, 8 },          { 1, P66, 0x6e, 0x6e, ELEMENT },  { 1, P66, 0x7e, 0x7e, ELEMENT },
    { 1, F3, 0x7e, 0x7e, 8 },          { 1, ANY, 0x6f, 0x6f, WHOLE },    { 1, ANY, 0x7f, 0x7f, WHOLE },
    { 1, FLOATS, 0xc2, 0xc2, PACKED }, { 1, F3, 0xc2, 0xc2, 4 },         { 1, F2, 0xc2, 0xc2, 8 },
    { 1, FLOATS, 0xc6, 0xc6, PACKED }, { 1, P66, 0xd4, 0xd4, PACKED },   { 1, P66, 0xd6, 0xd6, 8 },
    { 1, P66, 0xdb, 0xdb, PACKED },    { 1, P66, 0xdf, 0xdf, PACKED },   { 1, P66, 0xe7, 0xe7, WHOLE },
    { 1, P66, 0xeb, 0xeb, PACKED },    { 1, P66, 0xef, 0xef, PACKED },   { 1, P66, 0xfa, 0xfb, PACKED },
    { 1, P66, 0xfe, 0xfe, PACKED },    { 2, P66, 0x18, 0x18, ELEMENT },  { 2, P66, 0x19, 0x19, 8 },
    { 2, P66, 0x1a, 0x1a, 16 },        { 2, P66, 0x1b, 0x1b, 32 },       { 2, P66, 0x58, 0x58, ELEMENT },
    { 2, P66, 0x59, 0x59, 8 },         { 2, P66, 0x5a, 0x5a, 16 },       { 2, P66, 0x5b, 0x5b, 32 },
    { 2, P66, 0x76, 0x77, PACKED },    { 2, P66, 0x7e, 0x7f, PACKED },   { 3, P66, 0x03, 0x03, PACKED },
    { 3, P66, 0x18, 0x19, 16 },        { 3, P66, 0x1a, 0x1b, 32 },       { 3, P66, 0x23, 0x23, PACKED },
    { 3, P66, 0x25, 0x25, PACKED },    { 3, P66, 0x38, 0x39, 16 },       { 3, P66, 0x3a, 0x3b, 32 },
    { 3, P66, 0x43, 0x43, PACKED },    { 3, P66, 0x08, 0x09, PACKED },   { 3, P66, 0x0a, 0x0b, ELEMENT },
    { 1, F3 | F2, 0x7b, 0x7b, ELEMENT },
};

/* In bytes; 0: not known here. */
static uint8_t unit_of(const struct evex *e)
{
    uint8_t low = e->opcode & 15, high = e->opcode >> 4, unit = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && !unit; i++)
        if (units[i].map == e->map && units[i].prefixes >> e->prefix & 1 &&
            in(e->opcode, units[i].first, units[i].last))
            unit = units[i].unit;
    if (e->map == 2 && e->prefix == 1 && low >= 6 && in(high, 9, 11)) /* multiplies and adds, scalars by odd numbers */
        unit = low > 8 && low & 1 ? ELEMENT : PACKED;
    if (e->map == 1 && e->prefix == 3 && e->opcode == 0x12) /* vmovddup: of a short one half is read */
        unit = e->width > 16 ? WHOLE : 8;
    if (e->vectors)
        unit = ELEMENT;
    bool element = unit == ELEMENT || (unit == PACKED && e->broadcast);
    return element ? e->element : unit >= PACKED ? e->width : unit;
}

/* Registers of the program's own, which conversions and single elements come from or go to. */
static void general(const struct evex *e, uint64_t *reads, uint64_t *writes)
{
    bool from_float = (e->map == 1 || e->map == 5) && e->prefix >= 2;
    uint64_t reg = code_bit(e->reg & 15), rm = e->mod == 3 ? code_bit(e->rm & 15) : 0;
    if (from_float && (in(e->opcode, 0x2c, 0x2d) || in(e->opcode, 0x78, 0x79)))
        *writes |= reg;
    if (e->map == 1 && e->opcode == 0xc5)
        *writes |= reg;
    if ((e->map != 2 && e->opcode == 0x7e && e->prefix == 1) || (e->map == 3 && in(e->opcode, 0x14, 0x17)))
        *writes |= rm;
    *reads |= rm; /* or it is a vector of that number: one more that is read is no mistake */
}

static int32_t distance(const uint8_t *code)
{
    int32_t d;
    memcpy(&d, code, sizeof d);
    return d;
}

/* False: it is in a frame, where places are told apart, and how far from its begin is not known. */
static bool set_place(const struct evex *e, const uint8_t *code, uint8_t extra, struct code_insn *insn)
{
    enum { STACK = 4, FRAME = 5, NO_BASE = 5, SIB = 4 };
    struct code_place *p = &insn->place;
    const uint8_t *at = code + 6;
    uint8_t base = e->rm & 7, by = unit_of(e);
    p->scale = 1;
    p->size = by ? by : e->width;
    if (e->mod == 0 && base == NO_BASE) {
        p->fixed = true;
        p->offset = (int64_t)(insn->address + insn->length) + distance(at);
        return true;
    }
    if (base == SIB) {
        uint8_t index = (*at >> 3 & 7) | (extra & 8);
        p->scale = (uint8_t)(1 << (*at >> 6));
        if (e->vectors)
            p->index = (uint8_t)(CODE_GENERAL + (index | (extra & 16)));
        else if (index != STACK)
            p->index = index;
        base = *at++ & 7;
    }
    bool none = e->mod == 0 && base == NO_BASE;
    if (!none)
        p->base = base | (e->rm & 8);
    if (e->mod == 2 || none)
        p->offset = distance(at);
    else if (e->mod == 1 && by)
        p->offset = (int64_t)(int8_t)*at * by;
    else if (e->mod == 1 && p->index == CODE_NO_REGISTER)
        p->index = p->base; /* anywhere around */
    p->fixed = none && p->index == CODE_NO_REGISTER;
    return e->mod != 1 || by || (p->base != STACK && p->base != FRAME);
}

bool code_evex_read(const uint8_t *code, size_t left, uintptr_t address, struct code_insn *insn)
{
    if (left < 6 || code[1] & 8 || !(code[2] & 4) || (code[3] >> 5 & 3) == 3)
        return false;
    uint8_t high = (uint8_t)~code[1], modrm = code[5]; /* R, X, B, R' are written inverted */
    uint8_t extra = (uint8_t)((high >> 6 & 1) << 3 | (~code[3] >> 3 & 1) << 4);
    struct evex e = {
        .map = code[1] & 7, .prefix = code[2] & 3, .opcode = code[4], .mod = modrm >> 6,
        .reg = (uint8_t)((modrm >> 3 & 7) | (high >> 7 & 1) << 3 | (high >> 4 & 1) << 4),
        .rm = (uint8_t)((modrm & 7) | (high >> 5 & 1) << 3 | (high >> 6 & 1) << 4),
        .second = (uint8_t)((~code[2] >> 3 & 15) | (~code[3] >> 3 & 1) << 4),
        .mask = code[3] & 7, .width = (uint8_t)(16 << (code[3] >> 5 & 3)), .element = code[2] & 0x80 ? 8 : 4,
        .broadcast = code[3] & 16,
    };
    e.vectors = e.map == 2 && (in(e.opcode, 0x90, 0x93) || in(e.opcode, 0xa0, 0xa3) || in(e.opcode, 0xc6, 0xc7));
    if (e.map == 0 || e.map == 4 || e.map == 7)
        return false;
    struct code_step s = code_step_at(EM_X86_64, code, left, address);
    *insn = (struct code_insn){ .address = address, .length = s.length, .op = CODE_OTHER };
    insn->place.base = insn->place.index = CODE_NO_REGISTER;
    if (s.op == CODE_BAD)
        return false;
    if (e.mod < 3) {
        if (!set_place(&e, code, extra, insn))
            return false;
        insn->stores = may_store(&e);
        insn->loads = !insn->stores;
    }
    if (is_move(&e) && !e.mask) {
        struct code_operand reg = { CODE_REGISTER, (uint8_t)(CODE_GENERAL + e.reg), 0 };
        struct code_operand other = { e.mod < 3 ? CODE_MEMORY : CODE_REGISTER,
                                       is_narrow(&e) ? e.rm & 15 : (uint8_t)(CODE_GENERAL + e.rm), 0 };
        bool to = may_store(&e);
        insn->op = CODE_MOVE;
        insn->dst = to ? other : reg;
        insn->a = to ? reg : other;
        return true;
    }
    uint64_t vectors = 1ull << (CODE_GENERAL + e.reg) | (e.mod == 3 ? 1ull << (CODE_GENERAL + e.rm) : 0);
    uint64_t mask = 1ull << (CODE_X86_MASKS + e.mask);
    insn->reads = vectors | 15ull << (CODE_GENERAL + (e.second & 28)) | mask | /* some read four in a row … */
                  code_bit(insn->place.base) | code_bit(insn->place.index);
    insn->writes = (e.mod < 3 && insn->stores ? 0 : vectors) | (e.vectors ? mask : 0) |
                   3ull << (CODE_X86_MASKS + (e.reg & 6)); /* … write two */
    general(&e, &insn->reads, &insn->writes);
    insn->writes_flags = (e.map == 1 || e.map == 5) && in(e.opcode, 0x2e, 0x2f);
    return true;
}
