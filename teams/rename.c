/* SPDX-License-Identifier: MIT */
#include "teams/rename.h"

#include <string.h>

enum { REG = 3, BASE = 6, INDEX = 7 }; /* rbx, rsi, rdi: what stands for each field's */

/* Opcodes: a bit of each, 32 a word. */
typedef uint32_t opcodes[8];

/* One byte: arithmetic of 32 and 64 bits, movsxd, imul, test, mov, lea; those of them that have a part of the opcode in
   ModRM: 81, 83, c1, c7, d1, f7. */
static const opcodes one = { 0x0a0a0a0a, 0x0a0a0a0a, 0, 0x00000a08, 0x00002a2a, 0, 0x00020082, 0x00800000 };
static const opcodes groups = { 0, 0, 0, 0, 0x0000000a, 0, 0x00020082, 0x00800000 };

/* Behind 0f, after each of the prefixes below: 10 to 17, 28 to 2f as far as they are moves of vectors, conversions and
   comparisons; 40 to 4f: choices; 51 to 5f: arithmetic of floating point, logic; 60 to 7f, d4 to fe: of integers in
   vectors; af: imul. None of MMX, of which there are eight registers. */
static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3 };
static const opcodes two[] = {
    { 0x00ff0000, 0x0000c300, 0xfff2ffff, 0, 0, 0x00008000, 0x00000040, 0 },
    { 0x00ff0000, 0x0000c300, 0xfff20000, 0xc071ffff, 0, 0, 0x00500040, 0x4c008800 },
    { 0x00070000, 0x00003400, 0xff020000, 0x00010000, 0, 0, 0, 0 },
    { 0x00470000, 0x00003400, 0xff020000, 0xc0018000, 0, 0, 0, 0 },
};

static bool has(const opcodes set, uint8_t opcode)
{
    return set[opcode / 32] >> opcode % 32 & 1;
}

bool teams_rename_away(const uint8_t code[TEAMS_LONGEST_INSN], uint8_t common[TEAMS_LONGEST_INSN],
                       struct teams_names *names)
{
    unsigned prefix = sizeof prefixes - 1, at, rex = 0, where = 0;
    while (prefix && code[0] != prefixes[prefix])
        prefix--;
    at = prefix != 0;
    if ((code[at] & 0xf0) == 0x40) {
        where = at;
        rex = code[at++];
    }
    bool longer = code[at] == 0x0f, group = !longer && has(groups, code[at]);
    at += longer;
    if (longer ? !has(two[prefix], code[at]) : prefix || !has(one, code[at]))
        return false;
    if (code[at] == 0xc7 && code[at + 1] >= 0xc0) /* may be xbegin */
        return false;
    uint8_t modrm = code[++at], reg = (modrm >> 3 & 7) | (rex & 4) << 1, base = (modrm & 7) | (rex & 1) << 3;
    bool memory = modrm < 0xc0, sib = memory && (modrm & 7) == 4;
    *names = (struct teams_names){ TEAMS_NO_REGISTER, TEAMS_NO_REGISTER, TEAMS_NO_REGISTER };
    memcpy(common, code, TEAMS_LONGEST_INSN);
    if (!group) {
        names->reg = reg;
        modrm = (uint8_t)((modrm & 0xc7) | REG << 3);
    }
    if (sib) {
        uint8_t s = code[at + 1], index = (s >> 3 & 7) | (rex & 2) << 2;
        base = (s & 7) | (rex & 1) << 3;
        if (index != 4) {
            names->index = index;
            s = (uint8_t)((s & 0xc7) | INDEX << 3);
        }
        if (modrm >= 0x40 || (s & 7) != 5) {
            names->base = base;
            s = (uint8_t)((s & 0xf8) | BASE);
        }
        common[at + 1] = s;
    } else if (!memory || modrm >= 0x40 || (modrm & 7) != 5) {
        names->base = base;
        modrm = (uint8_t)((modrm & 0xf8) | (!memory && !group && base == reg ? REG : BASE));
    }
    common[at] = modrm;
    if (rex)
        common[where] = rex & 0xf8;
    return true;
}

/* Of a number of a location: a general register's, or a vector's. */
static uint8_t back(uint8_t number, const struct teams_names *n)
{
    uint8_t above = number & TEAMS_GENERAL, to = TEAMS_NO_REGISTER;
    if (number < 2 * TEAMS_GENERAL)
        to = (number - above) == REG     ? n->reg
             : (number - above) == BASE  ? n->base
             : (number - above) == INDEX ? n->index
                                         : TEAMS_NO_REGISTER;
    return to == TEAMS_NO_REGISTER ? number : to | above;
}

static uint64_t all_back(uint64_t mask, const struct teams_names *n)
{
    enum { EITHER = 1 << REG | 1 << BASE | 1 << INDEX };
    uint64_t named = mask & ((uint64_t)EITHER << TEAMS_GENERAL | EITHER), to = mask & ~named;
    for (; named; named &= named - 1)
        to |= 1ull << back(teams_first(named), n);
    return to;
}

void teams_rename_back(struct teams_insn *i, const struct teams_names *n)
{
    i->reads = all_back(i->reads, n);
    i->writes = all_back(i->writes, n);
    i->place.base = back(i->place.base, n);
    i->place.index = back(i->place.index, n);
    struct teams_operand *const operands[] = { &i->dst, &i->a, &i->b };
    for (int k = 0; k < 3; k++)
        if (operands[k]->kind == TEAMS_REGISTER)
            operands[k]->number = back(operands[k]->number, n);
}
