/* SPDX-License-Identifier: MIT */
/*
 * The code of a module, of one that is loaded or as its file has it: bytes, which imported function a call means, where
 * functions begin and end.
 *
 *   call f          ──> stub (PLT): jmp *slot ──> relocation of the slot ──> "f"
 *   .eh_frame_hdr   functions by address, in order   ──>  .eh_frame   how long each is     (a stripped file has both)
 *
 * 1. addresses are those at which the module runs; of a file, which runs nowhere, ELF's
 * 2. nothing that a module says is believed: what lies outside of its parts, or out of order, is not there
 * 3. a name is what the program's source says, so it is judged before the code that it leads to, whoever defines it
 *
 * Part of a function: gcc puts what it takes for seldom apart ("f.cold"). Its entry in .eh_frame begins with a stack
 * that is in use already.
 *
 * Threads: one; nothing may be unloaded meanwhile that it looks at.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf.h"

enum { CODE_PARTS = 16 };

struct code_image {
    struct base_elf_file file; /* of one that is not loaded */
    const char *path;
    uint64_t base;             /* what was added to ELF's addresses */
    uint16_t machine;          /* ELF's e_machine */
    struct code_part { uint64_t begin, end; const uint8_t *bytes; } part[CODE_PARTS]; /* what can be read */
    uint32_t parts;
    uint64_t begin, end;       /* of a loaded one: the code that was looked for */
    uint64_t data, data_end;   /* what may be written … */
    uint64_t relro, relro_end; /* … but for what the loader makes unchangeable */
    uint64_t symbols, strings, relocations, jumps, unwind; /* tables; 0: none */
    uint64_t relocation_count, jump_count;
};

/* The module whose code an address is. False: none. */
bool code_image_find(uint64_t address, struct code_image *m);
/* A file. False: it is not there, none of this kind, or has another build-id (hexadecimal) than this one; then there
   is nothing to close, though that does no harm. */
bool code_image_open(struct code_image *m, const char *path, const char *build_id);
void code_image_close(struct code_image *m);

/* So many bytes, the module's; NULL: not all of them are there. */
const uint8_t *code_image_at(const struct code_image *m, uint64_t address, uint64_t size);
/* Name of the symbol that the loader stores in a slot, where nobody else does: one of its table of functions that are
   called, or one that can be read only once that is done (RELRO). The module's; NULL: none. */
const char *code_image_slot(const struct code_image *m, uint64_t slot);
/* The slot through which a stub jumps. False: that is no stub. */
bool code_image_stub(const struct code_image *m, uint64_t stub, uint64_t *slot);
/* The function, or part of one, that holds an address. */
struct code_range { uint64_t begin, end; bool part; };
bool code_image_range(const struct code_image *m, uint64_t address, struct code_range *r);

/* Whether nobody can write what the module has at an address. */
bool code_image_is_constant(const struct code_image *m, uint64_t address);
/* Whether so many bytes are there, of any loaded module, and nobody can write them. */
bool code_image_keeps(uint64_t address, size_t bytes);
/* The code that a call through that slot of a loaded module, whose name is `name`, leads to: what the loader has stored
   there; where that waits for the first call, what it will find. 0: not known. */
uint64_t code_image_target(const struct code_image *m, uint64_t slot, const char *name);
/* Whether the loader binds anything in it by a name that begins so, or its tables cannot be read. */
bool code_image_imports(const struct code_image *m, const char *begin);
