/* SPDX-License-Identifier: MIT */
/*
 * What `pythia record` must know about the program that it is about to run, and about its own libraries.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The file that execvp(3) would run for `command`, written into path[size]. Returns 0, or an errno value. */
int program_find(const char *command, char *path, size_t size);

/* Why nothing that the program at `path` does itself can be seen, to follow its name: "is statically linked". NULL
   where it can, or where that cannot be told. */
const char *program_unseen(const char *path);

/* What has the kernel start it with more rights than ours, so that its loader heeds no LD_PRELOAD: "is set-user-ID".
   NULL: nothing; a program of our own that is set-user-ID runs as anybody's does. */
const char *program_raised(const char *path);

/* What the program's own loader says that it would load (`ld.so --list`, which runs nothing of the program): it alone
   knows all of run paths, caches and the environment. `preload`: in place of LD_PRELOAD, NULL: as it is. As
   capture(). */
struct captured;
int program_list(const char *loader, const char *path, const char *preload, struct captured *c);

/* Whether `command` is itself an MPI launcher (mpirun, srun, …). */
bool program_is_launcher(const char *command);

/* Where in argv (NULL-terminated) the program itself stands: behind launchers, `pythia record` and commands such as env
   and timeout. The index of the NULL when there is none. */
size_t program_index(char *const *argv);
/* The same behind launchers only: what each rank starts. */
size_t program_behind_launchers(char *const *argv);

/* Finds our library, or program, `name` (a file name): beside this executable (also in its .libs, for a build
   directory), else where libraries were installed. Returns 0 with the absolute path in path[size], -1 when it is
   nowhere. */
int program_find_library(const char *name, char *path, size_t size);
/* The library that serves the program at `program`, the one of MPI in doubt: it has the OpenMP hooks too. Or the one
   that PYTHIA_LIBRARY names. Returns 0 or -1 as above. */
int program_choose_library(const char *program, char *const *arguments, char *path, size_t size);
