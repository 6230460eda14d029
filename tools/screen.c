/* SPDX-License-Identifier: MIT */
#include "tools/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "findings/report.h"
#include "findings/units.h"

enum { MOST_COLUMNS = 10000, LINE = 8192 };

struct screen {
    int width;        /* 0: lines stay whole */
    bool color, fresh; /* fresh: the next line is the first, or follows an empty one */
    bool first;
    size_t length;
    char line[LINE];
};

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

static const char *style_of(const struct screen *s)
{
    if (s->first)
        return "\033[1m";
    if (s->line[0] == '#')
        return "\033[2m";
    if (!strncmp(s->line, "incomplete:", 11) || !strncmp(s->line, "the memory cap", 14))
        return "\033[33m";
    return s->fresh && is_heading(s->line) ? "\033[1m" : NULL;
}

static void put_line(struct screen *s)
{
    const char *style = s->color && s->length ? style_of(s) : NULL;

    if (s->width)
        report_cut(s->line, s->width);
    if (style)
        fputs(style, stdout);
    fputs(s->line, stdout);
    if (style)
        fputs("\033[0m", stdout);
    s->fresh = s->length == 0;
    s->first = false;
    s->length = 0;
}

static ssize_t screen_write(void *cookie, const char *data, size_t size)
{
    struct screen *s = cookie;

    for (size_t i = 0; i < size && !ferror(stdout); i++) {
        if (data[i] != '\n' && s->length < LINE - 1) {
            s->line[s->length++] = data[i];
            continue;
        }
        s->line[s->length] = '\0';
        put_line(s);
        if (data[i] == '\n')
            fputc('\n', stdout);
        else
            s->line[s->length++] = data[i];
    }
    return ferror(stdout) ? 0 : (ssize_t)size;
}

static int screen_done(void *cookie)
{
    struct screen *s = cookie;

    s->line[s->length] = '\0';
    if (s->length)
        put_line(s);
    free(s);
    return 0;
}

FILE *screen_open(enum screen_color color)
{
    struct screen wanted = { .width = columns(), .color = wants_color(color), .first = true, .fresh = true };

    if (!wanted.width && !wanted.color)
        return stdout;
    struct screen *s = malloc(sizeof *s);
    *s = wanted;
    return fopencookie(s, "w", (cookie_io_functions_t){ .write = screen_write, .close = screen_done });
}

void screen_close(FILE *f)
{
    if (f != stdout)
        fclose(f);
    fflush(stdout);
}
