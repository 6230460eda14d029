/* SPDX-License-Identifier: MIT */
/* One line on standard error; see tool.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/clean.h"
#include "base/io.h"
#include "tools/progress.h"
#include "tools/tool.h"

void tool_complain(const char *format, ...)
{
    char line[1024];
    struct base_io_hush h;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r') /* a name in the message must not make two lines of it */
            *c = ' ';
    base_clean(line);
    progress_hide();
    base_io_hush(&h); /* of record and predict: standard error may be full, or closed */
    fprintf(stderr, "pythia: %s\n", line);
    base_io_unhush(&h);
}
