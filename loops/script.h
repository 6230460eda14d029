/* SPDX-License-Identifier: MIT */
/*
 * The control flow of a piece of Python from its source, a line a node: what is within what follows from how far lines
 * are indented, where it goes on from their first word.
 *
 *     33  for turn in range(20):          33 ─> 34 ─> 35 ─> 36 ─> 33
 *     34      x = s.step(turn)                        └──> 33
 *     35      if turn % 5 == 0:           33 ─> 37
 *     36          comm.Barrier()
 *     37  f()
 *
 * 1. a definition's body within it is none of its lines: control goes past it
 * 2. lines of a statement or a text that goes on are taken for statements: they are passed in order
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "loops/function.h"

/* Fills in the graph of the code that begins at that line of a file; `whole`: all of it. False: it is not there, or too
   long. Block, node, turn, forest and graph are the caller's, to be freed. */
bool loops_script_read(const char *path, uint32_t first, bool whole, struct loops_function *f);
