/* SPDX-License-Identifier: MIT */
#include "libgomp/safe.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/elf.h"
#include "base/modules.h"
#include "base/name.h"

struct search {
    uintptr_t address;
    bool found, tls;
};

static int safe_look(struct dl_phdr_info *info, size_t size, void *data)
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

uintptr_t libgomp_safe_function(uintptr_t address)
{
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)address);
}

bool libgomp_safe_module_has_tls(uintptr_t function)
{
    struct search s = { function, false, true };
    dl_iterate_phdr(safe_look, &s);
    return !s.found || s.tls;
}

/* --- Names --- */

/* All that a region may be called. */
struct called {
    const char *module; /* file name */
    uint64_t offset;
    char *own, *starter; /* functions; NULL when not known */
};

/* The file that was looked into last stays mapped: a large program is asked about once a region. */
static struct {
    pthread_mutex_t lock;
    char *path;
    struct base_elf_file file;
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void open_last(const char *path)
{
    if (last.path && strcmp(last.path, path) == 0)
        return;
    base_elf_unmap(&last.file);
    free(last.path);
    last.path = strdup(path);
    (void)base_elf_map(&last.file, path);
}

/* In one table, as it stands in the file: some hundred thousand symbols take less than a millisecond. */
static const char *symbol_in_table(const ElfW(Shdr) *table, uint64_t offset)
{
    size_t count;
    const ElfW(Sym) *s = base_elf_symbols(&last.file, table, &count);
    for (size_t i = 0; s && i < count; i++)
        if (offset - s[i].st_value < s[i].st_size && ELF64_ST_TYPE(s[i].st_info) == STT_FUNC)
            return base_elf_name(&last.file, table, s + i);
    return NULL;
}

/* The module's symbol for the code at an offset: name of the innermost function, malloc'ed; NULL without one. */
static char *symbol_of(const char *path, uint64_t offset)
{
    const char *name = NULL;
    pthread_mutex_lock(&last.lock);
    open_last(path);
    for (size_t i = 0; !name && i < last.file.sections; i++)
        name = symbol_in_table(last.file.section + i, offset);
    char *copy = name ? strdup(name) : NULL;
    pthread_mutex_unlock(&last.lock);
    return copy;
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
    c.module = base_name(module.path);
    c.own = name_of(function);
    c.starter = name_of(starter);
    enum libgomp_listed listed = decide(list, &c);
    free(c.own);
    free(c.starter);
    return listed;
}
