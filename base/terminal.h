/* SPDX-License-Identifier: MIT */
/*
 * What live lines need to know of a terminal, and how they say a time that is left: `pythia predict --progress`, long
 * commands.
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>

/* How wide it is; 80 where it does not say. */
int base_terminal_columns(int fd);
/* Whether TERM says that nothing can be drawn on it, or nothing at all. */
bool base_terminal_is_dumb(void);
/* "2.1 s", "3 min 20 s", "2 h 05 min": as exact as a guess deserves. Returns `text`. */
const char *base_terminal_time(double ns, char text[32]);
