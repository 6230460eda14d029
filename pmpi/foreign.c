/* SPDX-License-Identifier: MIT */
/*
 * A wrapper made for MPICH takes handles as 32-bit integers. Preloaded into a program of Open MPI, whose handles are
 * pointers, it could not even pass them on: such a program is started anew without the preload, before its main. (The
 * other way round handles pass through unharmed; MPI_Init notices.)
 */
#include "pmpi/all_of_mpi.h"

#ifndef OPEN_MPI

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* Takes this library out of the list; false when it is not in it. `list` is changed. */
static bool foreign_unlist(char *list)
{
    bool found = false;
    char *to = list;
    while (*list) {
        size_t separators = strspn(list, " :"), length = strcspn(list + separators, " :");
        if (memmem(list + separators, length, "libpythia_pmpi", sizeof "libpythia_pmpi" - 1)) {
            found = true;
        } else {
            memmove(to, list, separators + length);
            to += separators + length;
        }
        list += separators + length;
    }
    *to = '\0';
    return found;
}

/* glibc hands main's arguments to constructors. */
__attribute__((constructor)) static void foreign_leave(int argc, char **argv)
{
    const char *preload = getenv("LD_PRELOAD");
    if (!preload || argc < 1 || !dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"))
        return;
    char *rest = strdup(preload);
    if (rest && foreign_unlist(rest) && setenv("LD_PRELOAD", rest, 1) == 0) {
        if (base_log_is_first_rank())
            base_log_warn("made for MPICH, the program uses Open MPI: the program runs on unrecorded");
        execv("/proc/self/exe", argv);
    }
    free(rest);
}

#else

typedef int foreign_nothing; /* an empty file is not C */

#endif
