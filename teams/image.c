/* SPDX-License-Identifier: MIT */
#include "teams/image.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/name.h"

struct search {
    uintptr_t address;
    struct teams_module *m;
};

static bool is_library(const char *path)
{
    static const char *const names[] = { "libc.so",      "libm.so",        "libmvec.so",     "libpthread.so",
                                         "libdl.so",     "ld-linux",       "libgomp.so",     "libgcc_s.so",
                                         "libstdc++.so", "libgfortran.so", "libquadmath.so", "libmpi",
                                         "linux-vdso",   "libpythia",      "libomp.so",      "libiomp5.so" };
    return base_name_begins(path, names, sizeof names / sizeof *names);
}

/* glibc has relocated the pointers of its own copy, other loaders need not. */
static const void *pointer(const struct teams_module *m, uintptr_t value)
{
    return (const void *)(value && value < m->base ? m->base + value : value);
}

static uint64_t entry(const ElfW(Dyn) * d, int64_t tag)
{
    while (d->d_tag != DT_NULL && d->d_tag != tag)
        d++;
    return d->d_tag == tag ? d->d_un.d_val : 0;
}

static void read_dynamic(struct teams_module *m, const ElfW(Dyn) * d)
{
    m->symbols = pointer(m, entry(d, DT_SYMTAB));
    m->strings = pointer(m, entry(d, DT_STRTAB));
    m->relocations = pointer(m, entry(d, DT_RELA));
    m->jumps = pointer(m, entry(d, DT_JMPREL));
    m->relocation_count = m->relocations ? entry(d, DT_RELASZ) / sizeof(ElfW(Rela)) : 0;
    m->jump_count = m->jumps ? entry(d, DT_PLTRELSZ) / sizeof(ElfW(Rela)) : 0;
}

static int image_look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *s = data;
    struct teams_module m = { .base = info->dlpi_addr, .path = info->dlpi_name };
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)begin;
        if (p->p_type == PT_GNU_RELRO) {
            m.relro = begin;
            m.relro_end = begin + p->p_memsz;
        }
        if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
            m.data = m.data ? m.data : begin;
            m.data_end = begin + p->p_memsz;
        }
        if (p->p_type == PT_LOAD && (p->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) && s->address - begin < p->p_filesz) {
            m.begin = begin;
            m.end = begin + p->p_filesz;
        }
    }
    if (!m.end)
        return 0;
    if (dynamic)
        read_dynamic(&m, dynamic);
    m.library = is_library(m.path);
    *s->m = m;
    return 1;
}

bool teams_image_find(uintptr_t address, struct teams_module *m)
{
    struct search s = { address, m };
    return dl_iterate_phdr(image_look, &s) == 1;
}

bool teams_image_is_constant(const struct teams_module *m, uintptr_t address)
{
    bool data = address >= m->data && address < m->data_end, relro = address >= m->relro && address < m->relro_end;
    return !data || relro;
}

struct kept { uintptr_t from, to; };

static int look_at_kept(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct kept *k = data;
    bool kept = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        bool constant = p->p_type == PT_GNU_RELRO || (p->p_type == PT_LOAD && (p->p_flags & (PF_R | PF_W)) == PF_R);
        kept |= constant && k->from >= begin && k->to <= begin + p->p_filesz;
    }
    return kept;
}

bool teams_image_keeps(uintptr_t address, size_t bytes)
{
    struct kept k = { address, address + bytes };
    return bytes > 0 && k.to > k.from && dl_iterate_phdr(look_at_kept, &k) == 1;
}

static const char *slot_in(const struct teams_module *m, const ElfW(Rela) * r, uint64_t count, uintptr_t slot)
{
    const ElfW(Sym) *symbols = m->symbols;
    for (uint64_t i = 0; i < count; i++)
        if (r[i].r_offset + m->base == slot) {
            uint64_t symbol = ELF64_R_SYM(r[i].r_info);
            return symbol && symbols && m->strings ? m->strings + symbols[symbol].st_name : NULL;
        }
    return NULL;
}

const char *teams_image_slot(const struct teams_module *m, uintptr_t slot)
{
    /* Large programs have a hundred thousand relocations. */
    enum { CACHE = 1024 };
    static struct { uintptr_t slot, jumps; const char *name; } cache[CACHE];
    uint32_t at = (uint32_t)(slot >> 3) % CACHE;
    if (cache[at].slot == slot && cache[at].jumps == (uintptr_t)m->jumps)
        return cache[at].name;
    const char *name = slot_in(m, m->jumps, m->jump_count, slot);
    if (!name && slot >= m->relro && slot < m->relro_end)
        name = slot_in(m, m->relocations, m->relocation_count, slot);
    cache[at].slot = slot;
    cache[at].jumps = (uintptr_t)m->jumps;
    cache[at].name = name;
    return name;
}

uintptr_t teams_image_named(const char *name)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, name);
}
