/* SPDX-License-Identifier: MIT */
#include "teams/target.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include "base/name.h"

/* What a slot leads to until its first call: back to where its number is pushed for the loader, or (aarch64) to the
   begin of all stubs, which saves two registers first. */
static bool is_unbound(const struct code_image *m, uint64_t to)
{
    static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfa }, push = 0x68, save[] = { 0xf0, 0x7b, 0xbf, 0xa9 };
    const uint8_t *code = to >= m->begin && to < m->end ? code_image_at(m, to, 16) : NULL;
    if (!code)
        return false;
    bool marked = memcmp(code, mark, sizeof mark) == 0;
    return code[marked ? sizeof mark : 0] == push || memcmp(code, save, sizeof save) == 0;
}

/* The program's and its libraries' names come first, then those that came with the module (RTLD_LOCAL). */
static uintptr_t find_name(const struct code_image *m, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name), *own;
    if (found || !m->path || !*m->path || !(own = dlopen(m->path, RTLD_LAZY | RTLD_NOLOAD)))
        return (uintptr_t)found;
    found = dlsym(own, name);
    dlclose(own);
    return (uintptr_t)found;
}

uintptr_t teams_target_of(const struct code_image *m, uint64_t slot, const char *name)
{
    struct code_image other;
    uintptr_t to;
    memcpy(&to, (const void *)(uintptr_t)slot, sizeof to);
    return code_image_find(to, &other) && !is_unbound(m, to) ? to : find_name(m, name);
}

/* --- Libraries that compute --- */

static bool has_openmp(const struct code_image *m, uint64_t table, uint64_t count)
{
    bool has = !m->symbols || !m->strings;
    for (uint64_t i = 0; i < count && !has; i++) {
        const char *name = code_image_imported(m, table, i);
        has = name && (!strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4) || !strncmp(name, "__kmpc_", 7));
    }
    return has;
}

bool teams_target_computes(uintptr_t address)
{
    static const char *const names[] = { "libblas.so", "libblas-", "libblis", "libcblas", "libopenblas" };
    static struct { uint64_t base; bool computes; } last;
    struct code_image m;
    if (!code_image_find(address, &m))
        return false;
    if (last.base != m.base) {
        last.base = m.base;
        last.computes = base_name_begins(m.path, names, sizeof names / sizeof *names) &&
                        !has_openmp(&m, m.jumps, m.jump_count) &&
                        !has_openmp(&m, m.relocations, m.relocation_count);
    }
    return last.computes;
}
