/* SPDX-License-Identifier: MIT */
#include "tools/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "findings/units.h"

enum { MOST_COLUMNS = 10000 };

static struct {
    int width; /* 0: lines stay whole */
    bool color;
    char *text;
    size_t size;
} screen;

/* Columns of standard output where it is a terminal: $COLUMNS, else what the terminal says; 0: it is none. */
static int columns(void)
{
    const char *told = getenv("COLUMNS");
    long given = told ? strtol(told, NULL, 10) : 0;

    if (!isatty(STDOUT_FILENO))
        return 0;
    if (given > 0 && given <= MOST_COLUMNS)
        return (int)given;
    return base_terminal_columns(STDOUT_FILENO);
}

static bool wants_color(enum screen_color color)
{
    const char *none = getenv("NO_COLOR");

    if (color != SCREEN_AUTO)
        return color == SCREEN_ALWAYS;
    return isatty(STDOUT_FILENO) && (!none || !*none) && !base_terminal_is_dumb();
}

/* The names of columns: no digit, and words that stand apart. */
static bool is_heading(const char *line)
{
    return strstr(line, "  ") && !strpbrk(line, "0123456789");
}

/* `fresh`: it is the first line, or follows an empty one. */
static const char *style_of(const char *line, bool first, bool fresh)
{
    if (first)
        return "\033[1m";
    if (line[0] == '#')
        return "\033[2m";
    if (!strncmp(line, "incomplete:", 11) || !strncmp(line, "the memory cap", 14))
        return "\033[33m";
    return fresh && is_heading(line) ? "\033[1m" : NULL;
}

FILE *screen_open(enum screen_color color)
{
    screen.width = columns();
    screen.color = wants_color(color);
    return screen.width || screen.color ? open_memstream(&screen.text, &screen.size) : stdout;
}

void screen_close(FILE *f)
{
    bool fresh = true;

    if (f != stdout)
        fclose(f);
    for (char *left = screen.text, *line; left && (line = strsep(&left, "\n")) && (left || *line);) {
        const char *style = screen.color && *line ? style_of(line, line == screen.text, fresh) : NULL;
        fresh = !*line;
        if (screen.width)
            findings_cut(line, screen.width);
        printf("%s%s%s%s", style ? style : "", line, style ? "\033[0m" : "", left ? "\n" : "");
    }
    free(screen.text);
    fflush(stdout);
}
