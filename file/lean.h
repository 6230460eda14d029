/* SPDX-License-Identifier: MIT */
/*
 * Columns of small numbers, short.
 *
 *     one column    u8 0: each number, 1: how much more it is than the one before (the first: than 0) | numbers
 *     a number      with its sign, folded (0, -1, 1, -2 … become 0, 1, 2, 3 …), as ULEB128 (base/leb.h)
 *
 * A column of equal or slowly growing numbers is a row of equal bytes, of which zstd makes a few. Of both ways the
 * shorter one is taken. Numbers of less than 8 bytes are taken as signed ones: none (0xffffffff) is one byte.
 * Hostile bytes: every length is compared with the end; what does not fit a number's width is cut.
 * Private to file/.  Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { FILE_LEAN_LONGEST = 10 /* bytes of a number */ };

/* A column: the numbers are `width` bytes each, little endian, `stride` from one to the next. */
struct file_lean_column { size_t stride; uint32_t width, count; };

/* Writes at most 1 + count * FILE_LEAN_LONGEST bytes; how many. */
size_t file_lean_put(unsigned char *to, const unsigned char *column, struct file_lean_column c);
/* Reads as many numbers; where the next column begins, NULL: damaged. */
const unsigned char *file_lean_get(const unsigned char *at, const unsigned char *end, unsigned char *column,
                                   struct file_lean_column c);
