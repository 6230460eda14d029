/* SPDX-License-Identifier: MIT */
/*
 * What an executable's file says about itself: how it is loaded, what is linked into it, what can be told about its
 * places. Nothing of it is run. Threads: one.  Hook-safe: no.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/elf.h"

struct binary {
    bool elf;        /* else a script, and all below is false */
    bool foreign;    /* made for another machine or word size than this command */
    bool dynamic;    /* has a loader, and so is preloaded */
    bool lines;      /* debug information, in the file or beside it */
    bool symbols;    /* names of its functions */
    bool own_mpi, own_gomp, own_libomp;  /* these libraries are linked into it */
    bool own_wrapper; /* it has an MPI_Init of its own, which calls the library's PMPI_Init */
    char taken[256]; /* functions of its own that it calls as the C library does: "write, open", "" for none */
    char loader[PATH_MAX];
    char build_id[BASE_ELF_ID]; /* hexadecimal, "" without */
};

/* Returns 0, or -1 where the file cannot be read. */
int binary_read(const char *path, struct binary *b);
/* Whether the file has a dynamic symbol of this name, defined: it offers it to others. */
bool binary_offers(const char *path, const char *symbol);
