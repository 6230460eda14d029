/* SPDX-License-Identifier: MIT */
/* Loads and stores of aarch64. */
#include "code/arm.h"

static const struct code_operand none = { CODE_NONE, 0, 0 }, memory = { CODE_MEMORY, 0, 0 };

struct access {
    struct code_place place;
    int64_t before, after; /* by which the base is moved */
    bool loads, vector;
    uint8_t size;
};

static void move_base(struct code_arm_steps *s, const struct access *a, int64_t by)
{
    if (by)
        code_arm_add(s, CODE_ADD, code_arm_register(a->place.base), code_arm_register(a->place.base),
                      code_arm_number(by));
}

static void access_one(struct code_arm_steps *s, const struct access *a, unsigned reg, int64_t offset)
{
    struct code_operand r = a->vector ? code_arm_register(CODE_GENERAL + reg) : code_arm_register(reg);
    bool zero = !a->vector && reg == CODE_ARM_ZERO;
    struct code_operand value = zero ? code_arm_number(0) : r;
    struct code_insn *i = code_arm_add(s, CODE_MOVE, a->loads ? (zero ? none : r) : memory,
                                         a->loads ? memory : value, none);
    s->unknown |= !a->vector && !zero && reg == a->place.base && (a->before || a->after);
    i->place = a->place;
    i->place.offset += offset;
    i->place.size = a->size;
    i->loads = a->loads;
    i->stores = !a->loads;
}

/* Base and offset; how the base moves: 1 behind, 3 before the access. */
static struct access at_base(uint32_t word, int64_t offset, int moves)
{
    struct access a = { .vector = code_arm_bits(word, 26, 1) };
    a.place.base = (uint8_t)code_arm_bits(word, 5, 5);
    a.place.index = CODE_NO_REGISTER;
    a.place.scale = 1;
    a.before = moves == 3 ? offset : 0;
    a.after = moves == 1 ? offset : 0;
    a.place.offset = moves == 1 || moves == 3 ? 0 : offset;
    return a;
}

static void pair(struct code_arm_steps *s, uint32_t word)
{
    int64_t kind = code_arm_bits(word, 30, 2), mode = code_arm_bits(word, 23, 2);
    bool vector = code_arm_bits(word, 26, 1), loads = code_arm_bits(word, 22, 1);
    int64_t size = vector ? 4 << kind : kind == 2 ? 8 : 4;
    unsigned first = (unsigned)code_arm_bits(word, 0, 5), second = (unsigned)code_arm_bits(word, 10, 5);
    s->unknown |= kind == 3 || (kind == 1 && !vector && !loads);
    struct access a = at_base(word, code_arm_signed(word, 15, 7) * size, (int)mode);
    a.loads = loads;
    a.size = (uint8_t)size;
    move_base(s, &a, a.before);
    bool turned = loads && !vector && first == a.place.base; /* the base is read twice */
    access_one(s, &a, turned ? second : first, turned ? size : 0);
    access_one(s, &a, turned ? first : second, turned ? 0 : size);
    move_base(s, &a, a.after);
}

/* One register, with a number or a register beside the base. */
static void single(struct code_arm_steps *s, uint32_t word)
{
    int64_t opc = code_arm_bits(word, 22, 2), scale = code_arm_bits(word, 30, 2), mode = code_arm_bits(word, 10, 2);
    bool vector = code_arm_bits(word, 26, 1), far = code_arm_bits(word, 24, 1),
         index = !far && code_arm_bits(word, 21, 1);
    if (vector && (opc & 2)) {
        s->unknown |= scale != 0;
        scale = 4;
    }
    s->unknown |= (!vector && scale == 3 && opc > 1) || (!vector && scale == 2 && opc == 3);
    s->unknown |= index ? mode != 2 : !far && mode == 2; /* atomic, or not as the program itself */
    int64_t offset = far ? code_arm_bits(word, 10, 12) * (1 << scale) : index ? 0 : code_arm_signed(word, 12, 9);
    struct access a = at_base(word, offset, far || index ? 0 : (int)mode);
    a.loads = vector ? opc & 1 : opc != 0;
    a.size = (uint8_t)(1 << scale);
    if (index && code_arm_bits(word, 16, 5) != CODE_ARM_ZERO) {
        a.place.index = (uint8_t)code_arm_bits(word, 16, 5);
        a.place.scale = (uint8_t)(code_arm_bits(word, 12, 1) ? 1 << scale : 1);
    }
    move_base(s, &a, a.before);
    access_one(s, &a, (unsigned)code_arm_bits(word, 0, 5), 0);
    move_base(s, &a, a.after);
}

/* Several vectors, up to four from this one on, or the same part of each: as if any number of places were accessed. How
   far a base is moved by the instruction's own number is not known. */
static void structure(struct code_arm_steps *s, uint32_t word)
{
    bool moves = code_arm_bits(word, 23, 1), by_register = code_arm_bits(word, 16, 5) != CODE_ARM_ZERO;
    struct code_operand base = code_arm_register((unsigned)code_arm_bits(word, 5, 5));
    struct code_operand by = code_arm_register((unsigned)code_arm_bits(word, 16, 5));
    uint64_t vectors = 0;
    for (unsigned k = 0; k < 4; k++)
        vectors |= 1ull << (CODE_GENERAL + (unsigned)(code_arm_bits(word, 0, 5) + k) % 32);
    struct code_insn *i = code_arm_add(s, CODE_OTHER, none, none, none);
    i->loads = code_arm_bits(word, 22, 1);
    i->stores = !i->loads;
    i->repeats = true;
    i->writes = i->loads ? vectors : 0;
    i->reads = code_bit(base.number) | vectors;
    if (moves)
        code_arm_add(s, CODE_ADD, base, base, by_register ? by : none);
}

void code_arm_memory(struct code_arm_steps *s, uint32_t word)
{
    bool fetches_ahead = (word & 0xffc00000) == 0xf9800000 || (word & 0xffc00000) == 0xf8800000;
    if (fetches_ahead)
        code_arm_add(s, CODE_NOTHING, none, none, none);
    else if ((word & 0x3a000000) == 0x28000000)
        pair(s, word);
    else if ((word & 0x3a000000) == 0x38000000)
        single(s, word);
    else if ((word & 0xbe000000) == 0x0c000000)
        structure(s, word);
    else
        s->unknown = true;
}

/* --- Atomic accesses out of line --- */

/*
 * gcc calls a function of libgcc's for each atomic access, whose code is in the module itself. It asks whether the
 * processor has an instruction for that, and else does it by a loop of exclusive accesses:
 *
 *   (bti c);  adrp x16, page;  ldrb w16, [x16, #offset];  cbz w16, loop;  the instruction;  ret;  loop: mov x16, x0 ...
 */
enum { ATOMIC_WORDS = 6 };

static bool is_out_of_line(const uint32_t *word)
{
    return (word[0] & 0x9f00001f) == 0x90000010 && (word[1] & 0xffc003ff) == 0x39400210 && word[2] == 0x34000070 &&
           word[4] == 0xd65f03c0 && (word[5] & 0x7fffffff) == 0x2a0003f0;
}

/* The instruction is known: cas x0, x1, [x2], swp or what adds, or takes bits, of four or eight bytes. */
static bool is_atomic(uint32_t word, bool *swaps)
{
    *swaps = (word & 0xbfbf7fff) == 0x88a07c41;
    return *swaps || (word & 0xbf3fffff) == 0xb8208020 || (word & 0xbf3fcfff) == 0xb8200020;
}

bool code_arm_atomic(struct code_arm_steps *s, const uint32_t *word, uint64_t count)
{
    const uint32_t bti = 0xd503245f;
    bool marked = count > 0 && word[0] == bti, swaps;
    word += marked;
    if (count < (uint64_t)ATOMIC_WORDS + marked || !is_out_of_line(word) || !is_atomic(word[3], &swaps))
        return false;
    struct access a = at_base(0, 0, 0);
    a.place.base = swaps ? 2 : 1;
    a.place.size = (uint8_t)(1 << code_arm_bits(word[3], 30, 2));
    struct code_insn *i = code_arm_add(s, CODE_OTHER, none, none, none); /* in x0 the value that was there */
    i->place = a.place;
    i->loads = i->stores = true;
    i->swaps = swaps;
    i->reads = code_bit(a.place.base) | 1 | (swaps ? 2 : 0);
    i->writes = 1 | 7 << 15 | 1ull << CODE_ARM_LINK;
    i->writes_flags = true;
    return true;
}
