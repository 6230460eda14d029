/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/io.h"
#include "base/launcher.h"

static _Atomic int verbosity = 1;

void base_log_verbosity(int level)
{
    atomic_store_explicit(&verbosity, level, memory_order_relaxed);
}

static void write_line(const char *format, va_list arguments)
{
    static const char prefix[] = "pythia: ";
    enum { PREFIX = sizeof prefix - 1 };
    char line[BASE_LOG_LINE + 1];
    int saved = errno;
    memcpy(line, prefix, PREFIX);
    int n = vsnprintf(line + PREFIX, sizeof line - PREFIX, format, arguments);
    if (n >= 0) {
        size_t length = PREFIX + (size_t)n;
        if (length > BASE_LOG_LINE - 1)
            length = BASE_LOG_LINE - 1;
        line[length] = '\0';
        base_clean(line);
        line[length++] = '\n';
        base_io_write(STDERR_FILENO, line, length); /* nobody may read our lines: they are lost then */
    }
    errno = saved;
}

#define WRITE_LINE(level, format)                                                   \
    do {                                                                            \
        if (atomic_load_explicit(&verbosity, memory_order_relaxed) >= (level)) {    \
            va_list arguments;                                                      \
            va_start(arguments, format);                                            \
            write_line(format, arguments);                                          \
            va_end(arguments);                                                      \
        }                                                                           \
    } while (0)

void base_log_warn(const char *format, ...)
{
    WRITE_LINE(1, format);
}

void base_log_info(const char *format, ...)
{
    WRITE_LINE(1, format);
}

void base_log_debug(const char *format, ...)
{
    WRITE_LINE(2, format);
}

bool base_log_is_first_rank(void)
{
    return base_launcher_rank() <= 0;
}
