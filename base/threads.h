/* SPDX-License-Identifier: MIT */
/*
 * The threads of this process, as the kernel numbers them, without the heap: it is the program's, or over.
 *
 * Threads: any.  Hook-safe: no (opens a directory of /proc).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* How many, at most `most`; mostly the oldest first. 0: it cannot be read. */
uint32_t base_threads(pid_t *of, uint32_t most);
