/* SPDX-License-Identifier: MIT */
/*
 * One processor's instructions for code.c, which asks capstone: code_x86.c, code_arm.c.
 *
 * Threads: one a decoder.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_MACHINE_H
#define PYTHIA_TEAMS_MACHINE_H

#include <capstone.h>

#include "teams/code.h"

struct teams_decoder {
    csh handle;
    cs_insn *insn;        /* the last one */
    uintptr_t begin, end; /* of code that is there */
    cs_err (*access)(csh, const cs_insn *, cs_regs, uint8_t *, cs_regs, uint8_t *);
};

struct teams_machine {
    uint16_t elf; /* e_machine */
    cs_arch arch;
    cs_mode mode;
    struct teams_convention convention;
    bool (*decode)(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address,
                   struct teams_insn *insn);
};

extern const struct teams_machine teams_x86, teams_arm;

/* Into d->insn, with details. False: there is none. */
bool teams_disassemble(struct teams_decoder *d, const uint8_t *code, uint64_t size, uintptr_t address);

#endif
