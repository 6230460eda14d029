/* SPDX-License-Identifier: MIT */
/*
 * What a call by name leads to, in a module that is loaded.
 *
 *   slot ──> what the loader stored there ──> the function
 *        └─> back into the module's stubs: it waits for its first call ──> the name, as the loader will look for it
 *
 * Threads: one; nothing may be unloaded meanwhile that it looks at.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_TARGET_H
#define PYTHIA_TEAMS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "code/image.h"

/* The code that a call through that slot of the module, whose name is `name`, leads to. 0: not known. */
uintptr_t teams_target_of(const struct code_image *m, uint64_t slot, const char *name);
/* Whether an address is in a library of BLAS' that does without OpenMP: what it computes may be done by threads of its
   own, but waits for no other share, and does not ask which one calls it. */
bool teams_target_computes(uintptr_t address);

#endif
