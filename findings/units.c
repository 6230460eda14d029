/* SPDX-License-Identifier: MIT */
/* Texts for a line; see units.h. */
#include "findings/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clean.h"

enum { TEXTS = 32 };

static char *next_text(void)
{
    static char texts[TEXTS][FINDINGS_TEXT];
    static unsigned used;

    return texts[used++ % TEXTS];
}

char *findings_text(const char *format, ...)
{
    char *text = next_text();
    va_list list;

    va_start(list, format);
    if (vsnprintf(text, FINDINGS_TEXT, format, list) >= FINDINGS_TEXT)
        base_clean_end(text);
    va_end(list);
    return text;
}

/* "~" says that something is missing. Never inside a multi-byte character. */
void findings_cut(char *text, int width)
{
    int columns = 0;

    for (char *c = text; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80)
            continue;
        if (++columns == width && c[1] && strlen(c) > 1) {
            strcpy(c, "~");
            return;
        }
    }
}

void findings_cut_place(char *text, int width)
{
    char *caller = strchr(text, '<'), *file = strchr(text, '@');
    size_t wide = width > 0 ? (size_t)width : 0;

    if (strlen(text) <= wide || !file || (caller && caller < file) || (caller && (size_t)(caller - text) <= wide))
        return findings_cut(text, width);
    if (caller)
        *caller = '\0';
    size_t tail = strlen(file), head = wide > tail + 1 ? wide - tail - 1 : 0;
    while (head && ((unsigned char)text[head] & 0xc0) == 0x80)
        head--;
    if (!head)
        return findings_cut(text, width);
    text[head] = '~';
    memmove(text + head + 1, file, tail + 1);
}

char *findings_line(const char *text, int width)
{
    char *line = findings_text("%s", text);

    base_clean(line);
    findings_cut(line, width);
    return line;
}

/* 1.23, 12.3, 123: as many digits as mean something. */
static char *scaled(double value, const char *unit)
{
    return findings_text("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

char *findings_time(double ns)
{
    if (ns < 999.5)
        return findings_text("%.0f ns", ns);
    if (ns < 999.5e3)
        return scaled(ns / 1e3, "us");
    if (ns < 999.5e6)
        return scaled(ns / 1e6, "ms");
    if (ns < 999.5e9)
        return scaled(ns / 1e9, "s");
    double minutes = ns / 60e9, hours = (double)(uint64_t)(minutes / 60);
    return findings_text("%.0fh%02dm", hours, (int)(minutes - hours * 60));
}

char *findings_bytes(double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    int unit = 0;

    while (bytes >= 999.5 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    return unit ? scaled(bytes, units[unit]) : findings_text("%.0f B", bytes);
}

char *findings_count(uint64_t count)
{
    return count < 1000000000 ? findings_text("%" PRIu64, count) : findings_text("%.2e", (double)count);
}
