/* SPDX-License-Identifier: MIT */
/*
 * What a library that is loaded defines, by its own table (DT_GNU_HASH): where dlsym would find another one's, or may
 * not be called. Functions in the version that is linked to today.
 *
 * Threads: any.  Hook-safe: yes. Inline and loads alone, for libc_wrap.c: while the loader still binds this library.
 */
#pragma once

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct base_symbols {
    uintptr_t base;
    const ElfW(Sym) *symbols;
    const ElfW(Half) *versions; /* NULL: it has none */
    const char *strings;
    const uint32_t *table;
};

static inline struct base_symbols base_symbols_of(const struct link_map *m)
{
    struct base_symbols l = { .base = m->l_addr };
    for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++) {
        /* relocated, but where the section is read-only */
        uintptr_t at = d->d_un.d_ptr < m->l_addr ? d->d_un.d_ptr + m->l_addr : d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB)
            l.symbols = (const ElfW(Sym) *)at;
        else if (d->d_tag == DT_STRTAB)
            l.strings = (const char *)at;
        else if (d->d_tag == DT_GNU_HASH)
            l.table = (const uint32_t *)at;
        else if (d->d_tag == DT_VERSYM)
            l.versions = (const ElfW(Half) *)at;
    }
    return l;
}

/* Whether number `i` is what `name` is bound to. */
static inline bool base_symbols_is(const struct base_symbols *l, uint32_t i, const char *name)
{
    enum { OLD = 0x8000 }; /* a version for programs that were linked long ago */
    const ElfW(Sym) *s = l->symbols + i;
    const char *its = l->strings + s->st_name;
    if (s->st_shndx == SHN_UNDEF || (s->st_info & 15) != STT_FUNC || (l->versions && l->versions[i] & OLD))
        return false;
    for (; *its == *name; its++, name++)
        if (!*its)
            return true;
    return false;
}

/* The function of this name; NULL: it defines none. */
static inline void *base_symbols_find(const struct base_symbols *l, const char *name)
{
    if (!l->table || !l->symbols || !l->strings)
        return NULL;
    uint32_t hash = 5381, buckets = l->table[0], first = l->table[1], words = l->table[2];
    const uint32_t *bucket = l->table + 4 + words * (sizeof(uintptr_t) / 4), *chain = bucket + buckets;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    for (; i >= first && i; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && base_symbols_is(l, i, name))
            return (void *)(l->base + l->symbols[i].st_value);
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

/* Whether it needs a library by such a name. */
static inline bool base_symbols_needs(const struct link_map *m, bool (*is)(const char *name))
{
    struct base_symbols l = base_symbols_of(m);
    for (const ElfW(Dyn) *d = m->l_ld; l.strings && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && is(l.strings + d->d_un.d_val))
            return true;
    return false;
}

/* The first one from `m` on that defines it; NULL: none. What a program merely jumps to others from is passed (code of
   the large model has such places, and dlsym finds them). */
static inline void *base_symbols_first(const struct link_map *m, const char *name)
{
    void *found = NULL;
    for (; m && !found; m = m->l_next) {
        struct base_symbols s = base_symbols_of(m);
        found = base_symbols_find(&s, name);
    }
    return found;
}
