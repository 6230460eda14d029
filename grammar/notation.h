/* SPDX-License-Identifier: MIT */
/*
 * A grammar in the notation of the paper, a rule a line, R first: "R -> A B^2 A".
 *
 * Non-terminals are R, then A, B, … Z without R, then AA, AB, …; terminals are what `name(terminal)` gives, quoted with
 * '…' where they could be read as a rule's name (letters in upper case only) or contain blanks, quotes or ^.
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "grammar/flat.h"

typedef const char *(*grammar_name_fn)(void *context, uint32_t terminal);

/* Writes the name of rule `rule` into name[16]. */
void grammar_rule_name(uint32_t rule, char name[16]);
/* Prints all rules. Returns 0 or PYTHIA_EIO. */
int grammar_print(const struct grammar_flat *g, grammar_name_fn name, void *context, FILE *out);
