/* SPDX-License-Identifier: MIT */
/* Figures for people; see units.h. */
#include "report/units.h"

#include <inttypes.h>
#include <stdio.h>

/* 1.23, 12.3, 123: as many digits as mean something. */
static const char *scaled(double value, const char *unit, char text[32])
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, 32, "%.*f %s", digits, value, unit);
    return text;
}

const char *report_time(double ns, char text[32])
{
    if (ns < 999.5) {
        snprintf(text, 32, "%.0f ns", ns);
        return text;
    }
    if (ns < 999.5e3)
        return scaled(ns / 1e3, "us", text);
    if (ns < 999.5e6)
        return scaled(ns / 1e6, "ms", text);
    if (ns < 999.5e9)
        return scaled(ns / 1e9, "s", text);
    double minutes = ns / 60e9;
    double hours = (double)(uint64_t)(minutes / 60);
    snprintf(text, 32, "%.0fh%02dm", hours, (int)(minutes - hours * 60));
    return text;
}

const char *report_bytes(double bytes, char text[32])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    int unit = 0;

    while (bytes >= 999.5 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    if (unit)
        return scaled(bytes, units[unit], text);
    snprintf(text, 32, "%.0f B", bytes);
    return text;
}

const char *report_count(uint64_t count, char text[32])
{
    if (count < 1000000000)
        snprintf(text, 32, "%" PRIu64, count);
    else
        snprintf(text, 32, "%.2e", (double)count);
    return text;
}
