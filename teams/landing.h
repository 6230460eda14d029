/* SPDX-License-Identifier: MIT */
/*
 * Where a call goes on when what it calls throws: handlers and clean-up code are reached by the unwinder's tables
 * alone.
 *
 *   a call ── .eh_frame ──> its function's table in .gcc_except_table ── call sites ──> landing pad
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The landing pad of the call whose code `address` is in, 0: none. False: there may be one, and nothing here can read
   where. */
bool teams_landing_pad(uintptr_t address, uintptr_t *pad);
