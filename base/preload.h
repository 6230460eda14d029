/* SPDX-License-Identifier: MIT */
/*
 * Our place in LD_PRELOAD.
 *
 *     libasan.so.8::/…/libpythia_omp.so:theirs.so      begun by `pythia record`, or by a program of the tree
 *     └─ for the program's own sanitizer, which must come first; "::", an empty name, says that we put it there
 *
 * A sanitizer's runtime refuses to start where another library comes before it, and no other program than the one that
 * is built with it is to get it: a process takes it out of its environment, who starts a program puts its own in.
 *
 * Threads: any.  Hook-safe: system calls, no malloc, no lock: also between vfork and exec.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { BASE_PRELOAD_FIRST = 256 };

/* What must come first for the program at `path`, "libasan.so.8::", "" for most: the runtimes of sanitizers that it
   needs. */
void base_preload_first(const char *path, char first[BASE_PRELOAD_FIRST]);
/* Cuts what was put before the "::" off a list. */
void base_preload_cut(char *list);
/* The name in the list of a library of ours; NULL: there is none. Its length goes to *length. */
const char *base_preload_ours(const char *list, size_t *length);
