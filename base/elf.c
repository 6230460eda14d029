/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

static enum base_elf read_loader(int fd, char *loader, size_t size)
{
    ElfW(Ehdr) file;
    ElfW(Phdr) part;

    if (base_io_read_at(fd, &file, sizeof file, 0) != sizeof file || memcmp(file.e_ident, ELFMAG, SELFMAG))
        return BASE_ELF_NOT;
    if (file.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return BASE_ELF_FOREIGN;
    for (unsigned i = 0; i < file.e_phnum; i++) {
        if (base_io_read_at(fd, &part, sizeof part, (off_t)(file.e_phoff + i * sizeof part)) != sizeof part)
            return BASE_ELF_STATIC;
        if (part.p_type == PT_INTERP && part.p_filesz > 1 && part.p_filesz <= size &&
            base_io_read_at(fd, loader, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz)
            return loader[part.p_filesz - 1] == '\0' ? BASE_ELF_DYNAMIC : BASE_ELF_STATIC;
    }
    return BASE_ELF_STATIC;
}

enum base_elf base_elf_loader(const char *path, char *loader, size_t size)
{
    int fd = base_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0)
        return BASE_ELF_NOT;
    enum base_elf kind = read_loader(fd, loader, size);
    close(fd);
    return kind;
}
