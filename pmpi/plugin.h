/* SPDX-License-Identifier: MIT */
/*
 * PYTHIA_PLUGIN: shared objects that register callbacks.
 *
 *   MPI_Init      dlopen -> pythia_plugin_open(version): 0, in use
 *   MPI_Finalize  pythia_plugin_close() of each, in reverse order; never unloaded: callbacks may still be running
 *
 * A plugin that cannot be used costs one line, by rank 0, and the program runs on without it.
 * Threads: the one that calls MPI_Init or MPI_Finalize.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

/* Opens those of the list, which has colons between them; "" is none. `rank`: of this process. */
void pmpi_hook_plugins_open(const char *list, uint32_t rank);
void pmpi_hook_plugins_close(void);
