/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64 that differ in the registers that they name only: all are read as one with these.
 *
 *   f2 45 0f 10 4c c7 08   movsd xmm9, [r15 + rax*8 + 8]
 *   f2 40 0f 10 5c fe 08   movsd xmm3, [rsi + rdi*8 + 8]     REX, ModRM and SIB name a register each
 *
 * Only opcodes of a list are renamed, whose registers mean the same whichever they are: no register of bytes (ah is no
 * part of rsp) or of 16 bits, and none that the opcode itself names. Whether two operands are the same register stays,
 * for "xor eax, eax". No instruction of the list has rbx, rsi or rdi for itself. tests/unit/test_teams_rename compares
 * what is read so with what capstone reads.
 *
 * Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_TEAMS_RENAME_H
#define PYTHIA_TEAMS_RENAME_H

#include "teams/code.h"

enum { TEAMS_LONGEST_INSN = 16 };

/* The register that stands where a field names another one; TEAMS_NO_REGISTER: there is no such field. */
struct teams_names {
    uint8_t reg, base, index;
};

/* `code` with other registers into `common`, of as many bytes, and what they were. False: it stays as it is. */
bool teams_rename_away(const uint8_t code[TEAMS_LONGEST_INSN], uint8_t common[TEAMS_LONGEST_INSN],
                       struct teams_names *names);
/* What was read of `common`, with the registers of `code`. */
void teams_rename_back(struct teams_insn *insn, const struct teams_names *names);

#endif
