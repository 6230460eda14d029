/* SPDX-License-Identifier: MIT */
/*
 * What one instruction of aarch64 does, in steps: code_arm.c adds them, code_arm_memory.c those of loads and stores.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_CODE_ARM_H
#define PYTHIA_TEAMS_CODE_ARM_H

#include <stddef.h>

#include "teams/code.h"

enum { TEAMS_ARM_LINK = 30, TEAMS_ARM_STACK = 31, TEAMS_ARM_ZERO = 31, TEAMS_ARM_STEPS = 3 };

struct teams_arm_steps {
    struct teams_insn step[TEAMS_ARM_STEPS + 1]; /* the last one: what is too many */
    unsigned count;
    bool unknown; /* it is none that is known */
};

static inline struct teams_operand teams_arm_number(int64_t value)
{
    return (struct teams_operand){ TEAMS_IMMEDIATE, 0, value };
}

static inline struct teams_operand teams_arm_register(unsigned number)
{
    return (struct teams_operand){ TEAMS_REGISTER, (uint8_t)number, 0 };
}

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

/* Loads and stores. */
void teams_arm_memory(struct teams_arm_steps *s, uint32_t word);
/* A call of what does one atomic access, of libgcc's: the first `count` words of the code there. False: another one. */
bool teams_arm_atomic(struct teams_arm_steps *s, const uint32_t *word, uint64_t count);

#endif
