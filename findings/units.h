/* SPDX-License-Identifier: MIT */
/*
 * Texts for a line that is being printed: nobody makes room for them. There are TEXTS of them in turn, so what a
 * function returns is good until that many others were made; who keeps one copies it.
 *
 *   fprintf(out, "%s of %s\n", findings_time(wait), findings_time(wall));
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { FINDINGS_TEXT = 512 }; /* bytes of a text; longer ones are cut */

/* As printf. */
char *findings_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `text` in one line that a terminal shows as it is, cut to `width` columns. */
char *findings_line(const char *text, int width);

/* Figures: three to four significant digits and a unit. */
char *findings_time(double ns);     /* "870 ns", "12.3 us", "4.56 ms", "1.23 s", "2h05m" */
char *findings_bytes(double bytes); /* "512 B", "1.5 KiB", "3.2 GiB" */
char *findings_count(uint64_t count); /* "999", "12345", "1.23e+09" from 10^9 */

/* Cuts `text` to `width` columns, in place. */
void findings_cut(char *text, int width);
/* The same of "function@file:line<caller@…": the line of the first stays, callers and the function's end go first. */
void findings_cut_place(char *text, int width);
