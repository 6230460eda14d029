/* SPDX-License-Identifier: MIT */
#include "base/modules.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "pythia.h"

enum { MOST = 1024, MOST_SEGMENTS = 8 };

struct range { uintptr_t first, end; };

struct module {
    struct base_module public;
    struct range range[MOST_SEGMENTS];
    unsigned ranges;
};

/* Entries are complete before `count` is raised (release) and never change afterwards, `gone` aside. */
static struct module *modules[MOST];
static _Atomic uint32_t count;
static _Atomic bool gone[MOST]; /* unloaded since: its addresses may be another module's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool holds(const struct module *m, uintptr_t address)
{
    for (unsigned i = 0; i < m->ranges; i++)
        if (address >= m->range[i].first && address < m->range[i].end)
            return true;
    return false;
}

/* --- Reading one object --- */

static void hexadecimal(char *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
}

/* The GNU build-id among the notes of one segment. */
static bool note_build_id(const char *notes, size_t size, size_t align, char out[72])
{
    align = align == 8 ? 8 : 4;
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)notes;
        size_t name = (n->n_namesz + align - 1) & ~(align - 1), desc = (n->n_descsz + align - 1) & ~(align - 1);
        size_t all = sizeof *n + name + desc;
        if (all > size)
            return false;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(n + 1, "GNU", 4) && n->n_descsz <= 32) {
            hexadecimal(out, (const unsigned char *)(n + 1) + name, n->n_descsz);
            return true;
        }
        notes += all;
        size -= all;
    }
    return false;
}

static void substitute_build_id(struct base_module *m)
{
    struct stat st;
    uint64_t size = stat(m->path, &st) ? 0 : (uint64_t)st.st_size;
    XXH128_hash_t h = XXH3_128bits_withSeed(m->path, strlen(m->path), size);
    snprintf(m->build_id, sizeof m->build_id, "x%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static void executable_path(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    path[n > 0 ? n : 0] = '\0';
}

static struct module *module_create(const struct dl_phdr_info *info)
{
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->public.bias = info->dlpi_addr;
    if (info->dlpi_name && *info->dlpi_name)
        snprintf(m->public.path, sizeof m->public.path, "%s", info->dlpi_name);
    else
        executable_path(m->public.path, sizeof m->public.path);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && m->ranges < MOST_SEGMENTS)
            m->range[m->ranges++] = (struct range){first, first + p->p_memsz};
        if (p->p_type == PT_NOTE && !m->public.build_id[0])
            note_build_id((const char *)first, p->p_memsz, p->p_align, m->public.build_id);
    }
    if (!m->public.build_id[0])
        substitute_build_id(&m->public);
    return m;
}

/* --- The list --- */

struct refresh { bool seen[MOST]; };

static bool same_object(const struct module *m, const struct dl_phdr_info *info, const struct module *fresh)
{
    return m->public.bias == info->dlpi_addr && !strcmp(m->public.build_id, fresh->public.build_id) &&
           !strcmp(m->public.path, fresh->public.path);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    struct refresh *r = data;
    struct module *fresh = module_create(info);
    uint32_t n = atomic_load(&count);
    (void)size;
    if (!fresh)
        return 1;
    for (uint32_t i = 0; i < n; i++)
        if (same_object(modules[i], info, fresh)) {
            r->seen[i] = true;
            atomic_store(&gone[i], false);
            free(fresh);
            return 0;
        }
    if (n == MOST || fresh->ranges == 0) {
        free(fresh);
        return 0;
    }
    r->seen[n] = true;
    modules[n] = fresh;
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return 0;
}

static void refresh(void)
{
    struct refresh r = {{false}};
    dl_iterate_phdr(look_at, &r);
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (!r.seen[i])
            atomic_store(&gone[i], true);
}

static uint32_t look_up(uintptr_t address)
{
    uint32_t n = atomic_load_explicit(&count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (!atomic_load_explicit(&gone[i], memory_order_relaxed) && holds(modules[i], address))
            return i;
    return BASE_MODULE_NONE;
}

uint32_t base_modules_find(const void *address, uint64_t *offset)
{
    uint32_t i = look_up((uintptr_t)address);
    if (i == BASE_MODULE_NONE) {
        pthread_mutex_lock(&lock);
        refresh();
        pthread_mutex_unlock(&lock);
        i = look_up((uintptr_t)address);
    }
    *offset = (uint64_t)(uintptr_t)address - (i == BASE_MODULE_NONE ? 0 : modules[i]->public.bias);
    return i;
}

int base_modules_get(uint32_t module, struct base_module *out)
{
    if (module >= atomic_load_explicit(&count, memory_order_acquire))
        return PYTHIA_EINVAL;
    *out = modules[module]->public;
    return 0;
}

/* The loader lists the executable first. */
int base_modules_program(struct base_module *out)
{
    if (atomic_load(&count) == 0) {
        pthread_mutex_lock(&lock);
        refresh();
        pthread_mutex_unlock(&lock);
    }
    return base_modules_get(0, out) ? PYTHIA_EIO : 0;
}
