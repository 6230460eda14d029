/* SPDX-License-Identifier: MIT */
/*
 * Regions that must keep the size that the program gives them, as far as that can be told from outside.
 *
 * Threads: any.  Hook-safe: no (walks the loaded modules): once a region.
 */
#ifndef PYTHIA_OMP_SAFE_H
#define PYTHIA_OMP_SAFE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the module of a function has thread-local storage of its own: threadprivate data may be in use, which belongs
   to threads, not to regions. An address in no module counts as one that has. */
bool omp_hook_safe_module_has_tls(uintptr_t function);

/* Whether the list (PYTHIA_OMP_KEEP) names the region: with commas, the module's file name, module+0xOFFSET of the outlined
   function as reports print it, or an exported function that starts the region (`starter`); "all" names every one. */
bool omp_hook_safe_named(const char *list, uintptr_t function, uintptr_t starter);

#endif
