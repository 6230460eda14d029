/* SPDX-License-Identifier: MIT */
/* Reading an executable; see binary.h. */
#include "tools/binary.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"

/* --- Symbols --- */

/* Whether a table of this type, SHT_SYMTAB or SHT_DYNSYM, defines it; sets *there where there is one. */
static bool defines(const struct base_elf_file *f, unsigned type, const char *wanted, bool *there)
{
    for (size_t i = 0; i < f->sections; i++) {
        const ElfW(Shdr) *table = f->section + i;
        size_t count;
        const ElfW(Sym) *symbol = table->sh_type == type ? base_elf_symbols(f, table, &count) : NULL;

        *there |= symbol != NULL;
        for (size_t k = 0; symbol && k < count; k++) {
            const char *name = symbol[k].st_shndx == SHN_UNDEF ? NULL : base_elf_name(f, table, symbol + k);
            if (name && !strcmp(name, wanted))
                return true;
        }
    }
    return false;
}

static bool is_own(const struct base_elf_file *f, struct binary *b, const char *function)
{
    bool any = false;

    return defines(f, SHT_SYMTAB, function, &b->symbols) || defines(f, SHT_DYNSYM, function, &any);
}

/* The names of base/libc.def that the file offers, as many as fit. */
static void read_taken(const struct base_elf_file *f, struct binary *b)
{
#define LIBC(name) #name,
    static const char *const names[] = {
#include "base/libc.def"
    };
#undef LIBC
    size_t used = 0;
    bool any = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (used + strlen(names[i]) + 3 < sizeof b->taken && defines(f, SHT_DYNSYM, names[i], &any))
            used += (size_t)snprintf(b->taken + used, sizeof b->taken - used, "%s%s", used ? ", " : "", names[i]);
}

/* --- Sections --- */

static bool has_section(const struct base_elf_file *f, const char *wanted)
{
    for (size_t i = 0; i < f->sections; i++) {
        const char *name = base_elf_section(f, f->section + i);
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

/* --- The file --- */

static bool is_foreign(const struct base_elf_file *f)
{
    const ElfW(Ehdr) *header = (const void *)f->bytes;
#if defined(__x86_64__)
    return header->e_machine != EM_X86_64;
#elif defined(__aarch64__)
    return header->e_machine != EM_AARCH64;
#else
    return header->e_machine == EM_NONE;
#endif
}

static void read_elf(const struct base_elf_file *f, struct binary *b)
{
    b->foreign = is_foreign(f);
    base_elf_file_id(f, b->build_id);
    b->own_mpi = is_own(f, b, "PMPI_Init");
    b->own_wrapper = !b->own_mpi && (is_own(f, b, "MPI_Init") || is_own(f, b, "MPI_Init_thread"));
    b->own_gomp = is_own(f, b, "GOMP_parallel");
    read_taken(f, b);
    b->own_libomp = is_own(f, b, "__kmpc_fork_call");
    b->lines = has_section(f, ".debug_info") || has_section(f, ".zdebug_info") || has_debug_file(b->build_id);
}

int binary_read(const char *path, struct binary *b)
{
    struct base_elf_file f;

    memset(b, 0, sizeof *b);
    enum base_elf kind = base_elf_loader(path, b->loader, sizeof b->loader);
    b->dynamic = kind == BASE_ELF_DYNAMIC;
    b->elf = kind != BASE_ELF_NOT;
    b->foreign = kind == BASE_ELF_FOREIGN;
    if (b->elf && base_elf_map(&f, path) == 0) {
        read_elf(&f, b);
        base_elf_unmap(&f);
    }
    return access(path, R_OK);
}

bool binary_offers(const char *path, const char *symbol)
{
    struct base_elf_file f;
    bool any = false, found = base_elf_map(&f, path) == 0 && defines(&f, SHT_DYNSYM, symbol, &any);

    base_elf_unmap(&f);
    return found;
}
