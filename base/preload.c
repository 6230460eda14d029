/* SPDX-License-Identifier: MIT */
#include "base/preload.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum { NAME = 64, ENTRIES = 4096 /* more than any program has: a damaged file ends */ };

static bool is_runtime(const char *name)
{
    static const char *const runtimes[] = {"libasan.so", "liblsan.so", "libtsan.so", "libhwasan.so", "libclang_rt."};
    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
        if (!strncmp(name, runtimes[i], strlen(runtimes[i])))
            return true;
    return false;
}

struct image {
    int fd;
    ElfW(Ehdr) file;
};

static bool part_at(const struct image *m, unsigned i, ElfW(Phdr) *part)
{
    return i < m->file.e_phnum && base_io_read_at(m->fd, part, sizeof *part,
                                                  (off_t)(m->file.e_phoff + i * sizeof *part)) == sizeof *part;
}

/* Where in the file the byte of this address is; -1: nowhere. */
static off_t preload_place_of(const struct image *m, ElfW(Addr) address)
{
    ElfW(Phdr) part;
    for (unsigned i = 0; part_at(m, i, &part); i++)
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
            return (off_t)(part.p_offset + (address - part.p_vaddr));
    return -1;
}

static bool entry_at(const struct image *m, const ElfW(Phdr) *dynamic, size_t i, ElfW(Dyn) *entry)
{
    return i < ENTRIES && (i + 1) * sizeof *entry <= dynamic->p_filesz &&
           base_io_read_at(m->fd, entry, sizeof *entry, (off_t)(dynamic->p_offset + i * sizeof *entry)) ==
               sizeof *entry && entry->d_tag != DT_NULL;
}

static void add_needed(const struct image *m, off_t strings, const ElfW(Dyn) *needed, char first[BASE_PRELOAD_FIRST])
{
    char name[NAME];
    ssize_t n = base_io_read_at(m->fd, name, sizeof name, strings + (off_t)needed->d_un.d_val);
    size_t used = strlen(first);
    if (n > 0 && memchr(name, '\0', (size_t)n) && is_runtime(name) && used + strlen(name) + 2 < BASE_PRELOAD_FIRST)
        snprintf(first + used, BASE_PRELOAD_FIRST - used, "%s:", name);
}

static void read_needed(const struct image *m, char first[BASE_PRELOAD_FIRST])
{
    ElfW(Phdr) dynamic;
    ElfW(Dyn) entry;
    off_t strings = -1;
    unsigned at = 0;
    while (part_at(m, at, &dynamic) && dynamic.p_type != PT_DYNAMIC)
        at++;
    if (!part_at(m, at, &dynamic))
        return;
    for (size_t i = 0; strings < 0 && entry_at(m, &dynamic, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            strings = preload_place_of(m, entry.d_un.d_ptr);
    for (size_t i = 0; strings >= 0 && entry_at(m, &dynamic, i, &entry); i++)
        if (entry.d_tag == DT_NEEDED)
            add_needed(m, strings, &entry, first);
    if (first[0])
        strcat(first, ":");
}

void base_preload_first(const char *path, char first[BASE_PRELOAD_FIRST])
{
    struct image m = {.fd = base_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)};
    first[0] = '\0';
    if (m.fd < 0)
        return;
    if (base_io_read_at(m.fd, &m.file, sizeof m.file, 0) == sizeof m.file &&
        !memcmp(m.file.e_ident, ELFMAG, SELFMAG) &&
        m.file.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        read_needed(&m, first);
    close(m.fd);
}

void base_preload_cut(char *list)
{
    char *mark = strstr(list, "::");
    if (mark)
        memmove(list, mark + 2, strlen(mark + 2) + 1);
}

const char *base_preload_ours(const char *list, size_t *length)
{
    for (const char *at = list; *at; at += *length, at += *at != '\0') {
        *length = strcspn(at, ": ");
        const char *slash = memrchr(at, '/', *length), *name = slash ? slash + 1 : at;
        if (!strncmp(name, "libpythia_", 10))
            return at;
    }
    return NULL;
}
