/* SPDX-License-Identifier: MIT */
/*
 * What one instruction of aarch64 does, in steps: arm.c adds them, arm_memory.c those of loads and stores.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>

#include "code/insn.h"

enum { CODE_ARM_LINK = 30, CODE_ARM_STACK = 31, CODE_ARM_ZERO = 31, CODE_ARM_STEPS = 3 };

struct code_arm_steps {
    struct code_insn step[CODE_ARM_STEPS + 1]; /* the last one: what is too many */
    unsigned count;
    bool unknown; /* it is none that is known */
};

static inline struct code_operand code_arm_number(int64_t value)
{
    return (struct code_operand){ CODE_IMMEDIATE, 0, value };
}

static inline struct code_operand code_arm_register(unsigned number)
{
    return (struct code_operand){ CODE_REGISTER, (uint8_t)number, 0 };
}

/* So many bits of an instruction from `low` on; the same with a sign. */
static inline int64_t code_arm_bits(uint32_t word, int low, int count)
{
    return (int64_t)(word >> low & ((1u << count) - 1));
}

static inline int64_t code_arm_signed(uint32_t word, int low, int count)
{
    int64_t value = code_arm_bits(word, low, count);
    return value >> (count - 1) ? value - (1ll << count) : value;
}

/* One step more, which is the caller's to complete. */
struct code_insn *code_arm_add(struct code_arm_steps *s, enum code_op op, struct code_operand dst,
                                 struct code_operand a, struct code_operand b);

/* Loads and stores. */
void code_arm_memory(struct code_arm_steps *s, uint32_t word);
/* A call of what does one atomic access, of libgcc's: the first `count` words of the code there. False: another one. */
bool code_arm_atomic(struct code_arm_steps *s, const uint32_t *word, uint64_t count);
