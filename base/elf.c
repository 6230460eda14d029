/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
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
        char last = 1;
        if (part.p_type == PT_INTERP && part.p_filesz > 1 && (!loader || part.p_filesz <= size) &&
            base_io_read_at(fd, &last, 1, (off_t)(part.p_offset + part.p_filesz - 1)) == 1 &&
            (!loader || base_io_read_at(fd, loader, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz))
            return last == '\0' ? BASE_ELF_DYNAMIC : BASE_ELF_STATIC;
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

/* --- Sections and symbols --- */

static bool has(const struct base_elf_file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset;
}

static bool find_sections(struct base_elf_file *f)
{
    const ElfW(Ehdr) *file = (const void *)f->bytes;
    if (!has(f, 0, sizeof *file) || memcmp(file->e_ident, ELFMAG, SELFMAG) ||
        file->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    if (!file->e_shoff) /* cut off, as some do */
        return true;
    if (file->e_shoff % sizeof(void *) ||
        file->e_shentsize != sizeof(ElfW(Shdr)) || !has(f, file->e_shoff, sizeof(ElfW(Shdr))))
        return false;
    f->section = (const void *)(f->bytes + file->e_shoff);
    f->sections = file->e_shnum ? file->e_shnum : f->section->sh_size; /* so many that the header has no room */
    return f->sections <= (f->size - file->e_shoff) / sizeof(ElfW(Shdr));
}

int base_elf_map(struct base_elf_file *f, const char *path)
{
    struct stat st;
    int fd = base_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    *f = (struct base_elf_file){ .bytes = NULL };
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        f->bytes = bytes == MAP_FAILED ? NULL : bytes;
        f->size = (size_t)st.st_size;
    }
    close(fd);
    if (f->bytes && find_sections(f))
        return 0;
    base_elf_unmap(f);
    return -1;
}

void base_elf_unmap(struct base_elf_file *f)
{
    if (f->bytes)
        munmap((void *)(uintptr_t)f->bytes, f->size);
    *f = (struct base_elf_file){ .bytes = NULL };
}

const unsigned char *base_elf_bytes(const struct base_elf_file *f, uint64_t offset, uint64_t size)
{
    return has(f, offset, size) ? f->bytes + offset : NULL;
}

const void *base_elf_content(const struct base_elf_file *f, const ElfW(Shdr) *s)
{
    return s->sh_type != SHT_NOBITS ? base_elf_bytes(f, s->sh_offset, s->sh_size) : NULL;
}

const ElfW(Sym) *base_elf_symbols(const struct base_elf_file *f, const ElfW(Shdr) *s, size_t *count)
{
    bool table = (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM) && s->sh_entsize == sizeof(ElfW(Sym)) &&
                 s->sh_offset % sizeof(void *) == 0;
    *count = table ? s->sh_size / sizeof(ElfW(Sym)) : 0;
    return table ? base_elf_content(f, s) : NULL;
}

/* In the section of strings of that number. */
static const char *text_at(const struct base_elf_file *f, size_t section, size_t at)
{
    const ElfW(Shdr) *s = section < f->sections ? f->section + section : NULL;
    if (!s || s->sh_type != SHT_STRTAB || !has(f, s->sh_offset, s->sh_size) || at >= s->sh_size)
        return NULL;
    const char *name = (const char *)f->bytes + s->sh_offset + at;
    return memchr(name, 0, s->sh_size - at) ? name : NULL;
}

const char *base_elf_name(const struct base_elf_file *f, const ElfW(Shdr) *table, const ElfW(Sym) *symbol)
{
    return text_at(f, table->sh_link, symbol->st_name);
}

const char *base_elf_section(const struct base_elf_file *f, const ElfW(Shdr) *s)
{
    const ElfW(Ehdr) *file = (const void *)f->bytes;
    return text_at(f, file->e_shstrndx == SHN_XINDEX ? f->section->sh_link : file->e_shstrndx, s->sh_name);
}

bool base_elf_segment(const struct base_elf_file *f, unsigned i, ElfW(Phdr) *p)
{
    const ElfW(Ehdr) *file = (const void *)f->bytes;
    const void *at = i < file->e_phnum && file->e_phentsize == sizeof *p
                         ? base_elf_bytes(f, file->e_phoff + i * sizeof *p, sizeof *p) : NULL;
    if (at)
        memcpy(p, at, sizeof *p);
    return at;
}

/* --- Build-ids --- */

static bool find_build_id(const unsigned char *notes, size_t size, size_t align, char *text)
{
    enum { MOST = BASE_ELF_ID / 2 };
    size_t at = 0;
    while (size - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) n;
        memcpy(&n, notes + at, sizeof n);
        size_t name = at + sizeof n, content = at + ((sizeof n + (size_t)n.n_namesz + align - 1) & -align);
        size_t next = at + ((content - at + (size_t)n.n_descsz + align - 1) & -align);
        if (content > size || n.n_descsz > size - content)
            return false;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) && n.n_descsz) {
            base_hex(text, notes + content, n.n_descsz < MOST ? n.n_descsz : MOST);
            return true;
        }
        if (next >= size)
            return false;
        at = next;
    }
    return false;
}

void base_elf_build_id(const unsigned char *notes, size_t size, size_t align, char text[BASE_ELF_ID])
{
    if (!find_build_id(notes, size, align == 8 ? 8 : 4, text))
        find_build_id(notes, size, 4, text); /* mold has all notes in one segment */
}

void base_elf_file_id(const struct base_elf_file *f, char text[BASE_ELF_ID])
{
    ElfW(Phdr) p;
    for (unsigned i = 0; base_elf_segment(f, i, &p); i++) {
        const unsigned char *notes = p.p_type == PT_NOTE ? base_elf_bytes(f, p.p_offset, p.p_filesz) : NULL;
        if (notes)
            base_elf_build_id(notes, p.p_filesz, p.p_align, text);
    }
}
