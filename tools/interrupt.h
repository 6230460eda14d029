/* SPDX-License-Identifier: MIT */
/*
 * What a command that is interrupted (Ctrl-C, kill, a closed terminal) leaves behind: nothing. The file that it is just
 * writing, under a temporary name, is removed, and the command then dies of the signal, as its caller expects.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include "base/replace.h"

/* base_replace_open(), a pipe waited for: what is temporary belongs to the signals too, until interrupt_forget(). One
   file at a time; *r stays where it is. */
int interrupt_replace(struct base_replace *r, const char *path);
/* Removes what is temporary, before an end without return. */
void interrupt_give_up(void);
/* The file has its final name, or is gone. */
void interrupt_forget(void);
