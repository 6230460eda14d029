/* SPDX-License-Identifier: MIT */
/*
 * Machine instructions, as far as the proof (proof.h) needs them: what is written, made of what, by which kind of
 * operation.
 *
 *   bytes ── capstone ── code_x86.c ──> struct teams_insn   dst = op(a, b), at most one place of memory
 *         ├────────── code_evex.c ──┤
 *         └─────────── code_arm.c ──┘
 *
 * Registers are numbers of locations: 0..31 general, 32..63 vectors, whatever their width; TEAMS_FLAGS is the
 * condition that branches and what chooses look at. What is not understood in detail is TEAMS_OTHER, with the masks of
 * what it reads and writes: nothing is left out.
 *
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_CODE_H
#define PYTHIA_TEAMS_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TEAMS_GENERAL = 32,
    TEAMS_FLAGS = 64,
    TEAMS_REGISTERS = 65,
    TEAMS_NO_REGISTER = 255
};

enum teams_op {
    TEAMS_NOTHING,
    TEAMS_MOVE,    /* a, also extended or narrowed */
    TEAMS_ADDRESS, /* that of the place of memory, without access */
    TEAMS_ADD,
    TEAMS_SUB,
    TEAMS_SCALE,   /* a * b, a << b */
    TEAMS_HALVE,   /* a >> 1 */
    TEAMS_BITS,    /* and, or */
    TEAMS_COMPARE, /* of a and b, into the flags */
    TEAMS_TEST,    /* of a & b */
    TEAMS_SELECT,  /* a or b, by the flags */
    TEAMS_OTHER,   /* known by its masks */
    TEAMS_CALL,
    TEAMS_CALL_SLOT, /* target, or through the pointer at address `target` */
    TEAMS_CALL_ANY,
    TEAMS_JUMP,
    TEAMS_JUMP_SLOT,
    TEAMS_JUMP_ANY,
    TEAMS_BRANCH, /* by the flags, or by a: whether it is 0, with b a bit of it */
    TEAMS_RETURN,
    TEAMS_TRAP,
    TEAMS_PAUSE,  /* what loops that wait say to the processor */
    TEAMS_SYSTEM, /* a system call, or something else that is none of a program's business */
};

enum teams_operand_kind { TEAMS_NONE, TEAMS_REGISTER, TEAMS_IMMEDIATE, TEAMS_MEMORY };
/* Packed, as the next one: a program has thousands. */
struct teams_operand {
    uint8_t kind, number;
    int64_t value;
} __attribute__((packed));

/* base + index * scale + offset, or fixed: the address itself. */
struct teams_place {
    uint8_t base, index, scale, size;
    bool fixed : 1, thread : 1;
    int64_t offset;
} __attribute__((packed));

struct teams_insn {
    uintptr_t address, target;
    uint64_t reads, writes; /* registers, for TEAMS_OTHER; else those beside dst, a, b */
    uint8_t length, op;
    bool loads : 1, stores : 1, swaps : 1 /* compares and exchanges */, reads_flags : 1, writes_flags : 1;
    bool copies : 1;    /* from a second place of memory, which is only read */
    bool atomic : 1;    /* loads and stores, and others do likewise */
    bool tells : 1;     /* in ecx: which processor runs it */
    bool repeats : 1;   /* loads and stores any number of places from there on */
    bool partial : 1;   /* a part of a general register is set anew, and the rest stays */
    int8_t step;    /* bytes by which a push or a pop moves the stack pointer; with op MOVE */
    struct teams_operand dst, a, b;
    struct teams_place place;
};

/* For each register of a mask: for (uint64_t left = mask; left; left &= left - 1) ... teams_first(left) ... */
static inline uint8_t teams_first(uint64_t mask)
{
    return (uint8_t)__builtin_ctzll(mask);
}

static inline uint64_t teams_bit(uint8_t reg)
{
    return reg < 64 ? 1ull << reg : 0;
}

/* Registers whose values go into the result of an instruction that is known by masks, not into its address only. */
static inline uint64_t teams_sources(const struct teams_insn *i)
{
    return i->reads & ~(teams_bit(i->place.base) | teams_bit(i->place.index));
}

/* What the calling convention says. */
struct teams_convention {
    uint8_t stack, result, argument; /* the first one */
    uint64_t clobbered;              /* by a call, arguments among them */
};

static inline bool teams_is_call(const struct teams_insn *i)
{
    return i->op == TEAMS_CALL || i->op == TEAMS_CALL_SLOT || i->op == TEAMS_CALL_ANY;
}

/* One processor's instructions. */
struct teams_machine {
    uint16_t elf; /* e_machine */
    struct teams_convention convention;
    bool (*prepare)(void); /* loads what it needs; NULL: nothing. False: that is not there */
    bool (*decode)(uintptr_t begin, uintptr_t end, uintptr_t address, struct teams_insn *insn);
};
extern const struct teams_machine teams_x86, teams_arm;

/* Another processor's than this one's, from now on; by ELF's e_machine. */
void teams_code_choose(uint16_t elf);
/* Loads what reads code, so that nothing is loaded later. False: nothing here does. */
bool teams_code_prepare(void);
/* Reads the instruction at an address, where that was prepared; code is there from `begin` up to `end`. False: none. */
bool teams_decode(uintptr_t begin, uintptr_t end, uintptr_t address, struct teams_insn *insn);
const struct teams_convention *teams_convention(void);

#endif
