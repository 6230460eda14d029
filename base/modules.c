/* SPDX-License-Identifier: MIT */
#include "base/modules.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/elf.h"
#include "pythia.h"

#include "base/hex.h"
#include "base/lock.h"

enum { MODULES = 16384, LINE_BITS = 20 };
#define SCRIPT (UINT64_C(1) << 62) /* of an address: the module's number follows, then a line */

struct range {
    uintptr_t begin, end;
    uint32_t object;
};

/* A loaded object, copied out of the loader's hands: its callback must neither block nor allocate for long. */
struct object {
    char *name;
    char build_id[sizeof(((struct base_module *)0)->build_id)];
    uint64_t bias;
    _Atomic uint32_t module; /* BASE_MODULE_NONE until an address in it is asked for: its file is looked at then */
};

/* What is loaded; immutable once published but for the objects' modules; freed when a newer one is published and nobody
   reads. */
struct ranges {
    struct ranges *older; /* guarded by lock */
    uint64_t adds, subs; /* the loader's counts when this was made */
    struct object *objects;
    struct range *ranges;
    uint32_t object_count, object_room, range_count, range_room;
    bool failed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct base_module *modules[MODULES]; /* written under lock, once each */
static _Atomic uint32_t module_count;        /* release after modules[] */
static _Atomic uint32_t script_count;        /* of them code of scripts */
/* A reader counts itself, then takes `published`; a writer publishes, then looks at the count: when it is 0, whoever
   comes now takes the new one (both sequentially consistent). */
static struct ranges *_Atomic published;
static _Atomic unsigned readers;

/* --- What the loader tells --- */

/* Whether the header's bytes lie in a readable part of what is loaded. */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) *p)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type == PT_LOAD && (load->p_flags & PF_R) && p->p_vaddr >= load->p_vaddr &&
            p->p_vaddr + p->p_filesz <= load->p_vaddr + load->p_filesz)
            return true;
    }
    return false;
}

static int scan_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct ranges *s = context;
    (void)size;
    s->adds = info->dlpi_adds;
    s->subs = info->dlpi_subs;
    if (base_array_room(&s->objects, &s->object_room, s->object_count + 1, sizeof *s->objects) ||
        base_array_room(&s->ranges, &s->range_room, s->range_count + info->dlpi_phnum, sizeof *s->ranges)) {
        s->failed = true;
        return 1;
    }
    struct object *o = &s->objects[s->object_count];
    *o = (struct object){.name = strdup(info->dlpi_name ? info->dlpi_name : ""), .bias = info->dlpi_addr,
                         .module = BASE_MODULE_NONE};
    if (!o->name) {
        s->failed = true;
        return 1;
    }
    s->object_count++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD)
            s->ranges[s->range_count++] = (struct range){begin, begin + p->p_memsz, s->object_count - 1};
        else if (p->p_type == PT_NOTE && !o->build_id[0] && is_loaded(info, p))
            base_elf_build_id((const unsigned char *)begin, p->p_filesz, p->p_align, o->build_id);
    }
    return 0;
}

static void free_ranges(struct ranges *r)
{
    for (size_t i = 0; r && i < r->object_count; i++)
        free(r->objects[i].name);
    if (r) {
        free(r->objects);
        free(r->ranges);
    }
    free(r);
}

/* --- Modules, under lock --- */

/* Absolute and without links where it names a file; owned by the caller, NULL when out of memory. */
static char *file_of(const char *name, bool program)
{
    char path[PATH_MAX]; /* of our own: the one that the sanitizers call cannot allocate */
    return strdup(realpath(program ? "/proc/self/exe" : name, path) ? path : name);
}

static void substitute_id(char *text, const char *path)
{
    struct stat st;
    uint64_t size = stat(path, &st) ? 0 : (uint64_t)st.st_size;
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits_withSeed(path, strlen(path), size));
    text[0] = 'x';
    base_hex(text + 1, c.digest, sizeof c.digest);
}

static uint32_t modules_find_module(const struct base_module *m)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&module_count, memory_order_relaxed); i++)
        if (!strcmp(modules[i]->build_id, m->build_id) && !strcmp(modules[i]->path, m->path))
            return i;
    return BASE_MODULE_NONE;
}

/* Adds a module, whose path it takes over; BASE_MODULE_NONE when out of memory. */
static uint32_t add_module(const struct base_module *m)
{
    uint32_t count = atomic_load_explicit(&module_count, memory_order_relaxed);
    struct base_module *copy = count < MODULES ? malloc(sizeof *copy) : NULL;
    if (!copy) {
        free((char *)m->path);
        return BASE_MODULE_NONE;
    }
    *copy = *m;
    modules[count] = copy;
    atomic_store_explicit(&module_count, count + 1, memory_order_release);
    return count;
}

static uint32_t module_of(const struct object *o, bool program)
{
    struct base_module m = {.path = file_of(o->name, program)};
    if (!m.path)
        return BASE_MODULE_NONE;
    memcpy(m.build_id, o->build_id, sizeof m.build_id);
    if (!m.build_id[0])
        substitute_id(m.build_id, m.path);
    uint32_t known = modules_find_module(&m);
    if (known == BASE_MODULE_NONE)
        return add_module(&m);
    free((char *)m.path);
    return known;
}

/* How many of the first `count`, which are in order, begin at or before the address. */
static size_t begun(const struct range *ranges, size_t count, uintptr_t address)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (ranges[middle].begin <= address)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Not by qsort(), which takes from the program's heap: a handler may jump out of this. */
static void sort(struct range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct range r = ranges[i];
        size_t to = begun(ranges, i, r.begin);
        memmove(ranges + to + 1, ranges + to, (i - to) * sizeof r);
        ranges[to] = r;
    }
}

static void free_older(struct ranges *r)
{
    struct ranges *older = r->older;
    if (atomic_load(&readers))
        return; /* next time */
    r->older = NULL;
    while (older) {
        struct ranges *next = older->older;
        free_ranges(older);
        older = next;
    }
}

static int refresh(void)
{
    struct ranges *r = calloc(1, sizeof *r);
    if (!r)
        return PYTHIA_ENOMEM;
    base_lock_take(&lock, BASE_LOCK_MODULES);
    dl_iterate_phdr(scan_object, r);
    bool known = module_count || r->failed;
    if (r->failed || (!known && module_of(&r->objects[0], true) != 0)) {
        base_lock_release(&lock, BASE_LOCK_MODULES);
        free_ranges(r);
        return PYTHIA_ENOMEM;
    }
    sort(r->ranges, r->range_count);
    r->older = atomic_load(&published);
    atomic_store(&published, r);
    free_older(r);
    base_lock_release(&lock, BASE_LOCK_MODULES);
    return 0;
}

/* --- Looking up --- */

static int read_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    uint64_t *counts = context;
    (void)size;
    counts[0] = info->dlpi_adds;
    counts[1] = info->dlpi_subs;
    return 1;
}

uint64_t base_modules_unloaded(void)
{
    uint64_t counts[2] = {0, 0};
    dl_iterate_phdr(read_counts, counts);
    return counts[1];
}

uint64_t base_modules_loaded(void)
{
    uint64_t counts[2] = {0, 0};
    dl_iterate_phdr(read_counts, counts);
    return counts[0] + atomic_load(&script_count);
}

static bool is_current(const struct ranges *r)
{
    uint64_t counts[2] = {0, 0};
    dl_iterate_phdr(read_counts, counts);
    return r && r->adds == counts[0] && r->subs == counts[1];
}

static const struct range *range_of(const struct ranges *r, uintptr_t address)
{
    size_t n = begun(r->ranges, r->range_count, address);
    return n > 0 && address < r->ranges[n - 1].end ? &r->ranges[n - 1] : NULL;
}

/* The first address in it that is asked for: what file it is. */
static __attribute__((noinline)) uint32_t number(struct object *o, bool program)
{
    base_lock_take(&lock, BASE_LOCK_MODULES);
    uint32_t module = module_of(o, program);
    base_lock_release(&lock, BASE_LOCK_MODULES);
    atomic_store_explicit(&o->module, module, memory_order_release);
    return module;
}

static struct base_place modules_place_of(const struct ranges *r, uintptr_t address)
{
    uint64_t script = (address & ~SCRIPT) >> LINE_BITS;
    if (address & SCRIPT && script < atomic_load_explicit(&module_count, memory_order_acquire) &&
        modules[script]->script)
        return (struct base_place){(uint32_t)script, address & ((1u << LINE_BITS) - 1)};
    const struct range *range = range_of(r, address);
    struct object *o = range ? &r->objects[range->object] : NULL;
    uint32_t module = o ? atomic_load_explicit(&o->module, memory_order_acquire) : BASE_MODULE_NONE;
    if (o && module == BASE_MODULE_NONE)
        module = number(o, range->object == 0);
    return (struct base_place){module, !o ? address : module == BASE_MODULE_NONE ? 0 : address - o->bias};
}

void base_modules_places(void *const *addresses, uint32_t count, struct base_place *places)
{
    bool current;
    do {
        atomic_fetch_add(&readers, 1);
        const struct ranges *r = atomic_load(&published);
        current = is_current(r);
        for (uint32_t i = 0; i < count; i++)
            places[i] = current ? modules_place_of(r, (uintptr_t)addresses[i])
                                : (struct base_place){ BASE_MODULE_NONE, 0 };
        atomic_fetch_sub(&readers, 1);
    } while (!current && refresh() == 0);
}

uint32_t base_modules_find(const void *address, uint64_t *offset)
{
    struct base_place place;
    void *one = (void *)(uintptr_t)address;
    base_modules_places(&one, 1, &place);
    *offset = place.offset;
    return place.module;
}

void base_modules_each(void (*tell)(void *context, uintptr_t begin, uintptr_t end, uint64_t bias, const char *build_id,
                                    const char *path), void *context)
{
    struct ranges *r = calloc(1, sizeof *r);
    struct base_module program = {.path = ""};
    if (!r || base_modules_program(&program))
        goto out;
    dl_iterate_phdr(scan_object, r);
    for (uint32_t i = 0; i < r->range_count; i++) { /* those of an object follow each other, in order */
        const struct object *o = &r->objects[r->ranges[i].object];
        uintptr_t begin = r->ranges[i].begin;
        while (i + 1 < r->range_count && r->ranges[i + 1].object == r->ranges[i].object)
            i++;
        tell(context, begin, r->ranges[i].end, o->bias, o->build_id,
             r->ranges[i].object == 0 ? program.path : o->name);
    }
    for (uint32_t i = 0; i < atomic_load_explicit(&module_count, memory_order_acquire); i++) {
        uint64_t begin = SCRIPT | (uint64_t)i << LINE_BITS;
        if (modules[i]->script)
            tell(context, begin, begin + (1u << LINE_BITS), begin, modules[i]->build_id, modules[i]->path);
    }
out:
    free_ranges(r);
}

void *base_modules_script(const char *path, const char *id, uint32_t line)
{
    struct base_module known, m = {.script = true};
    if (base_modules_program(&known)) /* number 0 */
        return NULL;
    snprintf(m.build_id, sizeof m.build_id, "%s", id);
    m.path = path;
    base_lock_take(&lock, BASE_LOCK_MODULES);
    uint32_t number = modules_find_module(&m);
    if (number == BASE_MODULE_NONE && (m.path = strdup(path)))
        number = add_module(&m);
    atomic_fetch_add(&script_count, number != BASE_MODULE_NONE && m.path != path);
    base_lock_release(&lock, BASE_LOCK_MODULES);
    uint32_t most = (1u << LINE_BITS) - 1;
    return number == BASE_MODULE_NONE
               ? NULL : (void *)(uintptr_t)(SCRIPT | (uint64_t)number << LINE_BITS | (line < most ? line : most));
}

int base_modules_get(uint32_t module, struct base_module *m)
{
    if (module >= atomic_load_explicit(&module_count, memory_order_acquire))
        return PYTHIA_EINVAL;
    *m = *modules[module];
    return 0;
}

int base_modules_program(struct base_module *m)
{
    if (base_modules_get(0, m) == 0)
        return 0;
    return refresh() || base_modules_get(0, m) ? PYTHIA_ENOMEM : 0;
}
