/* SPDX-License-Identifier: MIT */
/*
 * Text on a terminal: lines cut to its width, "~" where something is missing, and headings told apart by weight.
 *
 * A report prints its lines whole, whoever reads them; a script gets them so. Only a terminal gets them through a
 * screen. Threads: owner.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum screen_color { SCREEN_AUTO, SCREEN_ALWAYS, SCREEN_NEVER };

/* Standard output through a screen; stdout itself where that changes nothing. AUTO is colour on a terminal that is not
   "dumb", unless $NO_COLOR is set. Once a process. */
FILE *screen_open(enum screen_color color);
/* Prints it. Flushes stdout too; a failure stays in stdout's error flag. */
void screen_close(FILE *f);
