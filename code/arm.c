/* SPDX-License-Identifier: MIT */
/*
 * aarch64, read from its bits (Arm Architecture Reference Manual, C4: the groups below have the names that they have
 * there). What one instruction does at once is told in steps (a pair of loads, a base that moves on): the first has the
 * instruction's address, the others those of its other bytes.
 *
 *   ldp   a = [x];  b = [x + 8]                         ldr!   x = x + 8;  a = [x]
 *
 * What is in none of the groups cannot be read. So are exclusive and atomic accesses, but for those of libgcc's
 * functions, and vectors of any length (SVE). What is computed in floating point or vectors is taken for read from
 * memory: no loop is ended by it.
 */
#include <elf.h>

#include "code/arm.h"

static const struct code_operand none = { CODE_NONE, 0, 0 }, memory = { CODE_MEMORY, 0, 0 };

/* --- Fields --- */

enum { RD = 0, RN = 5, RA = 10, RM = 16 };

static unsigned field(uint32_t word, int at)
{
    return (unsigned)code_arm_bits(word, at, 5);
}

/* A general register, where the last one is 0. */
static struct code_operand general(uint32_t word, int at)
{
    unsigned n = field(word, at);
    return n == CODE_ARM_ZERO ? code_arm_number(0) : code_arm_register(n);
}

static struct code_operand vector(uint32_t word, int at)
{
    return code_arm_register(CODE_GENERAL + field(word, at));
}

/* Where a result goes: none where it is thrown away. */
static struct code_operand result(struct code_operand to)
{
    return to.kind == CODE_REGISTER ? to : none;
}

static uint64_t mask(struct code_operand o)
{
    return o.kind == CODE_REGISTER ? code_bit(o.number) : 0;
}

/* --- Steps --- */

struct code_insn *code_arm_add(struct code_arm_steps *s, enum code_op op, struct code_operand dst,
                                 struct code_operand a, struct code_operand b)
{
    s->unknown |= s->count == CODE_ARM_STEPS;
    struct code_insn *i = &s->step[s->count];
    s->count += s->count < CODE_ARM_STEPS;
    *i = (struct code_insn){ .op = (uint8_t)op, .dst = dst, .a = a, .b = b };
    i->place.base = i->place.index = CODE_NO_REGISTER;
    return i;
}

/* Made of these in any way. */
static struct code_insn *made(struct code_arm_steps *s, struct code_operand dst, uint64_t reads)
{
    struct code_insn *i = code_arm_add(s, CODE_OTHER, none, none, none);
    i->writes = mask(dst);
    i->reads = reads;
    return i;
}

static uint64_t sources(uint32_t word)
{
    return mask(general(word, RN)) | mask(general(word, RM));
}

/* --- Data processing, immediate --- */

/* add, sub, cmp, cmn. What an operand is shifted or extended by does not count. */
static void add_or_sub(struct code_arm_steps *s, uint32_t word, struct code_operand a, struct code_operand b,
                       bool stack)
{
    bool minus = code_arm_bits(word, 30, 1), sets = code_arm_bits(word, 29, 1);
    struct code_operand to = stack && !sets ? code_arm_register(field(word, RD)) : result(general(word, RD));
    if (sets && to.kind == CODE_NONE && minus)
        code_arm_add(s, CODE_COMPARE, none, a, b);
    else if (sets && to.kind == CODE_NONE)
        made(s, none, mask(a) | mask(b));
    else
        code_arm_add(s, minus ? CODE_SUB : CODE_ADD, to, a, b);
    s->step[s->count - 1].writes_flags = sets;
}

/* and, orr, eor, tst, mov. */
static void logic(struct code_arm_steps *s, uint32_t word, struct code_operand b, bool inverted)
{
    enum { AND, OR, XOR, AND_FLAGS };
    int64_t op = code_arm_bits(word, 29, 2);
    bool number = b.kind == CODE_IMMEDIATE, plain = number || !code_arm_bits(word, 10, 6);
    struct code_operand a = general(word, RN), to = general(word, RD);
    if (number && op != AND_FLAGS) /* may be the stack pointer */
        to = code_arm_register(field(word, RD));
    if (op == OR && a.kind == CODE_IMMEDIATE && !inverted && plain)
        code_arm_add(s, CODE_MOVE, result(to), b, none);
    else if (op == AND_FLAGS && to.kind == CODE_IMMEDIATE && !inverted)
        code_arm_add(s, CODE_TEST, none, a, b);
    else if (op == XOR || inverted)
        made(s, result(to), mask(a) | mask(b));
    else
        code_arm_add(s, CODE_BITS, result(to), a, b);
    s->step[s->count - 1].writes_flags = op == AND_FLAGS;
}

static void immediate(struct code_arm_steps *s, uint32_t word, uintptr_t address)
{
    enum { KEEPS = 3, WIDENS = 0x93407c00 /* sxtw */ };
    int64_t op = code_arm_bits(word, 29, 2), number = code_arm_signed(word, 5, 19) * 4 + op;
    struct code_operand to = result(general(word, RD)), from = general(word, RN);
    switch (code_arm_bits(word, 23, 3)) {
    case 0: /* adr, adrp */
    case 1: {
        bool page = code_arm_bits(word, 31, 1);
        struct code_insn *i = code_arm_add(s, CODE_ADDRESS, to, none, none);
        i->place.fixed = true;
        i->place.offset = page ? (int64_t)(address & ~(uintptr_t)4095) + number * 4096 : (int64_t)address + number;
        break;
    }
    case 2:
        number = code_arm_bits(word, 10, 12) << (code_arm_bits(word, 22, 1) ? 12 : 0);
        add_or_sub(s, word, code_arm_register(field(word, RN)), code_arm_number(number), true);
        break;
    case 4:
        logic(s, word, code_arm_number(1), false); /* whichever number */
        break;
    case 5: /* movn, movz; movk */
        if (op == KEEPS)
            made(s, to, mask(to));
        else
            code_arm_add(s, CODE_MOVE, to, code_arm_number(1), none);
        s->unknown |= op == 1;
        break;
    case 6: /* bitfields; bfm keeps the rest */
        if ((word & 0xfffffc00) == WIDENS)
            code_arm_add(s, CODE_MOVE, to, from, none);
        else
            made(s, to, mask(from) | (op == 1 ? mask(to) : 0));
        s->unknown |= op == KEEPS;
        break;
    case 7: /* extr */
        made(s, to, sources(word));
        break;
    default: /* tags of memory */
        s->unknown = true;
    }
}

/* --- Branches, exceptions, system --- */

/* A call of a function that only does one access is that access. */
static bool accesses(struct code_arm_steps *s, uintptr_t begin, uintptr_t end, uintptr_t at)
{
    bool there = at >= begin && at < end;
    return there && code_arm_atomic(s, (const uint32_t *)at, (end - at) / sizeof(uint32_t));
}

/* Signatures of pointers, marks for indirect branches. */
static bool is_harmless_hint(int64_t number)
{
    bool pointers = number == 7 || number == 25 || number == 27 || number == 29 || number == 31;
    return number == 0 || pointers || (number >= 32 && number <= 38 && number % 2 == 0);
}

static void system_or_register(struct code_arm_steps *s, uint32_t word)
{
    enum { YIELD = 1, THREAD = 0xd53bd040 /* mrs x, tpidr_el0 */ };
    int64_t hint = code_arm_bits(word, 5, 7);
    struct code_operand to = code_arm_register(field(word, RN));
    if ((word & 0xfffff01f) == 0xd503201f) {
        s->unknown |= hint != YIELD && !is_harmless_hint(hint);
        code_arm_add(s, hint == YIELD ? CODE_PAUSE : CODE_NOTHING, none, none, none);
    } else if ((word & 0xfffff0ff) == 0xd50330bf) { /* dmb */
        code_arm_add(s, CODE_NOTHING, none, none, none);
    } else if ((word & ~31u) == THREAD && general(word, RD).kind == CODE_REGISTER) {
        struct code_insn *i = code_arm_add(s, CODE_MOVE, general(word, RD), memory, none);
        i->place.thread = i->loads = true;
        i->place.size = 8;
    } else if ((word & 0xffe0001f) == 0xd4000001) { /* svc */
        code_arm_add(s, CODE_SYSTEM, none, none, none);
    } else if ((word & 0xffe0001f) == 0xd4200000) { /* brk */
        code_arm_add(s, CODE_TRAP, none, none, none);
    } else if ((word & 0xfffffc1f) == 0xd61f0000) { /* br, blr, ret */
        code_arm_add(s, CODE_JUMP_ANY, none, to, none);
    } else if ((word & 0xfffffc1f) == 0xd63f0000) {
        code_arm_add(s, CODE_CALL_ANY, none, to, none);
    } else if ((word & 0xfffffc1f) == 0xd65f0000) {
        code_arm_add(s, field(word, RN) == CODE_ARM_LINK ? CODE_RETURN : CODE_JUMP_ANY, none, to, none);
    } else {
        s->unknown = true;
    }
}

static void control(struct code_arm_steps *s, uintptr_t begin, uintptr_t end, uint32_t word,
                    const struct code_step *lead)
{
    bool zero = (word & 0x7e000000) == 0x34000000, bit = (word & 0x7e000000) == 0x36000000; /* cbz, tbz */
    if (lead->op != CODE_CALL && lead->op != CODE_JUMP && lead->op != CODE_BRANCH)
        system_or_register(s, word);
    else if (lead->op != CODE_CALL || !accesses(s, begin, end, lead->target))
        code_arm_add(s, lead->op, none, zero || bit ? general(word, RD) : none, bit ? code_arm_number(1) : none)
            ->target = lead->target;
}

/* --- Data processing, register --- */

static void chosen(struct code_arm_steps *s, struct code_operand to, struct code_operand a, struct code_operand b)
{
    if (a.kind == CODE_IMMEDIATE && b.kind == CODE_IMMEDIATE) /* cset */
        made(s, to, 0)->reads_flags = true;
    else
        code_arm_add(s, CODE_SELECT, to, a, b)->reads_flags = true;
}

/* ccmp, ccmn, fccmp: by flags whether these are compared. */
static void compared_if(struct code_arm_steps *s, uint64_t reads)
{
    struct code_insn *i = made(s, none, reads);
    i->reads_flags = i->writes_flags = true;
}

static void with_carry(struct code_arm_steps *s, uint32_t word)
{
    s->unknown |= code_arm_bits(word, 10, 6) != 0;
    struct code_insn *i = made(s, result(general(word, RD)), sources(word));
    i->reads_flags = true;
    i->writes_flags = code_arm_bits(word, 29, 1);
}

/* Of two sources division, shifts and checksums; of one what turns and counts bits. */
static void of_one_or_two(struct code_arm_steps *s, uint32_t word)
{
    int64_t op = code_arm_bits(word, 10, 6);
    bool one = code_arm_bits(word, 30, 1);
    bool two = op == 2 || op == 3 || (op >= 8 && op <= 11) || (op >= 16 && op <= 23);
    s->unknown |= code_arm_bits(word, 29, 1) || (one ? field(word, RM) || op > 5 : !two);
    made(s, result(general(word, RD)), one ? mask(general(word, RN)) : sources(word));
}

static void in_registers(struct code_arm_steps *s, uint32_t word)
{
    struct code_operand to = result(general(word, RD)), a = general(word, RN), b = general(word, RM);
    bool number = code_arm_bits(word, 11, 1);
    if ((word & 0x1f000000) == 0x0a000000)
        logic(s, word, b, code_arm_bits(word, 21, 1));
    else if ((word & 0x1f200000) == 0x0b000000)
        add_or_sub(s, word, a, b, false);
    else if ((word & 0x1fe00000) == 0x0b200000)
        add_or_sub(s, word, code_arm_register(field(word, RN)), b, true);
    else if ((word & 0x1fe00000) == 0x1a000000)
        with_carry(s, word);
    else if ((word & 0x3fe00410) == 0x3a400000)
        compared_if(s, mask(a) | (number ? 0 : mask(b)));
    else if ((word & 0x3fe00800) == 0x1a800000)
        chosen(s, to, a, b);
    else if ((word & 0x1fe00000) == 0x1ac00000)
        of_one_or_two(s, word);
    else if ((word & 0x7f000000) == 0x1b000000) /* madd and others */
        made(s, to, sources(word) | mask(general(word, RA)));
    else
        s->unknown = true;
}

/* --- Floating point and vectors --- */

/* Made of what is read from memory, or as good as that. */
static struct code_insn *taken(struct code_arm_steps *s, struct code_operand to, uint64_t reads)
{
    struct code_insn *i = made(s, to, reads);
    i->loads = true;
    return i;
}

/* Between general registers and vectors, where `whole` also as they are. */
static void converted(struct code_arm_steps *s, uint32_t word, bool whole)
{
    int64_t op = code_arm_bits(word, 16, 3), mode = code_arm_bits(word, 19, 2);
    bool moves = whole && op > 5, up = op == 2 || op == 3 || (moves && op == 7);
    s->unknown |= (!whole && op > 3) || (moves && mode > 1);
    taken(s, up ? vector(word, RD) : result(general(word, RD)), up ? mask(general(word, RN)) : 0);
}

static void scalar(struct code_arm_steps *s, uint32_t word)
{
    int64_t low = code_arm_bits(word, 10, 6);
    bool fixed_point = (word & 0x5f200000) == 0x1e000000, compares = (low & 3) == 1 || (low & 15) == 8;
    s->unknown |= !fixed_point && low != 0 && code_arm_bits(word, 31, 1);
    if (fixed_point || low == 0) {
        converted(s, word, !fixed_point);
        return;
    }
    struct code_insn *i = taken(s, compares ? none : vector(word, RD), 0);
    i->writes_flags = compares;
    i->reads_flags = (low & 3) == 1 || (low & 3) == 3;
}

/* What a vector's parts are put into, or come from, counts; the rest is the same for all. */
static void in_vectors(struct code_arm_steps *s, uint32_t word)
{
    bool down = (word & 0xbfe0f400) == 0x0e002400 || (word & 0xbfe0fc00) == 0x0e003c00; /* smov, umov */
    bool up = (word & 0xbfe0fc00) == 0x0e000c00 || (word & 0xffe0fc00) == 0x4e001c00;   /* dup, ins */
    taken(s, down ? result(general(word, RD)) : vector(word, RD), up ? mask(general(word, RN)) : 0);
}

static void floating(struct code_arm_steps *s, uint32_t word)
{
    if ((word & 0x5f000000) == 0x1e000000)
        scalar(s, word);
    else if ((word & 0xff000000) == 0x1f000000 || !code_arm_bits(word, 31, 1)) /* fmadd and others */
        in_vectors(s, word);
    else
        s->unknown = true;
}

/* --- The whole --- */

static void describe(struct code_arm_steps *s, uintptr_t begin, uintptr_t end, uint32_t word, uintptr_t address,
                     const struct code_step *lead)
{
    int64_t group = code_arm_bits(word, 25, 4);
    if (group >> 1 == 4)
        immediate(s, word, address);
    else if (group >> 1 == 5)
        control(s, begin, end, word, lead);
    else if ((group & 5) == 4)
        code_arm_memory(s, word);
    else if ((group & 7) == 5)
        in_registers(s, word);
    else if ((group & 7) == 7)
        floating(s, word);
    else
        s->unknown = true;
}

static bool code_arm_read(uintptr_t begin, uintptr_t end, uintptr_t address, struct code_insn *insn)
{
    unsigned step = address & 3;
    uintptr_t at = address - step;
    uint64_t size = end - at;
    struct code_arm_steps s = { .count = 0 };
    const uint32_t *word = (const uint32_t *)at;
    if (size < sizeof *word)
        return false;
    struct code_step lead = code_step_at(EM_AARCH64, (const uint8_t *)at, size, at);
    if (!step && lead.op == CODE_JUMP_SLOT) {
        *insn = *code_arm_add(&s, CODE_JUMP_SLOT, none, none, none);
        insn->target = lead.target;
        insn->address = address;
        insn->length = lead.length;
        return true;
    }
    describe(&s, begin, end, *word, at, &lead);
    if (s.unknown || step >= s.count)
        return false;
    *insn = s.step[step];
    insn->address = address;
    insn->length = (uint8_t)(step + 1 == s.count ? 4 - step : 1);
    return true;
}

const struct code_machine code_arm = {
    .elf = EM_AARCH64,
    .convention = {
        .stack = CODE_ARM_STACK,
        .result = 0,
        .argument = 0,
        /* all but x19 to x29, sp, v8 to v15 */
        .clobbered = ~(2047ull << 19 | 1ull << CODE_ARM_STACK | 255ull << 40),
    },
    .decode = code_arm_read,
};
