/* SPDX-License-Identifier: MIT */
/*
 * What the file of a program says of how it is started, and its symbols: in the program, where libelf has no place (its
 * calls of mmap and close would be the program's own, see libc_wrap.c).
 *
 * Threads: any.  Hook-safe: system calls, no malloc.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum base_elf { BASE_ELF_NOT /* a script, or not to be read */, BASE_ELF_FOREIGN /* of another word size */,
                BASE_ELF_STATIC /* it names no loader */, BASE_ELF_DYNAMIC };

/* The path of the dynamic loader that it names goes to loader[size]; NULL: it is not asked for. */
enum base_elf base_elf_loader(const char *path, char *loader, size_t size);

/* A file of this machine's kind, mapped. Nothing in it is believed: what lies outside of the file is NULL. */
struct base_elf_file {
    const unsigned char *bytes;
    size_t size, sections;
    const ElfW(Shdr) *section;
};

/* 0, or -1: it is not there, or not such a file; then there is nothing to unmap, though that does no harm. */
int base_elf_map(struct base_elf_file *f, const char *path);
void base_elf_unmap(struct base_elf_file *f);
/* A program header. False: there are no more. */
bool base_elf_segment(const struct base_elf_file *f, unsigned i, ElfW(Phdr) *p);
/* So many bytes of it. */
const unsigned char *base_elf_bytes(const struct base_elf_file *f, uint64_t offset, uint64_t size);
const void *base_elf_content(const struct base_elf_file *f, const ElfW(Shdr) *s);
/* A section's symbols; NULL: it has none, or no table of them. */
const ElfW(Sym) *base_elf_symbols(const struct base_elf_file *f, const ElfW(Shdr) *s, size_t *count);
/* The name of a section, and that of a symbol. */
const char *base_elf_section(const struct base_elf_file *f, const ElfW(Shdr) *s);
const char *base_elf_name(const struct base_elf_file *f, const ElfW(Shdr) *table, const ElfW(Sym) *symbol);

/* The build-id of a file, and that in a segment of notes, which is aligned so: as hexadecimal; nothing is written where
   there is none. */
enum { BASE_ELF_ID = 65 };
void base_elf_file_id(const struct base_elf_file *f, char text[BASE_ELF_ID]);
void base_elf_build_id(const unsigned char *notes, size_t size, size_t align, char text[BASE_ELF_ID]);
