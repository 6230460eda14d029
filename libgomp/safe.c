/* SPDX-License-Identifier: MIT */
#include "libgomp/safe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/modules.h"

struct search {
    uintptr_t address;
    bool found, tls;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *s = data;
    bool tls = false, mine = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        tls = tls || p->p_type == PT_TLS;
        mine = mine || (p->p_type == PT_LOAD && s->address >= begin && s->address < begin + p->p_memsz);
    }
    s->found = mine;
    s->tls = tls;
    return mine;
}

/* --- What a module calls --- */

struct tables { const ElfW(Sym) *symbols; const char *strings; const uint32_t *hash, *old_hash; };

static struct tables tables_of(const ElfW(Dyn) *d)
{
    struct tables t = { NULL, NULL, NULL, NULL };
    for (; d->d_tag != DT_NULL; d++) {
        void *at = (void *)(uintptr_t)d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB)
            t.symbols = at;
        else if (d->d_tag == DT_STRTAB)
            t.strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            t.hash = at;
        else if (d->d_tag == DT_HASH)
            t.old_hash = at;
    }
    return t;
}

/* What comes from elsewhere stands before what is hashed. */
static bool has_symbol(const struct tables *t, const char *name)
{
    if (!t->symbols || !t->strings || (!t->hash && !t->old_hash))
        return true;
    uint32_t count = t->hash ? t->hash[1] : t->old_hash[1];
    for (uint32_t i = 1; i < count; i++)
        if (t->symbols[i].st_shndx == SHN_UNDEF && strcmp(t->strings + t->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

struct call { uintptr_t address; const char *name; bool found; };

static int look_for_call(struct dl_phdr_info *info, size_t size, void *data)
{
    struct call *c = data;
    const ElfW(Dyn) *dynamic = NULL;
    bool mine = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)begin;
        mine = mine || (p->p_type == PT_LOAD && c->address >= begin && c->address < begin + p->p_memsz);
    }
    if (mine && dynamic) {
        struct tables t = tables_of(dynamic);
        c->found = has_symbol(&t, c->name);
    }
    return mine;
}

bool libgomp_safe_module_calls(uintptr_t function, const char *name)
{
    struct call c = { function, name, true };
    dl_iterate_phdr(look_for_call, &c);
    return c.found;
}

bool libgomp_safe_module_has_tls(uintptr_t function)
{
    struct search s = { function, false, true };
    dl_iterate_phdr(look, &s);
    return !s.found || s.tls;
}

/* --- Names --- */

/* All that a region may be called. */
struct called {
    const char *module; /* file name */
    uint64_t offset;
    char *own, *starter; /* functions; NULL when not known */
};

/* The module's symbol for the code at an offset: name of the innermost function, malloc'ed; NULL without one. */
static char *symbol_in(Elf *elf, uint64_t offset)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
                offset >= symbol.st_value && offset < symbol.st_value + symbol.st_size) {
                const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
                return name ? strdup(name) : NULL;
            }
        }
    }
    return NULL;
}

static char *symbol_of(const char *path, uint64_t offset)
{
    int file = base_io_open(path, O_RDONLY, 0);
    Elf *elf = file >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file, ELF_C_READ, NULL) : NULL;
    char *name = elf ? symbol_in(elf, offset) : NULL;
    elf_end(elf);
    if (file >= 0)
        close(file);
    return name;
}

/* "solve._omp_fn.3" is in "solve". A C++ name loses its arguments, when the program has the library that can tell. */
static char *plain(char *symbol)
{
    char *(*demangle)(const char *, char *, size_t *, int *);
    void *found = symbol && strncmp(symbol, "_Z", 2) == 0 ? dlsym(RTLD_DEFAULT, "__cxa_demangle") : NULL;
    char *mark = symbol ? strstr(symbol, "._omp_") : NULL;
    int status;
    if (mark)
        *mark = '\0';
    if (!found)
        return symbol;
    memcpy(&demangle, &found, sizeof demangle);
    char *name = demangle(symbol, NULL, NULL, &status);
    if (!name)
        return symbol;
    free(symbol);
    name[strcspn(name, "(")] = '\0';
    return name;
}

static char *name_of(uintptr_t function)
{
    struct base_module module;
    uint64_t offset;
    uint32_t number = function ? base_modules_find((void *)function, &offset) : BASE_MODULE_NONE;
    if (number == BASE_MODULE_NONE || base_modules_get(number, &module))
        return NULL;
    return plain(symbol_of(module.path, offset));
}

static bool equal(const char *word, size_t length, const char *text)
{
    return text && strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool fits(const char *word, size_t length, const struct called *c)
{
    size_t prefix = strlen(c->module);
    if (equal(word, length, "all") || equal(word, length, c->module) || equal(word, length, c->own) ||
        equal(word, length, c->starter))
        return true;
    return length > prefix + 1 && memcmp(word, c->module, prefix) == 0 && word[prefix] == '+' &&
           strtoull(word + prefix + 1, NULL, 16) == c->offset;
}

static enum libgomp_listed decide(const char *list, const struct called *c)
{
    enum libgomp_listed listed = LIBGOMP_UNLISTED;
    for (const char *word = list; *word;) {
        size_t length = strcspn(word, ","), minus = word[0] == '-';
        if (length > minus && fits(word + minus, length - minus, c))
            listed = minus ? LIBGOMP_ALLOWED : LIBGOMP_DENIED;
        word += length + (word[length] == ',');
    }
    return listed;
}

enum libgomp_listed libgomp_safe_named(const char *list, uintptr_t function, uintptr_t starter)
{
    struct base_module module = { .path = "" };
    struct called c = { .offset = function };
    if (!list || !*list)
        return LIBGOMP_UNLISTED;
    uint32_t number = base_modules_find((void *)function, &c.offset);
    if (number != BASE_MODULE_NONE)
        (void)base_modules_get(number, &module);
    const char *slash = strrchr(module.path, '/');
    c.module = slash ? slash + 1 : module.path;
    c.own = name_of(function);
    c.starter = name_of(starter);
    enum libgomp_listed listed = decide(list, &c);
    free(c.own);
    free(c.starter);
    return listed;
}
