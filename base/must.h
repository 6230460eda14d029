/* SPDX-License-Identifier: MIT */
/* For what only the command links (replay, report, tools), never a program that is recorded: what cannot fail there. */
#ifndef PYTHIA_BASE_MUST_H
#define PYTHIA_BASE_MUST_H

#include <stdlib.h>

/* Of what fails only where there is no memory, which ends a command before it returns (tools/memory.c), or beyond 2^31
   elements. */
static inline void base_must(int error)
{
    if (error)
        abort();
}

#endif
