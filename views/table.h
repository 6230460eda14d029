/* SPDX-License-Identifier: MIT */
/*
 * One list of columns a table, for every form of it. A row is its cells, each with what the column is called and its
 * unit; who prints decides what becomes of them.
 *
 *   ROW(&t, TEXT("function", name, "call", -22), COUNT("count", s->count, "calls", 10), TIME("", s->ns, "total", 8));
 *   ADD(array, TEXT("function", name), COUNT("count", s->count));
 *
 *   text   cells that have a heading, as wide as they say, below 0 at the left, 0: as it comes. Blanks at the head of a
 *          heading stand before its cells, too
 *   CSV    all of a row, under its keys (RFC 4180)
 *   JSON   cells that have a key, into an object
 *
 * The first row of text or CSV is none: its line of headings is printed, for there may be no other.
 *
 * What is not known is NAN or NULL: "-" in text, null in JSON, nothing in CSV.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

enum views_unit { VIEWS_TEXT, VIEWS_BOOL, VIEWS_NUMBER, VIEWS_OFFSET, VIEWS_COUNT, VIEWS_BYTES, VIEWS_TIME,
                  VIEWS_RATIO, VIEWS_PERCENT, VIEWS_PERCENT2 };

struct views_cell {
    const char *key;
    enum views_unit unit;
    const char *text;
    double value; /* a time: ns, in JSON and CSV seconds */
    const char *heading;
    int width;
};

#define VIEWS_CELL(u, k, x, ...) { .key = k, .unit = VIEWS_##u, .value = (double)(x), __VA_ARGS__ }
#define TEXT(k, x, ...) { .key = k, .text = x, .value = 0, __VA_ARGS__ }
#define BOOL(...) VIEWS_CELL(BOOL, __VA_ARGS__, )
#define NUMBER(...) VIEWS_CELL(NUMBER, __VA_ARGS__, )
#define OFFSET(...) VIEWS_CELL(OFFSET, __VA_ARGS__, )     /* in a module */
#define COUNT(...) VIEWS_CELL(COUNT, __VA_ARGS__, )
#define BYTES(...) VIEWS_CELL(BYTES, __VA_ARGS__, )
#define TIME(...) VIEWS_CELL(TIME, __VA_ARGS__, )
#define RATIO(...) VIEWS_CELL(RATIO, __VA_ARGS__, )       /* "0.25" */
#define PERCENT(...) VIEWS_CELL(PERCENT, __VA_ARGS__, )   /* "25.0%", of 25 */
#define PERCENT2(...) VIEWS_CELL(PERCENT2, __VA_ARGS__, ) /* "25.00%" */

struct views_table { FILE *out; bool csv, headed; };

#define VIEWS_CELLS(...) (const struct views_cell[]){ __VA_ARGS__, { 0 } }
#define ROW(t, ...) views_row(t, VIEWS_CELLS(__VA_ARGS__))
/* To an object, or a new one to an array; returns which. */
#define ADD(to, ...) views_add(to, VIEWS_CELLS(__VA_ARGS__))

void views_row(struct views_table *t, const struct views_cell *cells);
cJSON *views_add(cJSON *to, const struct views_cell *cells);
/* A value, or NAN where it is not known. */
static inline double views_known(bool known, double value)
{
    return known ? value : NAN;
}

/* So much that at most `most` of the values are as large; sorts them. */
double views_least(double *value, uint32_t count, uint32_t most);

/* Prints `text` and blanks up to `width` columns. */
void views_column(const char *text, int width, FILE *out);
