/* SPDX-License-Identifier: MIT */
/*
 * The module map: from an address in this process to (module, offset), which mean the same in every process and run.
 *
 * A module is a loaded ELF object, identified by its build-id. The offset is the ELF virtual address, that is the
 * address less the load bias (dlpi_addr): the same convention for PIE, shared objects and fixed executables, and the one
 * that libdw looks up. A module without a build-id gets the hash of its path and size, marked by a leading "x".
 *
 * Modules are numbered as first seen and never forgotten, so that what a plugin did can be named after its dlclose. An
 * address that no known module holds makes the map look at the loader's list again (dlopen), under a lock.
 * Threads: any.  Hook-safe: no (a miss calls the loader), but a hit takes no lock.
 */
#ifndef PYTHIA_BASE_MODULES_H
#define PYTHIA_BASE_MODULES_H

#include <stdint.h>

enum { BASE_MODULE_NONE = 0xffffffff };

struct base_module {
    char path[4096];   /* absolute where the loader knows it; the executable's real path */
    char build_id[72]; /* hexadecimal */
    uint64_t bias;
};

/* The module that holds `address`, BASE_MODULE_NONE when none does (then *offset is the address). */
uint32_t base_modules_find(const void *address, uint64_t *offset);
/* A copy of module `module`; 0, or PYTHIA_EINVAL. */
int base_modules_get(uint32_t module, struct base_module *out);
/* The executable; 0, or PYTHIA_EIO. */
int base_modules_program(struct base_module *out);

#endif
