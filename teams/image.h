/* SPDX-License-Identifier: MIT */
/*
 * The code of this process as it is loaded: which bytes may be read as code, and what a call by way of a table leads
 * to.
 *
 *   call f ──> stub (PLT) ── jmp *slot ──> relocation of the slot ──> the name "f"; without one: the address in the
 * slot
 *
 * A name is what the program's source says, so it is judged before the code that it leads to, whoever defines it.
 *
 * Threads: one; nothing may be unloaded meanwhile that it looks at.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_IMAGE_H
#define PYTHIA_TEAMS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded module, as dl_iterate_phdr shows it. */
struct teams_module {
    uintptr_t base;                            /* load bias */
    uintptr_t begin, end;                      /* of the executable segment that was looked for */
    uintptr_t data, data_end;                  /* what may be written … */
    uintptr_t relro, relro_end;                /* … but for what the loader makes unchangeable */
    const void *symbols, *relocations, *jumps; /* ELF tables; NULL: none */
    const char *strings, *path;
    uint64_t relocation_count, jump_count;
    bool library; /* of the system's runtime: C, mathematics, loader, compilers, OpenMP, MPI: judged by names alone */
};

/* The module whose code an address is. False: none. */
bool teams_image_find(uintptr_t address, struct teams_module *m);
/* Whether nobody can write what the module has at an address. */
bool teams_image_is_constant(const struct teams_module *m, uintptr_t address);
/* Whether so many bytes are there, and nobody can write them. */
bool teams_image_keeps(uintptr_t address, size_t bytes);
/* Name of the symbol that the loader stores in a slot of the module, where nobody else does: one of its table of
   functions that are called, or one that can be read only once that is done (RELRO). NULL: none. */
const char *teams_image_slot(const struct teams_module *m, uintptr_t slot);
/* The code that a name means for the program, 0: not known. */
uintptr_t teams_image_named(const char *name);

#endif
