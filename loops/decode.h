/* SPDX-License-Identifier: MIT */
/*
 * Machine instructions as far as control flow needs them: how long one is, and where it leads.
 *
 * x86-64: prefixes, opcode maps, ModRM and immediates say the length; aarch64: four bytes each. What an instruction
 * computes is nobody's business here (teams/code.h reads that), so it takes some ns and no library.
 *
 * Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_LOOPS_DECODE_H
#define PYTHIA_LOOPS_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum loops_step {
    LOOPS_ON,        /* to the next instruction; target: an address that it computes from its own, 0: none */
    LOOPS_JUMP,      /* to the target */
    LOOPS_BRANCH,    /* to either */
    LOOPS_JUMP_ANY,  /* to an address that is computed */
    LOOPS_JUMP_SLOT, /* to the address in memory at the target */
    LOOPS_CALL,      /* on, by way of the target */
    LOOPS_CALL_SLOT, /* on, by way of the address in memory at the target */
    LOOPS_CALL_ANY,
    LOOPS_RETURN,
    LOOPS_STOP,      /* a trap: nowhere */
    LOOPS_BAD        /* no instruction */
};

struct loops_insn {
    uint64_t target;
    uint8_t length;
    uint8_t step; /* enum loops_step */
};

/* The instruction at `code`, of `size` readable bytes, which runs at `address`; `machine` as in ELF's e_machine. */
struct loops_insn loops_decode(uint16_t machine, const uint8_t *code, size_t size, uint64_t address);

#endif
