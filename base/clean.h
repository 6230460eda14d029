/* SPDX-License-Identifier: MIT */
/*
 * Text that comes from a file or from a program, made fit for a terminal: what would move the cursor, ring or colour is
 * shown as '?', byte by byte.
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

/* Control characters (C0 and DEL, in UTF-8 also C1) and bytes that are no UTF-8, also where a name was cut in the
   middle of a character. */
void base_clean(char *text);
/* The bytes only: for forms that escape control characters by themselves. */
void base_clean_utf8(char *text);
/* Takes away the piece of a character that stands at the end of a text which was cut. */
void base_clean_end(char *text);
