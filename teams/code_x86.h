/* SPDX-License-Identifier: MIT */
/* What the two readers of x86-64's code share: code_x86.c and, for AVX-512, code_evex.c. */
#ifndef PYTHIA_TEAMS_CODE_X86_H
#define PYTHIA_TEAMS_CODE_X86_H

#include <stddef.h>

#include "teams/code.h"

enum { TEAMS_X86_STACK = 4, TEAMS_X86_FLOATING = 16 /* x87 and MMX, as one */, TEAMS_X86_MASKS = 17 };
enum { TEAMS_X86_EVEX = 0x62 }; /* the first byte, in 64-bit mode of nothing else */

/* Reads the instruction of `left` bytes at most that is at an address and begins with that byte. False: none. */
bool teams_evex_decode(const uint8_t *code, size_t left, uintptr_t address, struct teams_insn *insn);

#endif
