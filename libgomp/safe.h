/* SPDX-License-Identifier: MIT */
/*
 * What the user says of regions and tasks (PYTHIA_OMP_KEEP), and whose threads have data of their own.
 *
 * Threads: any.  Hook-safe: no (walks the loaded modules): once a region.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether the module of a function has thread-local storage of its own: threadprivate data may be in use, which belongs
   to threads, not to regions. An address in no module counts as one that has. */
bool libgomp_safe_module_has_tls(uintptr_t function);

/* Start of the function that contains an address, by its unwind entry (of a return address take the byte before it); 0
   when not known. */
uintptr_t libgomp_safe_function(uintptr_t address);

enum libgomp_listed { LIBGOMP_UNLISTED, LIBGOMP_DENIED, LIBGOMP_ALLOWED };

/*
 * What the list (PYTHIA_OMP_KEEP) says of a region: entries with commas, the last that fits decides.
 *   NAME    leave it alone          -NAME   it may be changed, whatever it looks like
 * A name is the module's file name; module+0xOFFSET of the outlined function, as reports print it; a function that
 * contains or starts the region, as its symbol or its C++ name without arguments (of stripped programs only what is
 * exported; `starter`: its begin, 0 when not known); or "all".
 */
enum libgomp_listed libgomp_safe_named(const char *list, uintptr_t function, uintptr_t starter);
