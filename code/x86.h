/* SPDX-License-Identifier: MIT */
/* What the two readers of x86-64's code share: x86.c and, for AVX-512, evex.c. */
#pragma once

#include <stddef.h>

#include "code/insn.h"

enum { CODE_X86_STACK = 4, CODE_X86_FLOATING = 16 /* x87 and MMX, as one */, CODE_X86_MASKS = 17 };
enum { CODE_X86_EVEX = 0x62 }; /* the first byte, in 64-bit mode of nothing else */

/* Reads the instruction of `left` bytes at most that is at an address and begins with that byte. False: none. */
bool code_evex_read(const uint8_t *code, size_t left, uintptr_t address, struct code_insn *insn);
