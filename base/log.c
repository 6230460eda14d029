/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int verbosity = 1;

void base_log_verbosity(int level)
{
    verbosity = level;
}

static void say(int level, const char *format, va_list args)
{
    char line[2048] = "pythia: ";
    if (level > verbosity)
        return;
    size_t n = strlen(line);
    vsnprintf(line + n, sizeof line - n - 1, format, args);
    n = strlen(line);
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return; /* nobody to tell */
}

#define SAY(level)                \
    va_list args;                 \
    va_start(args, format);       \
    say(level, format, args);     \
    va_end(args)

void base_log_info(const char *format, ...)
{
    SAY(1);
}

void base_log_warn(const char *format, ...)
{
    SAY(1);
}

void base_log_debug(const char *format, ...)
{
    SAY(2);
}
