/* SPDX-License-Identifier: MIT */
#include "code/step.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

/* --- x86-64 --- */

/* What follows the opcode. */
enum { M = 1 /* ModRM */, B = 2 /* a byte */, Z = 4 /* four bytes, two with prefix 66 */, W = 8 /* two bytes */,
       V = 16 /* eight bytes with REX.W, else as Z */, A = 32 /* an address of eight bytes */, X = 64 /* none is so */,
       R = 128 /* four bytes, whatever the prefix */ };

/* Rows of sixteen that are alike are ranges. */
struct range { uint8_t first, last, what; };

static const struct range one_byte[] = {
    { 0x63, 0x63, M }, { 0x68, 0x68, Z }, { 0x69, 0x69, M | Z }, { 0x6a, 0x6a, B }, { 0x6b, 0x6b, M | B },
    { 0x70, 0x7f, B }, { 0x80, 0x80, M | B }, { 0x81, 0x81, M | Z }, { 0x83, 0x83, M | B }, { 0x84, 0x8f, M },
    { 0xa0, 0xa3, A }, { 0xa8, 0xa8, B }, { 0xa9, 0xa9, Z }, { 0xb0, 0xb7, B }, { 0xb8, 0xbf, V },
    { 0xc0, 0xc1, M | B }, { 0xc2, 0xc2, W }, { 0xc6, 0xc6, M | B }, { 0xc7, 0xc7, M | Z }, { 0xc8, 0xc8, W | B },
    { 0xca, 0xca, W }, { 0xcd, 0xcd, B }, { 0xd0, 0xd3, M }, { 0xd8, 0xdf, M }, { 0xe0, 0xe7, B }, { 0xe8, 0xe9, R },
    { 0xeb, 0xeb, B }, { 0xf6, 0xf7, M }, { 0xfe, 0xff, M }, { 0x06, 0x07, X }, { 0x0e, 0x0e, X }, { 0x16, 0x17, X },
    { 0x1e, 0x1f, X }, { 0x27, 0x27, X }, { 0x2f, 0x2f, X }, { 0x37, 0x37, X }, { 0x3f, 0x3f, X }, { 0x60, 0x61, X },
    { 0x82, 0x82, X }, { 0x9a, 0x9a, X }, { 0xce, 0xce, X }, { 0xd4, 0xd6, X }, { 0xea, 0xea, X },
};
static const struct range two_bytes[] = { /* after 0f; all others have ModRM alone */
    { 0x05, 0x09, 0 }, { 0x0b, 0x0b, 0 }, { 0x0e, 0x0e, 0 }, { 0x0f, 0x0f, M | B }, { 0x30, 0x37, 0 },
    { 0x70, 0x73, M | B }, { 0x77, 0x77, 0 }, { 0x80, 0x8f, R }, { 0xa0, 0xa2, 0 }, { 0xa4, 0xa4, M | B },
    { 0xa8, 0xaa, 0 }, { 0xac, 0xac, M | B }, { 0xba, 0xba, M | B }, { 0xc2, 0xc2, M | B }, { 0xc4, 0xc6, M | B },
    { 0xc8, 0xcf, 0 },
};

static unsigned look(const struct range *r, size_t n, uint8_t opcode, unsigned other)
{
    for (size_t i = 0; i < n; i++)
        if (opcode >= r[i].first && opcode <= r[i].last)
            return r[i].what;
    return other;
}

static unsigned after_one_byte(uint8_t opcode)
{
    if (opcode < 0x40 && (opcode & 7) < 6) /* arithmetic: eight rows of the same six */
        return (opcode & 7) < 4 ? M : (opcode & 7) == 4 ? B : Z;
    return look(one_byte, sizeof one_byte / sizeof *one_byte, opcode, 0);
}

static unsigned after_map(unsigned map, uint8_t opcode)
{
    if (map == 1)
        return look(two_bytes, sizeof two_bytes / sizeof *two_bytes, opcode, M);
    return map == 3 ? M | B : M;
}

struct reading {
    const uint8_t *at, *end;
    bool narrow, wide;    /* prefixes 66, REX.W */
    bool apart;           /* 64, 65, 67: its place of memory is a thread's, or has a short address */
    unsigned map;         /* 0: one byte */
    uint8_t opcode;
    const uint8_t *modrm; /* NULL: none */
};

static bool is_prefix(uint8_t b)
{
    return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x36 || b == 0x3e ||
           b == 0x26 || b == 0x64 || b == 0x65;
}

/* Up to and with the opcode. Returns what follows. */
static unsigned read_opcode(struct reading *r)
{
    bool vector = false;
    for (; r->at < r->end && is_prefix(*r->at); r->at++)
        r->narrow |= *r->at == 0x66, r->apart |= *r->at == 0x64 || *r->at == 0x65 || *r->at == 0x67;
    if (r->at < r->end && (*r->at & 0xf0) == 0x40)
        r->wide = *r->at++ & 8;
    uint8_t escape = r->at < r->end ? *r->at : 0, next = r->at + 1 < r->end ? r->at[1] : 0;
    if (escape == 0xc4 || escape == 0xc5 || escape == 0x62) {
        vector = true;
        r->map = escape == 0xc5 ? 1 : next & (escape == 0x62 ? 7 : 0x1f);
        r->at += escape == 0xc5 ? 2 : escape == 0xc4 ? 3 : 4;
    } else if (escape == 0x0f) {
        r->map = next == 0x38 ? 2 : next == 0x3a ? 3 : 1;
        r->at += r->map == 1 ? 1 : 2;
    }
    if (r->at >= r->end)
        return X;
    r->opcode = *r->at++;
    return vector && r->map != 1 && r->map != 3 ? M : r->map ? after_map(r->map, r->opcode) : after_one_byte(r->opcode);
}

/* Past ModRM, SIB and displacement. False: beyond the end. */
static bool pass_modrm(struct reading *r)
{
    if (r->at >= r->end)
        return false;
    r->modrm = r->at++;
    unsigned mod = *r->modrm >> 6, rm = *r->modrm & 7;
    if (mod == 3)
        return true;
    unsigned base = rm;
    if (rm == 4) {
        if (r->at >= r->end)
            return false;
        base = *r->at++ & 7;
    }
    r->at += mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
    return r->at <= r->end;
}

static uint64_t relative(const struct reading *r, uint64_t next, unsigned bytes)
{
    int32_t distance;
    if (bytes == 1)
        return next + (uint64_t)(int64_t)(int8_t)r->at[-1];
    memcpy(&distance, r->at - 4, 4);
    return next + (uint64_t)(int64_t)distance;
}

static struct code_step lead(const struct reading *r, uint64_t next)
{
    uint8_t o = r->opcode;
    unsigned reg = r->modrm ? *r->modrm >> 3 & 7 : 0;
    if (r->map == 1 && o >= 0x80 && o <= 0x8f)
        return (struct code_step){ .op = CODE_BRANCH, .target = relative(r, next, 4) };
    if (r->map == 1 && (o == 0x0b || o == 0xb9 || o == 0xff))
        return (struct code_step){ .op = CODE_TRAP };
    if (r->map)
        return (struct code_step){ .op = CODE_OTHER };
    if ((o >= 0x70 && o <= 0x7f) || (o >= 0xe0 && o <= 0xe3))
        return (struct code_step){ .op = CODE_BRANCH, .target = relative(r, next, 1) };
    if (o == 0xe8 || o == 0xe9)
        return (struct code_step){ .op = o == 0xe8 ? CODE_CALL : CODE_JUMP, .target = relative(r, next, 4) };
    if (o == 0xeb)
        return (struct code_step){ .op = CODE_JUMP, .target = relative(r, next, 1) };
    if (o == 0xc2 || o == 0xc3 || o == 0xca || o == 0xcb)
        return (struct code_step){ .op = CODE_RETURN };
    if (o == 0xcc || o == 0xf4)
        return (struct code_step){ .op = CODE_TRAP };
    if (o == 0xff && (reg == 2 || reg == 4)) {
        bool slot = (*r->modrm & 0xc7) == 5 && !r->apart; /* [rip + displacement] */
        return (struct code_step){ .op = reg == 2 ? (slot ? CODE_CALL_SLOT : CODE_CALL_ANY)
                                                     : (slot ? CODE_JUMP_SLOT : CODE_JUMP_ANY),
                                    .target = slot ? relative(r, next, 4) : 0 };
    }
    bool address = o == 0x8d && (*r->modrm & 0xc7) == 5;
    return (struct code_step){ .op = CODE_OTHER, .target = address ? relative(r, next, 4) : 0 };
}

static struct code_step decode_x86(const uint8_t *code, size_t size, uint64_t address)
{
    static const struct code_step bad = { .length = 1, .op = CODE_BAD };
    struct reading r = { .at = code, .end = code + (size < 15 ? size : 15) };
    unsigned what = read_opcode(&r);
    if (what & X || (what & M && !pass_modrm(&r)))
        return bad;
    if (!r.map && (r.opcode == 0xf6 || r.opcode == 0xf7) && (*r.modrm >> 3 & 7) < 2)
        what |= r.opcode == 0xf6 ? B : Z;
    unsigned z = r.narrow && !r.wide ? 2 : 4;
    r.at += (what & B ? 1 : 0) + (what & W ? 2 : 0) + (what & Z ? z : 0) + (what & R ? 4 : 0) + (what & A ? 8 : 0) +
            (what & V ? (r.wide ? 8 : z) : 0);
    if (r.at > r.end)
        return bad;
    uint8_t length = (uint8_t)(r.at - code);
    struct code_step i = lead(&r, address + length);
    i.length = length;
    return i;
}

/* --- aarch64 --- */

static uint64_t ahead(uint64_t address, uint32_t word, unsigned from, unsigned bits)
{
    int64_t words = (int64_t)((uint64_t)word << (64 - from - bits)) >> (64 - bits);
    return address + (uint64_t)(words * 4);
}

/* adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17: what the linker makes for a name. */
static bool is_stub(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
    uint32_t w[4];
    if (size < sizeof w)
        return false;
    memcpy(w, code, sizeof w);
    int64_t pages = (int64_t)(((uint64_t)(w[0] >> 5 & 0x7ffff) << 2 | (w[0] >> 29 & 3)) << 43) >> 43;
    *slot = (address & ~0xfffull) + (uint64_t)(pages * 4096) + (w[1] >> 10 & 0xfff) * 8;
    return (w[0] & 0x9f00001f) == 0x90000010 && (w[1] & 0xffc003ff) == 0xf9400211 &&
           (w[2] & 0xffc003ff) == 0x91000210 && w[3] == 0xd61f0220;
}

static struct code_step decode_arm(const uint8_t *code, size_t size, uint64_t address)
{
    struct code_step i = { .length = 4, .op = CODE_OTHER };
    uint32_t w;
    if (size < 4)
        return (struct code_step){ .length = 1, .op = CODE_BAD };
    memcpy(&w, code, 4);
    if (is_stub(code, size, address, &i.target))
        return (struct code_step){ i.target, 16, CODE_JUMP_SLOT };
    i.target = 0;
    if ((w & 0x7c000000) == 0x14000000) /* b, bl */
        i = (struct code_step){ ahead(address, w, 0, 26), 4, w >> 31 ? CODE_CALL : CODE_JUMP };
    else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) /* b.cond, b.al; cbz, cbnz */
        i = (struct code_step){ ahead(address, w, 5, 19), 4, (w & 0xff00000e) == 0x5400000e ? CODE_JUMP : CODE_BRANCH };
    else if ((w & 0x7e000000) == 0x36000000) /* tbz, tbnz */
        i = (struct code_step){ ahead(address, w, 5, 14), 4, CODE_BRANCH };
    else if ((w & 0xfe000000) == 0xd6000000) /* br, blr, ret, with or without authentication */
        i.op = (w >> 21 & 7) == 0 ? CODE_JUMP_ANY : (w >> 21 & 7) == 1 ? CODE_CALL_ANY : CODE_RETURN;
    else if ((w & 0xffe00000) == 0xd4200000 || w == 0) /* brk, udf */
        i.op = CODE_TRAP;
    return i;
}

struct code_step code_step_at(uint16_t machine, const uint8_t *code, size_t size, uint64_t address)
{
    return machine == EM_AARCH64 ? decode_arm(code, size, address) : decode_x86(code, size, address);
}

uint8_t code_mark(uint16_t machine, const uint8_t *code, size_t size)
{
    return size >= 4 && !memcmp(code, machine == EM_AARCH64 ? "\x5f\x24\x03\xd5" : "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
}
