/* SPDX-License-Identifier: MIT */
/* Reading an executable with libelf; see binary.h. */
#include "tools/binary.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/hex.h"

/* --- Symbols --- */

/* Whether a table of this type, SHT_SYMTAB or SHT_DYNSYM, defines it; sets *there where there is one. */
static bool defines(Elf *elf, GElf_Word type, const char *wanted, bool *there)
{
    GElf_Shdr header;
    GElf_Sym symbol;

    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        if (!gelf_getshdr(section, &header) || header.sh_type != type || !header.sh_entsize)
            continue;
        *there = true;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
            const char *name = symbol.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name && !strcmp(name, wanted))
                return true;
        }
    }
    return false;
}

static bool is_own(Elf *elf, struct binary *b, const char *function)
{
    bool any;

    return defines(elf, SHT_SYMTAB, function, &b->symbols) || defines(elf, SHT_DYNSYM, function, &any);
}

/* The names of base/libc.def that the file offers, as many as fit. */
static void read_taken(Elf *elf, struct binary *b)
{
#define LIBC(name) #name,
    static const char *const names[] = {
#include "base/libc.def"
    };
#undef LIBC
    size_t used = 0;
    bool any;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (used + strlen(names[i]) + 3 < sizeof b->taken && defines(elf, SHT_DYNSYM, names[i], &any))
            used += (size_t)snprintf(b->taken + used, sizeof b->taken - used, "%s%s", used ? ", " : "", names[i]);
}

/* --- Sections --- */

static bool has_section(Elf *elf, const char *wanted)
{
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && !strcmp(name, wanted))
            return true;
    }
    return false;
}

/* Where distributions put what they strip off. */
static bool has_debug_file(const char *build_id)
{
    char path[256];

    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id[0] ? build_id + 2 : "");
    return build_id[0] && access(path, R_OK) == 0;
}

static void read_build_id(Elf *elf, struct binary *b)
{
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

    if (n > 0 && 2 * (size_t)n < sizeof b->build_id)
        base_hex(b->build_id, id, (size_t)n);
}

/* --- The file --- */

static bool is_foreign(const GElf_Ehdr *header)
{
#if defined(__x86_64__)
    const int machine = EM_X86_64;
#elif defined(__aarch64__)
    const int machine = EM_AARCH64;
#else
    const int machine = header->e_machine;
#endif
    return header->e_machine != machine ||
           header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

static void read_elf(Elf *elf, struct binary *b)
{
    GElf_Ehdr header;

    b->elf = elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header);
    if (!b->elf)
        return;
    b->foreign = is_foreign(&header);
    read_build_id(elf, b);
    b->own_mpi = is_own(elf, b, "PMPI_Init");
    b->own_wrapper = !b->own_mpi && (is_own(elf, b, "MPI_Init") || is_own(elf, b, "MPI_Init_thread"));
    b->own_gomp = is_own(elf, b, "GOMP_parallel");
    read_taken(elf, b);
    b->own_libomp = is_own(elf, b, "__kmpc_fork_call");
    b->lines = has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info") || has_debug_file(b->build_id);
}

static Elf *open_elf(const char *path, int *fd)
{
    elf_version(EV_CURRENT);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ_MMAP, NULL);
}

static void close_elf(Elf *elf, int fd)
{
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

int binary_read(const char *path, struct binary *b)
{
    int fd;
    Elf *elf = open_elf(path, &fd);

    memset(b, 0, sizeof *b);
    if (elf)
        read_elf(elf, b);
    b->dynamic = base_elf_loader(path, b->loader, sizeof b->loader) == BASE_ELF_DYNAMIC;
    close_elf(elf, fd);
    return fd < 0 ? -1 : 0;
}

bool binary_offers(const char *path, const char *symbol)
{
    int fd;
    bool any;
    Elf *elf = open_elf(path, &fd);
    bool found = elf && defines(elf, SHT_DYNSYM, symbol, &any);

    close_elf(elf, fd);
    return found;
}
