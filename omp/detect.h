/* SPDX-License-Identifier: MIT */
/*
 * Programs in which hooks cannot see parallel regions: said in one line, once a job.
 *
 *   libgomp linked before Pythia     told when the library is loaded: calls are bound to libgomp
 *   libgomp linked into the program  told when it ends and no hook was ever called: its calls are bound to its own
 *
 * The second is looked for in the program's file: it defines GOMP_parallel; or it is stripped, calls no GOMP_parallel
 * of others, and holds the name of a variable that only libgomp asks for.
 * Not seen: libgomp inside of a library (RTLD_DEEPBIND, or linked into that). LLVM's libomp has its own interface
 * (ompt.c).
 *
 * Threads: none (loader).  Hook-safe: no.
 */
#ifndef PYTHIA_OMP_DETECT_H
#define PYTHIA_OMP_DETECT_H

#include <stdbool.h>

/* Whether the ELF file has a libgomp of its own. False for what cannot be read. */
bool omp_hook_detect_static(const char *path);

#endif
