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
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/symbols.h"
#include "libgomp/real.h"
#include "omp/hooks.h"
#include "session/tree.h"

struct signs { bool defines, calls, names; };

static void look_at_symbols(const struct base_elf_file *f, const ElfW(Shdr) *table, struct signs *s)
{
    size_t count;
    const ElfW(Sym) *symbol = base_elf_symbols(f, table, &count);
    for (size_t i = 0; symbol && i < count; i++) {
        const char *name = base_elf_name(f, table, symbol + i);
        if (!name || strncmp(name, "GOMP_parallel", 13) != 0 || (name[13] && name[13] != '@'))
            continue;
        s->defines |= symbol[i].st_shndx != SHN_UNDEF;
        s->calls |= symbol[i].st_shndx == SHN_UNDEF;
    }
}

/* Whether a section of constants has the name of that variable. */
static bool names_variable(const struct base_elf_file *f, const ElfW(Shdr) *s)
{
    static const char variable[] = "GOMP_SPINCOUNT";
    const void *content = s->sh_type == SHT_PROGBITS &&
                          (s->sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) == SHF_ALLOC
                              ? base_elf_content(f, s) : NULL;
    return content && memmem(content, s->sh_size, variable, sizeof variable);
}

/* Whether the ELF file has a libgomp of its own. False for what cannot be read. */
static bool is_static(const char *path)
{
    struct base_elf_file f;
    struct signs s = { false, false, false };
    if (base_elf_map(&f, path) != 0)
        return false;
    for (size_t i = 0; i < f.sections; i++) {
        look_at_symbols(&f, f.section + i, &s);
        s.names = s.names || names_variable(&f, f.section + i);
    }
    base_elf_unmap(&f);
    return s.defines || (s.names && !s.calls);
}

/* --- When --- */

static pid_t process; /* in which the library was loaded: its children say nothing */

static bool speaks(void)
{
    const char *mode = getenv("PYTHIA_MODE");
    return !base_rights_raised() && !(mode && strcmp(mode, "off") == 0) && base_log_is_first_rank();
}

/* Whether calls of the program reach these hooks: not where a libgomp comes before them. The program's own is told at
   the end. */
static bool reached(void)
{
    void *first = base_symbols_first(_r_debug.r_map ? _r_debug.r_map->l_next : NULL, "GOMP_parallel");
    return !first || first == omp_hook_own_parallel();
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
    bool called = atomic_load(&libgomp_real_is) != LIBGOMP_REAL_UNKNOWN;
    if (called || getpid() != process || !speaks() || !is_static("/proc/self/exe"))
        return;
    session_tree_said();
    base_log_warn(
        "libgomp is linked into this program: its parallel regions cannot be seen; link it dynamically (without "
        "-static-libgcc or libgomp.a)");
}
