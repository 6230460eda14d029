/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64 that differ from one read before in their displacement and their immediate only; registers
 * have been made alike before (rename.h).
 *
 *   f2 0f 10 84 c8 | 40 01 00 00 |            prefixes, opcode, ModRM, SIB: the head decides on everything else, on
 *   head             displacement  immediate  the length, too, so that no head is the beginning of another one
 *
 * A head is kept only where both values were found in the instruction as its bytes say; where an immediate decides on
 * more than a value, it is a part of the head.
 *
 * Memory: a fixed table; a head takes the place of another one. Threads: one a decoder.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_TEMPLATE_H
#define PYTHIA_TEAMS_TEMPLATE_H

#include "teams/code.h"

struct teams_templates;
/* NULL: no memory. The functions below allow that: nothing is kept then. */
struct teams_templates *teams_templates_create(void);
void teams_templates_destroy(struct teams_templates *t);
/* Reads the instruction at `code` if its head is known. */
bool teams_templates_find(const struct teams_templates *t, const uint8_t *code, uint64_t size, uintptr_t address,
                          struct teams_insn *insn);
/* Keeps one that was decoded; its last bytes are a displacement and an immediate, of 0 to 8. */
void teams_templates_keep(struct teams_templates *t, const uint8_t *code, unsigned displacement, unsigned immediate,
                          const struct teams_insn *insn);

#endif
