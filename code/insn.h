/* SPDX-License-Identifier: MIT */
/*
 * Machine instructions, as far as a proof (teams/proof.h) needs them: what is written, made of what, by which kind of
 * operation.
 *
 *   bytes ── capstone ── x86.c ──>      struct code_insn   dst = op(a, b), at most one place of memory
 *         ├────────── evex.c ──┤     
 *         └─────────── arm.c ──┘     
 *
 * Registers are numbers of locations: 0..31 general, 32..63 vectors, whatever their width; CODE_FLAGS is the
 * condition that branches and what chooses look at. What is not understood in detail is CODE_OTHER, with the masks of
 * what it reads and writes: nothing is left out.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "code/step.h"

enum {
    CODE_GENERAL = 32,
    CODE_FLAGS = 64,
    CODE_REGISTERS = 65,
    CODE_NO_REGISTER = 255
};

enum code_operand_kind { CODE_NONE, CODE_REGISTER, CODE_IMMEDIATE, CODE_MEMORY };
/* Packed, as the next one: a program has thousands. */
struct code_operand {
    uint8_t kind, number;
    int64_t value;
} __attribute__((packed));

/* base + index * scale + offset, or fixed: the address itself. */
struct code_place {
    uint8_t base, index, scale, size;
    bool fixed : 1, thread : 1;
    int64_t offset;
} __attribute__((packed));

struct code_insn {
    uintptr_t address, target;
    uint64_t reads, writes; /* registers, for CODE_OTHER; else those beside dst, a, b */
    uint8_t length, op;
    bool loads : 1, stores : 1, swaps : 1 /* compares and exchanges */, reads_flags : 1, writes_flags : 1;
    bool copies : 1;    /* from a second place of memory, which is only read */
    bool atomic : 1;    /* loads and stores, and others do likewise */
    bool tells : 1;     /* in ecx: which processor runs it */
    bool repeats : 1;   /* loads and stores any number of places from there on */
    bool partial : 1;   /* a part of a general register is set anew, and the rest stays */
    int8_t step;    /* bytes by which a push or a pop moves the stack pointer; with op MOVE */
    struct code_operand dst, a, b;
    struct code_place place;
};

/* For each register of a mask: for (uint64_t left = mask; left; left &= left - 1) ... code_first(left) ... */
static inline uint8_t code_first(uint64_t mask)
{
    return (uint8_t)__builtin_ctzll(mask);
}

static inline uint64_t code_bit(uint8_t reg)
{
    return reg < 64 ? 1ull << reg : 0;
}

/* Registers whose values go into the result of an instruction that is known by masks, not into its address only. */
static inline uint64_t code_sources(const struct code_insn *i)
{
    return i->reads & ~(code_bit(i->place.base) | code_bit(i->place.index));
}

/* What the calling convention says. */
struct code_convention {
    uint8_t stack, result, argument; /* the first one */
    uint64_t clobbered;              /* by a call, arguments among them */
};

static inline bool code_is_call(const struct code_insn *i)
{
    return code_op_calls(i->op);
}

/* One processor's instructions. */
struct code_machine {
    uint16_t elf; /* e_machine */
    struct code_convention convention;
    bool (*prepare)(void); /* loads what it needs; NULL: nothing. False: that is not there */
    bool (*decode)(uintptr_t begin, uintptr_t end, uintptr_t address, struct code_insn *insn);
};
extern const struct code_machine code_x86, code_arm;

/* Another processor's than this one's, from now on; by ELF's e_machine. */
void code_choose(uint16_t elf);
/* By ELF's e_machine; 0: none that is known. */
uint16_t code_chosen(void);
/* Loads what reads code, so that nothing is loaded later. False: nothing here does. */
bool code_prepare(void);
/* Reads the instruction at an address, where that was prepared; code is there from `begin` up to `end`. False: none. */
bool code_read(uintptr_t begin, uintptr_t end, uintptr_t address, struct code_insn *insn);
const struct code_convention *code_convention(void);
