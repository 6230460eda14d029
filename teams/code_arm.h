/* SPDX-License-Identifier: MIT */
/*
 * What one instruction of aarch64 does, in steps: code_arm.c adds them, code_arm_memory.c those of loads and stores,
 * by what code_arm_kinds.c says of it.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_CODE_ARM_H
#define PYTHIA_TEAMS_CODE_ARM_H

#include "teams/machine.h"

enum { TEAMS_ARM_FRAME = 29, TEAMS_ARM_LINK = 30, TEAMS_ARM_STACK = 31, TEAMS_ARM_ZERO = 31, TEAMS_ARM_STEPS = 4 };

struct teams_arm_steps {
    struct teams_insn step[TEAMS_ARM_STEPS + 1]; /* the last one: what is too many */
    unsigned count;
    bool unknown; /* it has another form than is known */
};

static inline struct teams_operand teams_arm_number(int64_t value)
{
    return (struct teams_operand){ TEAMS_IMMEDIATE, 0, value };
}

static inline struct teams_operand teams_arm_register(unsigned number)
{
    return (struct teams_operand){ TEAMS_REGISTER, (uint8_t)number, 0 };
}

/* The form that its operands have. */
enum teams_arm_form {
    TEAMS_ARM_UNKNOWN,
    TEAMS_ARM_SKIPPED,
    TEAMS_ARM_HINT,
    TEAMS_ARM_ALIKE,    /* dst = op(the rest, in any way) */
    TEAMS_ARM_INTO,     /* likewise, with what was in dst */
    TEAMS_ARM_CARRY,    /* likewise, with flags */
    TEAMS_ARM_COMPUTED, /* dst = a op b; with vectors as ALIKE */
    TEAMS_ARM_MOVED,
    TEAMS_ARM_COMPARED,
    TEAMS_ARM_COMPARED_IF,
    TEAMS_ARM_CHOSEN,
    TEAMS_ARM_FLAG,
    TEAMS_ARM_ADDRESS,
    TEAMS_ARM_JUMP,
    TEAMS_ARM_JUMP_ANY,
    TEAMS_ARM_CALLED,
    TEAMS_ARM_CALLED_ANY,
    TEAMS_ARM_RETURNED,
    TEAMS_ARM_BRANCH_REGISTER,
    TEAMS_ARM_BRANCH_BIT,
    TEAMS_ARM_LOADED,
    TEAMS_ARM_STRUCTURE,
    TEAMS_ARM_THREAD,
    TEAMS_ARM_PLAIN, /* an operation without operands that count */
};

struct teams_arm_kind { uint8_t form, op; }; /* enum teams_arm_form, enum teams_op */

/* By capstone's number. */
struct teams_arm_kind teams_arm_kind(unsigned id);
/* The location of a register; the one that is 0 has none. */
uint8_t teams_arm_location(unsigned reg);
bool teams_arm_is_zero(unsigned reg);
/* Signatures of pointers, marks for indirect branches. */
bool teams_arm_is_harmless_hint(int64_t number);

/* So many bits of an instruction from `low` on; the same with a sign. */
static inline int64_t teams_arm_bits(uint32_t word, int low, int count)
{
    return (int64_t)(word >> low & ((1u << count) - 1));
}

static inline int64_t teams_arm_signed(uint32_t word, int low, int count)
{
    int64_t value = teams_arm_bits(word, low, count);
    return value >> (count - 1) ? value - (1ll << count) : value;
}

/* One step more, which is the caller's to complete. */
struct teams_insn *teams_arm_add(struct teams_arm_steps *s, enum teams_op op, struct teams_operand dst,
                                 struct teams_operand a, struct teams_operand b);

/* Loads and stores of one register, or of two. */
void teams_arm_loaded(struct teams_arm_steps *s, uint32_t word);
/* A call of what does one atomic access, of libgcc's: the first `count` words of the code there. False: another one. */
bool teams_arm_atomic(struct teams_arm_steps *s, const uint32_t *word, uint64_t count);
/* ld1 to st4: several vectors, `count` in all, or the same part of each. */
void teams_arm_structure(struct teams_arm_steps *s, uint32_t word, uint64_t vectors, unsigned count);

#endif
