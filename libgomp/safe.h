/* SPDX-License-Identifier: MIT */
/*
 * Regions that must keep the size that the program gives them, as far as that can be told from outside.
 *
 * Threads: any.  Hook-safe: no (walks the loaded modules): once a region.
 */
#ifndef PYTHIA_LIBGOMP_SAFE_H
#define PYTHIA_LIBGOMP_SAFE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the module of a function has thread-local storage of its own: threadprivate data may be in use, which belongs
   to threads, not to regions. An address in no module counts as one that has. */
bool libgomp_safe_module_has_tls(uintptr_t function);

/* Whether the module of a function calls a function of another one by name: true in doubt. */
bool libgomp_safe_module_calls(uintptr_t function, const char *name);

enum libgomp_listed { LIBGOMP_UNLISTED, LIBGOMP_DENIED, LIBGOMP_ALLOWED };

/*
 * What the list (PYTHIA_OMP_KEEP) says of a region: entries with commas, the last that fits decides.
 *   NAME    leave it alone          -NAME   it may be changed, whatever it looks like
 * A name is the module's file name; module+0xOFFSET of the outlined function, as reports print it; a function that
 * contains or starts the region, as its symbol or its C++ name without arguments (of stripped programs only what is
 * exported; `starter`: its begin, 0 when not known); or "all".
 */
enum libgomp_listed libgomp_safe_named(const char *list, uintptr_t function, uintptr_t starter);

#endif
