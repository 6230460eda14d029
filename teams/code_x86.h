/* SPDX-License-Identifier: MIT */
/*
 * x86-64's instructions as capstone names them: code_x86.c makes steps of them, code_x86_names.c knows what each is.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_CODE_X86_H
#define PYTHIA_TEAMS_CODE_X86_H

#include "teams/machine.h"

enum teams_op teams_x86_op(const cs_insn *i);
/* Whether the result is 0, whatever the operands are: x ^ x. */
bool teams_x86_zeroes(const cs_insn *i, const cs_x86 *x);
/* Of vectors, on the lowest part of one alone. */
bool teams_x86_is_scalar(const cs_insn *i);
/* Instructions of the x87: capstone does not name what they do to its stack. */
bool teams_x86_is_old_floating(const cs_insn *i);
/* Whether it looks at flags, that of the direction of strings aside. */
bool teams_x86_tests_flags(const cs_insn *i, const cs_x86 *x);
/* Whether what is first an operand in memory is only read: capstone does not know all that are written. */
bool teams_x86_only_reads(const cs_insn *i);
/* Jumps, calls and returns of other kinds: loop, jrcxz, far ones. */
bool teams_x86_goes_elsewhere(const cs_insn *i);

#endif
