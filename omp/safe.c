/* SPDX-License-Identifier: MIT */
#include "omp/safe.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

bool omp_hook_safe_module_has_tls(uintptr_t function)
{
    struct search s = { function, false, true };
    dl_iterate_phdr(look, &s);
    return !s.found || s.tls;
}

static bool equal(const char *word, size_t length, const char *text)
{
    return text && strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool names(const char *word, size_t length, const char *module, uint64_t offset, const char *starter)
{
    size_t prefix = strlen(module);
    if (equal(word, length, "all") || equal(word, length, module) || equal(word, length, starter))
        return true;
    return length > prefix + 1 && memcmp(word, module, prefix) == 0 && word[prefix] == '+' &&
           strtoull(word + prefix + 1, NULL, 16) == offset;
}

/* The exported name of a function, NULL without one. */
static const char *symbol_at(uintptr_t function)
{
    Dl_info info;
    if (!function || !dladdr((void *)function, &info) || (uintptr_t)info.dli_saddr != function)
        return NULL;
    return info.dli_sname;
}

bool omp_hook_safe_named(const char *list, uintptr_t function, uintptr_t starter)
{
    struct base_module module = { .path = "" };
    uint64_t offset = function;
    uint32_t number;
    if (!list || !*list)
        return false;
    number = base_modules_find((void *)function, &offset);
    if (number != BASE_MODULE_NONE)
        (void)base_modules_get(number, &module);
    const char *slash = strrchr(module.path, '/'), *symbol = symbol_at(starter);
    for (const char *word = list; *word;) {
        size_t length = strcspn(word, ",");
        if (length > 0 && names(word, length, slash ? slash + 1 : module.path, offset, symbol))
            return true;
        word += length + (word[length] == ',');
    }
    return false;
}
