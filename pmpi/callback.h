/* SPDX-License-Identifier: MIT */
/*
 * Callbacks before and after MPI calls (include/pythia.h): who registered for what, and calling them.
 *
 *   pmpi_hook_watched() ----false--> nothing: one predictable branch on a global
 *         '--true--> entries 0, 1, … in the order of registration; each: kind or function, phases, function, data
 *
 *   1. entries are written once and never reused while a program lasts; a removed one has no phases
 *   2. `pmpi_hook_watch` is true when an entry has phases
 *
 * The session's clock stands still meanwhile: what callbacks take is in no gap and no duration.
 * What is registered is Hook-safe only as far as the plug-in is: plugins/trace.c takes a lock for each record.
 * Threads: any.  Hook-safe: yes, but for pythia_callback_register() and pythia_callback_remove().
 */
#pragma once

#include <stdatomic.h>

#include "pmpi/hook.h"

enum { PMPI_HOOK_CALLBACKS = 64 };

extern atomic_bool pmpi_hook_watch;

static inline bool pmpi_hook_watched(void)
{
    return __builtin_expect(atomic_load_explicit(&pmpi_hook_watch, memory_order_relaxed), false);
}

/* PRE; the call begins when it returns. */
void pmpi_hook_callbacks_before(struct pmpi_hook_call *call);
/* POST; appends the event. */
void pmpi_hook_callbacks_after(struct pmpi_hook_call *call);
/* The same for a poll that found nothing. */
void pmpi_hook_callbacks_nothing(struct pmpi_hook_call *call);

/* The names of all wrapped functions, then NULL: generated. */
extern const char *const pmpi_hook_functions[];
