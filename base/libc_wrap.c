/* SPDX-License-Identifier: MIT */
/*
 * The C library, whatever names the program takes. ISO C leaves write, open, mmap, getpid, … to it: a program that has
 * a function of its own called so would get our calls, for the loader looks into the program first.
 *
 *     our write(…) ── --wrap ──> __wrap_write, local to the library ── bound by the loader ──> write of libc.so.6
 *
 * 1. The libraries that we install are linked with --wrap for all rows of libc.def. No call of ours goes by such a
 *    name; those that ISO C reserves (malloc, fopen, str…, mem…, __…) are called by name: a program must not take
 *    them. tests/tool/own_names.test looks at all that these libraries leave undefined.
 * 2. The loader asks the functions here where each name is, when it loads the library and before any of our code runs
 *    (an indirect function): they read the C library's own table of symbols, by loads alone, for nothing can be called
 *    yet.
 *
 * Cost: a call is what it was, a jump through a table that the loader filled; some 20 us when a library is loaded.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/symbols.h"

/* The C library, or a part that was apart before glibc 2.34? Nothing is called here: no strcmp. */
static bool libc_named(const char *path)
{
    static const char parts[][12] = { "libc.so.", "libpthread.", "libdl.so.", "librt.so." };
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/')
            name = c + 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = 0;
        while (parts[i][n] && parts[i][n] == name[n])
            n++;
        if (!parts[i][n])
            return true;
    }
    return false;
}

/* Who has the C library's functions, in the order in which they are asked: a sanitizer's runtime stands before it, in a
   library or in the program, and must know of our threads. */
static struct {
    struct base_symbols part[8];
    size_t count;
} libc;

static void libc_look(void)
{
    for (const struct link_map *m = _r_debug.r_map; m && libc.count < sizeof libc.part / sizeof *libc.part;
         m = m->l_next) {
        struct base_symbols s = base_symbols_of(m);
        if (libc_named(m->l_name) || base_symbols_find(&s, "__tsan_init") || base_symbols_find(&s, "__asan_init"))
            libc.part[libc.count++] = s;
    }
}

/* For a name that this C library is too old for: the call fails. */
static long libc_absent(void)
{
    return -1;
}

static void *libc_find(const char *name)
{
    if (!libc.count)
        libc_look();
    for (size_t i = 0; i < libc.count; i++) {
        void *found = base_symbols_find(&libc.part[i], name);
        if (found)
            return found;
    }
    return (void *)libc_absent;
}

typedef void libc_function(void);

#define LIBC(name) \
    static __attribute__((used)) libc_function *libc_find_##name(void) \
    { \
        return (libc_function *)libc_find(#name); \
    } \
    libc_function __wrap_##name __attribute__((ifunc("libc_find_" #name), visibility("hidden")));
#include "base/libc.def"
