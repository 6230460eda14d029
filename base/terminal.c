/* SPDX-License-Identifier: MIT */
#include "base/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int base_terminal_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

bool base_terminal_is_dumb(void)
{
    const char *term = getenv("TERM");

    return !term || !*term || !strcmp(term, "dumb");
}

const char *base_terminal_time(double ns, char text[32])
{
    double seconds = ns / 1e9, minutes = seconds / 60;

    if (seconds < 99.95)
        snprintf(text, 32, "%.1f s", seconds);
    else if (minutes < 100)
        snprintf(text, 32, "%d min %02d s", (int)minutes, (int)seconds % 60);
    else
        snprintf(text, 32, "%.0f h %02d min", floor(minutes / 60), (int)(minutes - 60 * floor(minutes / 60)));
    return text;
}
