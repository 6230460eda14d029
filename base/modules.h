/* SPDX-License-Identifier: MIT */
/*
 * From an address to (module, offset): what a callsite is stored as, so that it is the same under address space
 * randomisation, on every rank and in the next run.
 *
 * A module is the program or a shared library. The offset is the address less the module's load bias (dlpi_addr), that
 * is the ELF virtual address, as in `nm` and DWARF, for PIE and non-PIE alike.
 *
 *   loaded now, sorted by address (replaced as a whole)         every module ever seen (never moves)
 *   | 0x400000 … | 0x7f12… libm | 0x7f34… libc |       ->       0 program | 1 libm | 2 libc | 3 plugin, unloaded
 *
 * 1. module 0 is the program
 * 2. a number stays valid when its module is unloaded; loaded again, the same file has the same number
 * 3. the table of ranges is immutable once published; readers take no lock of ours
 *
 * A code object of Python is a module, too (base/python.h), whose offsets are lines: its addresses are none of the
 * processor's, have a bit set that no code's has, and hold both.
 *
 * The loader's counts of loads and unloads tell, at each look-up, whether the ranges are still right (50 ns, once
 * for a list): an address that was another library's before is not taken for it.
 * Threads: any.  Hook-safe: no (a new module costs malloc and a lock): look up what is seen for the first time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BASE_MODULE_NONE 0xffffffffu
enum { BASE_MODULE_ID = 160 };

struct base_module {
    const char *path;  /* absolute where the loader knows it; static lifetime */
    char build_id[BASE_MODULE_ID]; /* hexadecimal. A module without one has "x" and the XXH128 of its path and size
                                      instead; of a script's code what base_modules_script() was given */
    bool script;
};

/* Where an address lies; BASE_MODULE_NONE: in code of no module (made at run time), then the offset is the address, or
   out of memory, then it is 0. */
struct base_place { uint32_t module; uint64_t offset; };
void base_modules_places(void *const *addresses, uint32_t count, struct base_place *places);
/* The same of one: its module, with the offset in *offset. */
uint32_t base_modules_find(const void *address, uint64_t *offset);
/* An address that stands for a line of a script's code, one of that path and id; NULL: too many modules, or out of
   memory. */
void *base_modules_script(const char *path, const char *id, uint32_t line);
/* How many libraries were unloaded so far. Hook-safe: yes. */
uint64_t base_modules_unloaded(void);
/* Copies module `module`. Returns 0, or PYTHIA_EINVAL when there is none of this number. */
int base_modules_get(uint32_t module, struct base_module *m);
/* How many libraries were loaded so far, and how much code of scripts was met: rises with each. */
uint64_t base_modules_loaded(void);
/* What is loaded now: addresses from begin to end, of which bias is to be subtracted; path and build-id as in struct
   base_module, but "" for none, and no link is followed. Nothing where there is no memory. */
void base_modules_each(void (*tell)(void *context, uintptr_t begin, uintptr_t end, uint64_t bias, const char *build_id,
                                    const char *path), void *context);
/* The program itself. Returns 0 or PYTHIA_ENOMEM. */
int base_modules_program(struct base_module *m);
