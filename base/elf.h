/* SPDX-License-Identifier: MIT */
/* What the file of a program says of how it is started. Threads: any.  Hook-safe: system calls, no malloc. */
#ifndef PYTHIA_BASE_ELF_H
#define PYTHIA_BASE_ELF_H

#include <stddef.h>

enum base_elf { BASE_ELF_NOT /* a script, or not to be read */, BASE_ELF_FOREIGN /* of another word size */,
                BASE_ELF_STATIC /* it names no loader */, BASE_ELF_DYNAMIC };

/* The path of the dynamic loader that it names goes to loader[size]. */
enum base_elf base_elf_loader(const char *path, char *loader, size_t size);

#endif
