/* SPDX-License-Identifier: MIT */
/*
 * The code of a module as its file has it: bytes, where functions begin and end, which imported function a call means.
 *
 *   .eh_frame_hdr   functions by address, in order   ──>  .eh_frame   how long each is     (a stripped file has both)
 *   call f          ──> stub: jmp *slot  ──> relocation of the slot ──> "f"
 *
 * Part of a function: gcc puts what it takes for seldom apart ("f.cold"). Its entry in .eh_frame begins with a stack
 * that is in use already.
 *
 * The file is mapped, as libdw does, and not trusted: what is beyond its end, or out of order, is not there. Addresses
 * are ELF's.
 * Threads: one an image.  Hook-safe: no.
 */
#ifndef PYTHIA_LOOPS_IMAGE_H
#define PYTHIA_LOOPS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loops_image;
struct loops_range { uint64_t begin, end; bool part; };

/* NULL: no such file, none of this kind, or another build-id (hexadecimal) than this one. */
struct loops_image *loops_image_open(const char *path, const char *build_id);
void loops_image_close(struct loops_image *m); /* NULL is legal */
uint16_t loops_image_machine(const struct loops_image *m);
/* So many bytes, the image's; NULL: not all of it is in the file. */
const uint8_t *loops_image_at(const struct loops_image *m, uint64_t address, uint64_t size);
/* The function, or part of one, that holds an address. */
bool loops_image_range(const struct loops_image *m, uint64_t address, struct loops_range *r);
/* The name that a slot is filled with, or that of the slot to which a stub jumps, the image's; NULL: none. */
const char *loops_image_slot(const struct loops_image *m, uint64_t slot);
const char *loops_image_stub(const struct loops_image *m, uint64_t stub);

#endif
