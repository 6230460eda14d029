/* SPDX-License-Identifier: MIT */
/*
 * Programs in which hooks cannot see parallel regions: said in one line, once a job.
 *
 *   libgomp linked before Pythia     told when the library is loaded: calls are bound to libgomp
 *   libgomp linked into the program  told when it ends and no hook was ever called: its calls are bound to its own
 *
 * The second is looked for in the program's file: it defines GOMP_parallel; or it is stripped, calls no GOMP_parallel
 * of others, and holds the name of a variable that only libgomp asks for.
 * Not seen: libgomp inside of a library (RTLD_DEEPBIND, or linked into that). LLVM's libomp has its own interface
 * (ompt.c).
 *
 * Threads: none (loader).  Hook-safe: no.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/rights.h"
#include "libgomp/real.h"
#include "omp/hooks.h"
#include "session/tree.h"

struct signs { bool defines, calls, names; };

static void look_at_symbols(Elf *elf, const GElf_Shdr *header, Elf_Data *data, struct signs *s)
{
    for (size_t i = 0; header->sh_entsize && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (!name || strncmp(name, "GOMP_parallel", 13) != 0 || (name[13] && name[13] != '@'))
            continue;
        s->defines |= symbol.st_shndx != SHN_UNDEF;
        s->calls |= symbol.st_shndx == SHN_UNDEF;
    }
}

static struct signs look(Elf *elf)
{
    static const char variable[] = "GOMP_SPINCOUNT";
    struct signs s = { false, false, false };
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        Elf_Data *data = gelf_getshdr(section, &header) ? elf_getdata(section, NULL) : NULL;
        if (!data || !data->d_buf)
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            look_at_symbols(elf, &header, data, &s);
        else if (header.sh_type == SHT_PROGBITS &&
                 (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) == SHF_ALLOC)
            s.names |= memmem(data->d_buf, data->d_size, variable, sizeof variable) != NULL;
    }
    return s;
}

/* Whether the ELF file has a libgomp of its own. False for what cannot be read. */
static bool is_static(const char *path)
{
    int file = base_io_open(path, O_RDONLY, 0);
    Elf *elf = file >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file, ELF_C_READ_MMAP, NULL) : NULL;
    struct signs s = elf ? look(elf) : (struct signs){ false, false, false };
    elf_end(elf);
    if (file >= 0)
        close(file);
    return s.defines || (s.names && !s.calls);
}

/* --- When --- */

static pid_t process; /* in which the library was loaded: its children say nothing */

static bool speaks(void)
{
    const char *mode = getenv("PYTHIA_MODE");
    return !base_rights_raised() && !(mode && strcmp(mode, "off") == 0) && base_log_is_first_rank();
}

/* Whether calls of the program reach these hooks: not where libgomp was linked before the hook library. */
static bool reached(void)
{
    void *visible = dlsym(RTLD_DEFAULT, "GOMP_parallel");
    return !visible || visible == omp_hook_own_parallel();
}

static __attribute__((constructor)) void detect_load(void)
{
    process = getpid();
    if (reached() || !speaks())
        return;
    session_tree_said();
    base_log_warn(
        "libgomp comes before Pythia in this program: its regions are not seen; preload Pythia's library, or link "
        "it before -lgomp");
}

static __attribute__((destructor)) void detect_unload(void)
{
    bool called = atomic_load(&libgomp_real_ready);
    if (called || getpid() != process || !speaks() || !is_static("/proc/self/exe"))
        return;
    session_tree_said();
    base_log_warn(
        "libgomp is linked into this program: its parallel regions cannot be seen; link it dynamically (without "
        "-static-libgcc or libgomp.a)");
}
