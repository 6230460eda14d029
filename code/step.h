/* SPDX-License-Identifier: MIT */
/*
 * Machine instructions as far as control flow needs them: how long one is, and where it leads.
 *
 * x86-64: prefixes, opcode maps, ModRM and immediates say the length; aarch64: four bytes each. What an instruction
 * computes is nobody's business here (insn.h reads that), so it takes some ns and no library.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum code_op {
    CODE_NOTHING,
    CODE_MOVE,    /* a, also extended or narrowed */
    CODE_ADDRESS, /* that of the place of memory, without access */
    CODE_ADD,
    CODE_SUB,
    CODE_SCALE,   /* a * b, a << b */
    CODE_HALVE,   /* a >> 1 */
    CODE_BITS,    /* and, or */
    CODE_COMPARE, /* of a and b, into the flags */
    CODE_TEST,    /* of a & b */
    CODE_SELECT,  /* a or b, by the flags */
    CODE_OTHER,   /* known by its masks */
    CODE_CALL,      /* on, by way of the target */
    CODE_CALL_SLOT, /* on, by way of the address in memory at the target */
    CODE_CALL_ANY,  /* on, by way of an address that is computed */
    CODE_JUMP,      /* to the target, or to the address in memory there, or to one that is computed */
    CODE_JUMP_SLOT,
    CODE_JUMP_ANY,
    CODE_BRANCH, /* to the target or on, by the flags, or by a: whether it is 0, with b a bit of it */
    CODE_RETURN,
    CODE_TRAP,   /* nowhere */
    CODE_PAUSE,  /* what loops that wait say to the processor */
    CODE_SYSTEM, /* a system call, or something else that is none of a program's business */
    CODE_BAD     /* no instruction */
};

/* Calls stand side by side. */
static inline int code_op_calls(uint8_t op)
{
    return op >= CODE_CALL && op <= CODE_CALL_ANY;
}

struct code_step {
    uint64_t target; /* of CODE_OTHER: an address that it computes from its own, 0: none */
    uint8_t length;
    uint8_t op; /* enum code_op: what leads elsewhere, CODE_TRAP, CODE_BAD; of all others CODE_OTHER */
};

/* The instruction at `code`, of `size` readable bytes, which runs at `address`; `machine` as in ELF's e_machine. */
struct code_step code_step_at(uint16_t machine, const uint8_t *code, size_t size, uint64_t address);

/* Bytes of the mark of a place that indirect calls may lead to, if there is one: endbr64, bti c. */
uint8_t code_mark(uint16_t machine, const uint8_t *code, size_t size);
